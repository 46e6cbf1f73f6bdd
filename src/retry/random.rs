//! Where chance comes from: a parameter, as time is.

use core::hash::Hasher;
use std::hash::{BuildHasher, RandomState};

use crate::sync::{AtomicU64, Ordering};

/// A source of random numbers. Asked once for each call that begins; what the call draws follows from that number, whatever
/// other threads do meanwhile.
pub trait Random {
    /// Any 64 bits.
    fn seed(&self) -> u64;
}

/// The standard library's own: other numbers in each process, fit for spreading callers, not for secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn seed(&self) -> u64 {
        RandomState::new().build_hasher().finish()
    }
}

/// The same numbers each time, for tests and replays: the same seed makes the same plans.
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    /// Numbers that follow from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Random for SeededRandom {
    fn seed(&self) -> u64 {
        // Relaxed: each caller gets another number, and nothing is published with it.
        mix(self.0.fetch_add(STEP, Ordering::Relaxed))
    }
}

impl<R: Random + ?Sized> Random for &R {
    fn seed(&self) -> u64 {
        (**self).seed()
    }
}

/// 2⁶⁴ over the golden ratio, odd: steps of it visit every number once.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of splitmix64 (Steele, Lea and Flood, 2014).
const fn mix(state: u64) -> u64 {
    let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

/// The numbers of one call.
#[derive(Clone, Debug)]
pub(super) struct Stream(u64);

impl Stream {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn draw(&mut self) -> Draw {
        self.0 = self.0.wrapping_add(STEP);
        Draw(mix(self.0))
    }
}

/// One number. Taken before it is known what for, so that what a server says changes no later number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw(u64);

impl Draw {
    /// Evenly from `low` to `high`, both included. The same draw from a higher range is never lower.
    pub(super) const fn between(self, low: u64, high: u64) -> u64 {
        let width = high.saturating_sub(low) as u128 + 1;
        low + ((self.0 as u128 * width) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn draws_stay_in_their_range_and_rise_with_it(bits: u64, low: u64, more: u64, up: u64) {
            let high = low.saturating_add(more);
            let drawn = Draw(bits).between(low, high);
            prop_assert!((low..=high).contains(&drawn));
            prop_assert!(drawn <= Draw(bits).between(low, high.saturating_add(up)));
        }
    }

    #[test]
    fn both_ends_are_drawn() {
        assert_eq!(Draw(0).between(3, 9), 3);
        assert_eq!(Draw(u64::MAX).between(3, 9), 9);
        assert_eq!(Draw(u64::MAX).between(0, u64::MAX), u64::MAX);
    }
}
