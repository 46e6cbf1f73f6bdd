//! The rules of the bucket, pure: a word, a time, a cost and a budget in; a word and a decision out.
//!
//! No atomics and no clock. The compare-and-swap loop applies these to its word, the Redis script and the oracles are
//! compared against them, and a table, a replay or a model of yours may call them itself.
//!
//! ```
//! use admittance::{Budget, bucket::{Word, step::{self, Step}}};
//!
//! let budget = Budget::per_second(2);
//! let Step::Spend { next, permit } = step::acquire(Word::FULL, 2, 0, &budget) else { unreachable!() };
//! assert_eq!(permit.remaining(), 0);
//! let Step::Keep(denied) = step::acquire(next, 1, 0, &budget) else { unreachable!() };
//! assert_eq!(denied.retry_after().unwrap().as_millis(), 500);
//! ```
//!
//! # Why nothing overflows
//!
//! A budget is built so that `ticks(now) + full` fits in a `u64` at any `now`. A cost is checked against the capacity
//! before it is multiplied, so `n · token ≤ full ≤ ticks(now)`. A word written here is at most `ticks(now) + full` for the
//! `now` it was written at.

use super::word::Word;
use crate::budget::{Budget, nanos_at};
use crate::decision::{Decision, Denial, Permit, Promise};
use crate::sync::unlikely;

/// What one call does to the word.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T = Permit> {
    /// Admitted: the word becomes `next`.
    Spend {
        /// The word after spending.
        next: Word,
        /// What the caller is told.
        permit: T,
    },
    /// The word stays: denied, never, or a cost of 0.
    Keep(Decision<T>),
}

impl<T> Step<T> {
    /// What the caller is told.
    #[inline]
    pub fn decision(self) -> Decision<T> {
        match self {
            Self::Spend { permit, .. } => Decision::Admitted(permit),
            Self::Keep(decision) => decision,
        }
    }
}

/// Spends `n` tokens at `now` if they are there.
#[inline]
pub const fn acquire(word: Word, n: u64, now: u64, budget: &Budget) -> Step {
    let scale = budget.scale();
    if n > budget.capacity() {
        return Step::Keep(Decision::Never);
    }
    let ticks = scale.ticks(now);
    let base = base(word, ticks, scale.full);
    if n == 0 {
        return Step::Keep(Decision::Admitted(Permit::new(ticks.saturating_sub(base), scale.token, word.bits())));
    }
    let cost = n * scale.token;
    // `base + cost ≤ ticks`, put so that neither side can overflow: a word in debt may be close to the top.
    if base <= ticks - cost {
        let next = base + cost;
        Step::Spend { next: Word::from_bits(next), permit: Permit::new(ticks - next, scale.token, next) }
    } else {
        // The call passes once `ticks = full + ⌊t · q⌋` has reached `base + cost`.
        Step::Keep(Decision::Denied(Denial::new(base - (scale.full - cost), scale.rate, now)))
    }
}

/// Spends at least `least` and at most `most` whole tokens at `now`, as many as are there; the permit is what was taken.
///
/// A denial names the wait until `least` are there. `least = 0` is always admitted.
pub const fn acquire_between(word: Word, least: u64, most: u64, now: u64, budget: &Budget) -> Step<u64> {
    let scale = budget.scale();
    if least > budget.capacity() {
        return Step::Keep(Decision::Never);
    }
    let ticks = scale.ticks(now);
    let base = base(word, ticks, scale.full);
    let there = ticks.saturating_sub(base) / scale.token;
    if there < least {
        return Step::Keep(Decision::Denied(Denial::new(base - (scale.full - least * scale.token), scale.rate, now)));
    }
    // `most` below `least` is `least`.
    let taken = if most < least {
        least
    } else if most < there {
        most
    } else {
        there
    };
    if taken == 0 {
        return Step::Keep(Decision::Admitted(0));
    }
    Step::Spend { next: Word::from_bits(base + taken * scale.token), permit: taken }
}

/// Spends `n` tokens of the future at `now`, at most one capacity of debt ahead. The promise is the instant they are there.
///
/// A denial names the wait after which the same call passes.
#[inline]
pub const fn reserve(word: Word, n: u64, now: u64, budget: &Budget) -> Step<Promise> {
    let scale = budget.scale();
    if n > budget.capacity() {
        return Step::Keep(Decision::Never);
    }
    if n == 0 {
        return Step::Keep(Decision::Admitted(Promise::new(0, scale.rate, now)));
    }
    let ticks = scale.ticks(now);
    let base = base(word, ticks, scale.full);
    let cost = n * scale.token;
    if base <= ticks + scale.full - cost {
        let next = base + cost;
        Step::Spend {
            next: Word::from_bits(next),
            permit: Promise::new(next.saturating_sub(scale.full), scale.rate, now),
        }
    } else {
        // The call passes once `ticks + full` has reached `base + cost`, a full bucket earlier than a spend would.
        Step::Keep(Decision::Denied(Denial::new(base - (2 * scale.full - cost), scale.rate, now)))
    }
}

/// As [`reserve`], if the promised instant is `deadline` at the latest.
///
/// A denial names the wait until the tokens would be there, even where that is too much debt to reserve now.
pub const fn reserve_until(word: Word, n: u64, now: u64, deadline: u64, budget: &Budget) -> Step<Promise> {
    let reserved = reserve(word, n, now, budget);
    if matches!(reserved, Step::Keep(Decision::Never | Decision::Admitted(_))) {
        return reserved;
    }
    let scale = budget.scale();
    let base = base(word, scale.ticks(now), scale.full);
    let cost = n * scale.token;
    // As a spend at the deadline is admitted. A deadline in the past counts as now.
    let in_time = base <= scale.ticks(if deadline > now { deadline } else { now }) - cost;
    match reserved {
        Step::Spend { .. } if in_time => reserved,
        _ => Step::Keep(Decision::Denied(Denial::new(base - (scale.full - cost), scale.rate, now))),
    }
}

/// Whole tokens in the bucket at `now`.
#[must_use]
pub const fn available(word: Word, now: u64, budget: &Budget) -> u64 {
    let scale = budget.scale();
    let ticks = scale.ticks(now);
    ticks.saturating_sub(base(word, ticks, scale.full)) / scale.token
}

/// Gives back `n` tokens at `now`, never past full.
#[must_use]
pub const fn refund(word: Word, n: u64, now: u64, budget: &Budget) -> Word {
    let scale = budget.scale();
    let full_at = scale.ticks(now) - scale.full;
    if word.bits() <= full_at {
        // Full already, at this clock. Another caller's clock may be ahead: moving the word would mint for it.
        return word;
    }
    // More than 64 bits of ticks are more than the word holds.
    let back = word.bits().saturating_sub(n.saturating_mul(scale.token));
    Word::from_bits(if back > full_at { back } else { full_at })
}

/// Spends `n` tokens at `now` whether or not they are there, down to one capacity of debt. Returns the word and the whole
/// tokens charged.
#[must_use]
pub const fn debit(word: Word, n: u64, now: u64, budget: &Budget) -> (Word, u64) {
    let scale = budget.scale();
    let ticks = scale.ticks(now);
    let base = base(word, ticks, scale.full);
    // Nothing is left to charge where the word is past the bound: it was written by a clock ahead of this one.
    let room = (ticks + scale.full).saturating_sub(base);
    let most = room / scale.token;
    let charged = if n < most { n } else { most };
    if charged == 0 {
        return (word, 0);
    }
    (Word::from_bits(base + charged * scale.token), charged)
}

/// Whether the bucket is full at `now`.
#[must_use]
#[inline]
pub const fn is_full(word: Word, now: u64, budget: &Budget) -> bool {
    let scale = budget.scale();
    word.bits() <= scale.ticks(now) - scale.full
}

/// How long from `now` until the bucket is full, in nanoseconds, rounded up; 0 when it is.
#[must_use]
pub const fn until_full(word: Word, now: u64, budget: &Budget) -> u64 {
    let scale = budget.scale();
    // Full once `⌊t · q⌋` has reached the word.
    match nanos_at(word.bits(), scale.rate) {
        Some(at) => at.saturating_sub(now),
        None => u64::MAX,
    }
}

/// The bucket that will be full `wait` nanoseconds after `now`: the inverse of [`until_full`]. In the deepest debt that
/// can be told, where `wait` is longer than that.
#[must_use]
pub const fn full_in(wait: u64, now: u64, budget: &Budget) -> Word {
    let scale = budget.scale();
    let full_at = scale.ticks_in(now.saturating_add(wait));
    let deepest = scale.ticks(now) + scale.full;
    Word::from_bits(if full_at < deepest { full_at } else { deepest })
}

/// The same bucket told from an epoch `by` nanoseconds later, no earlier than the last call: how a replay or a restart
/// outlives the [`HORIZON`](crate::budget::HORIZON).
///
/// Exact for an exact budget. For the others each move costs up to one tick, at most half a nanosecond: move once in
/// decades, not once a call.
#[must_use]
pub const fn rebase(word: Word, by: u64, budget: &Budget) -> Word {
    // A bucket that is full by then becomes 0, a full one at its epoch.
    Word::from_bits(word.bits().saturating_sub(budget.scale().ticks_in(by)))
}

/// The same bucket under another budget from `now` on: what it has refilled by `now` at the old rate is carried over, at
/// most the new capacity, and debt is.
///
/// A part of a token that the new budget cannot count is dropped (less than a nanosecond's worth): nothing is minted.
#[must_use]
pub const fn carry(word: Word, now: u64, from: &Budget, to: &Budget) -> Word {
    let (old, new) = (from.scale(), to.scale());
    let (old_ticks, new_ticks) = (old.ticks(now), new.ticks(now));
    let base = base(word, old_ticks, old.full);
    if base <= old_ticks {
        let level = ((old_ticks - base) as u128 * new.token as u128) / old.token as u128;
        let level = if level < new.full as u128 { level as u64 } else { new.full };
        Word::from_bits(new_ticks - level)
    } else {
        let debt = ((base - old_ticks) as u128 * new.token as u128).div_ceil(old.token as u128);
        let deepest = (Word::LAST.bits() - new_ticks) as u128;
        Word::from_bits(new_ticks + if debt < deepest { debt as u64 } else { deepest as u64 })
    }
}

/// The tick at which the bucket was last empty, given that it holds no more than `full` now.
#[inline]
const fn base(word: Word, ticks: u64, full: u64) -> u64 {
    let full_at = ticks - full;
    if word.bits() > full_at {
        word.bits()
    } else {
        // Not so unlikely, but either way it is taken many times in a row.
        unlikely();
        full_at
    }
}
