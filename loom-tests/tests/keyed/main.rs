//! Tables of keys (`src/keyed`): one bucket a key, whose slot may change hands and whose terms may change under its callers.
//!
//! | file | holds |
//! |---|---|
//! | `meet.rs` | newcomers: one bucket a key, one key a slot |
//! | `hands.rs` | a slot that changes hands under slow callers, once and back again |
//! | `terms.rs` | another tier, another rule |
//!
//! HEADER
//!
//! Cost: two or three preemptions at most (`ADMITTANCE_LOOM_LONG` takes the bound away: minutes, and some do not end); less
//! than half a minute together.
#![cfg(admittance_loom)]

mod hands;
mod meet;
mod support;
mod terms;
