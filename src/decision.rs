//! What a limiter answers.

use core::fmt;
use core::time::Duration;

use crate::budget::nanos_at;

/// The answer to one request for tokens. A denial is a decision, not an error.
///
/// What an admission carries depends on what was asked: a [`Permit`] for tokens spent now, a
/// [`Reservation`](crate::Reservation) for tokens of the future.
///
/// Two decisions are equal when they tell a caller the same: the same remaining tokens, the same wait.
#[must_use = "a decision that is not looked at limits nothing"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<T = Permit> {
    /// Go: the tokens are spent.
    Admitted(T),
    /// Not now: nothing was spent. The denial names the wait.
    Denied(Denial),
    /// Not ever: the cost is above the capacity, and no wait can help. Nothing was spent.
    Never,
}

impl<T> Decision<T> {
    /// Whether the work may go.
    #[must_use]
    #[inline]
    pub const fn is_admitted(&self) -> bool {
        matches!(self, Self::Admitted(_))
    }

    /// Whether the work may go later.
    #[must_use]
    #[inline]
    pub const fn is_denied(&self) -> bool {
        matches!(self, Self::Denied(_))
    }

    /// Whether no wait can help.
    #[must_use]
    #[inline]
    pub const fn is_never(&self) -> bool {
        matches!(self, Self::Never)
    }

    /// The wait a denial names; `None` for the others. See [`Denial::retry_after`].
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Denied(denial) => Some(denial.retry_after()),
            Self::Admitted(_) | Self::Never => None,
        }
    }

    /// What the admission carries; `None` for the others.
    #[must_use]
    pub fn admitted(self) -> Option<T> {
        match self {
            Self::Admitted(what) => Some(what),
            Self::Denied(_) | Self::Never => None,
        }
    }

    /// The same decision, with what an admission carries turned into something else.
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Decision<U> {
        match self {
            Self::Admitted(what) => Decision::Admitted(with(what)),
            Self::Denied(denial) => Decision::Denied(denial),
            Self::Never => Decision::Never,
        }
    }
}

impl Decision {
    /// The whole tokens an admission left; `None` for the others. See [`Permit::remaining`].
    #[must_use]
    pub fn remaining(&self) -> Option<u64> {
        match self {
            Self::Admitted(permit) => Some(permit.remaining()),
            Self::Denied(_) | Self::Never => None,
        }
    }
}

/// An admission: the tokens are spent, and this tells what was left.
///
/// A value to read, not a guard: dropping it gives nothing back.
#[derive(Clone, Copy)]
pub struct Permit {
    /// Ticks left in the bucket.
    spare: u64,
    /// Ticks of one token.
    token: u64,
    /// The limiter's word after the spend: which window it was.
    stamp: u64,
}

impl Permit {
    #[inline]
    pub(crate) const fn new(spare: u64, token: u64, stamp: u64) -> Self {
        Self { spare, token, stamp }
    }

    /// Whether this left less than `other` did, parts of tokens included: two multiplications, where comparing
    /// [`remaining`](Self::remaining) would take two divisions.
    pub(crate) const fn left_less_than(&self, other: &Self) -> bool {
        (self.spare as u128 * other.token as u128) < (other.spare as u128 * self.token as u128)
    }

    /// The limiter's word after the spend.
    pub(crate) const fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Whole tokens that were left at the instant of this decision. Another caller may have spent them since.
    ///
    /// Computed when called: one division.
    #[must_use]
    pub const fn remaining(&self) -> u64 {
        self.spare / self.token
    }
}

impl PartialEq for Permit {
    fn eq(&self, other: &Self) -> bool {
        self.remaining() == other.remaining()
    }
}

impl Eq for Permit {}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("remaining", &self.remaining()).finish()
    }
}

/// A denial: nothing was spent, and this tells how long to wait.
#[derive(Clone, Copy)]
pub struct Denial {
    /// Ticks that must have passed since the epoch for the same call to be admitted.
    ticks: u64,
    /// Ticks of a nanosecond, times 2⁶⁰.
    rate: u64,
    /// When it was decided.
    now: u64,
}

impl Denial {
    #[inline]
    pub(crate) const fn new(ticks: u64, rate: u64, now: u64) -> Self {
        Self { ticks, rate, now }
    }

    /// A denial until `retry_at`, both in nanoseconds of the limiter's clock: one tick a nanosecond.
    #[inline]
    pub(crate) const fn at(retry_at: u64, now: u64) -> Self {
        Self::new(retry_at, 1 << 60, now)
    }

    /// The smallest whole number of nanoseconds after which the same call is admitted, if nobody spends in between:
    /// at least 1, rounded up, so that the promised instant is never too early and never more than a nanosecond late.
    ///
    /// `u64::MAX` when that is past the limiter's [`HORIZON`](crate::budget::HORIZON).
    ///
    /// Computed when called: one 128-bit division.
    #[must_use]
    pub const fn retry_after_nanos(&self) -> u64 {
        match nanos_at(self.ticks, self.rate) {
            Some(at) => at.saturating_sub(self.now),
            None => u64::MAX,
        }
    }

    /// The instant that the wait ends, in nanoseconds of the limiter's clock.
    #[must_use]
    pub const fn retry_at(&self) -> u64 {
        match nanos_at(self.ticks, self.rate) {
            Some(at) => at,
            None => u64::MAX,
        }
    }

    /// [`retry_after_nanos`](Self::retry_after_nanos) as a [`Duration`].
    ///
    /// For an HTTP `Retry-After` in seconds (RFC 9110, section 10.2.3) round **up**: a wait floored to 0 invites a retry
    /// that is denied.
    #[must_use]
    pub const fn retry_after(&self) -> Duration {
        Duration::from_nanos(self.retry_after_nanos())
    }
}

impl PartialEq for Denial {
    fn eq(&self, other: &Self) -> bool {
        self.retry_after_nanos() == other.retry_after_nanos()
    }
}

impl Eq for Denial {}

impl fmt::Debug for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Denial").field("retry_after", &self.retry_after()).finish()
    }
}

/// An instant at which tokens spent ahead of time are there.
#[derive(Clone, Copy)]
pub struct Promise {
    /// Ticks that must have passed since the epoch.
    ticks: u64,
    /// Ticks of a nanosecond, times 2⁶⁰.
    rate: u64,
    /// When it was promised.
    now: u64,
}

impl Promise {
    #[inline]
    pub(crate) const fn new(ticks: u64, rate: u64, now: u64) -> Self {
        Self { ticks, rate, now }
    }

    /// The promised instant, in nanoseconds of the limiter's clock; not before the promise was made. Rounded up, so that
    /// the tokens are there. `u64::MAX` when that is past the limiter's [`HORIZON`](crate::budget::HORIZON).
    ///
    /// Computed when called: one 128-bit division.
    #[must_use]
    pub const fn at(&self) -> u64 {
        match nanos_at(self.ticks, self.rate) {
            Some(at) if at > self.now => at,
            Some(_) => self.now,
            None => u64::MAX,
        }
    }
}

impl PartialEq for Promise {
    fn eq(&self, other: &Self) -> bool {
        self.at() == other.at()
    }
}

impl Eq for Promise {}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").field("at", &self.at()).finish()
    }
}
