//! `admittance::replay` through its public API: what a line says, and what is decided of it.
#![cfg(feature = "replay")]

mod alb;
mod caddy;
mod combined;
mod compression;
mod engine;
mod fields;
mod fit;
mod identity;
mod inputs;
mod jsonl;
mod live;
mod merge;
mod nginx;
mod random;
mod report;
mod routes;
mod rules;
mod support;
