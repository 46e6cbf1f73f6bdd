//! Locks for whoever meets a key that has no bucket: one of a few, chosen by the key.
//!
//! A key that has its bucket takes no lock. A newcomer does, so that two threads that meet it together give it one bucket; so
//! does whoever moves a bucket to another tier or other terms.

use std::boxed::Box;
use std::sync::PoisonError;

use crossbeam_utils::CachePadded;

use super::owner::Owner;
use crate::sync::{Mutex, MutexGuard};

/// As many newcomers at once as can be of use. A power of two. Under loom two, so that both cases are met.
const MOST: usize = if cfg!(all(admittance_loom, feature = "loom")) { 2 } else { 64 };

pub(super) struct Stripes(Box<[CachePadded<Mutex<()>>]>);

impl Stripes {
    /// For a table of so many groups.
    pub(super) fn new(groups: usize) -> Self {
        let count = groups.next_power_of_two().clamp(2, MOST);
        Self((0..count).map(|_| CachePadded::new(Mutex::new(()))).collect())
    }

    /// The lock of a key, by its fingerprint, so that it can be told from a slot too.
    pub(super) fn lock(&self, print: u64) -> MutexGuard<'_, ()> {
        let stripe = Owner::from_bits(print).stripe(self.0.len());
        // Nothing is protected but the order of things: a panic leaves nothing half done.
        self.0[stripe].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns once everybody who had a lock when this was called has let go of it.
    pub(super) fn pass(&self) {
        for stripe in &self.0 {
            drop(stripe.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}
