//! Where time comes from: a parameter of every limiter.
//!
//! | clock | a reading costs | for |
//! |---|---|---|
//! | [`TscClock`] | the processor's counter and a multiplication | the default |
//! | [`CoarseClock`] | one relaxed load | the hottest paths; late by a bounded lag, never early |
//! | [`ManualClock`] | one relaxed load | tests and replays: time moves when you say so |
//!
//! A limiter built on this crate never trusts a clock to be monotonic: one that steps back, or differs between cores,
//! mints no tokens and holds nobody up for longer than the step.

#[cfg(feature = "std")]
mod coarse;
mod manual;
#[cfg(feature = "std")]
mod ratio;
mod tsc;

#[cfg(feature = "std")]
pub use coarse::CoarseClock;
pub use manual::ManualClock;
pub use tsc::TscClock;

/// A source of time: whole nanoseconds since an epoch of the clock's own, usually its start.
///
/// Every limiter lasts [`HORIZON`](crate::budget::HORIZON) (36 years) from that epoch, so an epoch of 1970 will not do.
///
/// # What callers rely on
///
/// - `now` should rise with real time. Where it steps back, limiters see fewer tokens until it has caught up.
/// - A clock that runs *ahead* and is then corrected leaves the buckets it charged ahead of time: they admit again when
///   the clock is back where it was.
///
/// ```
/// use admittance::{Budget, Clock, TokenBucket};
///
/// struct Ticks;
/// impl Clock for Ticks {
///     fn now(&self) -> u64 {
///         1_000_000 // read a hardware timer here
///     }
/// }
/// let bucket = TokenBucket::with_clock(Budget::per_second(10), Ticks);
/// assert!(bucket.try_acquire(10).is_admitted());
/// ```
pub trait Clock {
    /// Nanoseconds since this clock's epoch.
    fn now(&self) -> u64;
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now(&self) -> u64 {
        (**self).now()
    }
}

#[cfg(feature = "std")]
impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    #[inline]
    fn now(&self) -> u64 {
        (**self).now()
    }
}
