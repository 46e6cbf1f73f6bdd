//! Against governor on its default clock, quanta's.

use admittance::TscClock;
use admittance_benches::contenders::{Governor, Ours};
use admittance_benches::plan::Plan;

use super::{Row, Target};
use crate::duel::{Of, duel};

type Precise = Ours<TscClock>;

/// An admission on one thread.
pub(crate) const ADMIT: Row = Row {
    key: "admit_vs_governor",
    about: "time of an admission, over governor's",
    target: Some(Target::AtMost(1.0)),
    measure: |effort| duel::<Precise, Governor>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

/// The same for a bucket that is full each time.
pub(crate) const ADMIT_FULL: Row = Row {
    key: "admit_full_vs_governor",
    about: "the same, from a bucket that is full at each call",
    target: None,
    measure: |effort| duel::<Precise, Governor>(Of::Time, &Plan::FULL, [1, 1], effort),
};

/// A denial on one thread.
pub(crate) const DENY: Row = Row {
    key: "deny_vs_governor",
    about: "time of a denial, over governor's",
    target: None,
    measure: |effort| duel::<Precise, Governor>(Of::Time, &Plan::DENY, [1, 1], effort),
};

/// An admission while another thread takes from the same bucket.
pub(crate) const CONTENDED: Row = Row {
    key: "contended_admit_vs_governor",
    about: "time of an admission with two threads on one bucket, over governor's",
    target: None,
    measure: |effort| duel::<Precise, Governor>(Of::Time, &Plan::STOCK, [2, 2], effort),
};

/// The same for a bucket that is full each time.
pub(crate) const CONTENDED_FULL: Row = Row {
    key: "contended_admit_full_vs_governor",
    about: "the same, from a bucket that is full at each call",
    target: None,
    measure: |effort| duel::<Precise, Governor>(Of::Time, &Plan::FULL, [2, 2], effort),
};
