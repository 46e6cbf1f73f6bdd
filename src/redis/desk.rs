//! What a process knows of its callers between calls to the store: leases, denials, and who waits for a call under way.
//!
//! Bounded: a seat an identity that has one of the three, as many as the policy's `max_keys`. Who finds no seat is served
//! all the same, by a call of its own. Seats of which nothing is left are given to others.

mod seat;

use core::hash::{BuildHasherDefault, Hasher};
use std::boxed::Box;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use siphasher::sip128::{Hasher128 as _, SipHasher13};

pub(super) use seat::{Held, Known, Seat, Told, Waiting};

use crate::identity::Identity;

/// An identity under a tier, to this process: 128 bits under a key of this desk's own, which nobody outside can aim at.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place(u128);

impl Place {
    /// As bytes, for a table of this process.
    pub(super) fn bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

/// Locks, each over its part of the seats. A power of two.
const SHARDS: usize = 64;

type Seats = HashMap<Place, Seat, BuildHasherDefault<AsItIs>>;

pub(super) struct Desk {
    key: [u8; 16],
    shards: Box<[Mutex<Seats>]>,
    /// Seats in a shard at most.
    most: usize,
}

impl Desk {
    pub(super) fn new(max_keys: usize) -> Self {
        use std::hash::{BuildHasher as _, RandomState};
        let mut key = [0; 16];
        for half in key.chunks_exact_mut(8) {
            half.copy_from_slice(&RandomState::new().hash_one(0).to_le_bytes());
        }
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { key, shards, most: max_keys.div_ceil(SHARDS).max(1) }
    }

    pub(super) fn place(&self, identity: &impl Identity, tier: usize) -> Place {
        let mut hash = SipHasher13::new_with_key(&self.key);
        hash.write(&(tier as u64).to_le_bytes());
        identity.feed(&mut hash);
        let hash = hash.finish128();
        Place(u128::from(hash.h1) << 64 | u128::from(hash.h2))
    }

    fn shard(&self, place: Place) -> MutexGuard<'_, Seats> {
        // A caller that panicked cannot have left a seat half changed: nothing in a critical section calls out.
        self.shards[place.0 as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at a seat that is there.
    pub(super) fn with<T>(&self, place: Place, look: impl FnOnce(&mut Seat) -> T) -> Option<T> {
        self.shard(place).get_mut(&place).map(look)
    }

    /// Looks at a seat, a new one where there is none; `None` where there is no room for it.
    pub(super) fn sit<T>(&self, place: Place, now: u64, look: impl FnOnce(&mut Seat) -> T) -> Option<T> {
        let mut seats = self.shard(place);
        if !seats.contains_key(&place) && seats.len() >= self.most {
            seats.retain(|_, seat| !seat.is_idle(now));
            if seats.len() >= self.most {
                return None;
            }
        }
        Some(look(seats.entry(place).or_default()))
    }

    /// Takes the leases that `picks` says, and the seats of which nothing is left.
    pub(super) fn collect(&self, now: u64, picks: impl Fn(&Held) -> bool) -> Vec<Held> {
        let mut collected = Vec::new();
        for shard in &self.shards {
            let mut seats = shard.lock().unwrap_or_else(PoisonError::into_inner);
            for seat in seats.values_mut() {
                collected.extend(seat.lease.take_if(|held| picks(held)).filter(|held| held.left > 0));
            }
            seats.retain(|_, seat| !seat.is_idle(now));
        }
        collected
    }

    /// Seats taken.
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).len()).sum()
    }

    /// Leased tokens that are not spent yet.
    pub(super) fn leased(&self) -> u64 {
        let of = |seats: &Seats| -> u64 {
            seats.values().filter_map(|seat| seat.lease.as_ref()).map(|held| held.left).sum()
        };
        self.shards.iter().map(|shard| of(&shard.lock().unwrap_or_else(PoisonError::into_inner))).sum()
    }
}

/// A place is a hash already: its upper half, the lower having chosen the shard.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        let mut half = [0; 8];
        let from = bytes.len().saturating_sub(8);
        half[..bytes.len() - from].copy_from_slice(&bytes[from..]);
        self.0 = u64::from_ne_bytes(half);
    }

    fn write_u128(&mut self, place: u128) {
        self.0 = (place >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
