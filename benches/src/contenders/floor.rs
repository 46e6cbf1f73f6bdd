//! What no limiter of this kind can be cheaper than: a reading of the clock, and for an admission one compare-and-swap.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use admittance::{Clock, TscClock};

use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;
use crate::shared;

/// A clock that a floor stands on.
pub trait FloorClock: Clock + Send + Sync {
    /// How reports call the floor.
    const NAME: &'static str;

    /// One of it.
    fn make() -> Self;
}

impl FloorClock for TscClock {
    const NAME: &'static str = "clock + compare-and-swap";

    fn make() -> Self {
        Self::new()
    }
}

/// The processor's counter as quanta scales it: a clock reading that owes this crate nothing.
#[derive(Debug)]
pub struct PlainQuanta {
    counter: quanta::Clock,
    start: u64,
}

impl Clock for PlainQuanta {
    #[inline]
    fn now(&self) -> u64 {
        self.counter.delta_as_nanos(self.start, self.counter.raw())
    }
}

impl FloorClock for PlainQuanta {
    const NAME: &'static str = "quanta + compare-and-swap";

    fn make() -> Self {
        let counter = quanta::Clock::new();
        let start = counter.raw();
        Self { counter, start }
    }
}

/// Reads the clock, and swaps a word for one that has moved by what the clock said. Decides nothing.
#[derive(Debug)]
pub struct Floor<C = TscClock> {
    word: AtomicU64,
    clock: C,
}

impl<C: FloorClock> Limiter for Floor<C> {
    const NAME: &'static str = C::NAME;

    shared!();

    fn build(_: &Plan) -> Self {
        Self { word: AtomicU64::new(0), clock: C::make() }
    }
}

impl<C: FloorClock> Caller for &Floor<C> {
    #[inline(always)]
    fn admit(&self) -> bool {
        let now = self.clock.now();
        // Relaxed, as in the bucket: one variable, nothing published.
        let word = self.word.load(Ordering::Relaxed);
        // The bit: the word changes whatever the clock says.
        let next = word.wrapping_add(now | 1);
        self.word.compare_exchange(word, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// Reads the clock and denies: what is left of a denial without its decision.
#[derive(Debug)]
pub struct ClockOnly(TscClock);

impl Limiter for ClockOnly {
    const NAME: &'static str = "clock";

    shared!();

    fn build(_: &Plan) -> Self {
        Self(TscClock::new())
    }
}

impl Caller for &ClockOnly {
    #[inline(always)]
    fn admit(&self) -> bool {
        black_box(self.0.now());
        false
    }
}
