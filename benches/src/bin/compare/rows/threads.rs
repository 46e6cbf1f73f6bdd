//! Against ourselves on fewer threads.

use admittance::TscClock;
use admittance_benches::contenders::{ClockOnly, Ours};
use admittance_benches::plan::Plan;

use super::{Row, Target};
use crate::duel::{Of, duel};

/// A denial writes nothing, so two threads deny twice as much as one.
pub(crate) const DENY: Row = Row {
    key: "deny_2_threads_vs_1",
    about: "denials per second of two threads on one bucket, over those of one",
    target: Some(Target::AtLeast(1.8)),
    measure: |effort| duel::<Ours<TscClock>, Ours<TscClock>>(Of::Throughput, &Plan::DENY, [2, 1], effort),
};

/// What two threads are worth on this machine, for work that shares nothing. Where they are two halves of one core it is
/// less than 2, and [`DENY`] cannot be more.
pub(crate) const CLOCK: Row = Row {
    key: "clock_2_threads_vs_1",
    about: "clock readings per second of two threads, over those of one: the most that the line above can be",
    target: None,
    measure: |effort| duel::<ClockOnly, ClockOnly>(Of::Throughput, &Plan::DENY, [2, 1], effort),
};
