//! What is kept of a key beside its sums: nothing, or what a report tells of it.

use super::demand::Demand;
use super::rule::Outcome;
use crate::rule::Rule;

/// What is kept of each key.
pub(super) trait Detail: Default + Send + Sync {
    /// Notes a line that was decided at `time`.
    fn note(&mut self, time: u64, cost: u64, outcome: Outcome, rule: &Rule);
}

/// Nothing: sums alone.
impl Detail for () {
    fn note(&mut self, _: u64, _: u64, _: Outcome, _: &Rule) {}
}

/// What a report tells of a key.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) demand: Demand,
    /// Only where it was refused: most keys never are.
    pub(super) held: Option<Box<Held>>,
}

/// When a key was refused, and held at its limit: from a denial to the instant at which it would have passed.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) first: u64,
    pub(super) last: u64,
    /// Stretches without a gap; none where costs were above what the limit ever holds, and no other was denied.
    pub(super) spells: u64,
    /// Their lengths together.
    pub(super) total: u64,
    /// When the longest of them began, and when it ended; of equal ones the first.
    pub(super) longest: (u64, u64),
    /// When the stretch at hand began, and when it ends.
    spell: (u64, u64),
}

impl Detail for History {
    fn note(&mut self, time: u64, cost: u64, outcome: Outcome, rule: &Rule) {
        self.demand.note(time, cost, rule);
        let until = match outcome {
            Outcome::Admitted { .. } => return,
            Outcome::Denied { retry_after_ns } => Some(time.saturating_add(retry_after_ns)),
            // No wait would help: it is refused, and is not held.
            Outcome::Never => None,
        };
        let held = self.held.get_or_insert_with(|| Box::new(Held::new(time)));
        held.last = held.last.max(time);
        if let Some(until) = until {
            held.note(time, until);
        }
    }
}

impl Held {
    fn new(time: u64) -> Self {
        Self { first: time, last: time, spells: 0, total: 0, longest: (time, time), spell: (time, time) }
    }

    fn note(&mut self, time: u64, until: u64) {
        let (begin, end) = self.spell;
        if self.spells == 0 || time > end {
            self.spells += 1;
            self.total = self.total.saturating_add(until - time);
            self.spell = (time, until);
        } else {
            // A smaller cost may pass earlier than what was asked before.
            self.total = self.total.saturating_add(until.saturating_sub(end));
            self.spell = (begin, end.max(until));
        }
        let length = |(begin, end): (u64, u64)| end - begin;
        if length(self.spell) > length(self.longest) {
            self.longest = self.spell;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Budget;

    #[test]
    fn time_at_the_limit_is_counted_once_however_often_it_was_asked() {
        let rule = Rule::TokenBucket(Budget::new(1, 1, Duration::from_nanos(10)).unwrap());
        let mut history = History::default();
        let mut denied = |time, wait| history.note(time, 1, Outcome::Denied { retry_after_ns: wait }, &rule);
        denied(100, 10);
        denied(104, 6);
        denied(104, 2);
        // Asked for more: longer.
        denied(105, 8);
        // From the end of the last one on.
        denied(113, 1);
        denied(200, 5);
        history.note(300, 1, Outcome::Admitted { remaining: 0 }, &rule);
        history.note(301, 9, Outcome::Never, &rule);
        let held = history.held.unwrap();
        assert_eq!((held.first, held.last, held.spells, held.total), (100, 301, 2, 14 + 5));
        assert_eq!(held.longest, (100, 114));
    }

    #[test]
    fn what_is_never_admitted_is_refused_and_not_held() {
        let rule = Rule::TokenBucket(Budget::new(1, 1, Duration::from_nanos(10)).unwrap());
        let mut history = History::default();
        history.note(100, 9, Outcome::Never, &rule);
        let held = history.held.as_deref().unwrap();
        assert_eq!((held.first, held.last, held.spells, held.total, held.longest), (100, 100, 0, 0, (100, 100)));
        // A denial at the same instant is a stretch all the same.
        history.note(100, 1, Outcome::Denied { retry_after_ns: 7 }, &rule);
        let held = history.held.unwrap();
        assert_eq!((held.first, held.last, held.spells, held.total, held.longest), (100, 100, 1, 7, (100, 107)));
    }
}
