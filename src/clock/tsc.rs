//! The precise clock: the processor's time-stamp counter.

use super::Clock;
#[cfg(feature = "std")]
use super::ratio::Ratio;

/// The processor's time-stamp counter, calibrated by [quanta](https://docs.rs/quanta); the system's monotonic clock
/// where there is no usable counter. The default clock.
///
/// Its epoch is the moment it was made. A clone has the same epoch, so limiters that share clones agree on time.
///
/// # Costs and limits
///
/// - The first one in a process blocks while quanta calibrates: 10 to 20 ms as a rule, 200 ms at most. Later ones and
///   clones cost next to nothing.
/// - A reading is the counter and one multiplication (two, of a counter slower than 1 GHz); it takes no lock, makes no
///   system call, and is not a memory barrier that a program may rely on. Readings on different cores may disagree by as
///   much as the hardware lets its counters differ.
/// - Some processors let nothing that is under way overlap a reading (measured on one: `benches/README.md`). Where that
///   matters, as among millions of keys, read once for many calls, or use a [`CoarseClock`](super::CoarseClock).
/// - Calibration is off by some parts per million of the system's clock: 0 and 25 in runs of a minute on one machine. A day's
///   refill may so be early or late by a few seconds. The counter does not run while the system sleeps.
///
/// Without the `std` feature this type has no values; it is named only as the default type parameter.
#[derive(Clone, Debug)]
pub struct TscClock {
    #[cfg(feature = "std")]
    counter: quanta::Clock,
    /// The counter's own units, not nanoseconds: a reading is the scaled distance from here.
    #[cfg(feature = "std")]
    start: u64,
    #[cfg(feature = "std")]
    ratio: Ratio,
    #[cfg(not(feature = "std"))]
    none: core::convert::Infallible,
}

#[cfg(feature = "std")]
impl TscClock {
    /// A clock whose epoch is now.
    #[must_use]
    pub fn new() -> Self {
        let counter = quanta::Clock::new();
        let ratio = Ratio::of(|count| counter.delta_as_nanos(0, count));
        let start = counter.raw();
        Self { counter, start, ratio }
    }
}

#[cfg(feature = "std")]
impl Default for TscClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TscClock {
    #[inline]
    fn now(&self) -> u64 {
        #[cfg(feature = "std")]
        return self.ratio.between(self.start, self.counter.raw());
        #[cfg(not(feature = "std"))]
        match self.none {}
    }
}
