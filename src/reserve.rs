//! Tokens of the future: reservations, and the waits made of them.
//!
//! | you want | use |
//! |---|---|
//! | to be told when, and do the waiting yourself | [`TokenBucket::reserve`] |
//! | a thread that waits | [`TokenBucket::wait`], [`wait_until`](TokenBucket::wait_until), [`wait_within`](TokenBucket::wait_within) |
//! | a task that waits (feature `tokio`) | `wait_async`, `wait_async_until`, `wait_async_within` |
//!
//! # How it works
//!
//! A reservation spends now what will be there later: it moves the bucket's word ahead of now, by at most one capacity,
//! and names the instant at which the refill has caught up. There is no queue and no timer thread: whoever moved the word
//! first has the earlier instant, and a small cost cannot slip in front of a large one that asked before it.
//!
//! Giving a reservation back moves the word back by as much. The word is a sum, and sums do not mind the order of their
//! terms: cancelling the first, the last or the middle one ends at the same level. Instants already promised to others
//! stay as they are; who asks next has the room.

#[cfg(feature = "std")]
mod blocking;
#[cfg(feature = "tokio")]
mod task;
#[cfg(feature = "std")]
mod wait;

use core::fmt;
use core::time::Duration;

use crate::bucket::TokenBucket;
use crate::clock::{Clock, TscClock};
use crate::decision::Decision;

/// Tokens spent ahead of time, and the instant from which the work may go.
///
/// [`commit`](Self::commit) it when the work goes. Dropped or [cancelled](Self::cancel) instead, it gives its tokens
/// back, once.
///
/// ```
/// use std::time::Duration;
/// use admittance::{Budget, Decision, ManualClock, TokenBucket};
///
/// let clock = ManualClock::new();
/// let bucket = TokenBucket::with_clock(Budget::per_second(10), &clock);
/// assert!(bucket.try_acquire(10).is_admitted());
///
/// let Decision::Admitted(first) = bucket.reserve(3) else { unreachable!() };
/// let Decision::Admitted(second) = bucket.reserve(2) else { unreachable!() };
/// assert_eq!((first.wait(), second.wait()), (Duration::from_millis(300), Duration::from_millis(500)));
///
/// drop(first); // not going after all: three tokens are free again
/// assert_eq!(bucket.reserve(1).admitted().unwrap().wait(), Duration::from_millis(300));
/// clock.advance(Duration::from_millis(500));
/// second.commit();
/// ```
///
/// # What it does not promise
///
/// That giving back late is free of effect: tokens given back after the bucket has refilled come on top of what has
/// refilled meanwhile, up to the capacity. The bound `capacity + refill · t` holds over every interval that contains the
/// reservation as well as its end.
#[must_use = "a reservation that is dropped gives its tokens back"]
pub struct Reservation<'b, C: Clock = TscClock> {
    bucket: &'b TokenBucket<C>,
    tokens: u64,
    at: u64,
}

impl<C: Clock> Reservation<'_, C> {
    /// The promised instant, in nanoseconds of the bucket's clock.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// How long it is until the promised instant; zero once it has come.
    #[must_use]
    pub fn wait(&self) -> Duration {
        Duration::from_nanos(self.at.saturating_sub(self.bucket.clock().now()))
    }

    /// The tokens that were reserved.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The work goes: the tokens stay spent.
    pub fn commit(mut self) {
        self.tokens = 0;
    }

    /// The work does not go: the tokens are given back. The same as dropping it.
    pub fn cancel(self) {}
}

impl<C: Clock> Drop for Reservation<'_, C> {
    fn drop(&mut self) {
        if self.tokens > 0 {
            self.bucket.refund(self.tokens);
        }
    }
}

impl<C: Clock> fmt::Debug for Reservation<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation")
            .field("tokens", &self.tokens)
            .field("at", &self.at)
            .field("wait", &self.wait())
            .finish_non_exhaustive()
    }
}

impl<C: Clock> TokenBucket<C> {
    /// Spends `n` tokens of the future, and promises the instant at which they are there.
    ///
    /// First come, first served: promised instants never decrease in the order in which reservations were made, at one
    /// clock. Denied where it would take the bucket more than one capacity into debt; the denial names the wait after
    /// which the same call passes. `n` above the capacity is [`Decision::Never`].
    ///
    /// While a bucket is in debt, [`try_acquire`](Self::try_acquire) is denied: who waits goes first.
    pub fn reserve(&self, n: u64) -> Decision<Reservation<'_, C>> {
        self.promise(n).map(|promise| Reservation { bucket: self, tokens: n, at: promise.at() })
    }

    /// As [`reserve`](Self::reserve), if the promised instant is no later than `deadline` (nanoseconds of the bucket's
    /// clock). Otherwise nothing is spent, and the denial names when the tokens would have been there
    /// ([`Denial::retry_at`](crate::Denial::retry_at)). A deadline in the past counts as now.
    pub fn reserve_until(&self, n: u64, deadline: u64) -> Decision<Reservation<'_, C>> {
        self.promise_until(n, deadline).map(|promise| Reservation { bucket: self, tokens: n, at: promise.at() })
    }
}
