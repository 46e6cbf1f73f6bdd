//! What a decision costs, measured so that the numbers can be trusted.
//!
//! | file | holds |
//! |---|---|
//! | [`limiter`] | the one adapter trait, behind which this crate, its floor and its peers stand alike |
//! | [`plan`] | the budgets under measurement, and what share of the calls they must admit |
//! | [`contenders`] | the adapters, one file each |
//! | [`crew`] | the timed loop: one thread, or several that start together and each keep their own time |
//! | [`seat`] | threads kept on cores of their own, and the time they had there |
//! | [`stats`] | medians and quartiles |
//! | [`machine`] | processor, compiler and commit: what a number is worth nothing without |
//!
//! The criterion benches are in `benches/`, the ratios of one run in `src/bin/compare`. `README.md` says what each number
//! means.

pub mod contenders;
pub mod crew;
pub mod limiter;
pub mod machine;
pub mod plan;
pub mod seat;
pub mod stats;
