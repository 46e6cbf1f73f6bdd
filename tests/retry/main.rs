//! The retry planner, through the public API.
#![cfg(feature = "retry")]

mod budget;
mod fields;
mod gate;
mod plan;
mod random;
mod safety;
mod schedule;
mod support;
mod usage;
mod vectors;
