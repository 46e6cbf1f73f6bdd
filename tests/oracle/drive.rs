//! One history of calls, put to every layer of the bucket at once and judged call by call.

use admittance::bucket::{AtomicWord, Word, step};
use admittance::{Budget, ManualClock, TokenBucket};

use super::follow::{Answer, Follower, Verdict};
use super::model::HORIZON;

/// One call, or one move of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Acquire(u64),
    Peek(u64),
    Available,
    Refund(u64),
    Debit(u64),
    Advance(u64),
    StepBack(u64),
    /// To the instant the last denial promised, and as many nanoseconds from it.
    Await(i8),
}

/// The same bucket three times: the pure step, the loop, and the everyday type with its clock.
struct Subject<'a> {
    budget: Budget,
    clock: &'a ManualClock,
    bucket: TokenBucket<&'a ManualClock>,
    atomic: AtomicWord,
    word: Word,
}

/// Runs `ops` from `start` on; `Err` names the call and what is wrong with it.
pub(crate) fn drive(budget: Budget, start: u64, ops: &[Op]) -> Verdict {
    let clock = ManualClock::at(start);
    let mut subject = Subject {
        budget,
        clock: &clock,
        bucket: TokenBucket::with_clock(budget, &clock),
        atomic: AtomicWord::new(),
        word: Word::FULL,
    };
    let mut follower = Follower::new(&budget);
    let (mut now, mut promised) = (start, start);
    for (index, &op) in ops.iter().enumerate() {
        let mut verdict = Ok(());
        match op {
            Op::Advance(by) => now = now.saturating_add(by),
            Op::StepBack(by) => now = now.saturating_sub(by),
            Op::Await(off) => now = promised.saturating_add_signed(off.into()),
            Op::Acquire(n) => {
                let before = subject.word;
                let answer = subject.acquire(n, now)?;
                verdict = follower.acquired(n, now, answer);
                if let Answer::Denied(wait) = answer {
                    promised = now.saturating_add(wait);
                    verdict = verdict.and(subject.keeps_its_promise(n, now, wait));
                }
                let spent = matches!(answer, Answer::Admitted(_)) && n > 0;
                if !spent && subject.word != before {
                    verdict = verdict.and(Err("a call that spent nothing changed the word".into()));
                }
            }
            Op::Peek(n) => {
                let before = subject.atomic.load();
                verdict = follower.peeked(n, now, subject.peek(n, now)?);
                if subject.atomic.load() != before {
                    verdict = verdict.and(Err("a peek changed the word".into()));
                }
            }
            Op::Available => verdict = follower.available(now, subject.available(now)?),
            Op::Refund(n) => {
                subject.refund(n, now);
                follower.refunded(n, now);
            }
            Op::Debit(n) => verdict = follower.debited(n, now, subject.debit(n, now)?),
        }
        verdict
            .and(subject.is_one_bucket(now))
            .map_err(|wrong| format!("call {index}, {op:?} at {now} of {budget:?}: {wrong}"))?;
    }
    Ok(())
}

impl Subject<'_> {
    fn acquire(&mut self, n: u64, now: u64) -> Result<Answer, String> {
        self.clock.set(now);
        let step = step::acquire(self.word, n, now, &self.budget);
        if let step::Step::Spend { next, .. } = step {
            self.word = next;
        }
        let answers = [step.decision(), self.atomic.try_acquire(n, now, &self.budget), self.bucket.try_acquire(n)];
        alike(answers.map(Answer::from))
    }

    fn peek(&self, n: u64, now: u64) -> Result<Answer, String> {
        self.clock.set(now);
        let step = step::acquire(self.word, n, now, &self.budget).decision();
        alike([step, self.atomic.peek(n, now, &self.budget), self.bucket.peek(n)].map(Answer::from))
    }

    fn available(&self, now: u64) -> Result<u64, String> {
        self.clock.set(now);
        let step = step::available(self.word, now, &self.budget);
        alike([step, self.atomic.available(now, &self.budget), self.bucket.available()])
    }

    fn refund(&mut self, n: u64, now: u64) {
        self.clock.set(now);
        self.word = step::refund(self.word, n, now, &self.budget);
        self.atomic.refund(n, now, &self.budget);
        self.bucket.refund(n);
    }

    fn debit(&mut self, n: u64, now: u64) -> Result<u64, String> {
        self.clock.set(now);
        let (word, charged) = step::debit(self.word, n, now, &self.budget);
        self.word = word;
        alike([charged, self.atomic.debit(n, now, &self.budget), self.bucket.debit(n)])
    }

    /// Denied a nanosecond before the promised instant and admitted at it, by the implementation itself: exactly so for
    /// every budget, since it is its own promise.
    fn keeps_its_promise(&self, n: u64, now: u64, wait: u64) -> Verdict {
        let at = |now| step::acquire(self.word, n, now, &self.budget).decision();
        if wait == u64::MAX {
            let last = at(HORIZON);
            return if last.is_denied() {
                Ok(())
            } else {
                Err(format!("no wait promised, and at the horizon {last:?}"))
            };
        }
        if wait == 0 {
            return Err("denied, and a wait of 0 promised".into());
        }
        let (before, then) = (at(now + wait - 1), at(now + wait));
        if before.is_denied() && then.is_admitted() {
            Ok(())
        } else {
            Err(format!("a wait of {wait} promised: a nanosecond earlier {before:?}, then {then:?}"))
        }
    }

    /// The layers hold one state after every call, as far as each shows it.
    fn is_one_bucket(&self, now: u64) -> Verdict {
        if self.word != self.atomic.load() {
            return Err(format!("the step holds {:?}, the loop {:?}", self.word, self.atomic.load()));
        }
        self.clock.set(now);
        alike([step::available(self.word, now, &self.budget), self.bucket.available()]).map(|_| ())
    }
}

fn alike<T: Copy + PartialEq + std::fmt::Debug, const N: usize>(answers: [T; N]) -> Result<T, String> {
    if answers.iter().all(|answer| *answer == answers[0]) {
        Ok(answers[0])
    } else {
        Err(format!("step, loop and bucket answer {answers:?}"))
    }
}
