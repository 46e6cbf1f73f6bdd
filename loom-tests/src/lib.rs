//! Models of the compare-and-swap loop, run under loom.
//!
//! ```sh
//! ci/loom                          # all of them
//! ADMITTANCE_LOOM_LONG=1 ci/loom   # without bounds where a model has one
//! LOOM_MAX_PREEMPTIONS=3 ci/loom   # your own bound, for all of them
//! ```
//!
//! Without `--cfg admittance_loom` there is nothing here to run: the models need loom's atomics under the crate.
//!
//! # A model is worth what it refutes
//!
//! Every model is generic over [`Limiter`] and runs on the crate's own [`AtomicWord`](admittance::AtomicWord). It then runs
//! on loops that are broken on purpose ([`mutant`]) and must *fail* there: a test that passes on a broken loop says nothing
//! about a whole one. And every model must have seen more than one outcome: one that explores nothing fails ([`check`]).
//!
//! # What loom does not see
//!
//! Spurious failures of the weak compare-and-swap, and load buffering. For those there are Miri (`ci/miri`) and the
//! stress tests under ThreadSanitizer (`ci/tsan`).
#![cfg_attr(not(admittance_loom), allow(rustdoc::broken_intra_doc_links, reason = "the modules need the cfg"))]

#[cfg(admittance_loom)]
mod explore;
#[cfg(admittance_loom)]
mod limiter;
#[cfg(admittance_loom)]
pub mod mutant;

#[cfg(admittance_loom)]
pub use explore::{check, refutes};
#[cfg(admittance_loom)]
pub use limiter::Limiter;
