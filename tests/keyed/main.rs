//! A budget per key, through the public API.

mod flood;
mod overflow;
mod random;
mod room;
mod stress;
mod tiers;
mod usage;

use std::time::Duration;

use admittance::{Budget, Keyed, ManualClock, Overflow, Rule};

/// A table of `u64` keys on a clock that stands where it is put, with a seed that is always the same.
fn table(rule: impl Into<Rule>, max_keys: usize, overflow: Overflow, clock: &ManualClock) -> Keyed<u64, &ManualClock> {
    Keyed::builder(rule, max_keys, overflow).seed(7).build_with_clock(clock).expect("a plain table")
}

/// At most `capacity` tokens, and one more a second.
fn a_second_each(capacity: u64) -> Budget {
    Budget::new(capacity, 1, Duration::from_secs(1)).expect("a plain budget")
}
