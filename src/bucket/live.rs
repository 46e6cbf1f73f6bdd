//! A word and its budget, which may be replaced while callers are at work.
//!
//! # The protocol
//!
//! A word means nothing without its budget, and both cannot change in one compare-and-swap. So they never change together:
//! a *slot* pairs one word with one budget for good, and a change of budget moves the bucket to a new slot.
//!
//! 1. The changer makes room for the next slot, and reads `now`: the instant of the change.
//! 2. It swaps the old slot's word for `MOVED`. From here nobody can spend from the old slot: a caller that had decided on
//!    the old word finds `MOVED` in its compare-and-swap. What was swapped out is final.
//! 3. It carries the final word over ([`step::carry`]), fills the new slot with it, and then makes that slot current.
//!
//! A caller loads which slot is current (one load, and for a bucket that was never changed the only price of all this),
//! decides and swaps there. To every step `MOVED` reads as a bucket in the deepest debt, so the admitted path needs no test
//! for it; whoever is *not* admitted looks whether the word has moved, and if so asks for the slot in use again.
//!
//! Slots are never used twice, so a caller that slept through any number of changes wakes to a slot that says `MOVED`: there
//! is no ABA. The price is memory: each change keeps one slot until the bucket is dropped.
//!
//! Between 2 and 3, some tens of nanoseconds, callers wait on the changer's lock: a bucket is lock-free except while its
//! budget changes. A changer that is suspended just there holds them up until it runs again.
//!
//! Model: `loom-tests/tests/change.rs`.

use super::atomic::AtomicWord;
use super::step::Step;
use super::word::Word;
use crate::budget::Budget;
use crate::decision::Decision;
use crate::sync::const_unless_loom;

#[cfg(feature = "std")]
use crate::later::Later;

/// The pairs of word and budget that a bucket has had; the last one is in use.
pub(super) struct Live {
    first: Slot,
    #[cfg(feature = "std")]
    later: Later<Slot>,
}

/// One word, and the budget that it is counted in.
struct Slot {
    word: AtomicWord,
    budget: Budget,
}

impl Slot {
    /// Whether this is the mark of a word that has moved. Without `std` a budget never changes.
    #[inline]
    fn is_moved(word: Word) -> bool {
        #[cfg(feature = "std")]
        return word == Word::MOVED;
        #[cfg(not(feature = "std"))]
        {
            let _ = word;
            false
        }
    }

    /// Whether the word has moved to another slot, for good.
    #[inline]
    fn has_moved(&self) -> bool {
        Self::is_moved(self.word.load())
    }
}

impl Live {
    const_unless_loom! {
        pub(super) const fn new(word: Word, budget: Budget) -> Self {
            Self {
                first: Slot { word: AtomicWord::from_word(word), budget },
                #[cfg(feature = "std")]
                later: Later::new(),
            }
        }
    }

    /// The budget in use.
    pub(super) fn budget(&self) -> Budget {
        self.slot().budget
    }

    /// Decides by `step`, on the word in use.
    ///
    /// A word that has moved admits nothing that spends, so where `spends` says that the call does, an admission needs no
    /// second look. (No cold function takes the rest of the loop: it would take `step` and the decision by reference, and
    /// what the hot path keeps in registers would go through memory.)
    #[inline(always)]
    pub(super) fn apply<T>(&self, spends: bool, step: impl Fn(Word, &Budget) -> Step<T>) -> Decision<T> {
        loop {
            let slot = self.slot();
            let decision = slot.word.apply(|word| step(word, &slot.budget));
            if (spends && decision.is_admitted()) || !slot.has_moved() {
                return decision;
            }
            self.settle();
        }
    }

    /// Changes the word in use by `step`, whatever it is.
    pub(super) fn update<T>(&self, step: impl Fn(Word, &Budget) -> (Word, T)) -> T {
        loop {
            let slot = self.slot();
            let result = slot.word.update(|word| {
                if Slot::is_moved(word) {
                    return (word, None);
                }
                let (next, result) = step(word, &slot.budget);
                (next, Some(result))
            });
            match result {
                Some(result) => return result,
                None => self.settle(),
            }
        }
    }

    /// Looks at the word in use.
    #[inline]
    pub(super) fn read<T>(&self, look: impl Fn(Word, &Budget) -> T) -> T {
        loop {
            let slot = self.slot();
            let word = slot.word.load();
            if !Slot::is_moved(word) {
                return look(word, &slot.budget);
            }
            self.settle();
        }
    }

    /// Waits for a change that is under way.
    #[cold]
    #[cfg_attr(not(feature = "std"), allow(clippy::unused_self, reason = "nothing changes then"))]
    fn settle(&self) {
        #[cfg(feature = "std")]
        self.later.settle();
    }

    #[cfg(feature = "std")]
    #[inline]
    fn slot(&self) -> &Slot {
        self.later.current().unwrap_or(&self.first)
    }

    #[cfg(not(feature = "std"))]
    #[inline]
    fn slot(&self) -> &Slot {
        &self.first
    }

    /// Moves the bucket to `budget`, as of the instant that `now` reads.
    #[cfg(feature = "std")]
    pub(super) fn change(&self, budget: Budget, now: impl FnOnce() -> u64) {
        self.later.push(|| {
            let old = self.slot();
            (old.budget != budget).then(|| {
                let now = now();
                let word = super::step::carry(old.word.take_away(), now, &old.budget, &budget);
                Slot { word: AtomicWord::from_word(word), budget }
            })
        });
    }
}
