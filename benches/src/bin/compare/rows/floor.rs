//! Against ourselves, and against what cannot be beaten.

use admittance::TscClock;
use admittance_benches::contenders::{ClockOnly, Floor, Ours, PlainQuanta};
use admittance_benches::plan::Plan;

use super::{Row, Target};
use crate::duel::{Of, duel};

type Precise = Ours<TscClock>;

/// How far from 1 two equals come out: what the machine's unrest is worth today.
pub(crate) const NOISE: Row = Row {
    key: "noise",
    about: "admittance over admittance: 1, or how far off this run is",
    target: None,
    measure: |effort| duel::<Precise, Precise>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

/// An admission over a clock reading and a compare-and-swap.
pub(crate) const ADMIT: Row = Row {
    key: "admit_vs_floor",
    about: "time of an admission, over a clock reading and a compare-and-swap",
    target: Some(Target::AtMost(1.15)),
    measure: |effort| duel::<Precise, Floor<TscClock>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

/// The same over quanta's own reading of the clock, which is dearer than this crate's.
pub(crate) const ADMIT_QUANTA: Row = Row {
    key: "admit_vs_quanta_floor",
    about: "time of an admission, over quanta's own clock reading and a compare-and-swap",
    target: None,
    measure: |effort| duel::<Precise, Floor<PlainQuanta>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

/// The same for a bucket that is full each time.
pub(crate) const ADMIT_FULL: Row = Row {
    key: "admit_full_vs_floor",
    about: "the same, from a bucket that is full at each call",
    target: None,
    measure: |effort| duel::<Precise, Floor<TscClock>>(Of::Time, &Plan::FULL, [1, 1], effort),
};

/// A denial over a clock reading: the decision alone.
pub(crate) const DENY: Row = Row {
    key: "deny_vs_clock",
    about: "time of a denial, over a clock reading",
    target: None,
    measure: |effort| duel::<Precise, ClockOnly>(Of::Time, &Plan::DENY, [1, 1], effort),
};
