//! What the crate is compared with: a bucket and a window kept naively, in big integers, and the judges that compare.
//!
//! Nothing here uses the crate's arithmetic, its word or its ticks. The property tests, the vector tests and the fuzz
//! targets (`fuzz/src`) share this module; there is no copy.
//!
//! | file | holds |
//! |---|---|
//! | `model.rs` | the exact bucket: a level in rationals and a time in nanoseconds |
//! | `follow.rs` | the judge: follows an implementation's decisions and says which of them the exact bucket would not give |
//! | `latest.rs` | the second judge: what a bucket at the latest time seen would give, for clocks that step back |
//! | `drive.rs` | a history of calls, put to every layer of the crate at once |
//! | `hot.rs` | the same for reservations, leases and changes of budget |
//! | `window.rs` | the same for the fixed window |
//! | `keyed.rs` | the same for a table of keys, by a map of words |
#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(unused_imports, reason = "each test binary uses its part")]

mod drive;
mod follow;
#[cfg(feature = "std")]
mod hot;
#[cfg(feature = "std")]
mod keyed;
mod latest;
mod model;
mod window;

pub(crate) use drive::{Op, drive};
pub(crate) use follow::{Answer, Follower, Verdict};
#[cfg(feature = "std")]
pub(crate) use hot::{HotOp, drive_hot};
#[cfg(feature = "std")]
pub(crate) use keyed::{KeyedOp, drive_keyed};
pub(crate) use model::{HORIZON, Model, nanos};
pub(crate) use window::{WindowModel, WindowOp, drive_window};
