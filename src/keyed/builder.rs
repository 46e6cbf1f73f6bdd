//! What a table is built from.

use core::fmt;
use core::hash::Hasher;
use core::marker::PhantomData;
use std::hash::{BuildHasher, RandomState};
use std::vec::Vec;

use super::error::KeyedError;
use super::overflow::Overflow;
use super::table::Table;
use super::{Keyed, MAX_TIERS};
use crate::clock::{Clock, TscClock};
use crate::rule::Rule;

/// Sixteenths of a slot a key: 31 bytes a key. What fuller tables turn away is measured in `tests/keyed/room.rs`.
const SLOTS_PER_16_KEYS: usize = 31;

/// Builds a [`Keyed`].
#[must_use = "a builder does nothing until it is built"]
pub struct KeyedBuilder<K: ?Sized> {
    rules: Vec<Rule>,
    max_keys: usize,
    overflow: Overflow,
    seed: Option<u128>,
    key: PhantomData<fn(&K)>,
}

impl<K: ?Sized> KeyedBuilder<K> {
    pub(super) fn new(rule: Rule, max_keys: usize, overflow: Overflow) -> Self {
        Self { rules: Vec::from([rule]), max_keys, overflow, seed: None, key: PhantomData }
    }

    /// Adds a tier. The first rule is tier 0's.
    pub fn tier(mut self, rule: impl Into<Rule>) -> Self {
        self.rules.push(rule.into());
        self
    }

    /// The seed of the hash, for tests and replays that must come out the same each time. Without it the seed is random, as it
    /// should be wherever keys come from strangers: who knows it can choose keys that share a bucket.
    pub fn seed(mut self, seed: u128) -> Self {
        self.seed = Some(seed);
        self
    }

    /// A table on the precise clock.
    ///
    /// # Errors
    ///
    /// When `max_keys` is 0 or more than a table can hold, when there are more than [`MAX_TIERS`] tiers, or when
    /// some of them are buckets and others windows.
    pub fn build(self) -> Result<Keyed<K>, KeyedError> {
        self.build_with_clock(TscClock::new())
    }

    /// A table on `clock`, whose buckets were full at the clock's epoch, and so are full.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_with_clock<C: Clock>(self, clock: C) -> Result<Keyed<K, C>, KeyedError> {
        let Self { rules, max_keys, overflow, seed, .. } = self;
        let slots = match max_keys.checked_mul(SLOTS_PER_16_KEYS) {
            Some(sixteenths) if (1..=KeyedError::MOST_KEYS).contains(&max_keys) => sixteenths / 16,
            _ => return Err(KeyedError::keys(max_keys)),
        };
        if rules.len() > MAX_TIERS {
            return Err(KeyedError::tiers(rules.len()));
        }
        if let Some(number) = rules.iter().position(|rule| !rule.is_same_kind(&rules[0])) {
            return Err(KeyedError::mixed(number, &rules[0], &rules[number]));
        }
        Ok(Keyed {
            table: Table::new(slots, &rules, overflow),
            clock,
            seed: seed.map_or_else(random, |seed| [seed as u64, (seed >> 64) as u64]),
            max_keys,
            key: PhantomData,
        })
    }
}

/// Sixteen bytes from the system's source of random numbers, by way of the standard library's own hash seed.
fn random() -> [u64; 2] {
    [(); 2].map(|()| RandomState::new().build_hasher().finish())
}

impl<K: ?Sized> fmt::Debug for KeyedBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedBuilder")
            .field("rules", &self.rules)
            .field("max_keys", &self.max_keys)
            .field("overflow", &self.overflow)
            .finish_non_exhaustive()
    }
}
