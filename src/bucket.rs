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
//!
//! Nothing here reads a clock but [`TokenBucket`] itself, which brings the three together.

mod atomic;
pub mod step;
pub mod word;

use core::fmt;

pub use atomic::AtomicWord;
pub use word::Word;

use crate::budget::Budget;
use crate::clock::{Clock, TscClock};
use crate::decision::Decision;
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
/// First come, first served between racing callers; pacing; a cap on work in flight. See the [crate](crate) page.
pub struct TokenBucket<C = TscClock> {
    word: AtomicWord,
    budget: Budget,
    clock: C,
}

#[cfg(feature = "std")]
impl TokenBucket {
    /// A full bucket on the precise clock.
    ///
    /// The first clock of a process takes some milliseconds to calibrate: [`TscClock`](crate::TscClock).
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
            Self { word: AtomicWord::new(), budget, clock }
        }
    }

    /// The budget it enforces.
    #[must_use]
    pub const fn budget(&self) -> &Budget {
        &self.budget
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
    #[inline]
    pub fn try_acquire(&self, n: u64) -> Decision {
        self.word.try_acquire(n, self.clock.now(), &self.budget)
    }

    /// What [`try_acquire`](Self::try_acquire) would answer now. Spends and writes nothing; a later call may find
    /// otherwise.
    #[inline]
    pub fn peek(&self, n: u64) -> Decision {
        self.word.peek(n, self.clock.now(), &self.budget)
    }

    /// Whole tokens in the bucket now; 0 while it is in debt.
    #[must_use]
    pub fn available(&self) -> u64 {
        self.word.available(self.clock.now(), &self.budget)
    }

    /// Gives back `n` tokens: work that was admitted and did not happen. Never past the capacity.
    ///
    /// Give back only what was spent, once: the bucket cannot tell.
    pub fn refund(&self, n: u64) {
        self.word.refund(n, self.clock.now(), &self.budget);
    }

    /// Spends `n` tokens whether or not they are there: the cost of work already done. What is missing becomes debt,
    /// which the refill pays off before anyone is admitted again.
    ///
    /// Debt is one capacity at most. Returns the tokens charged: `n`, or fewer where the debt would pass that.
    #[allow(clippy::must_use_candidate, reason = "most callers have nothing to do about it")]
    pub fn debit(&self, n: u64) -> u64 {
        self.word.debit(n, self.clock.now(), &self.budget)
    }
}

impl<C: Clock> fmt::Debug for TokenBucket<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenBucket")
            .field("budget", &self.budget)
            .field("available", &self.available())
            .finish_non_exhaustive()
    }
}
