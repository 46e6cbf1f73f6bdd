//! The `admittance` program, run as people run it.
#![cfg(feature = "cli")]

mod decisions;
mod failures;
mod fit;
mod formats;
mod generate;
mod numbers;
mod outputs;
mod policy;
mod program;
#[cfg(unix)]
mod progress;
mod report;
mod retry;
mod shell;
mod store;
mod summary;
#[cfg(unix)]
mod terminal;
mod unread;
mod usage;
mod vectors;
mod watch;
#[cfg(unix)]
mod watch_screen;
