//! `admittance::replay` through its public API: what a line says, and what is decided of it.
#![cfg(feature = "replay")]

mod combined;
mod engine;
mod fit;
mod inputs;
mod jsonl;
mod random;
mod report;
mod rules;
mod support;
