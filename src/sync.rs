//! The only file that names `core` or loom atomics; everything else imports from here.
//!
//! Under loom every load, store and compare-and-swap below becomes a point where the model checker may switch threads.
//! The gate needs the cfg `admittance_loom` *and* the feature `loom`, so that a stranger's `--cfg loom` flips nothing.

#[cfg(not(all(admittance_loom, feature = "loom")))]
mod imp {
    pub(crate) use core::sync::atomic::{AtomicU64, Ordering};

    /// Spins a little longer after each lost compare-and-swap.
    pub(crate) type Backoff = crossbeam_utils::Backoff;

    #[cfg(feature = "std")]
    pub(crate) use std::sync::{Mutex, MutexGuard};
}

#[cfg(all(admittance_loom, feature = "loom"))]
mod imp {
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};

    /// crossbeam's back-off spins on the real processor, which loom cannot see and need not: it changes when a retry
    /// happens, never what it finds.
    #[derive(Debug)]
    pub(crate) struct Backoff;

    impl Backoff {
        pub(crate) fn new() -> Self {
            Self
        }

        #[allow(clippy::unused_self, reason = "crossbeam's has one")]
        pub(crate) fn spin(&self) {}
    }

    #[cfg(feature = "std")]
    pub(crate) use loom::sync::{Mutex, MutexGuard};
}

pub(crate) use imp::{AtomicU64, Backoff, Ordering};

#[cfg(feature = "std")]
pub(crate) use imp::{Mutex, MutexGuard};
/// Marks a branch as one that is rarely taken or well predicted, so that it stays a branch.
///
/// The hot path is a chain from the clock to the compare-and-swap. A conditional move would add to that chain; a predicted
/// branch does not.
#[cold]
#[inline]
pub(crate) const fn unlikely() {}

/// Declares a constructor that is `const` everywhere but under loom, whose atomics have no `const fn new`.
macro_rules! const_unless_loom {
    ($(#[$attr:meta])* $vis:vis const fn $($rest:tt)*) => {
        #[cfg(not(all(admittance_loom, feature = "loom")))]
        $(#[$attr])* $vis const fn $($rest)*
        #[cfg(all(admittance_loom, feature = "loom"))]
        $(#[$attr])* $vis fn $($rest)*
    };
}
pub(crate) use const_unless_loom;
