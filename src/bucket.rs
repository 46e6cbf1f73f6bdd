//! The token bucket: tokens and time in one `AtomicU64`.
//!
//! Tokens and time are one currency: a token is the time it takes to refill. So a bucket's whole state is one number,
//! *the tick at which the bucket, refilling since, was last empty*, and spending is one addition to it.
//!
//! | file | holds |
//! |---|---|
//! | [`word`] | the number: what it means, and its two digits |
//! | [`step`] | the rules, pure: word, now, cost, budget → word, decision |
//! | [`atomic`](AtomicWord) | the compare-and-swap loop, and the only memory orderings of the core |
//! | `live` | a word with its budget, and how both are replaced while callers are at work |
//!
//! Nothing here reads a clock but [`TokenBucket`] itself, which brings the three together.

mod atomic;
mod live;
pub mod step;
pub mod word;

use core::fmt;

pub use atomic::AtomicWord;
pub use word::Word;

use live::Live;

use crate::budget::Budget;
use crate::clock::{Clock, TscClock};
use crate::decision::{Decision, Promise};
use crate::sync::const_unless_loom;

/// A token bucket: bursts up to its capacity, and a steady refill, exact under concurrent callers.
///
/// Share it by reference or `Arc`; every method takes `&self`.
///
/// ```
/// use std::time::Duration;
/// use admittance::{Budget, ManualClock, TokenBucket};
///
/// let clock = ManualClock::new();
/// let budget = Budget::new(3, 2, Duration::from_secs(1))?;
/// let bucket = TokenBucket::with_clock(budget, &clock);
///
/// assert_eq!(bucket.try_acquire(3).remaining(), Some(0));
/// assert_eq!(bucket.try_acquire(1).retry_after(), Some(Duration::from_millis(500)));
/// clock.advance(Duration::from_millis(500));
/// assert!(bucket.try_acquire(1).is_admitted());
/// assert!(bucket.try_acquire(4).is_never());
/// # Ok::<(), admittance::BudgetError>(())
/// ```
///
/// # Exactness
///
/// Over any history of calls the answers are those of a bucket kept in exact rationals, to the nanosecond or within one
/// ([`Budget::resolution`]). Between callers that race, they are those of *some* order of the calls: each admission is one
/// successful compare-and-swap, so `n` callers at one instant never share a token and never lose one. A denied call
/// changes nothing.
///
/// A clock that steps back, or callers whose clocks differ, see a lower level: nothing is minted, and nobody is held up
/// for longer than the step.
///
/// # Progress and memory ordering
///
/// Lock-free: a caller retries only when another one succeeded. An admission is one read-modify-write; a denial is one
/// load, so callers of an empty bucket share its cache line.
///
/// Every access is relaxed. A limiter counts; it does not synchronise: **being admitted does not make another thread's
/// writes visible**, and `refund` does not release any. What callers may rely on is the one modification order of the
/// word, from which exactness follows.
///
/// # What it does not promise
///
/// First come, first served between racing callers; pacing; a cap on work in flight. See the page of the [crate].
pub struct TokenBucket<C = TscClock> {
    live: Live,
    clock: C,
}

#[cfg(feature = "std")]
impl TokenBucket {
    /// A full bucket on the precise clock.
    ///
    /// The first clock of a process takes some milliseconds to calibrate: [`TscClock`].
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self::with_clock(budget, TscClock::new())
    }
}

impl<C> TokenBucket<C> {
    const_unless_loom! {
        /// A bucket on `clock` that was full at the clock's epoch, and so is full.
        #[must_use]
        pub const fn with_clock(budget: Budget, clock: C) -> Self {
            Self { live: Live::new(Word::FULL, budget), clock }
        }
    }

    /// The budget it enforces now.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.live.budget()
    }

    /// A bucket in a given state.
    #[cfg(feature = "std")]
    pub(crate) fn with_word(word: Word, budget: Budget, clock: C) -> Self {
        Self { live: Live::new(word, budget), clock }
    }

    /// The clock it reads.
    #[must_use]
    pub const fn clock(&self) -> &C {
        &self.clock
    }
}

impl<C: Clock> TokenBucket<C> {
    /// Spends `n` tokens if they are there now; never waits.
    ///
    /// `n = 0` is admitted and spends nothing. `n` above the capacity is [`Decision::Never`].
    #[inline(always)] // Short where it counts: what is rare is out of line. Left to itself the compiler makes it a call.
    pub fn try_acquire(&self, n: u64) -> Decision {
        let now = self.clock.now();
        self.live.apply(n > 0, |word, budget| step::acquire(word, n, now, budget))
    }

    /// Spends what is there, up to `n` tokens, and returns how many that was. Never waits.
    ///
    /// For work that can be done in part: a batch, a window of bytes.
    #[must_use = "the tokens returned are spent"]
    pub fn try_acquire_up_to(&self, n: u64) -> u64 {
        self.acquire_between(0, n).admitted().unwrap_or(0)
    }

    /// As many tokens as are there, from `least` to `most`.
    pub(crate) fn acquire_between(&self, least: u64, most: u64) -> Decision<u64> {
        let now = self.clock.now();
        self.live.apply(least > 0, |word, budget| step::acquire_between(word, least, most, now, budget))
    }

    /// See [`TokenBucket::reserve`].
    pub(crate) fn promise(&self, n: u64) -> Decision<Promise> {
        let now = self.clock.now();
        self.live.apply(n > 0, |word, budget| step::reserve(word, n, now, budget))
    }

    /// See [`TokenBucket::reserve_until`].
    pub(crate) fn promise_until(&self, n: u64, deadline: u64) -> Decision<Promise> {
        let now = self.clock.now();
        self.live.apply(n > 0, |word, budget| step::reserve_until(word, n, now, deadline, budget))
    }

    /// The budget, and the nanoseconds until the bucket is full.
    #[cfg(feature = "std")]
    pub(crate) fn until_full(&self) -> (Budget, u64) {
        let now = self.clock.now();
        self.live.read(|word, budget| (*budget, step::until_full(word, now, budget)))
    }

    /// What [`reserve`](Self::reserve) would answer now.
    #[cfg(feature = "std")]
    pub(crate) fn peek_reserve(&self, n: u64) -> Decision<Promise> {
        let now = self.clock.now();
        self.live.read(|word, budget| step::reserve(word, n, now, budget).decision())
    }

    /// What [`try_acquire`](Self::try_acquire) would answer now. Spends and writes nothing; a later call may find
    /// otherwise.
    #[inline]
    pub fn peek(&self, n: u64) -> Decision {
        let now = self.clock.now();
        self.live.read(|word, budget| step::acquire(word, n, now, budget).decision())
    }

    /// Whole tokens in the bucket now; 0 while it is in debt.
    #[must_use]
    pub fn available(&self) -> u64 {
        let now = self.clock.now();
        self.live.read(|word, budget| step::available(word, now, budget))
    }

    /// Gives back `n` tokens: work that was admitted and did not happen. Never past the capacity.
    ///
    /// Give back only what was spent, once: the bucket cannot tell.
    pub fn refund(&self, n: u64) {
        let now = self.clock.now();
        self.live.update(|word, budget| (step::refund(word, n, now, budget), ()));
    }

    /// Spends `n` tokens whether or not they are there: the cost of work already done. What is missing becomes debt,
    /// which the refill pays off before anyone is admitted again.
    ///
    /// Debt is one capacity at most. Returns the tokens charged: `n`, or fewer where the debt would pass that.
    #[allow(clippy::must_use_candidate, reason = "most callers have nothing to do about it")]
    pub fn debit(&self, n: u64) -> u64 {
        let now = self.clock.now();
        self.live.update(|word, budget| step::debit(word, n, now, budget))
    }
}

#[cfg(feature = "std")]
impl<C: Clock> TokenBucket<C> {
    /// Replaces the budget while the bucket is in use.
    ///
    /// Tokens in hand carry over, up to the new capacity; so does debt. What was refilled before the change is at the old
    /// rate, what comes after it at the new: 50 ms at 100 a second and then 50 ms at 1000 a second are 55 tokens. No
    /// interleaving with other callers mints or loses a token.
    ///
    /// ```
    /// use std::time::Duration;
    /// use admittance::{Budget, ManualClock, TokenBucket};
    ///
    /// let clock = ManualClock::new();
    /// let bucket = TokenBucket::with_clock(Budget::per_second(100), &clock);
    /// assert!(bucket.try_acquire(100).is_admitted());
    /// clock.advance(Duration::from_millis(50));
    /// bucket.set_budget(Budget::per_second(1000));
    /// clock.advance(Duration::from_millis(50));
    /// assert_eq!(bucket.available(), 55);
    /// ```
    ///
    /// # Costs and limits
    ///
    /// Callers pay one load for being changeable, and a few more once the bucket was changed. Each change keeps about 80
    /// bytes until the bucket is dropped, and the first another half kilobyte; setting the budget it has already is free.
    /// Debt that would take decades to pay off at the new refill is cut off at what the word can hold.
    /// Callers wait while a change is under way, some tens of nanoseconds. Changes wait for each other.
    pub fn set_budget(&self, budget: Budget) {
        self.live.change(budget, || self.clock.now());
    }
}

impl<C: Clock> fmt::Debug for TokenBucket<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenBucket")
            .field("budget", &self.budget())
            .field("available", &self.available())
            .finish_non_exhaustive()
    }
}
