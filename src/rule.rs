//! The time rule: a token bucket or a fixed window, and the pure steps that both have.
//!
//! A table, a policy and a replay take either; what they need of it is here, so that no other file asks which it is.

use core::fmt;
use core::num::NonZeroU32;

use crate::bucket::Word;
use crate::bucket::step::{self, Step};
use crate::budget::{Budget, HORIZON, Resolution};
use crate::decision::Permit;
use crate::window::{Window, step as window_step};

/// How a budget comes back over time.
///
/// ```
/// use admittance::{Budget, Rule, Window};
/// let bursts: Rule = Budget::per_second(100).with_capacity(20).into();
/// let quota: Rule = Window::per_day(10_000).into();
/// assert_eq!((bursts.capacity(), quota.capacity()), (20, 10_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Bursts up to a capacity, and a steady refill.
    TokenBucket(Budget),
    /// So many in each aligned stretch of time.
    FixedWindow(Window),
}

impl Rule {
    /// The largest cost that is ever admitted.
    #[must_use]
    #[inline]
    pub const fn capacity(&self) -> u64 {
        match self {
            Self::TokenBucket(budget) => budget.capacity(),
            Self::FixedWindow(window) => window.limit(),
        }
    }

    /// Whether answers are exact or within a nanosecond. A window's always are.
    #[must_use]
    pub const fn resolution(&self) -> Resolution {
        match self {
            Self::TokenBucket(budget) => budget.resolution(),
            Self::FixedWindow(_) => Resolution::Exact,
        }
    }

    /// Spends `n` tokens at `now` if they are there.
    #[inline]
    pub const fn acquire(&self, word: Word, n: u64, now: u64) -> Step {
        match self {
            Self::TokenBucket(budget) => step::acquire(word, n, now, budget),
            Self::FixedWindow(window) => window_step::acquire(word, n, now, window),
        }
    }

    /// Whole tokens that can be spent at `now`.
    #[must_use]
    pub const fn available(&self, word: Word, now: u64) -> u64 {
        match self {
            Self::TokenBucket(budget) => step::available(word, now, budget),
            Self::FixedWindow(window) => window_step::available(word, now, window),
        }
    }

    /// The first instant, `now` or later, at which the word is a full bucket if nobody spends in between. A full
    /// bucket is the same as none.
    #[must_use]
    pub const fn full_at(&self, word: Word, now: u64) -> u64 {
        match self {
            Self::TokenBucket(budget) => now.saturating_add(step::until_full(word, now, budget)),
            Self::FixedWindow(window) => window_step::full_at(word, now, window),
        }
    }

    /// Whether the word is a full bucket at `now`. As [`full_at`](Self::full_at), without a division for a bucket.
    #[must_use]
    pub const fn is_full(&self, word: Word, now: u64) -> bool {
        match self {
            Self::TokenBucket(budget) => step::is_full(word, now, budget),
            Self::FixedWindow(window) => window_step::full_at(word, now, window) == now,
        }
    }

    /// A bucket that is full at `now`, and was not before: to a clock behind, it is at the level that fills by then.
    #[must_use]
    pub const fn full(&self, now: u64) -> Word {
        match self {
            // Past the horizon time stands still, so a bucket that is full there is full at the horizon.
            Self::TokenBucket(budget) => step::full_in(0, if now < HORIZON { now } else { HORIZON }, budget),
            Self::FixedWindow(window) => window_step::empty(now, window),
        }
    }

    /// Gives back `n` tokens of those that `permit` was given for: never past full, and not to a later window.
    #[must_use]
    pub const fn refund(&self, word: Word, n: u64, permit: &Permit, now: u64) -> Word {
        match self {
            Self::TokenBucket(budget) => step::refund(word, n, now, budget),
            Self::FixedWindow(window) => window_step::refund(word, n, permit, window),
        }
    }

    /// The same bucket under another rule of the same kind from `now` on: what can be spent at `now` can be spent after
    /// it, at most the new capacity, and debt is kept. `None` where the kinds differ.
    #[must_use]
    pub const fn carry(word: Word, now: u64, from: &Self, to: &Self) -> Option<Word> {
        match (from, to) {
            (Self::TokenBucket(from), Self::TokenBucket(to)) => Some(step::carry(word, now, from, to)),
            (Self::FixedWindow(from), Self::FixedWindow(to)) => Some(window_step::carry(word, now, from, to)),
            _ => None,
        }
    }

    /// One part in `one_in` of the rule, rounded down: so many of them together are no more than the whole. `None` where
    /// that is less than a token, or cannot be represented.
    #[must_use]
    pub fn share(&self, one_in: NonZeroU32) -> Option<Self> {
        let parts = u64::from(one_in.get());
        match self {
            Self::TokenBucket(budget) => {
                let slower = budget.refill_duration().checked_mul(one_in.get())?;
                Budget::new(budget.capacity() / parts, budget.refill_tokens(), slower).ok().map(Self::TokenBucket)
            }
            Self::FixedWindow(window) => {
                Window::new(window.limit() / parts, window.length()).ok().map(Self::FixedWindow)
            }
        }
    }

    /// Whether one bucket can be carried from the other's rule to this one.
    #[must_use]
    pub const fn is_same_kind(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::TokenBucket(_), Self::TokenBucket(_)) | (Self::FixedWindow(_), Self::FixedWindow(_))
        )
    }
}

impl From<Budget> for Rule {
    fn from(budget: Budget) -> Self {
        Self::TokenBucket(budget)
    }
}

impl From<Window> for Rule {
    fn from(window: Window) -> Self {
        Self::FixedWindow(window)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TokenBucket(budget) => write!(f, "token bucket: {budget}"),
            Self::FixedWindow(window) => write!(f, "fixed window: {window}"),
        }
    }
}
