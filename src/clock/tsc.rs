//! The precise clock: the processor's time-stamp counter.

use super::Clock;

/// The processor's time-stamp counter, calibrated by [quanta](https://docs.rs/quanta); the system's monotonic clock
/// where there is no usable counter. The default clock.
///
/// Its epoch is the moment it was made. A clone has the same epoch, so limiters that share clones agree on time.
///
/// # Costs and limits
///
/// - The first one in a process blocks while quanta calibrates: 10 to 20 ms as a rule, 200 ms at most. Later ones and
///   clones cost nothing.
/// - A reading is the counter, one multiply and one shift; it takes no lock, makes no system call, and is not a
///   memory barrier. Readings on different cores may disagree by as much as the hardware lets its counters differ.
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
    #[cfg(not(feature = "std"))]
    none: core::convert::Infallible,
}

#[cfg(feature = "std")]
impl TscClock {
    /// A clock whose epoch is now.
    #[must_use]
    pub fn new() -> Self {
        let counter = quanta::Clock::new();
        let start = counter.raw();
        Self { counter, start }
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
        // A counter that reads behind `start` (another core's, by a hair) counts as `start`.
        #[cfg(feature = "std")]
        return self.counter.delta_as_nanos(self.start, self.counter.raw());
        #[cfg(not(feature = "std"))]
        match self.none {}
    }
}
