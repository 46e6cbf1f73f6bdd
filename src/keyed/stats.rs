//! What operators look at.

use core::fmt;

use super::table::Counts;
use super::{Keyed, Tier};
use crate::clock::Clock;

/// A table at a glance. No keys: what it knows of them are fingerprints under a secret seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Slots that hold a bucket, full ones that nobody has reclaimed yet among them. Never falls.
    pub len: usize,
    /// Slots there are: 31 for each 16 of `max_keys`, rounded up to a whole group of four.
    pub capacity: usize,
    /// Newcomers that were given the slot of a bucket that was full.
    pub reclaimed: u64,
    /// Calls of newcomers that found no room, and were left to [`Overflow`](super::Overflow).
    pub overflowed: u64,
    /// Bytes of memory that the table takes.
    pub bytes: usize,
}

impl Stats {
    /// `len / capacity`, from 0 to 1. A table in service for long has all its slots in use, most of them full: what tells
    /// that it is too small is [`overflowed`](Self::overflowed).
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a figure for people")]
    pub fn load(&self) -> f64 {
        self.len as f64 / self.capacity as f64
    }
}

/// One bucket of a table, as it was when it was looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bucket {
    /// The key's tier.
    pub tier: Tier,
    /// Whole tokens in it.
    pub available: u64,
    /// Nanoseconds until it is full; 0 when it is.
    pub full_in: u64,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket")
            .field("tier", &self.tier.0)
            .field("available", &self.available)
            .field("full_in", &self.full_in)
            .finish()
    }
}

impl<K: ?Sized, C> Keyed<K, C> {
    /// The table at a glance. Constant time; the numbers may be of slightly different instants.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let counts = &self.table.counts;
        Stats {
            len: usize::try_from(Counts::of(&counts.used)).unwrap_or(usize::MAX),
            capacity: self.table.slots(),
            reclaimed: Counts::of(&counts.reclaimed),
            overflowed: Counts::of(&counts.overflowed),
            bytes: self.table.bytes(),
        }
    }

    /// Slots that hold a bucket; see [`Stats::len`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.stats().len
    }

    /// Whether no key has spent anything yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: ?Sized, C: Clock> Keyed<K, C> {
    /// Looks at every bucket while callers are at work: how many are drained, how many at rest. Takes no lock; a bucket that
    /// changes hands meanwhile may be passed over. Linear in the size of the table.
    ///
    /// ```
    /// use admittance::{Budget, Keyed, Overflow};
    ///
    /// let callers = Keyed::<u32>::builder(Budget::per_day(10), 1_000, Overflow::Deny).build()?;
    /// for caller in 0..100 {
    ///     let _ = callers.check(&caller, if caller < 7 { 10 } else { 1 });
    /// }
    /// let mut drained = 0;
    /// callers.for_each(|bucket| drained += u32::from(bucket.available == 0));
    /// assert_eq!(drained, 7);
    /// # Ok::<(), admittance::KeyedError>(())
    /// ```
    pub fn for_each(&self, mut look: impl FnMut(Bucket)) {
        let now = self.clock.now();
        self.table.each(|owner, word, rule| {
            look(Bucket {
                tier: Tier(owner.tier() as u8),
                available: rule.available(word, now),
                full_in: rule.full_at(word, now).saturating_sub(now),
            });
        });
    }
}
