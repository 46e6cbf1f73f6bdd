//! One key's peak demand: how large a capacity would have denied it nothing.
//!
//! A bucket whose capacity has no end admits everything. What is missing from it, its backlog, grows by each cost and
//! shrinks as tokens come back; the largest backlog ever is the smallest capacity that would have sufficed. (In traffic
//! theory: the burst of the key's token-bucket envelope at this refill.) For a window it is the largest sum of a window.

use crate::rule::Rule;

/// What one key asked for, told apart from what it got.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    /// Not refilled yet at `latest`: for a bucket in units of a token by the refill's duration; for a window in tokens.
    backlog: u128,
    peak: u128,
    latest: u64,
}

impl Demand {
    /// Counts a line. One that is earlier than the latest counts at the latest, as it is decided there.
    pub(super) fn note(&mut self, time: u64, cost: u64, rule: &Rule) {
        let time = time.max(self.latest);
        match rule {
            Rule::TokenBucket(budget) => {
                let (tokens, nanos) = refill(budget);
                // At most 2^64 · 2^64. The sums saturate: a demand beyond 2^128 is beyond every capacity too.
                self.backlog = self.backlog.saturating_sub(u128::from(time - self.latest) * tokens);
                self.backlog = self.backlog.saturating_add(u128::from(cost) * nanos);
            }
            Rule::FixedWindow(window) => {
                if time / window.nanos() != self.latest / window.nanos() {
                    self.backlog = 0;
                }
                self.backlog = self.backlog.saturating_add(u128::from(cost));
            }
        }
        self.peak = self.peak.max(self.backlog);
        self.latest = time;
    }

    /// The smallest capacity (or limit of a window) that denies it nothing, in tokens; `u64::MAX` where none is as large.
    pub(super) fn capacity(&self, rule: &Rule) -> u64 {
        let unit = match rule {
            Rule::TokenBucket(budget) => refill(budget).1,
            Rule::FixedWindow(_) => 1,
        };
        u64::try_from(self.peak.div_ceil(unit)).unwrap_or(u64::MAX)
    }
}

/// Tokens, and the nanoseconds in which they come back.
fn refill(budget: &crate::Budget) -> (u128, u128) {
    // A budget has no duration longer than its horizon, nor of nothing.
    (budget.refill_tokens().into(), budget.refill_duration().as_nanos())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::replay::rule::{Outcome, State};
    use crate::{Budget, Window};

    fn peak(lines: &[(u64, u64)], rule: &Rule) -> u64 {
        let mut demand = Demand::default();
        for &(time, cost) in lines {
            demand.note(time, cost, rule);
        }
        demand.capacity(rule)
    }

    fn all_admitted(lines: &[(u64, u64)], rule: &Rule) -> bool {
        let mut state = State::new(lines[0].0, rule);
        lines.iter().all(|&(time, cost)| matches!(state.decide(time, cost, rule).0, Outcome::Admitted { .. }))
    }

    #[test]
    fn a_burst_is_its_size_and_what_refills_meanwhile_is_not_missing() {
        let rule = Rule::TokenBucket(Budget::new(1, 1, Duration::from_nanos(10)).unwrap());
        assert_eq!(peak(&[(100, 1), (100, 1), (100, 1)], &rule), 3);
        assert_eq!(peak(&[(100, 1), (110, 1), (120, 1)], &rule), 1);
        // A nanosecond too early is a whole token more.
        assert_eq!(peak(&[(100, 1), (109, 1)], &rule), 2);
        let rule = Rule::FixedWindow(Window::new(1, Duration::from_nanos(10)).unwrap());
        assert_eq!(peak(&[(105, 2), (109, 2), (110, 3)], &rule), 4);
    }

    proptest! {
        #[test]
        fn the_peak_is_the_smallest_capacity_that_denies_nothing(
            lines in prop::collection::vec((0_u64..2_000, 0_u64..9), 1..40),
            tokens in 1_u64..5, nanos in 50_u64..150, is_window: bool,
        ) {
            let rule = |capacity| if is_window {
                Rule::FixedWindow(Window::new(capacity, Duration::from_nanos(nanos)).unwrap())
            } else {
                Rule::TokenBucket(Budget::new(capacity, tokens, Duration::from_nanos(nanos)).unwrap())
            };
            let enough = peak(&lines, &rule(1)).max(1);
            prop_assert!(all_admitted(&lines, &rule(enough)));
            prop_assert!(enough == 1 || !all_admitted(&lines, &rule(enough - 1)));
        }
    }
}
