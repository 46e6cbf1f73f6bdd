//! Budgets shared between processes.

mod cluster;
mod courier;
mod desk;
mod failure;
mod fallback;
mod inner;
mod key;
mod limiter;
mod limits;
mod link;
mod script;
mod store;
mod terms;
mod trial;
mod verdict;

pub use failure::{FailureKind, StoreFailure};
pub use limiter::{SharedLimiter, SharedStats, SharedTier};
pub use limits::SharedError;
pub use store::Store;
pub use terms::InexactError;
pub use trial::{Trial, Trying};
pub use verdict::{DecidedBy, SharedVerdict};
