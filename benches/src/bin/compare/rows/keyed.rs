//! A bucket a key.

#[cfg(feature = "peers")]
use admittance::CoarseClock;
use admittance::ManualClock;
use admittance_benches::contenders::crowd::{Batches, Crowd, FEW, MANY, Ours};
#[cfg(feature = "peers")]
use admittance_benches::contenders::crowd::{GovernorKeyed, OursText, WordsInDashmap, WordsInPapaya};
use admittance_benches::plan::Plan;

use super::{Row, Target};
use crate::duel::{Of, duel};
use crate::resident;

#[cfg(feature = "peers")]
pub(crate) const MANY_VS_GOVERNOR: Row = Row {
    key: "keyed_1m_vs_governor_dashmap",
    about: "time of an admission among a million u64 keys, over governor's on DashMap",
    target: Some(Target::AtMost(0.40)),
    measure: |effort| duel::<Crowd<Ours, MANY>, Crowd<GovernorKeyed, MANY>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

#[cfg(feature = "peers")]
pub(crate) const FEW_VS_GOVERNOR: Row = Row {
    key: "keyed_1k_vs_governor_dashmap",
    about: "time of an admission among a thousand u64 keys, over governor's on DashMap",
    target: Some(Target::AtMost(0.75)),
    measure: |effort| duel::<Crowd<Ours, FEW>, Crowd<GovernorKeyed, FEW>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

#[cfg(feature = "peers")]
pub(crate) const TEXT_VS_GOVERNOR: Row = Row {
    key: "keyed_string_1m_vs_governor_dashmap",
    about: "time of an admission among a million keys of sixteen characters, over governor's on DashMap",
    target: None,
    measure: |effort| {
        duel::<Crowd<OursText, MANY>, Crowd<GovernorKeyed<[u8; 16]>, MANY>>(Of::Time, &Plan::STOCK, [1, 1], effort)
    },
};

#[cfg(feature = "peers")]
pub(crate) const MANY_VS_DASHMAP: Row = Row {
    key: "keyed_1m_vs_words_in_dashmap",
    about: "time of an admission among a million keys, over this crate's words in a DashMap",
    target: None,
    measure: |effort| duel::<Crowd<Ours, MANY>, Crowd<WordsInDashmap, MANY>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

#[cfg(feature = "peers")]
pub(crate) const MANY_VS_PAPAYA: Row = Row {
    key: "keyed_1m_vs_words_in_papaya",
    about: "time of an admission among a million keys, over this crate's words in papaya's map",
    target: None,
    measure: |effort| duel::<Crowd<Ours, MANY>, Crowd<WordsInPapaya, MANY>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

#[cfg(feature = "peers")]
pub(crate) const MANY_COARSE: Row = Row {
    key: "keyed_1m_coarse_vs_governor_dashmap",
    about: "time of an admission among a million u64 keys on the coarse clock, over governor's on its default clock",
    target: None,
    measure: |effort| {
        duel::<Crowd<Ours<CoarseClock>, MANY>, Crowd<GovernorKeyed, MANY>>(Of::Time, &Plan::STOCK, [1, 1], effort)
    },
};

/// More than a reading of the clock costs, where the counter waits for what is under way: then misses do not overlap.
pub(crate) const MANY_VS_STILL: Row = Row {
    key: "keyed_1m_vs_no_clock",
    about: "time of an admission among a million u64 keys, over the same on a clock that stands still",
    target: None,
    measure: |effort| duel::<Crowd<Ours, MANY>, Crowd<Ours<ManualClock>, MANY>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

pub(crate) const TWO_THREADS: Row = Row {
    key: "keyed_2_threads_vs_1",
    about: "admissions per second among a million keys on two threads, over one",
    target: None,
    measure: |effort| duel::<Crowd<Ours, MANY>, Crowd<Ours, MANY>>(Of::Throughput, &Plan::STOCK, [2, 1], effort),
};

pub(crate) const BATCH: Row = Row {
    key: "keyed_check_many_vs_check",
    about: "time of an admission among a million keys, 64 at a time, over one at a time",
    target: None,
    measure: |effort| duel::<Batches<Ours, MANY>, Crowd<Ours, MANY>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

pub(crate) const BATCH_FEW: Row = Row {
    key: "keyed_1k_check_many_vs_check",
    about: "time of an admission among a thousand keys, 64 at a time, over one at a time",
    target: None,
    measure: |effort| duel::<Batches<Ours, FEW>, Crowd<Ours, FEW>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

/// Not a ratio, and not a time.
pub(crate) const BYTES: Row = Row {
    key: "keyed_bytes_per_key",
    about: "bytes of resident memory a key, a million u64 keys (the other side is governor's, where it is compiled in)",
    target: Some(Target::AtMost(32.0)),
    measure: |_| {
        #[cfg(feature = "peers")]
        return resident::compare::<Ours, GovernorKeyed>(MANY);
        #[cfg(not(feature = "peers"))]
        resident::compare::<Ours, Ours>(MANY)
    },
};
