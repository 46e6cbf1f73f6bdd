//! The second judge, for clocks that step back: a bucket that runs at the latest time anyone asked for tokens.
//!
//! The implementation must never give more than this one, and never hold anybody up for longer than the step.
//!
//! The latest time is that of calls which leave a trace: spends, denials, debits, refunds into a bucket that had room.
//! A look at a full bucket writes nothing, so it cannot hold time either.

use num_bigint::BigInt;

use super::follow::{Answer, Verdict};
use super::model::{HORIZON, Model};

#[derive(Clone, Debug)]
pub(super) struct Latest {
    model: Model,
    slack: u64,
    time: BigInt,
}

impl Latest {
    pub(super) fn new(model: Model, slack: u64) -> Self {
        Self { model, slack, time: BigInt::ZERO }
    }

    /// `at` is `now` within the horizon.
    pub(super) fn acquired(&mut self, n: u64, at: &BigInt, now: u64, answer: Answer) -> Verdict {
        if n == 0 || answer == Answer::Never {
            return Ok(());
        }
        self.time = self.time.clone().max(at.clone());
        match answer {
            Answer::Admitted(_) if !self.model.passes(n, &(&self.time + self.slack)) => {
                return Err(format!("{n} at {now}: admitted, and at the latest time, {}, it was not there", self.time));
            }
            Answer::Admitted(_) => self.model.spend(n, &self.time),
            Answer::Denied(wait) => {
                let due = self.time.clone().max(self.model.first(n)) + self.slack;
                let held_up =
                    if wait == u64::MAX { due <= BigInt::from(HORIZON) } else { due < BigInt::from(now) + wait };
                if held_up {
                    return Err(format!("{n} at {now}: denied for {wait}, longer than the step: due at {due}"));
                }
            }
            Answer::Never => {}
        }
        Ok(())
    }

    pub(super) fn debited(&mut self, charged: u64, at: &BigInt) {
        self.time = self.time.clone().max(at.clone());
        self.model.spend(charged, &self.time);
    }

    pub(super) fn refunded(&mut self, n: u64, at: &BigInt) {
        if self.model.is_full_with(0, at) {
            return;
        }
        self.model.refund(n, at);
        // A refund behind the latest time can leave more than full at it, which no state of one word can remember:
        // from then on this refund's is the latest time.
        if *at >= self.time || self.model.is_full_with(0, &self.time) {
            self.time.clone_from(at);
        }
    }
}
