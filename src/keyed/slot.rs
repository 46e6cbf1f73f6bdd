//! One slot, 16 bytes: whose bucket it is, and the bucket's word. The only memory orderings of the table.
//!
//! # The protocol
//!
//! A caller must never charge a bucket that is somebody else's by now, and the processor swaps eight bytes at a time. So the
//! *state* says whose it is as well: it is the bucket's word plus a **mask**, a number that follows from the owner word and
//! the count of its tier's changes. A compare-and-swap of the state that finds the bits it expects therefore finds the
//! bucket it decided on. (Another owner's state has the same bits once in 2⁶⁴; two keys share a fingerprint far more often.)
//!
//! | step | owner | state |
//! |---|---|---|
//! | a key's | `key` | `word + mask(key)` |
//! | 1. *taken*: by compare-and-swap, so what was there is final | `key` | `MOVED + mask(key)` |
//! | 2. | `BUSY` | the same |
//! | 3. the next word is put in | `BUSY` | `word' + mask(key')` |
//! | 4. *given* | `key'` | the same |
//!
//! A free slot begins at 2, by a compare-and-swap of `FREE` for `BUSY`. Whoever wins step 1 has the slot for itself until 4.
//!
//! A caller reads owner, state, owner. Both times its own key: then the state is that key's, or from a stretch between two
//! times that the slot was. A spend finds out in its compare-and-swap; whoever decides without one reads the state once more.
//!
//! # Orderings
//!
//! - State and owner are stored with *release*, in the order of the table, and loaded with *acquire*. Who sees a key sees its
//!   state, or a later one; who sees a state of step 3 and then looks at the owner sees `BUSY` or later, not the key before.
//! - A spend is relaxed: nothing is published by it. Being a read-modify-write it stays part of the release sequence that
//!   step 3 began, so who reads its result has still acquired what step 3 released.
//! - Taking (step 1) is a release: who sees `MOVED` sees what the taker did before, above all the instant that it noted.
//!
//! Models: `loom-tests/tests/keyed`.

use core::fmt;

use super::owner::Owner;
use crate::bucket::Word;
use crate::bucket::step::Step;
use crate::decision::Decision;
use crate::sync::{AtomicU64, Backoff, Ordering};

/// What is added to a bucket's word in its slot. Different for different keys, tiers and terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mask(u64);

impl Mask {
    /// For a key of a tier whose terms have changed `number` times.
    #[inline]
    pub(super) const fn new(owner: Owner, number: u64) -> Self {
        // Odd multipliers: different owners have different masks. Terms that are near each other have masks far apart, so
        // no word of one is a word of the other within years of ticks.
        Self(owner.bits().wrapping_add(number.wrapping_mul(0xd6e8_feb8_6659_fd93)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    #[inline]
    const fn hide(self, word: Word) -> u64 {
        word.bits().wrapping_add(self.0)
    }

    #[inline]
    const fn show(self, state: u64) -> Word {
        Word::from_bits(state.wrapping_sub(self.0))
    }
}

/// Sixteen bytes. See the [module](self).
pub(super) struct Slot {
    owner: AtomicU64,
    state: AtomicU64,
}

/// A state that was read: what a taker must find again.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    state: u64,
    mask: Mask,
}

impl Seen {
    pub(super) const fn word(&self) -> Word {
        self.mask.show(self.state)
    }
}

impl Slot {
    pub(super) fn free() -> Self {
        Self { owner: AtomicU64::new(Owner::FREE.bits()), state: AtomicU64::new(0) }
    }

    /// A slot that is a key's from the beginning.
    pub(super) fn owned(owner: Owner, mask: Mask, word: Word) -> Self {
        Self { owner: AtomicU64::new(owner.bits()), state: AtomicU64::new(mask.hide(word)) }
    }

    #[inline]
    pub(super) fn owner(&self) -> Owner {
        // Acquire: see above.
        Owner::from_bits(self.owner.load(Ordering::Acquire))
    }

    /// Decides by `step` on `owner`'s bucket; `None` where this is not, or no longer, that bucket, or where `current`
    /// says that its terms are no longer the ones that `mask` was made for.
    pub(super) fn apply<T>(
        &self,
        owner: Owner,
        mask: Mask,
        current: impl Fn() -> bool,
        step: impl Fn(Word) -> Step<T>,
    ) -> Option<Decision<T>> {
        let backoff = Backoff::new();
        loop {
            let state = self.state_of(owner, mask, &current)?;
            if let Some(decision) = self.decide(state, mask, &step) {
                return Some(decision);
            }
            backoff.spin();
        }
    }

    /// As [`apply`](Self::apply), once: `None` also where somebody else was faster.
    #[inline]
    pub(super) fn attempt<T>(
        &self,
        owner: Owner,
        mask: Mask,
        current: impl Fn() -> bool,
        step: impl Fn(Word) -> Step<T>,
    ) -> Option<Decision<T>> {
        let state = self.state_of(owner, mask, current)?;
        self.decide(state, mask, step)
    }

    /// The state of `owner`'s bucket, if this is it and its terms are current.
    #[inline]
    fn state_of(&self, owner: Owner, mask: Mask, current: impl Fn() -> bool) -> Option<u64> {
        // Acquire: pairs with `give`. What is loaded after it cannot be older.
        let state = self.state.load(Ordering::Acquire);
        (self.owner() == owner && current() && mask.show(state) != Word::MOVED).then_some(state)
    }

    /// Decides on the bucket of this state; `None` where somebody else has changed it since.
    #[inline]
    fn decide<T>(&self, state: u64, mask: Mask, step: impl Fn(Word) -> Step<T>) -> Option<Decision<T>> {
        match step(mask.show(state)) {
            Step::Spend { next, permit } => {
                // Relaxed, weak: as in `bucket/atomic.rs`, and see above.
                self.state
                    .compare_exchange_weak(state, mask.hide(next), Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
                    .then_some(Decision::Admitted(permit))
            }
            // Relaxed: it comes after the owner's acquire, so it is no older than the owner's second look. The same
            // bits again are the owner's own.
            Step::Keep(decision) => (self.state.load(Ordering::Relaxed) == state).then_some(decision),
        }
    }

    /// Reads the state, if this is `owner`'s bucket and in the terms of `mask`. Only to be taken: see [`Slot::take_if`].
    pub(super) fn see(&self, owner: Owner, mask: Mask) -> Option<Seen> {
        // Acquire: as in `apply`.
        let state = self.state.load(Ordering::Acquire);
        (self.owner() == owner && mask.show(state) != Word::MOVED).then_some(Seen { state, mask })
    }

    /// Takes a free slot.
    pub(super) fn take_free(&self) -> bool {
        // Acquire: nothing is read of a free slot, but what is stored to it next must not come before. Relaxed on failure:
        // nothing is done then.
        self.owner
            .compare_exchange(Owner::FREE.bits(), Owner::BUSY.bits(), Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Takes the slot from its owner, if its bucket is still as it was seen.
    pub(super) fn take_if(&self, seen: Seen) -> bool {
        let moved = seen.mask.hide(Word::MOVED);
        // Release: see above. Relaxed on failure: nothing is done then. Strong: a failure is news.
        if self.state.compare_exchange(seen.state, moved, Ordering::Release, Ordering::Relaxed).is_err() {
            return false;
        }
        // Release: as for a state.
        self.owner.store(Owner::BUSY.bits(), Ordering::Release);
        true
    }

    /// Takes the slot from `owner` whatever its bucket holds, and returns that; `None` where somebody else has taken it.
    pub(super) fn take(&self, owner: Owner, mask: Mask) -> Option<Word> {
        let backoff = Backoff::new();
        loop {
            let seen = self.see(owner, mask)?;
            if self.take_if(seen) {
                return Some(seen.word());
            }
            backoff.spin();
        }
    }

    /// Gives a slot that was taken to a key.
    pub(super) fn give(&self, owner: Owner, mask: Mask, word: Word) {
        // Release, both: see above.
        self.state.store(mask.hide(word), Ordering::Release);
        self.owner.store(owner.bits(), Ordering::Release);
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("owner", &self.owner()).finish_non_exhaustive()
    }
}
