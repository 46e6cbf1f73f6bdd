//! What a model needs of a loop, so that it can run on a whole one and on broken ones.

use admittance::bucket::Word;
use admittance::bucket::step::Step;
use admittance::{AtomicWord, Budget, Decision};

/// A word with a loop around it.
pub trait Limiter: Default + Send + Sync + 'static {
    /// See `AtomicWord::load`.
    fn load(&self) -> Word;
    /// See `AtomicWord::try_acquire`.
    fn try_acquire(&self, n: u64, now: u64, budget: &Budget) -> Decision;
    /// See `AtomicWord::refund`.
    fn refund(&self, n: u64, now: u64, budget: &Budget);
    /// See `AtomicWord::debit`.
    fn debit(&self, n: u64, now: u64, budget: &Budget) -> u64;
    /// See `AtomicWord::apply`.
    fn apply(&self, step: impl Fn(Word) -> Step) -> Decision;
    /// See `AtomicWord::available`.
    fn available(&self, now: u64, budget: &Budget) -> u64 {
        admittance::bucket::step::available(self.load(), now, budget)
    }
}

impl Limiter for AtomicWord {
    fn load(&self) -> Word {
        self.load()
    }

    fn try_acquire(&self, n: u64, now: u64, budget: &Budget) -> Decision {
        self.try_acquire(n, now, budget)
    }

    fn refund(&self, n: u64, now: u64, budget: &Budget) {
        self.refund(n, now, budget);
    }

    fn debit(&self, n: u64, now: u64, budget: &Budget) -> u64 {
        self.debit(n, now, budget)
    }

    fn apply(&self, step: impl Fn(Word) -> Step) -> Decision {
        self.apply(step)
    }
}
