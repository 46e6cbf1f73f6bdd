//! How long a client waits of its own accord.

use core::time::Duration;

use super::error::RetryError;
use super::parse::nanos;
use super::random::Draw;

/// How chance shapes a backoff: never what a server asks for, and never the spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Jitter {
    /// The backoff as it is.
    None,
    /// Anything from nothing to the backoff.
    #[default]
    Full,
    /// Anything from half the backoff to all of it.
    Equal,
    /// Anything from the first backoff to three times the last wait. The factor is not used.
    Decorrelated,
}

/// The wait before the second attempt, before the third, and so on: `first`, `first · factor`, `first · factor²`, never above
/// the ceiling. The ceiling bounds the client's own waits; a server's wait is never shortened.
///
/// ```
/// use std::time::Duration;
/// use admittance::retry::{Backoff, Jitter};
///
/// let backoff = Backoff::new(Duration::from_millis(250)).factor(2).ceiling(Duration::from_secs(5)).jitter(Jitter::Equal);
/// assert_eq!(backoff.range(2), (Duration::from_millis(250), Duration::from_millis(500)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Backoff {
    first: u64,
    factor: u32,
    ceiling: u64,
    jitter: Jitter,
}

impl Backoff {
    /// This long at first, doubled each time, without a ceiling, with [`Jitter::Full`]. More than 584 years count as that.
    pub const fn new(first: Duration) -> Self {
        Self { first: nanos(first), factor: 2, ceiling: u64::MAX, jitter: Jitter::Full }
    }

    /// So many times longer after each attempt, at least 1: 1 is always the same.
    pub const fn factor(self, factor: u32) -> Self {
        Self { factor, ..self }
    }

    /// Never longer than this, which is not below the first.
    pub const fn ceiling(self, ceiling: Duration) -> Self {
        Self { ceiling: nanos(ceiling), ..self }
    }

    /// How chance shapes it.
    pub const fn jitter(self, jitter: Jitter) -> Self {
        Self { jitter, ..self }
    }

    /// The shortest and the longest that it can be before the retry of this number; 1 is the second attempt. Both happen.
    #[must_use]
    pub fn range(&self, retry: u32) -> (Duration, Duration) {
        let (low, high) = self.nanos(retry);
        (Duration::from_nanos(low), Duration::from_nanos(high))
    }

    pub(super) fn nanos(&self, retry: u32) -> (u64, u64) {
        let times = |factor: u64, power| self.first.saturating_mul(factor.saturating_pow(power)).min(self.ceiling);
        let whole = times(self.factor.into(), retry.saturating_sub(1));
        match self.jitter {
            Jitter::None => (whole, whole),
            Jitter::Full => (0, whole),
            Jitter::Equal => (whole / 2, whole),
            Jitter::Decorrelated => (self.first, times(3, retry)),
        }
    }

    /// The backoff before this retry, where the last one was `last`; the first's is any.
    pub(super) fn draw(&self, retry: u32, last: u64, draw: Draw) -> u64 {
        let (low, high) = self.nanos(retry);
        match self.jitter {
            Jitter::Decorrelated if retry > 1 => draw.between(low, last.saturating_mul(3).clamp(low, high)),
            _ => draw.between(low, high),
        }
    }

    pub(super) fn check(&self) -> Result<(), RetryError> {
        if self.factor == 0 {
            return Err(RetryError::zero("backoff factor"));
        }
        if self.ceiling < self.first {
            return Err(RetryError::below("backoff ceiling", self.ceiling, self.first));
        }
        Ok(())
    }
}
