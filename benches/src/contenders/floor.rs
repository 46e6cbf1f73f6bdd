//! What no limiter of this kind can be cheaper than: a reading of the clock, and for an admission one compare-and-swap.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use admittance::{Clock, TscClock};

use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;
use crate::shared;

/// Reads the clock, and swaps a word for one that has moved by what the clock said. Decides nothing.
#[derive(Debug)]
pub struct Floor {
    word: AtomicU64,
    clock: TscClock,
}

impl Limiter for Floor {
    const NAME: &'static str = "clock + compare-and-swap";

    shared!();

    fn build(_: &Plan) -> Self {
        Self { word: AtomicU64::new(0), clock: TscClock::new() }
    }
}

impl Caller for &Floor {
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
