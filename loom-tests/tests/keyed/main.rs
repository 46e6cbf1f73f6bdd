//! Tables of keys (`src/keyed`): one bucket a key, whose slot may change hands and whose terms may change under its callers.
#![cfg(admittance_loom)]

mod hands;
mod meet;
mod support;
mod terms;
