//! The exact bucket, as one would write it on paper.

use std::time::Duration;

use num_bigint::BigInt;

/// Time past this many nanoseconds counts as this many: the documented life of a limiter, 2⁶⁰ − 1.
pub(crate) const HORIZON: u64 = (1 << 60) - 1;

/// A bucket in rationals: a level at a time, refilling at `p / d` tokens a nanosecond up to the capacity.
///
/// Levels are numerators over `d`, so everything is a whole number and nothing rounds. A level below 0 is debt. Asking
/// about a time before the last change runs the refill backwards: that is what a clock that stepped back sees.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    capacity: u64,
    p: BigInt,
    d: BigInt,
    full: BigInt,
    level: BigInt,
    last: BigInt,
}

impl Model {
    /// A bucket that was full at time 0.
    pub(crate) fn new(capacity: u64, refill_tokens: u64, refill_nanos: u64) -> Self {
        let divisor = gcd(refill_tokens, refill_nanos);
        let p = BigInt::from(refill_tokens / divisor);
        let d = BigInt::from(refill_nanos / divisor);
        let full = &d * capacity;
        Self { capacity, p, d, level: full.clone(), full, last: BigInt::ZERO }
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Tokens in the bucket at `at`, over `d`.
    pub(crate) fn level(&self, at: &BigInt) -> BigInt {
        self.unbounded_level(at).min(self.full.clone())
    }

    /// What the level would be if the bucket had no brim.
    pub(crate) fn unbounded_level(&self, at: &BigInt) -> BigInt {
        &self.level + &self.p * (at - &self.last)
    }

    /// `unbounded_level` after `n` tokens more.
    pub(crate) fn is_full_with(&self, n: u64, at: &BigInt) -> bool {
        self.unbounded_level(at) + &self.d * n >= self.full
    }

    /// Whole tokens at `at`, 0 in debt.
    pub(crate) fn tokens(&self, at: &BigInt) -> BigInt {
        floor_div(&self.level(at), &self.d).max(BigInt::ZERO)
    }

    /// Whole tokens that `at` would have left after spending `n`, 0 where `n` is not there.
    pub(crate) fn tokens_after(&self, n: u64, at: &BigInt) -> BigInt {
        floor_div(&(self.level(at) - &self.d * n), &self.d).max(BigInt::ZERO)
    }

    /// Whether `n` tokens pass at `at`.
    pub(crate) fn passes(&self, n: u64, at: &BigInt) -> bool {
        n == 0 || (n <= self.capacity && self.level(at) >= &self.d * n)
    }

    /// The first whole nanosecond at which `n` tokens pass, which may be long ago. `n` is at most the capacity.
    pub(crate) fn first(&self, n: u64) -> BigInt {
        assert!(n <= self.capacity);
        &self.last + ceil_div(&(&self.d * n - &self.level), &self.p)
    }

    /// Takes `n` tokens at `at`, whether or not they are there.
    pub(crate) fn spend(&mut self, n: u64, at: &BigInt) {
        self.level = self.level(at) - &self.d * n;
        self.last.clone_from(at);
    }

    /// Gives back `n` tokens at `at`. A bucket that is full at `at` stays as it is.
    pub(crate) fn refund(&mut self, n: u64, at: &BigInt) {
        if self.unbounded_level(at) < self.full {
            self.level = (self.level(at) + &self.d * n).min(self.full.clone());
            self.last.clone_from(at);
        }
    }

    /// Another capacity and refill from `at` on. The level carries over, up to the new capacity; so does debt.
    pub(crate) fn change(&mut self, capacity: u64, refill_tokens: u64, refill_nanos: u64, at: &BigInt) {
        let to = Self::new(capacity, refill_tokens, refill_nanos);
        let level = self.level(at) * &to.d;
        // Over the product of both denominators, so that nothing rounds.
        let d = &self.d * &to.d;
        let full = &d * capacity;
        *self = Self { capacity, p: to.p * &self.d, level: level.min(full.clone()), full, d, last: at.clone() };
    }

    /// Whole tokens owed at `at`, rounded up.
    pub(crate) fn debt(&self, at: &BigInt) -> BigInt {
        ceil_div(&-self.level(at), &self.d).max(BigInt::ZERO)
    }

    /// Takes away the smallest part of a token that `other` can count.
    pub(crate) fn drop_a_part_of(&mut self, other: &Self) {
        self.level -= &self.d / &other.d;
    }

    /// One capacity more, of level and of room: what may be reserved.
    pub(crate) fn lend(&mut self) {
        self.level += &self.full;
        self.full *= 2;
    }

    /// Whole tokens that a debit may charge at `at` before the debt passes one capacity.
    pub(crate) fn debit_room(&self, at: &BigInt) -> BigInt {
        floor_div(&(self.level(at) + &self.full), &self.d).max(BigInt::ZERO)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `⌊a / b⌋` for `b > 0`; the operator rounds towards 0.
fn floor_div(a: &BigInt, b: &BigInt) -> BigInt {
    let quotient = a / b;
    if &quotient * b > *a { quotient - 1 } else { quotient }
}

/// `⌈a / b⌉` for `b > 0`.
fn ceil_div(a: &BigInt, b: &BigInt) -> BigInt {
    -floor_div(&-a, b)
}

/// A refill's or a window's duration in nanoseconds. What the crate accepts fits.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("fits in 64 bits of nanoseconds")
}
