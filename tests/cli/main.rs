//! The `admittance` program, run as people run it.
#![cfg(feature = "cli")]

mod decisions;
mod failures;
mod fit;
mod formats;
mod generate;
mod policy;
mod program;
mod report;
mod retry;
mod store;
mod summary;
mod usage;
mod vectors;
