//! How much work, and how fast it comes back.

mod error;
mod scale;

use core::fmt;
use core::time::Duration;

pub use error::BudgetError;
pub(crate) use error::{Fault, Field};
pub(crate) use scale::{Scale, nanos_at};

/// How long a limiter lasts from its clock's epoch, in nanoseconds: 2⁶⁰ − 1, which is 36.5 years.
///
/// Time past the horizon counts as the horizon: what is in the bucket can still be spent, and then it stays closed.
pub const HORIZON: u64 = (1 << 60) - 1;

/// A token bucket's budget: how many tokens it holds at most, and how fast they come back.
///
/// The refill is an exact rational, `tokens` per `duration`, and accrues continuously: at 7 per 3 s there is a token
/// every 428 571 428 and 4/7 nanoseconds, not every 428 571 428. Nothing is rounded to whole tokens per second or whole
/// nanoseconds per token.
///
/// ```
/// use std::time::Duration;
/// use admittance::Budget;
///
/// // 4000 each second, and a burst of as many.
/// const EVERYDAY: Budget = Budget::per_second(4000);
/// // 100 a minute, but never more than 20 at once.
/// const GENTLE: Budget = Budget::per_minute(100).with_capacity(20);
/// // Anything else, checked: three at once, seven per three seconds.
/// let odd = Budget::new(3, 7, Duration::from_secs(3))?;
/// assert_eq!((odd.capacity(), odd.refill_tokens()), (3, 7));
/// # Ok::<(), admittance::BudgetError>(())
/// ```
///
/// # Bounds
///
/// Refills of at most 15 tokens a nanosecond (15 · 10⁹ a second). Filling from empty may take up to the horizon
/// (36 years), and up to 273 years where the refill reduces to one token per whole number of nanoseconds; so a capacity
/// of 2⁴⁸ wants a refill of at least 250 000 a second. What cannot be represented is an error that names the field and the
/// bound.
///
/// # Resolution
///
/// See [`Budget::resolution`]: a budget is exact, or within one nanosecond of exact for as long as it lasts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    capacity: u64,
    refill_tokens: u64,
    refill_nanos: u64,
    scale: Scale,
}

/// How close a budget's answers are to the exact rational model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// Every answer is the exact model's, to the nanosecond.
    Exact,
    /// A burst from a full bucket is the capacity exactly, and any other answer is the one the exact model with the
    /// same history gives within one nanosecond. The difference does not add up over time.
    WithinOneNanosecond,
}

impl Budget {
    /// A budget of at most `capacity` tokens, refilled at `tokens` per `duration`.
    ///
    /// # Errors
    ///
    /// When an argument is zero, or when the whole cannot be represented: see [Bounds](Budget#bounds). The error names
    /// the field and the bound.
    pub const fn new(capacity: u64, tokens: u64, duration: Duration) -> Result<Self, BudgetError> {
        let nanos = duration.as_nanos();
        if nanos > u64::MAX as u128 {
            return Err(BudgetError::new(Field::RefillDuration, Fault::DurationTooLong { given: duration }));
        }
        Self::checked(capacity, tokens, nanos as u64)
    }

    /// `n` tokens each second, and a capacity of as many.
    ///
    /// # Panics
    ///
    /// When `n` is 0 or more than 15 · 10⁹; in a `const`, that is a compile error. [`Budget::new`] returns an error
    /// instead.
    #[must_use]
    pub const fn per_second(n: u64) -> Self {
        Self::even(n, 1_000_000_000)
    }

    /// `n` tokens each minute, and a capacity of as many.
    ///
    /// # Panics
    ///
    /// As [`Budget::per_second`], above 900 · 10⁹.
    #[must_use]
    pub const fn per_minute(n: u64) -> Self {
        Self::even(n, 60_000_000_000)
    }

    /// `n` tokens each hour, and a capacity of as many.
    ///
    /// # Panics
    ///
    /// As [`Budget::per_second`], above 54 000 · 10⁹.
    #[must_use]
    pub const fn per_hour(n: u64) -> Self {
        Self::even(n, 3_600_000_000_000)
    }

    /// `n` tokens each day, and a capacity of as many.
    ///
    /// # Panics
    ///
    /// As [`Budget::per_second`], above 1 296 000 · 10⁹.
    #[must_use]
    pub const fn per_day(n: u64) -> Self {
        Self::even(n, 86_400_000_000_000)
    }

    /// The same refill with another capacity: the largest burst.
    ///
    /// # Panics
    ///
    /// When `capacity` is 0 or cannot be represented; [`Budget::try_with_capacity`] returns an error instead.
    #[must_use]
    pub const fn with_capacity(self, capacity: u64) -> Self {
        match self.try_with_capacity(capacity) {
            Ok(budget) => budget,
            Err(error) => panic!("{}", error.short()),
        }
    }

    /// The same refill with another capacity.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    pub const fn try_with_capacity(self, capacity: u64) -> Result<Self, BudgetError> {
        Self::checked(capacity, self.refill_tokens, self.refill_nanos)
    }

    const fn even(n: u64, nanos: u64) -> Self {
        match Self::checked(n, n, nanos) {
            Ok(budget) => budget,
            Err(error) => panic!("{}", error.short()),
        }
    }

    const fn checked(capacity: u64, refill_tokens: u64, refill_nanos: u64) -> Result<Self, BudgetError> {
        if capacity == 0 {
            return Err(BudgetError::new(Field::Capacity, Fault::Zero));
        }
        if refill_tokens == 0 {
            return Err(BudgetError::new(Field::RefillTokens, Fault::Zero));
        }
        if refill_nanos == 0 {
            return Err(BudgetError::new(Field::RefillDuration, Fault::Zero));
        }
        match Scale::new(capacity, refill_tokens, refill_nanos) {
            Ok(scale) => Ok(Self { capacity, refill_tokens, refill_nanos, scale }),
            Err(error) => Err(error),
        }
    }

    /// Tokens the bucket holds at most; the largest cost that is ever admitted.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The refill's numerator as it was given: this many tokens per [`refill_duration`](Budget::refill_duration).
    #[must_use]
    pub const fn refill_tokens(&self) -> u64 {
        self.refill_tokens
    }

    /// The refill's denominator as it was given.
    #[must_use]
    pub const fn refill_duration(&self) -> Duration {
        Duration::from_nanos(self.refill_nanos)
    }

    /// Whether answers are exact, or within one nanosecond of exact.
    ///
    /// With the refill reduced to `p` tokens per `d` ns, a budget is exact when `p` is 15 at most and the bucket does not
    /// take decades to fill: 4000 a second (1 per 250 000 ns), 7 per 3 s, 600 million a second (3 per 5 ns), one a day.
    /// 999 983 a second or 333 a minute is within a nanosecond.
    ///
    /// ```
    /// use admittance::{Budget, Resolution};
    /// assert_eq!(Budget::per_second(4000).resolution(), Resolution::Exact);
    /// assert_eq!(Budget::per_second(999_983).resolution(), Resolution::WithinOneNanosecond);
    /// ```
    #[must_use]
    pub const fn resolution(&self) -> Resolution {
        // A nanosecond is `token · p / d` ticks. Asked of the rationals: a rate that rounds to a whole number is not one.
        let ticks = self.refill_tokens as u128 * self.scale.token as u128;
        if ticks.is_multiple_of(self.refill_nanos as u128) {
            Resolution::Exact
        } else {
            Resolution::WithinOneNanosecond
        }
    }

    /// Ticks of one token: the radix in which a [`Word`](crate::bucket::Word) packs tokens and a timestamp.
    #[must_use]
    pub const fn ticks_per_token(&self) -> u64 {
        self.scale.token
    }

    /// How tokens and time are counted in the word.
    #[inline]
    pub(crate) const fn scale(&self) -> &Scale {
        &self.scale
    }
}

#[allow(clippy::missing_fields_in_debug, reason = "the scale follows from the rest")]
impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("capacity", &self.capacity)
            .field("refill_tokens", &self.refill_tokens)
            .field("refill_duration", &self.refill_duration())
            .field("resolution", &self.resolution())
            .finish()
    }
}

/// `100 per 60s, capacity 20`.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} per {:?}, capacity {}", self.refill_tokens, self.refill_duration(), self.capacity)
    }
}
