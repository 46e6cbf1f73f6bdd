//! Ticks: the one currency in which tokens and time are counted.
//!
//! With the refill reduced to `p` tokens per `d` ns, let one token be `token` ticks and one nanosecond `q` ticks, so that
//! `q / token = p / d`. A bucket that was full at its epoch stands at
//!
//! ```text
//! ticks(now) = full + ⌊now · q⌋        full = capacity · token
//! ```
//!
//! **Exact**: `token = d`, `q = p`. Everything is a whole number; nothing rounds. It fits while `p ≤ 15` and the bucket does
//! not take decades to fill.
//!
//! **Scaled**, for the rest: `token` is the largest power of two that fits, and `q = token · p / d` is a fraction between 2
//! and 16. A burst from full still spends `capacity · token` ticks of `full`, exactly.
//!
//! **One formula for both.** `q < 16`, so `rate = q · 2⁶⁰`, rounded to nearest, fits in 64 bits; `now < 2⁶⁰`, so
//! `now · 2⁴` does too; and `⌊now · q⌋` is the upper half of their product. In the exact case `rate = p · 2⁶⁰` loses
//! nothing. The hot path has no branch on the kind of budget and no variable shift.
//!
//! **How far off a scaled budget can be.** Rounding `rate` costs at most half a tick over the whole horizon (it is a fixed
//! slope, so it cannot pile up), and the floor less than one. The difference of two readings is therefore off by less than
//! 1.5 ticks, and a nanosecond is at least 2: every promised instant is within one nanosecond of the exact one. The word is
//! a maximum of such readings plus whole tokens, and a maximum is off by no more than the worse of its arguments, so
//! history does not add to it.
//!
//! **Range.** A word is at most one capacity ahead of now (debt), so `2 · full + ⌊HORIZON · q⌋ < 2 · full + rate` must
//! fit in 64 bits. (Less than: the highest value is left to mark a word that has moved, see `bucket/live.rs`.)

use super::HORIZON;
use super::error::{BudgetError, Fault, Field};
use crate::sync::unlikely;

/// Bits of fraction in `rate`.
const RATE_BITS: u32 = 60;

/// A refill is at most this many tokens a nanosecond, so that one that is fast leaves room for a capacity.
const MAX_TOKENS_PER_NANO: u128 = 15;

/// One nanosecond is less than this many ticks.
const MAX_TICKS_PER_NANO: u128 = 1 << (64 - RATE_BITS);

/// One nanosecond is at least this many ticks where they are not exact.
const MIN_TICKS_PER_NANO: u128 = 2;

/// How a budget's tokens and time are counted in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scale {
    /// Ticks of one token.
    pub(crate) token: u64,
    /// Ticks of a nanosecond, times 2⁶⁰.
    pub(crate) rate: u64,
    /// Ticks of a full bucket.
    pub(crate) full: u64,
}

impl Scale {
    /// Exact where it fits, else scaled; an error where neither does.
    pub(super) const fn new(capacity: u64, tokens: u64, nanos: u64) -> Result<Self, BudgetError> {
        let divisor = gcd(tokens, nanos);
        let (p, d) = (tokens / divisor, nanos / divisor);
        if p as u128 > MAX_TOKENS_PER_NANO * d as u128 {
            let most = MAX_TOKENS_PER_NANO as u64 * nanos;
            return Err(BudgetError::new(Field::RefillTokens, Fault::RefillTooFast { given: tokens, most, nanos }));
        }
        let exact = Self::exact(p, d);
        let scaled = Self::scaled(capacity, p, d);
        let Unit { token, rate } = if exact.room() >= capacity { exact } else { scaled };
        let unit = Unit { token, rate };
        if unit.room() >= capacity {
            return Ok(Self { token, rate, full: capacity * token });
        }
        // The coarsest unit that is still fine enough holds the most.
        let coarsest = Self::scaled(u64::MAX, p, d);
        let most = if exact.room() > coarsest.room() { exact.room() } else { coarsest.room() };
        Err(if most == 0 {
            BudgetError::new(Field::RefillDuration, Fault::RefillTooSlow { tokens, nanos })
        } else {
            BudgetError::new(Field::Capacity, Fault::CapacityTooLarge { given: capacity, most })
        })
    }

    const fn exact(p: u64, d: u64) -> Unit {
        if p as u128 >= MAX_TICKS_PER_NANO { Unit::NONE } else { Unit { token: d, rate: p << RATE_BITS } }
    }

    /// The finest power of two that leaves room for `capacity`, or the coarsest there is.
    const fn scaled(capacity: u64, p: u64, d: u64) -> Unit {
        let mut best = Unit::NONE;
        let mut shift = 0;
        // Up to 15 ticks a nanosecond and 2⁶³ tokens: `p << shift` stays below `16 · d`, which fits in 68 bits.
        while shift < 64 && ((p as u128) << shift) < MAX_TICKS_PER_NANO * d as u128 {
            let ticks = (p as u128) << shift;
            if ticks >= MIN_TICKS_PER_NANO * d as u128 {
                // `ticks / d · 2⁶⁰`, to nearest, without a 129-bit product.
                let (whole, part) = (ticks / d as u128, ticks % d as u128);
                let fraction = ((part << RATE_BITS) + (d as u128) / 2) / d as u128;
                let rate = (whole << RATE_BITS) + fraction;
                if rate <= u64::MAX as u128 {
                    let unit = Unit { token: 1 << shift, rate: rate as u64 };
                    if best.token == 0 || unit.room() >= capacity {
                        best = unit;
                    }
                }
            }
            shift += 1;
        }
        best
    }

    /// The tick at which a bucket that was full at the epoch stands at `now`: `full` at least.
    #[inline]
    pub(crate) const fn ticks(&self, now: u64) -> u64 {
        let now = if now <= HORIZON {
            now
        } else {
            unlikely();
            HORIZON
        };
        self.full + (((now << (64 - RATE_BITS)) as u128 * self.rate as u128) >> 64) as u64
    }

    /// `⌊nanos · q⌋`, which does not end at the horizon: an epoch may move further. `u64::MAX` where it is more.
    pub(crate) const fn ticks_in(&self, nanos: u64) -> u64 {
        let ticks = (nanos as u128 * self.rate as u128) >> RATE_BITS;
        if ticks > u64::MAX as u128 { u64::MAX } else { ticks as u64 }
    }
}

/// The first nanosecond at which `⌊now · q⌋` reaches `ticks`; `None` where that is past the horizon.
pub(crate) const fn nanos_at(ticks: u64, rate: u64) -> Option<u64> {
    let nanos = ((ticks as u128) << RATE_BITS).div_ceil(rate as u128);
    if nanos <= HORIZON as u128 { Some(nanos as u64) } else { None }
}

/// A choice of `token` and `rate`, before the capacity is known to fit.
#[derive(Clone, Copy)]
struct Unit {
    token: u64,
    rate: u64,
}

impl Unit {
    const NONE: Self = Self { token: 0, rate: 0 };

    /// The largest capacity that fits.
    const fn room(self) -> u64 {
        match ((u64::MAX - self.rate) / 2).checked_div(self.token) {
            Some(room) => room,
            None => 0,
        }
    }
}

const fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
