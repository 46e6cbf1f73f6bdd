//! Tokens taken in bulk and spent with plain arithmetic.
//!
//! A bucket under many threads is one cache line that all of them want. A lease takes `k` tokens from it in one
//! compare-and-swap and spends them without touching it: `k` admissions for the price of one, and no contention between.
//!
//! # The bound
//!
//! Every token a lease admits was debited from the bucket first, so a lease never makes more of them. What it changes is
//! *when*: tokens debited earlier may be spent later. Over any interval of length `t`, the bucket with all its leases
//! admits at most
//!
//! ```text
//! capacity + refill · t + what leases held when the interval began        (each holds less than its size, or one cost)
//! ```
//!
//! A [`max_age`](Lease::max_age) does not tighten that: tokens that have aged go back to the bucket, and there they can be
//! spent. It keeps an idle handle from sitting on tokens that others are denied, as soon as it is used again.

use core::borrow::Borrow;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use crate::bucket::TokenBucket;
use crate::clock::{Clock, TscClock};
use crate::decision::{Decision, Denial, Permit};

/// A handle that takes tokens from a bucket in bulk and spends them locally: one per thread or task.
///
/// `B` is how it holds the bucket: `&TokenBucket`, or `Arc<TokenBucket>` for a thread that outlives the borrow.
///
/// ```
/// use admittance::{Budget, ManualClock, TokenBucket};
///
/// let clock = ManualClock::new();
/// let bucket = TokenBucket::with_clock(Budget::per_second(1000), &clock);
/// let lease = bucket.lease(64);
/// assert!(lease.try_acquire(1).is_admitted());
/// assert_eq!((lease.held(), bucket.available()), (63, 936));
/// drop(lease); // gives back what it did not spend
/// assert_eq!(bucket.available(), 999);
/// ```
///
/// # Threads
///
/// `Send`, not `Sync`: it is the handle of one thread at a time. An idle handle keeps what it holds until it is used or
/// dropped; nothing runs in the background to take it back.
pub struct Lease<B, C = TscClock>
where
    B: Borrow<TokenBucket<C>>,
    C: Clock,
{
    bucket: B,
    /// Tokens to take at a time.
    size: u64,
    /// How old they may grow, in nanoseconds; `u64::MAX` for any age, and then the clock is read only to take more.
    max_age: u64,
    held: Cell<u64>,
    /// When the oldest of `held` was taken.
    taken_at: Cell<u64>,
    clock: PhantomData<fn() -> C>,
}

impl<C: Clock> TokenBucket<C> {
    /// A lease on this bucket that takes `size` tokens at a time (at least 1), starting empty. See [`Lease`].
    #[must_use]
    pub fn lease(&self, size: u64) -> Lease<&Self, C> {
        Lease::new(self, size)
    }
}

impl<B, C> Lease<B, C>
where
    B: Borrow<TokenBucket<C>>,
    C: Clock,
{
    /// A lease that takes `size` tokens at a time (at least 1) from `bucket`, starting empty.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use admittance::{Budget, Lease, TokenBucket};
    /// let bucket = Arc::new(TokenBucket::new(Budget::per_second(1_000_000)));
    /// let lease = Lease::new(Arc::clone(&bucket), 64);
    /// std::thread::spawn(move || assert!(lease.try_acquire(1).is_admitted())).join().unwrap();
    /// assert!(bucket.available() >= 999_999);
    /// ```
    #[must_use]
    pub fn new(bucket: B, size: u64) -> Self {
        Self {
            bucket,
            size: size.max(1),
            max_age: u64::MAX,
            held: Cell::new(0),
            taken_at: Cell::new(0),
            clock: PhantomData,
        }
    }

    /// Gives back, when next used, what is older than `age`, and takes afresh: what an idle handle saved up is there for
    /// everybody, up to the capacity.
    ///
    /// Every call then reads the clock; with a [`CoarseClock`](crate::CoarseClock) that is one load.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// Spends `n` tokens: of those in hand if they are enough, else after taking more. Near exhaustion it takes what there
    /// is.
    ///
    /// The permit's remaining tokens are those in hand. Denied, it names the wait until the bucket has what is missing; what
    /// is in hand stays in hand. `n` above the capacity is [`Decision::Never`].
    #[inline]
    pub fn try_acquire(&self, n: u64) -> Decision {
        if self.max_age != u64::MAX {
            self.age();
        }
        let held = self.held.get();
        if n <= held {
            self.held.set(held - n);
            return Decision::Admitted(Permit::new(held - n, 1, 0));
        }
        match self.take(n, held) {
            (TAKEN, left) => Decision::Admitted(Permit::new(left, 1, 0)),
            (NEVER, _) => Decision::Never,
            (retry_at, now) => Decision::Denied(Denial::at(retry_at, now)),
        }
    }

    /// Tokens in hand.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held.get()
    }

    /// Gives back what is in hand now.
    pub fn give_back(&self) {
        let held = self.held.replace(0);
        if held > 0 {
            self.bucket.borrow().refund(held);
        }
    }

    /// Gives back what has grown too old.
    fn age(&self) {
        if self.held.get() > 0 {
            let now = self.bucket.borrow().clock().now();
            if now.saturating_sub(self.taken_at.get()) > self.max_age {
                self.give_back();
            }
        }
    }

    /// Takes more from the bucket, and spends `n`. Returns [`TAKEN`] and what is left in hand, [`NEVER`], or when to retry
    /// and now.
    ///
    /// Two numbers, so that they come back in registers: a decision would come back in memory, and then the everyday path
    /// would have to put its own there too.
    #[cold]
    #[inline(never)]
    fn take(&self, n: u64, held: u64) -> (u64, u64) {
        let bucket = self.bucket.borrow();
        // More than the bucket ever holds is never admitted, whatever is in hand.
        if n > bucket.budget().capacity() {
            return (NEVER, 0);
        }
        let missing = n - held;
        // Read before the take: a token is no older than it seems, so it is never kept too long.
        let now = if self.max_age == u64::MAX { 0 } else { bucket.clock().now() };
        match bucket.acquire_between(missing, self.size.max(missing)) {
            Decision::Admitted(taken) => {
                // What was in hand went first: what is left is of the new ones.
                let left = taken - missing;
                self.taken_at.set(now);
                self.held.set(left);
                (TAKEN, left)
            }
            Decision::Denied(denial) => {
                let retry_at = denial.retry_at();
                (retry_at, retry_at - denial.retry_after_nanos().min(retry_at))
            }
            Decision::Never => (NEVER, 0),
        }
    }
}

/// Not an instant that anyone is denied until: tokens were taken.
const TAKEN: u64 = 0;

/// Not an instant either: past the horizon of any clock, and not the end of time that a denial names there.
const NEVER: u64 = u64::MAX - 1;

impl<B, C> Drop for Lease<B, C>
where
    B: Borrow<TokenBucket<C>>,
    C: Clock,
{
    fn drop(&mut self) {
        self.give_back();
    }
}

impl<B, C> fmt::Debug for Lease<B, C>
where
    B: Borrow<TokenBucket<C>>,
    C: Clock,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("size", &self.size).field("held", &self.held).finish_non_exhaustive()
    }
}
