//! A rule in a script's numbers: whole, and below 2⁵³, where a Lua number is exact.
//!
//! Time is in microseconds, as the server tells it. With the refill reduced to `p` tokens per `d` µs, one microsecond is `p`
//! ticks and one token is `d` ticks, as in the core; but an instant is no number of ticks (there are too many since 1970). A
//! bucket is what is *missing* from a full one, in ticks, as of an instant: at most `full = capacity · d`, and nothing
//! rounds.
//!
//! The largest number in `spend.lua` is `full + p` (a bucket rounded up to a microsecond), the instants apart: those
//! pass 2⁵³ µs in the year 2255.

use core::fmt;
use std::string::{String, ToString};

use crate::rule::Rule;

/// What a Lua number counts exactly.
const EXACT: u64 = 1 << 53;

/// A rule as the scripts take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terms {
    /// `p` ticks a microsecond, `d` ticks a token, `full` ticks a full bucket.
    Bucket { p: u64, d: u64, full: u64 },
    /// `limit` tokens in each `length` µs.
    Window { limit: u64, length: u64 },
}

/// A limit's state as a script tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// Ticks missing from a full bucket, or tokens spent in the window.
    pub(super) gone: u64,
    /// The instant as of which they are missing, or at which the window ends, in µs.
    pub(super) at: u64,
}

/// A rule cannot be kept in a shared store exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InexactError(String);

impl fmt::Display for InexactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InexactError {}

impl Terms {
    /// # Errors
    ///
    /// When a number of the rule would be 2⁵³ or more, or a window is no whole number of milliseconds.
    pub(super) fn new(rule: &Rule) -> Result<Self, InexactError> {
        match rule {
            Rule::TokenBucket(budget) => {
                // Tokens per nanosecond are 1000 times as many per microsecond.
                let nanos = budget.refill_duration().as_nanos();
                let tokens = u128::from(budget.refill_tokens()) * 1_000;
                let divisor = gcd(tokens, nanos);
                let (p, d) = (tokens / divisor, nanos / divisor);
                let full = u128::from(budget.capacity()) * d;
                let (Ok(p), Ok(d), Ok(full)) = (u64::try_from(p), u64::try_from(d), u64::try_from(full + p)) else {
                    return Err(too_much(rule, full + p, p, d));
                };
                if full >= EXACT {
                    return Err(too_much(rule, full.into(), p.into(), d.into()));
                }
                Ok(Self::Bucket { p, d, full: full - p })
            }
            Rule::FixedWindow(window) => {
                let length = window.length();
                if length.subsec_nanos() % 1_000_000 != 0 {
                    return Err(InexactError(std::format!(
                        "window: {length:?} is no whole number of milliseconds, in which a store's keys expire"
                    )));
                }
                let Some(micros) = u64::try_from(length.as_micros()).ok().filter(|micros| *micros < EXACT / 4) else {
                    return Err(InexactError(std::format!("window: {length:?} is more than a script counts")));
                };
                if window.limit() >= EXACT {
                    return Err(InexactError(std::format!(
                        "limit: {} is 2^53 or more, which a script cannot count",
                        window.limit()
                    )));
                }
                Ok(Self::Window { limit: window.limit(), length: micros })
            }
        }
    }

    /// The largest cost that is ever admitted.
    pub(super) const fn capacity(&self) -> u64 {
        match self {
            Self::Bucket { d, full, .. } => *full / *d,
            Self::Window { limit, .. } => *limit,
        }
    }

    /// As a script's three arguments.
    pub(super) const fn args(&self) -> [u64; 3] {
        match *self {
            Self::Bucket { p, d, full } => [p, d, full],
            Self::Window { limit, length } => [0, limit, length],
        }
    }

    /// Whole tokens that can be spent in this state, as of its instant.
    pub(super) const fn available(&self, state: &State) -> u64 {
        match *self {
            Self::Bucket { d, full, .. } => full.saturating_sub(state.gone) / d,
            Self::Window { limit, .. } => limit.saturating_sub(state.gone),
        }
    }

    /// How long after `now` a spend of `n` passes, in µs, if nobody spends in between: 0 where it does at once. The smallest
    /// whole number for which that is so.
    pub(super) const fn wait(&self, state: &State, n: u64, now: u64) -> u64 {
        match *self {
            Self::Bucket { p, d, full } => {
                let room = full.saturating_sub(n.saturating_mul(d));
                let short = state.gone.saturating_sub(room);
                (state.at + short.div_ceil(p)).saturating_sub(now) * (short > 0) as u64
            }
            Self::Window { limit, .. } => {
                if state.gone <= limit.saturating_sub(n) {
                    0
                } else {
                    state.at.saturating_sub(now)
                }
            }
        }
    }

    /// How long after `now` the budget is whole, if nobody spends in between, in µs.
    pub(super) const fn until_whole(&self, state: &State, now: u64) -> u64 {
        match self {
            Self::Bucket { p, .. } => {
                (state.at + state.gone.div_ceil(*p)).saturating_sub(now) * (state.gone > 0) as u64
            }
            Self::Window { .. } => state.at.saturating_sub(now) * (state.gone > 0) as u64,
        }
    }

    /// How long after `now` the state's window ends; `None` for a bucket.
    pub(super) const fn window_left(&self, state: &State, now: u64) -> Option<u64> {
        match self {
            Self::Bucket { .. } => None,
            Self::Window { .. } => Some(state.at.saturating_sub(now)),
        }
    }
}

fn too_much(rule: &Rule, ticks: u128, p: u128, d: u128) -> InexactError {
    let most = u128::from(EXACT - 1).saturating_sub(p) / d;
    let advice = if most == 0 {
        "say the refill in rounder numbers".to_string()
    } else {
        std::format!("a capacity of at most {most} would do, or a refill in rounder numbers")
    };
    InexactError(std::format!("rule: {rule} takes {ticks} ticks, and a script counts to 2^53 exactly; {advice}"))
}

const fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is missing from a bucket after so many microseconds.
    fn after(state: &State, p: u64, micros: u64) -> State {
        State { gone: state.gone.saturating_sub(micros * p), at: state.at + micros }
    }

    #[test]
    fn a_wait_is_the_smallest_after_which_the_tokens_are_there() {
        for (p, d, capacity) in
            [(1, 1, 5), (3, 7, 4), (7, 3, 9), (1, 250, 10), (600, 1, 1_000), (999_983, 1_000_000, 3)]
        {
            let terms = Terms::Bucket { p, d, full: capacity * d };
            for gone in [1, d, capacity * d / 2, capacity * d - 1, capacity * d] {
                let state = State { gone, at: 1_000 };
                for n in 1..=capacity.min(20) {
                    let wait = terms.wait(&state, n, 1_000);
                    assert!(
                        terms.available(&after(&state, p, wait)) >= n,
                        "{terms:?} {state:?} {n}: {wait} is too short"
                    );
                    if wait > 0 {
                        let early = terms.available(&after(&state, p, wait - 1));
                        assert!(early < n, "{terms:?} {state:?} {n}: {wait} is too long");
                    }
                    // Asked before the state's instant, by a clock that stepped back, it is longer by the step.
                    assert_eq!(terms.wait(&state, n, 400), if wait > 0 { wait + 600 } else { 0 });
                }
            }
        }
        let window = Terms::Window { limit: 5, length: 1_000 };
        let state = State { gone: 3, at: 5_000 };
        assert_eq!([1, 2, 3, 5].map(|n| window.wait(&state, n, 4_001)), [0, 0, 999, 999]);
    }

    #[test]
    fn a_rule_is_reduced_and_counted_in_microseconds() {
        use crate::budget::Budget;
        use crate::window::Window;
        let of = |rule: Rule| Terms::new(&rule).unwrap();
        assert_eq!(of(Budget::per_second(4_000).into()), Terms::Bucket { p: 1, d: 250, full: 1_000_000 });
        assert_eq!(
            of(Budget::per_second(600_000_000).with_capacity(5).into()),
            Terms::Bucket { p: 600, d: 1, full: 5 }
        );
        let odd = Budget::new(2, 7, core::time::Duration::from_nanos(3_001)).unwrap();
        assert_eq!(of(odd.into()), Terms::Bucket { p: 7_000, d: 3_001, full: 6_002 });
        assert_eq!(of(Window::per_second(9).into()), Terms::Window { limit: 9, length: 1_000_000 });
    }
}
