//! Limits in front of services.
#![cfg(feature = "tower")]

mod axum;
mod hyper;
mod identities;
mod refusals;
mod several;
#[cfg(feature = "redis")]
mod shared;
mod support;
mod tonic;
mod waits;
