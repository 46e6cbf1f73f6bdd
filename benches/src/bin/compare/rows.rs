//! The ratios there are. A new one is a line here and a function in the file of its family.

mod floor;
mod hot;
mod keyed;
#[cfg(feature = "replay")]
pub(crate) mod replay;
#[cfg(feature = "store")]
pub(crate) mod store;
mod threads;

#[cfg(feature = "peers")]
mod coarse;
#[cfg(feature = "peers")]
mod front;
#[cfg(feature = "peers")]
mod governor;

use crate::duel::{Effort, Outcome};

/// One ratio.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its name in the JSON object.
    pub(crate) key: &'static str,
    /// What it is, in a line.
    pub(crate) about: &'static str,
    /// What DESIGN.md asks of it, if anything.
    pub(crate) target: Option<Target>,
    /// Measures it.
    pub(crate) measure: fn(Effort) -> Outcome,
}

/// What a ratio must reach.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// It may be this and no more.
    AtMost(f64),
    /// It must be this or more.
    AtLeast(f64),
}

/// In the order in which they run: memory is looked at before anything else has taken some, and those that start a clock's thread are last, so that it disturbs none of the others.
#[cfg(feature = "peers")]
pub(crate) const ROWS: &[Row] = &[
    keyed::BYTES,
    floor::NOISE,
    floor::ADMIT,
    floor::ADMIT_QUANTA,
    floor::ADMIT_FULL,
    floor::DENY,
    governor::ADMIT,
    governor::ADMIT_FULL,
    governor::DENY,
    governor::CONTENDED,
    governor::CONTENDED_FULL,
    threads::DENY,
    threads::CLOCK,
    hot::LEASE,
    hot::LEASE_CONTENDED,
    hot::WAIT,
    hot::ALL_OF_TWO,
    keyed::MANY_VS_GOVERNOR,
    keyed::FEW_VS_GOVERNOR,
    keyed::TEXT_VS_GOVERNOR,
    keyed::MANY_VS_DASHMAP,
    keyed::MANY_VS_PAPAYA,
    keyed::MANY_VS_STILL,
    keyed::TWO_THREADS,
    keyed::BATCH,
    keyed::BATCH_FEW,
    front::LAYER,
    front::FIELDS,
    front::LOOPBACK,
    front::LOOPBACK_BARE,
    coarse::VS_DEFAULT,
    coarse::VS_UPKEEP,
    keyed::MANY_COARSE,
];

/// The ratios that need no peer.
#[cfg(not(feature = "peers"))]
pub(crate) const ROWS: &[Row] = &[
    keyed::BYTES,
    floor::NOISE,
    floor::ADMIT,
    floor::ADMIT_QUANTA,
    floor::ADMIT_FULL,
    floor::DENY,
    threads::DENY,
    threads::CLOCK,
    hot::LEASE,
    hot::ALL_OF_TWO,
    keyed::MANY_VS_STILL,
    keyed::TWO_THREADS,
    keyed::BATCH,
    keyed::BATCH_FEW,
];
