//! The fixed window, kept as a table of what was spent in each.

use std::collections::BTreeMap;

use admittance::bucket::step::Step;
use admittance::bucket::{AtomicWord, Word};
use admittance::window::step;
use admittance::{FixedWindow, ManualClock, Window};

use super::follow::{Answer, Verdict};
use super::model::{HORIZON, nanos};

/// What was spent in each window. A caller whose clock is behind is counted in the latest window that was spent from.
#[derive(Clone, Debug)]
pub(crate) struct WindowModel {
    limit: u128,
    length: u128,
    spent: BTreeMap<u128, u128>,
}

impl WindowModel {
    pub(crate) fn new(limit: u64, length_nanos: u64) -> Self {
        Self { limit: limit.into(), length: length_nanos.into(), spent: BTreeMap::new() }
    }

    /// The exact answer, without spending.
    pub(crate) fn peek(&self, n: u64, now: u64) -> Answer {
        let n = u128::from(n);
        if n > self.limit {
            return Answer::Never;
        }
        let window = self.window(now);
        let spent = self.spent.get(&window).copied().unwrap_or(0);
        if n == 0 || spent + n <= self.limit {
            return Answer::Admitted(small(self.limit - spent - n));
        }
        let next = (window + 1) * self.length;
        Answer::Denied(if next > u128::from(HORIZON) { u64::MAX } else { small(next - u128::from(now)) })
    }

    /// The exact answer; what is admitted is spent.
    pub(crate) fn acquire(&mut self, n: u64, now: u64) -> Answer {
        let answer = self.peek(n, now);
        if matches!(answer, Answer::Admitted(_)) && n > 0 {
            *self.spent.entry(self.window(now)).or_default() += u128::from(n);
        }
        answer
    }

    fn window(&self, now: u64) -> u128 {
        let latest = self.spent.last_key_value().map_or(0, |(window, _)| *window);
        latest.max(u128::from(now.min(HORIZON)) / self.length)
    }
}

/// One call, or one move of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowOp {
    Acquire(u64),
    Peek(u64),
    Available,
    Advance(u64),
    StepBack(u64),
    /// To the next boundary of the windows, and as many nanoseconds from it.
    Boundary(i8),
}

/// Puts `ops` to the pure step and to the everyday type at once, and to the model.
pub(crate) fn drive_window(window: Window, start: u64, ops: &[WindowOp]) -> Verdict {
    let length = nanos(window.length());
    let clock = ManualClock::at(start);
    let limiter = FixedWindow::with_clock(window, &clock);
    let (atomic, mut word, mut now) = (AtomicWord::new(), Word::FULL, start);
    let mut model = WindowModel::new(window.limit(), length);
    for (index, &op) in ops.iter().enumerate() {
        match op {
            WindowOp::Advance(by) => now = now.saturating_add(by),
            WindowOp::StepBack(by) => now = now.saturating_sub(by),
            WindowOp::Boundary(off) => {
                let next = (now / length).saturating_add(1).saturating_mul(length);
                now = next.saturating_add_signed(off.into());
            }
            WindowOp::Acquire(_) | WindowOp::Peek(_) | WindowOp::Available => {}
        }
        clock.set(now);
        let (exact, answers) = match op {
            WindowOp::Acquire(n) => {
                let answer = step::acquire(word, n, now, &window);
                let before = word;
                if let Step::Spend { next, .. } = answer {
                    word = next;
                }
                let exact = model.acquire(n, now);
                if (n == 0 || !matches!(exact, Answer::Admitted(_))) && word != before {
                    return Err(format!("call {index}, {op:?} at {now}: spent nothing and changed the word"));
                }
                let apply = atomic.apply(|word| step::acquire(word, n, now, &window));
                (exact, [answer.decision(), apply, limiter.try_acquire(n)])
            }
            WindowOp::Peek(n) => {
                let decision = step::acquire(word, n, now, &window).decision();
                (model.peek(n, now), [decision, decision, limiter.peek(n)])
            }
            _ => {
                let left = limiter.available();
                if model.peek(0, now) != Answer::Admitted(left) {
                    return Err(format!("call {index}, {op:?} at {now} of {window:?}: {left} available"));
                }
                continue;
            }
        };
        if answers.iter().any(|answer| Answer::from(*answer) != exact) || word != atomic.load() {
            return Err(format!("call {index}, {op:?} at {now} of {window:?}: {answers:?}, exactly {exact:?}"));
        }
    }
    Ok(())
}

fn small(number: u128) -> u64 {
    u64::try_from(number).expect("an answer fits in 64 bits")
}
