//! Tables of keys, through the public API.
#![cfg(feature = "std")]

mod stress;
