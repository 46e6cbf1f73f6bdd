//! The compare-and-swap loop: the only memory orderings of the core.
//!
//! # The protocol
//!
//! Load the word, decide on it with the pure [`step`], and swap the word for the step's result if it is still the one
//! that was decided on. Else somebody else succeeded: decide again on what they left.
//!
//! Three things make this exact.
//!
//! - *The word is the whole state.* A swap that finds the expected bits finds the very state that was decided on, even
//!   if the word went elsewhere and came back (a refund can do that). There is no second variable that could disagree.
//! - *`now` is read before the word*, and a retry keeps it. A late `now` is a lower level, so a caller that was delayed is
//!   at worst denied what it could have had, never given what was not there.
//! - *A denial writes nothing.* It is a read of one state at one time, and true of that state.
//!
//! # Why relaxed is enough
//!
//! The argument is about one atomic variable, and all threads agree on the modification order of one variable whatever
//! the ordering. A successful compare-and-swap reads the value just before its own in that order, so the chain of
//! admissions is a chain of legal steps. A stale first load costs a retry when the caller would spend; when it would be
//! denied, it is denied by a state that was current when the load took its value. Callers are promised no
//! synchronisation, so nothing else needs publishing.
//!
//! Models: `loom-tests/tests/` explores every interleaving of the loop and refutes it with a plain store for the swap, and with a level
//! computed from a stale load. Loom has neither spurious failures nor load buffering; Miri makes the weak swap fail at
//! random (`ci/test` runs the unit tests under it), and `tests/stress.rs` runs on real threads under the thread sanitizer.

use core::fmt;

use super::step::{self, Step};
use super::word::Word;
use crate::budget::Budget;
use crate::decision::Decision;
use crate::sync::{AtomicU64, Backoff, Ordering, const_unless_loom};

/// The eight bytes of a bucket alone: no budget, no clock.
///
/// For tables and structures of your own; [`TokenBucket`](super::TokenBucket) is the everyday type. All calls on one word
/// must name the same budget, and times of the same clock.
///
/// ```
/// use admittance::{AtomicWord, Budget};
///
/// const BUDGET: Budget = Budget::per_second(10);
/// static PER_PORT: [AtomicWord; 16] = [const { AtomicWord::new() }; 16];
///
/// let now = 0; // nanoseconds since an epoch of yours
/// assert!(PER_PORT[3].try_acquire(10, now, &BUDGET).is_admitted());
/// assert!(PER_PORT[3].try_acquire(1, now, &BUDGET).is_denied());
/// assert!(PER_PORT[4].try_acquire(1, now, &BUDGET).is_admitted());
/// ```
///
/// Progress and memory ordering are those of [`TokenBucket`](super::TokenBucket#progress-and-memory-ordering).
#[repr(transparent)]
pub struct AtomicWord(AtomicU64);

impl AtomicWord {
    const_unless_loom! {
        /// A full, untouched bucket.
        #[must_use]
        pub const fn new() -> Self {
            Self::from_word(Word::FULL)
        }
    }

    const_unless_loom! {
        /// A bucket in this state.
        #[must_use]
        pub const fn from_word(word: Word) -> Self {
            Self(AtomicU64::new(word.bits()))
        }
    }

    /// The word now.
    #[must_use]
    #[inline]
    pub fn load(&self) -> Word {
        // Relaxed: one variable, and what is read is either swapped against or only looked at; see above.
        Word::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// See [`TokenBucket::try_acquire`](super::TokenBucket::try_acquire).
    #[inline]
    pub fn try_acquire(&self, n: u64, now: u64, budget: &Budget) -> Decision {
        self.apply(|word| step::acquire(word, n, now, budget))
    }

    /// Decides by a rule of your own: applies `step` to the word until the word it decided on is the one it replaces.
    ///
    /// This is the loop behind [`TokenBucket`](super::TokenBucket) and [`FixedWindow`](crate::FixedWindow). `step` must be
    /// pure: it is called again whenever another caller came first.
    #[inline(always)]
    pub fn apply<T>(&self, step: impl Fn(Word) -> Step<T>) -> Decision<T> {
        let mut backoff = None;
        loop {
            let word = self.load();
            match step(word) {
                Step::Keep(decision) => return decision,
                Step::Spend { next, permit } if self.swap(word, next) => return Decision::Admitted(permit),
                Step::Spend { .. } => {}
            }
            // Waits, and then loads anew. What the lost swap saw is stale by then: who came back with it would lose to a
            // busy neighbour for as long as that one is busy.
            backoff.get_or_insert_with(Backoff::new).spin();
        }
    }

    /// See [`TokenBucket::peek`](super::TokenBucket::peek).
    #[inline]
    pub fn peek(&self, n: u64, now: u64, budget: &Budget) -> Decision {
        step::acquire(self.load(), n, now, budget).decision()
    }

    /// See [`TokenBucket::available`](super::TokenBucket::available).
    #[must_use]
    pub fn available(&self, now: u64, budget: &Budget) -> u64 {
        step::available(self.load(), now, budget)
    }

    /// See [`TokenBucket::refund`](super::TokenBucket::refund).
    pub fn refund(&self, n: u64, now: u64, budget: &Budget) {
        self.update(|word| (step::refund(word, n, now, budget), ()));
    }

    /// See [`TokenBucket::debit`](super::TokenBucket::debit).
    #[allow(clippy::must_use_candidate, reason = "most callers have nothing to do about it")]
    pub fn debit(&self, n: u64, now: u64, budget: &Budget) -> u64 {
        self.update(|word| step::debit(word, n, now, budget))
    }

    /// Applies an unconditional step.
    pub(crate) fn update<T>(&self, step: impl Fn(Word) -> (Word, T)) -> T {
        let backoff = Backoff::new();
        loop {
            let word = self.load();
            let (next, result) = step(word);
            if next == word || self.swap(word, next) {
                return result;
            }
            // As in `apply`: loaded anew after the wait.
            backoff.spin();
        }
    }

    /// Takes the word away for good: whoever comes after finds [`Word::MOVED`].
    #[cfg(feature = "std")]
    pub(crate) fn take_away(&self) -> Word {
        // Relaxed: what was taken is this variable's last value in its own order, so no spend can come after it; the
        // place it moves to is published by `bucket/live.rs`, with its own orderings.
        Word::from_bits(self.0.swap(Word::MOVED.bits(), Ordering::Relaxed))
    }

    /// Puts `next` where `word` was, unless something else is there.
    #[inline]
    fn swap(&self, word: Word, next: Word) -> bool {
        // Relaxed on success: the modification order of this one variable is all that exactness needs, and callers are
        // promised no synchronisation. Relaxed on failure: what was seen is not used.
        // Weak: the loop is there anyway, and a spurious failure costs one more turn of it.
        self.0.compare_exchange_weak(word.bits(), next.bits(), Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl Default for AtomicWord {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for AtomicWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AtomicWord").field(&self.load().bits()).finish()
    }
}
