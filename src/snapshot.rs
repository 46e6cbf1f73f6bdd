//! A bucket's state outside the process: across a restart, or handed to another one.
//!
//! A clock of this crate starts with its process, so its nanoseconds mean nothing to the next. A snapshot is told in wall
//! time: when it was taken, and how long the bucket would have taken from there to be full.

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::bucket::{TokenBucket, step};
use crate::budget::{Budget, BudgetError};
use crate::clock::Clock;

/// The state of a [`TokenBucket`] at an instant of wall time.
///
/// With the feature `serde` it can be written and read back; the names of the fields are its format.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use admittance::{Budget, ManualClock, TokenBucket};
///
/// let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let clock = ManualClock::new();
/// let bucket = TokenBucket::with_clock(Budget::per_minute(60), &clock);
/// assert!(bucket.try_acquire(50).is_admitted());
/// let snapshot = bucket.snapshot_at(noon);
///
/// // Another process, twenty seconds later.
/// let clock = ManualClock::new();
/// let bucket = TokenBucket::restore_at(&snapshot, &clock, noon + Duration::from_secs(20))?;
/// assert_eq!(bucket.available(), 30);
/// # Ok::<(), admittance::BudgetError>(())
/// ```
///
/// # What it does not promise
///
/// More than the wall clock does. A bucket restored by a wall clock that is ahead has refilled for time that has not
/// passed, at most to its capacity; by one that is behind the snapshot, it has refilled for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Snapshot {
    capacity: u64,
    refill_tokens: u64,
    refill_nanos: u64,
    /// Nanoseconds from 1970 to when it was taken.
    taken_at_unix_nanos: u64,
    /// Nanoseconds from then until the bucket is full, rounded up.
    until_full_nanos: u64,
}

impl Snapshot {
    /// The budget the bucket had.
    ///
    /// # Errors
    ///
    /// When the fields were not written by this crate: see [`Budget::new`].
    pub const fn budget(&self) -> Result<Budget, BudgetError> {
        Budget::new(self.capacity, self.refill_tokens, Duration::from_nanos(self.refill_nanos))
    }
}

impl<C: Clock> TokenBucket<C> {
    /// The state now, by the system's wall clock. Spends nothing; what others spend later is not in it.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_at(SystemTime::now())
    }

    /// The state now, where the wall clock shows `wall`.
    #[must_use]
    pub fn snapshot_at(&self, wall: SystemTime) -> Snapshot {
        let (budget, until_full_nanos) = self.until_full();
        Snapshot {
            capacity: budget.capacity(),
            refill_tokens: budget.refill_tokens(),
            refill_nanos: u64::try_from(budget.refill_duration().as_nanos()).unwrap_or(u64::MAX),
            taken_at_unix_nanos: unix_nanos(wall),
            until_full_nanos,
        }
    }

    /// A bucket in the state that it would be in now had it never stopped, by the system's wall clock.
    ///
    /// To go on under another budget, [`set_budget`](Self::set_budget) afterwards: the tokens in hand carry over.
    ///
    /// # Errors
    ///
    /// When the snapshot's budget is none: see [`Snapshot::budget`].
    pub fn restore(snapshot: &Snapshot, clock: C) -> Result<Self, BudgetError> {
        Self::restore_at(snapshot, clock, SystemTime::now())
    }

    /// As [`restore`](Self::restore), where the wall clock shows `wall`.
    ///
    /// # Errors
    ///
    /// As [`restore`](Self::restore).
    pub fn restore_at(snapshot: &Snapshot, clock: C, wall: SystemTime) -> Result<Self, BudgetError> {
        let budget = snapshot.budget()?;
        // A wall clock that stepped back refills nothing.
        let passed = unix_nanos(wall).saturating_sub(snapshot.taken_at_unix_nanos);
        let left = snapshot.until_full_nanos.saturating_sub(passed);
        let word = step::full_in(left, clock.now(), &budget);
        Ok(Self::with_word(word, budget, clock))
    }
}

/// Wall time before 1970 counts as 1970, and after 2554 as 2554.
fn unix_nanos(wall: SystemTime) -> u64 {
    wall.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
