//! Beyond yes and no: leases, waits, several limits at once.

use admittance::TscClock;
use admittance_benches::contenders::{BothOf, Leased, TwoCalls};
#[cfg(feature = "peers")]
use admittance_benches::contenders::{Governor, GovernorWaiting, Waiting};
use admittance_benches::plan::Plan;

use super::{Row, Target};
use crate::duel::{Of, duel};

/// An admission from a lease of 64, in nanoseconds and not as a ratio. Measured beside an admission from the bucket.
pub(crate) const LEASE: Row = Row {
    key: "lease_ns_per_admit",
    about: "nanoseconds of an admission from a lease of 64 on one thread (a time, not a ratio)",
    target: Some(Target::AtMost(2.0)),
    measure: |effort| duel::<Leased<TscClock>, Leased<TscClock>>(Of::Nanos, &Plan::STOCK, [1, 1], effort),
};

/// Two threads with a lease each on one bucket, over governor's two threads.
#[cfg(feature = "peers")]
pub(crate) const LEASE_CONTENDED: Row = Row {
    key: "lease_contended_throughput_vs_governor",
    about: "admissions per second of two threads with leases on one bucket, over governor's two threads",
    target: Some(Target::AtLeast(10.0)),
    measure: |effort| duel::<Leased<TscClock>, Governor>(Of::Throughput, &Plan::STOCK, [2, 2], effort),
};

/// A wait that need not wait.
#[cfg(feature = "peers")]
pub(crate) const WAIT: Row = Row {
    key: "wait_uncontended_vs_governor",
    about: "time of a wait that is ready at once, over governor's",
    target: None,
    measure: |effort| duel::<Waiting, GovernorWaiting>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

/// All of two buckets, over asking one and then the other.
pub(crate) const ALL_OF_TWO: Row = Row {
    key: "all_of_two_vs_two_calls",
    about: "time of an admission by all of two buckets, over two calls that are not all or nothing",
    target: None,
    measure: |effort| duel::<BothOf, TwoCalls>(Of::Time, &Plan::STOCK, [1, 1], effort),
};
