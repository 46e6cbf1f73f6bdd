//! One key's state under the limit, and what is told of it.

use crate::bucket::Word;
use crate::bucket::step::{self, Step};
use crate::decision::Decision;
use crate::rule::Rule;
use crate::window::step as window_step;

/// A decision as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Admitted, with so many whole tokens left.
    Admitted {
        /// Whole tokens left.
        remaining: u64,
    },
    /// Denied, and it would pass after this wait.
    Denied {
        /// Nanoseconds, rounded up; `u64::MAX` where that is more than a limiter's horizon of 36 years.
        retry_after_ns: u64,
    },
    /// The cost is above what the limit ever holds.
    Never,
}

impl From<Decision> for Outcome {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Admitted(permit) => Self::Admitted { remaining: permit.remaining() },
            Decision::Denied(denial) => Self::Denied { retry_after_ns: denial.retry_after_nanos() },
            Decision::Never => Self::Never,
        }
    }
}

/// How far from its epoch a key's time may be before the epoch is moved: half the horizon.
const FAR: u64 = 1 << 59;

/// One key's limiter.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// Where its time starts, in nanoseconds since 1970.
    epoch: u64,
    /// The latest line of this key.
    latest: u64,
    word: Word,
}

impl State {
    /// A full bucket at the key's first line.
    pub(super) fn new(first: u64, rule: &Rule) -> Self {
        let epoch = match rule {
            Rule::TokenBucket(_) => first,
            Rule::FixedWindow(window) => first - first % window.nanos(),
        };
        Self { epoch, latest: first, word: Word::FULL }
    }

    /// Decides a line. One that is earlier than the latest is decided at the latest, and that is said.
    pub(super) fn decide(&mut self, time: u64, cost: u64, rule: &Rule) -> (Outcome, bool) {
        let late = time < self.latest;
        self.latest = self.latest.max(time);
        if self.latest - self.epoch >= FAR {
            self.move_epoch(rule);
        }
        let step = self.step(cost, rule);
        if let Step::Spend { next, .. } = step {
            self.word = next;
        }
        let mut outcome = step.decision().into();
        if outcome == (Outcome::Denied { retry_after_ns: u64::MAX }) {
            // The wait ends past the horizon of this epoch, and perhaps not past that of one that begins now. A look from
            // there, no more: moving for good would cost a scaled budget a tick each time.
            let mut moved = *self;
            moved.move_epoch(rule);
            outcome = moved.step(cost, rule).decision().into();
        }
        (outcome, late)
    }

    /// The latest line's time, at which the next one is decided if it is earlier.
    pub(super) const fn latest(&self) -> u64 {
        self.latest
    }

    /// Whole tokens there at a time that is not before the latest line's.
    pub(super) fn level(&self, time: u64, rule: &Rule) -> u64 {
        rule.available(self.word, (time - self.epoch).min(crate::budget::HORIZON))
    }

    /// From when on, in nanoseconds since 1970, its bucket is full if nothing more comes: no earlier than the latest line.
    pub(super) fn full_at(&self, rule: &Rule) -> u64 {
        self.epoch.saturating_add(rule.full_at(self.word, self.latest - self.epoch))
    }

    fn step(&self, cost: u64, rule: &Rule) -> Step {
        rule.acquire(self.word, cost, self.latest - self.epoch)
    }

    /// Starts time anew, so that a log may span more than a limiter's horizon.
    #[cold]
    fn move_epoch(&mut self, rule: &Rule) {
        let by = self.latest - self.epoch;
        match rule {
            Rule::TokenBucket(budget) => {
                self.word = step::rebase(self.word, by, budget);
                self.epoch = self.latest;
            }
            Rule::FixedWindow(window) => {
                let windows = by / window.nanos();
                self.word = window_step::rebase(self.word, windows, window);
                self.epoch += windows * window.nanos();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::budget::Budget;
    use crate::window::Window;

    const YEAR: u64 = 365 * 86_400 * 1_000_000_000;

    fn bucket(capacity: u64, tokens: u64, nanos: u64) -> Rule {
        Rule::TokenBucket(Budget::new(capacity, tokens, Duration::from_nanos(nanos)).unwrap())
    }

    #[test]
    fn a_bucket_outlives_its_horizon_without_losing_a_nanosecond() {
        let rule = bucket(1, 1, 7 * YEAR);
        let mut state = State::new(0, &rule);
        assert_eq!(state.decide(0, 1, &rule).0, Outcome::Admitted { remaining: 0 });
        for time in (1..=70).map(|number| number * 7 * YEAR) {
            assert_eq!(state.decide(time - 1, 1, &rule).0, Outcome::Denied { retry_after_ns: 1 });
            assert_eq!(state.decide(time, 1, &rule).0, Outcome::Admitted { remaining: 0 });
        }
    }

    #[test]
    fn a_wait_past_the_first_lines_horizon_is_told() {
        let rule = bucket(1, 1, 30 * YEAR);
        let mut state = State::new(0, &rule);
        assert_eq!(state.decide(0, 0, &rule).0, Outcome::Admitted { remaining: 1 });
        assert_eq!(state.decide(10 * YEAR, 1, &rule).0, Outcome::Admitted { remaining: 0 });
        assert_eq!(state.decide(11 * YEAR, 1, &rule).0, Outcome::Denied { retry_after_ns: 29 * YEAR });
        assert_eq!(state.decide(40 * YEAR, 1, &rule).0, Outcome::Admitted { remaining: 0 });
        // No epoch reaches this far.
        let rule = bucket(1, 1, 100 * YEAR);
        let mut state = State::new(0, &rule);
        assert_eq!(state.decide(0, 1, &rule).0, Outcome::Admitted { remaining: 0 });
        assert_eq!(state.decide(YEAR, 1, &rule).0, Outcome::Denied { retry_after_ns: u64::MAX });
    }

    #[test]
    fn windows_are_aligned_to_1970_wherever_a_key_begins_and_however_long_it_lasts() {
        let second = 1_000_000_000;
        let rule = Rule::FixedWindow(Window::new(1, Duration::from_secs(10)).unwrap());
        let mut state = State::new(1_431_857_103 * second, &rule);
        for year in [0, 1, 19, 20, 40, 400] {
            let begin = 1_431_857_100 * second + year * YEAR;
            assert_eq!(state.decide(begin + 3 * second, 1, &rule).0, Outcome::Admitted { remaining: 0 });
            assert_eq!(state.decide(begin + 4 * second, 1, &rule).0, Outcome::Denied { retry_after_ns: 6 * second });
            assert_eq!(state.decide(begin + 10 * second - 1, 1, &rule).0, Outcome::Denied { retry_after_ns: 1 });
            assert_eq!(state.decide(begin + 10 * second, 1, &rule).0, Outcome::Admitted { remaining: 0 });
        }
        // A window as long as there can be.
        let length = crate::budget::HORIZON;
        let rule = Rule::FixedWindow(Window::new(1, Duration::from_nanos(length)).unwrap());
        let mut state = State::new(length - 1, &rule);
        for time in [length - 1, length, 2 * length, 3 * length, 15 * length] {
            assert_eq!(state.decide(time, 1, &rule).0, Outcome::Admitted { remaining: 0 });
            assert_eq!(state.decide(time, 1, &rule).0, Outcome::Denied { retry_after_ns: length - time % length });
        }
    }

    #[test]
    fn a_line_from_before_the_keys_latest_is_decided_at_the_latest() {
        let rule = bucket(1, 1, 1_000);
        let mut state = State::new(5_000, &rule);
        assert_eq!(state.decide(5_000, 1, &rule), (Outcome::Admitted { remaining: 0 }, false));
        assert_eq!(state.decide(5_600, 1, &rule), (Outcome::Denied { retry_after_ns: 400 }, false));
        assert_eq!(state.decide(0, 1, &rule), (Outcome::Denied { retry_after_ns: 400 }, true));
        assert_eq!(state.decide(5_600, 1, &rule), (Outcome::Denied { retry_after_ns: 400 }, false));
        assert_eq!(state.decide(6_000, 1, &rule), (Outcome::Admitted { remaining: 0 }, false));
    }
}
