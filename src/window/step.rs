//! The packed word of a fixed window, and its rules, pure.
//!
//! | bits | holds |
//! |---|---|
//! | `count_bits .. 64` | the window's number, `time / length`, of the last window that was spent from |
//! | `0 .. count_bits` | tokens spent in it, `limit` at most |
//!
//! `count_bits` is what `limit` needs. The number only ever rises, so the word does too. `0` is window 0 with nothing
//! spent. As with the bucket, the word alone is the whole state, and no atomics and no clock are here.

use super::Window;
use crate::bucket::Word;
use crate::bucket::step::Step;
use crate::budget::HORIZON;
use crate::decision::{Decision, Denial, Permit};

/// Spends `n` tokens at `now` if they are there.
#[inline]
pub const fn acquire(word: Word, n: u64, now: u64, window: &Window) -> Step {
    if n > window.limit {
        return Step::Keep(Decision::Never);
    }
    let (number, count) = current(word, now, window);
    // A word of another window may count past this one's limit: then nothing is left.
    let left = window.limit.saturating_sub(count);
    if n == 0 {
        Step::Keep(Decision::Admitted(Permit::new(left, 1, join(number, count, window).bits())))
    } else if n <= left {
        let next = join(number, count + n, window);
        Step::Spend { next, permit: Permit::new(left - n, 1, next.bits()) }
    } else {
        // The next window's start. It is past `now`, because `number` is now's window or a later one.
        Step::Keep(Decision::Denied(Denial::at(end(number, window), now)))
    }
}

/// Gives back `n` tokens to the window in which `permit` was given; nothing where that window is over.
#[must_use]
pub const fn refund(word: Word, n: u64, permit: &Permit, window: &Window) -> Word {
    let (number, count) = unpack(word, window);
    let (spent_in, _) = unpack(Word::from_bits(permit.stamp()), window);
    if number == spent_in { join(number, count.saturating_sub(n), window) } else { word }
}

/// Tokens that can be spent at `now`.
#[must_use]
pub const fn available(word: Word, now: u64, window: &Window) -> u64 {
    let (_, count) = current(word, now, window);
    window.limit.saturating_sub(count)
}

/// The first instant, `now` or later, at which nothing is spent of the window.
#[must_use]
pub const fn full_at(word: Word, now: u64, window: &Window) -> u64 {
    let (number, count) = current(word, now, window);
    if count == 0 { now } else { end(number, window) }
}

/// The window of `now` with nothing spent.
#[must_use]
pub const fn empty(now: u64, window: &Window) -> Word {
    let (number, _) = current(Word::FULL, now, window);
    join(number, 0, window)
}

/// The same word under another window from `now` on: what was spent of the window that is under way is spent of the new
/// one, at most its limit.
#[must_use]
pub const fn carry(word: Word, now: u64, from: &Window, to: &Window) -> Word {
    let (number, count) = current(word, now, from);
    let count = if count < to.limit { count } else { to.limit };
    if from.nanos == to.nanos {
        return join(number, count, to);
    }
    // A word ahead of this clock was spent from when its window began at the earliest. The horizon cuts off
    // what a word of another window could claim.
    let start = number.saturating_mul(from.nanos);
    let (number, _) = current(Word::FULL, if start > now { start } else { now }, to);
    join(number, count, to)
}

/// Packs a window's number and its count; `None` where the count is above the limit or the number is past the horizon.
#[must_use]
pub const fn pack(number: u64, count: u64, window: &Window) -> Option<Word> {
    if count > window.limit || number > HORIZON / window.nanos { None } else { Some(join(number, count, window)) }
}

/// The digits `(number, count)`: the inverse of [`pack`].
#[must_use]
#[inline]
pub const fn unpack(word: Word, window: &Window) -> (u64, u64) {
    (word.bits() >> window.count_bits, word.bits() & ((1 << window.count_bits) - 1))
}

/// The same window's word told from an epoch `windows` whole windows later. A word from before that
/// has nothing spent.
#[must_use]
pub const fn rebase(word: Word, windows: u64, window: &Window) -> Word {
    let (number, count) = unpack(word, window);
    if number < windows { Word::FULL } else { join(number - windows, count, window) }
}

#[inline]
const fn join(number: u64, count: u64, window: &Window) -> Word {
    Word::from_bits(number << window.count_bits | count)
}

/// The window to spend from, and what is spent of it: the word's, unless it is over.
#[inline]
const fn current(word: Word, now: u64, window: &Window) -> (u64, u64) {
    // Past the horizon it stays in the last window.
    let now = if now < HORIZON { now } else { HORIZON };
    let (number, count) = unpack(word, window);
    if now < end(number, window) { (number, count) } else { (now / window.nanos, 0) }
}

/// Where a window ends. Cannot overflow in a word written here: a window is 2⁶⁰ ns at most, and so is its start. In a
/// word of another window it may, and then it never ends.
#[inline]
const fn end(number: u64, window: &Window) -> u64 {
    (number + 1).saturating_mul(window.nanos)
}
