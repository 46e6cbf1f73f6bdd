//! Time that moves when it is told to.

use core::time::Duration;

use super::Clock;
use crate::sync::{AtomicU64, Ordering, const_unless_loom};

/// A clock for tests and replays: it stands still until it is set or advanced, and may be set back.
///
/// Limiters share one by reference (`&ManualClock` is a [`Clock`] too).
///
/// ```
/// use std::time::Duration;
/// use admittance::{Budget, ManualClock, TokenBucket};
///
/// let clock = ManualClock::new();
/// let bucket = TokenBucket::with_clock(Budget::per_second(1), &clock);
/// assert!(bucket.try_acquire(1).is_admitted());
/// assert_eq!(bucket.try_acquire(1).retry_after(), Some(Duration::from_secs(1)));
/// clock.advance(Duration::from_secs(1));
/// assert!(bucket.try_acquire(1).is_admitted());
/// ```
///
/// # Memory ordering
///
/// Setting and reading are relaxed: the clock carries a number from thread to thread and nothing else. A test that
/// wants another thread to *see* a new time joins it or sends it a message, as it would for any value.
#[derive(Debug, Default)]
pub struct ManualClock {
    nanos: AtomicU64,
}

impl ManualClock {
    const_unless_loom! {
        /// A clock that stands at 0.
        #[must_use]
        pub const fn new() -> Self {
            Self { nanos: AtomicU64::new(0) }
        }
    }

    const_unless_loom! {
        /// A clock that stands at `nanos`.
        #[must_use]
        pub const fn at(nanos: u64) -> Self {
            Self { nanos: AtomicU64::new(nanos) }
        }
    }

    /// Moves the clock to `nanos`, forward or back.
    pub fn set(&self, nanos: u64) {
        // Relaxed: the number is all there is; nothing is published with it.
        self.nanos.store(nanos, Ordering::Relaxed);
    }

    /// Moves the clock forward by `by`, and returns the new time. Stops at `u64::MAX`.
    #[allow(clippy::must_use_candidate, reason = "most callers only want time to pass")]
    pub fn advance(&self, by: Duration) -> u64 {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        // Relaxed, twice: as in `set`. A loop, so that two threads that advance the clock both count.
        let mut now = self.nanos.load(Ordering::Relaxed);
        loop {
            let next = now.saturating_add(by);
            match self.nanos.compare_exchange_weak(now, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return next,
                Err(seen) => now = seen,
            }
        }
    }
}

impl Clock for ManualClock {
    #[inline]
    fn now(&self) -> u64 {
        // Relaxed: as in `set`.
        self.nanos.load(Ordering::Relaxed)
    }
}
