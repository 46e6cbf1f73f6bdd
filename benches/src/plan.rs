//! Budgets under measurement, and what they must do.

use std::time::Duration;

use crate::crew::Lap;

/// A budget that every contender can represent, and the outcome that makes a measurement with it valid.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How reports call it.
    pub name: &'static str,
    /// Tokens at most.
    pub capacity: u32,
    /// Refill: this many tokens ...
    pub tokens: u32,
    /// ... in this long.
    pub per: Duration,
    /// Whether the bucket is emptied before the clock starts.
    pub drained: bool,
    /// What the calls must have met.
    pub expect: Expect,
}

/// What share of the calls must be admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Every call.
    All,
    /// No call.
    None,
    /// Some and not all.
    Some,
}

impl Plan {
    /// Everything is admitted, out of a stock that lasts: four thousand million tokens, spent ten to a hundred times as
    /// fast as they come back. The next state follows from the last one.
    pub const STOCK: Self = Self {
        name: "admit",
        capacity: u32::MAX,
        tokens: 1000,
        per: Duration::from_millis(1),
        drained: false,
        expect: Expect::All,
    };

    /// Everything is admitted, by a bucket that is full again before every call, as one is that is asked for much less
    /// than it allows. The next state follows from the time.
    pub const FULL: Self = Self { name: "admit-full", tokens: 1_000_000, ..Self::STOCK };

    /// Nothing is admitted: an empty bucket that gains a token in 36 seconds.
    pub const DENY: Self = Self {
        name: "deny",
        capacity: 100,
        tokens: 1,
        per: Duration::from_secs(36),
        drained: true,
        expect: Expect::None,
    };

    /// About half is admitted, given that `threads` callers get an answer every `nanos` each: a refill of half of what
    /// they ask for, and a capacity of four milliseconds of it.
    #[must_use]
    #[allow(clippy::cast_sign_loss, reason = "a duration is positive")]
    pub fn boundary(nanos: f64, threads: u32) -> Self {
        let tokens = (f64::from(threads) * 1e6 / nanos / 2.0).round().max(1.0) as u32;
        Self {
            name: "boundary",
            capacity: tokens.saturating_mul(4),
            tokens,
            per: Duration::from_millis(1),
            drained: false,
            expect: Expect::Some,
        }
    }

    /// The time of one token, rounded down to a nanosecond, for limiters that count in it.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.per / self.tokens
    }

    /// Fails the measurement where it did not measure what its name says.
    ///
    /// # Panics
    ///
    /// When the admitted calls are not what the plan expects.
    pub fn check(&self, who: &str, lap: &Lap) {
        let Lap { calls, admitted, .. } = *lap;
        let valid = match self.expect {
            Expect::All => admitted == calls,
            Expect::None => admitted == 0,
            Expect::Some => 0 < admitted && admitted < calls,
        };
        assert!(valid, "{who}, {}: {admitted} of {calls} calls were admitted, expected {:?}", self.name, self.expect);
    }
}
