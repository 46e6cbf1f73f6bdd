//! Against ourselves on fewer threads.

use admittance::TscClock;
use admittance_benches::contenders::Ours;
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
