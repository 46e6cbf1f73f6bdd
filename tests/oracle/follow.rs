//! The judge: applies an implementation's own decisions to the exact bucket, and says which it would not give.
//!
//! An exact budget must agree to the nanosecond. A scaled one must give an answer that the exact bucket, with the same
//! history of decisions, gives at some instant within one nanosecond; and the exact answer where the bucket was full at
//! this very instant, because a burst from full never rounds.

use admittance::{Budget, Decision, Resolution};
use num_bigint::BigInt;

use super::latest::Latest;
use super::model::{HORIZON, Model, nanos};

/// `Err` says what is wrong.
pub(crate) type Verdict = Result<(), String>;

/// A decision as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// With the whole tokens that remain.
    Admitted(u64),
    /// With the wait in nanoseconds; `u64::MAX` is past the horizon.
    Denied(u64),
    Never,
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Admitted(permit) => Self::Admitted(permit.remaining()),
            Decision::Denied(denial) => Self::Denied(denial.retry_after_nanos()),
            Decision::Never => Self::Never,
        }
    }
}

/// Follows one bucket.
#[derive(Clone, Debug)]
pub(crate) struct Follower {
    model: Model,
    latest: Latest,
    /// How many nanoseconds an answer may be off.
    slack: u64,
    /// The instant of the last change, if the bucket was full at it and every change since was at it too.
    burst_at: Option<u64>,
}

impl Follower {
    /// Follows an implementation of `budget` from full, with the slack its resolution allows.
    pub(crate) fn new(budget: &Budget) -> Self {
        let slack = u64::from(budget.resolution() == Resolution::WithinOneNanosecond);
        let model = Model::new(budget.capacity(), budget.refill_tokens(), nanos(budget.refill_duration()));
        Self { latest: Latest::new(model.clone(), slack), model, slack, burst_at: Some(0) }
    }

    /// What the exact bucket itself answers.
    pub(crate) fn exact_answer(&self, n: u64, now: u64) -> Answer {
        if n > self.model.capacity() {
            return Answer::Never;
        }
        let at = clamp(now);
        if self.model.passes(n, &at) {
            return Answer::Admitted(small(&self.model.tokens_after(n, &at)));
        }
        let first = self.model.first(n);
        Answer::Denied(if first > BigInt::from(HORIZON) { u64::MAX } else { small(&(first - now)) })
    }

    /// Judges a call that writes nothing.
    pub(crate) fn peeked(&self, n: u64, now: u64, answer: Answer) -> Verdict {
        if (answer == Answer::Never) != (n > self.model.capacity()) {
            return Err(format!("{n} at {now}: {answer:?} with a capacity of {}", self.model.capacity()));
        }
        let (early, late) = self.span(now);
        let right = match answer {
            Answer::Never => true,
            Answer::Admitted(remaining) => {
                let remaining = BigInt::from(remaining);
                let (least, most) = (self.model.tokens_after(n, &early), self.model.tokens_after(n, &late));
                self.model.passes(n, &late) && (least..=most).contains(&remaining)
            }
            Answer::Denied(wait) => !self.model.passes(n, &early) && self.is_right_wait(n, now, wait),
        };
        if right { Ok(()) } else { Err(format!("{n} at {now}: {answer:?}, exactly {:?}", self.exact_answer(n, now))) }
    }

    /// Judges a call that may spend, and spends what it did.
    pub(crate) fn acquired(&mut self, n: u64, now: u64, answer: Answer) -> Verdict {
        self.peeked(n, now, answer)?;
        self.latest.acquired(n, &clamp(now), now, answer)?;
        if matches!(answer, Answer::Admitted(_)) && n > 0 {
            self.burst_at = self.is_burst(now).then_some(now);
            self.model.spend(n, &clamp(now));
        }
        Ok(())
    }

    /// Judges a reading of the level.
    pub(crate) fn available(&self, now: u64, tokens: u64) -> Verdict {
        let (early, late) = self.span(now);
        let (least, most) = (self.model.tokens(&early), self.model.tokens(&late));
        if (&least..=&most).contains(&&BigInt::from(tokens)) {
            Ok(())
        } else {
            Err(format!("available at {now}: {tokens}, exactly {}", self.model.tokens(&clamp(now))))
        }
    }

    /// Gives back what the implementation did; there is no answer to judge.
    pub(crate) fn refunded(&mut self, n: u64, now: u64) {
        let at = clamp(now);
        let brim = self.model.is_full_with(n, &(&at - self.slack));
        self.burst_at = (brim || self.is_burst(now)).then_some(now);
        self.model.refund(n, &at);
        self.latest.refunded(n, &at);
    }

    /// Judges what a debit charged, and charges it.
    pub(crate) fn debited(&mut self, n: u64, now: u64, charged: u64) -> Verdict {
        let (early, late) = self.span(now);
        let bound = |room: BigInt| room.min(BigInt::from(n));
        let (least, most) = (bound(self.model.debit_room(&early)), bound(self.model.debit_room(&late)));
        if !(&least..=&most).contains(&&BigInt::from(charged)) {
            let exact = bound(self.model.debit_room(&clamp(now)));
            return Err(format!("debit {n} at {now}: charged {charged}, exactly {exact}"));
        }
        if charged > 0 {
            self.burst_at = self.is_burst(now).then_some(now);
            self.model.spend(charged, &clamp(now));
            self.latest.debited(charged, &clamp(now));
        }
        Ok(())
    }

    /// The instants between which an answer at `now` may have been given.
    fn span(&self, now: u64) -> (BigInt, BigInt) {
        let slack = if self.is_burst(now) { 0 } else { self.slack };
        (clamp(now) - slack, clamp(now) + slack)
    }

    /// Whether the bucket was full at this instant, beyond doubt, and has changed only at this instant since.
    fn is_burst(&self, now: u64) -> bool {
        self.burst_at == Some(now) || self.model.is_full_with(0, &(clamp(now) - self.slack))
    }

    /// Waits may be off by the slack even in a burst: where the refill falls between two nanoseconds, it rounds.
    fn is_right_wait(&self, n: u64, now: u64, wait: u64) -> bool {
        let first = self.model.first(n);
        if wait == u64::MAX {
            return first + self.slack > BigInt::from(HORIZON);
        }
        let promised = BigInt::from(now) + wait;
        let exact = first.max(BigInt::from(now));
        wait > 0
            && promised <= BigInt::from(HORIZON)
            && promised <= &exact + self.slack
            && promised >= exact - self.slack
    }
}

/// Past the horizon time stands still.
fn clamp(now: u64) -> BigInt {
    BigInt::from(now.min(HORIZON))
}

fn small(number: &BigInt) -> u64 {
    u64::try_from(number).expect("an answer fits in 64 bits")
}
