//! Shared budgets, against real servers: each test starts its own, on a free port, and stops it.
//!
//! Needs `redis-server` (6.2 or later, or `valkey-server`) on the path, and its `redis-cli`; where it is not, it is installed with
//! apt-get, if that may be. `ADMITTANCE_REDIS_SERVER` in the environment names another program, as one of another version.
#![cfg(feature = "redis")]

mod alone;
mod batches;
mod blocking;
mod cluster;
mod denials;
mod faults;
mod keys;
mod leases;
mod processes;
mod script;
mod several;
mod support;
#[cfg(feature = "redis-tls")]
mod tls;
mod together;
mod vectors;
