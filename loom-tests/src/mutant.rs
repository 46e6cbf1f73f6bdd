//! Loops that are broken on purpose. They use the crate's own pure steps, so that the loop is all that is wrong.

use admittance::bucket::Word;
use admittance::bucket::step::{self, Step};
use admittance::{Budget, Decision};
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::Limiter;

/// Stores what it decided, where the loop swaps it for what it decided on: whoever came in between is forgotten.
#[derive(Debug)]
pub struct PlainStore(AtomicU64);

/// Decides on its first load for good: where the swap fails, it takes the word that it found as the one to replace, but
/// keeps what it had decided.
#[derive(Debug)]
pub struct StaleLoad(AtomicU64);

/// Spends as it should, and gives back and debits by a plain store.
#[derive(Debug)]
pub struct StoredUpdate(AtomicU64);

macro_rules! mutant {
    ($name:ident, $write:ident, $update:ident) => {
        impl Default for $name {
            fn default() -> Self {
                Self(AtomicU64::new(0))
            }
        }

        impl Limiter for $name {
            fn load(&self) -> Word {
                Word::from_bits(self.0.load(Relaxed))
            }

            fn try_acquire(&self, n: u64, now: u64, budget: &Budget) -> Decision {
                self.apply(|word| step::acquire(word, n, now, budget))
            }

            fn refund(&self, n: u64, now: u64, budget: &Budget) {
                $update(&self.0, |word| (step::refund(word, n, now, budget), ()));
            }

            fn debit(&self, n: u64, now: u64, budget: &Budget) -> u64 {
                $update(&self.0, |word| step::debit(word, n, now, budget))
            }

            fn apply(&self, step: impl Fn(Word) -> Step) -> Decision {
                $write(&self.0, step)
            }
        }
    };
}

mutant!(PlainStore, store, store_update);
mutant!(StaleLoad, stale, stale_update);
mutant!(StoredUpdate, swap, store_update);

fn store(word: &AtomicU64, step: impl Fn(Word) -> Step) -> Decision {
    match step(Word::from_bits(word.load(Relaxed))) {
        Step::Keep(decision) => decision,
        Step::Spend { next, permit } => {
            word.store(next.bits(), Relaxed);
            Decision::Admitted(permit)
        }
    }
}

fn store_update<T>(word: &AtomicU64, step: impl Fn(Word) -> (Word, T)) -> T {
    let (next, result) = step(Word::from_bits(word.load(Relaxed)));
    word.store(next.bits(), Relaxed);
    result
}

fn stale(word: &AtomicU64, step: impl Fn(Word) -> Step) -> Decision {
    let first = word.load(Relaxed);
    match step(Word::from_bits(first)) {
        Step::Keep(decision) => decision,
        Step::Spend { next, permit } => {
            swap_in(word, first, next.bits());
            Decision::Admitted(permit)
        }
    }
}

fn stale_update<T>(word: &AtomicU64, step: impl Fn(Word) -> (Word, T)) -> T {
    let first = word.load(Relaxed);
    let (next, result) = step(Word::from_bits(first));
    swap_in(word, first, next.bits());
    result
}

/// Puts `next` there whatever is there.
fn swap_in(word: &AtomicU64, first: u64, next: u64) {
    let mut there = first;
    while let Err(seen) = word.compare_exchange(there, next, Relaxed, Relaxed) {
        there = seen;
    }
}

fn swap(word: &AtomicU64, step: impl Fn(Word) -> Step) -> Decision {
    let mut there = word.load(Relaxed);
    loop {
        match step(Word::from_bits(there)) {
            Step::Keep(decision) => return decision,
            Step::Spend { next, permit } => match word.compare_exchange(there, next.bits(), Relaxed, Relaxed) {
                Ok(_) => return Decision::Admitted(permit),
                Err(seen) => there = seen,
            },
        }
    }
}
