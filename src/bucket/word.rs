//! The packed word.
//!
//! A word is one `u64`: the tick at which the bucket, refilling since, was last empty. Its two digits in the mixed radix
//! of the budget are
//!
//! | digit | values | meaning |
//! |---|---|---|
//! | tokens | `word / token`, the upper digit | whole tokens this bucket has handed out, or let overflow, since its epoch |
//! | timestamp | `word % token`, `0 .. token` | the instant inside the next token's refill interval, in ticks, at which the count stands |
//!
//! where `token` is the ticks of one token ([`ticks_per_token`](crate::Budget::ticks_per_token)). Where that is a power
//! of two, the digits are bit fields. Read as one number, the word orders states by how much is spent, which is why the
//! hot path needs neither digit.
//!
//! | word, at `now` | the bucket is |
//! |---|---|
//! | `0` | untouched: full since its epoch. Zeroed memory is a table of full buckets |
//! | up to `ticks(now) − full` | full |
//! | up to `ticks(now)` | at level `ticks(now) − word` |
//! | up to `ticks(now) + full` | in debt: empty until `ticks` catches up |
//!
//! The word alone is the whole state: a compare-and-swap that finds the value it expects finds the state it decided on,
//! however often the word changed in between. There is no ABA to guard against.

use crate::budget::Budget;

/// The state of a token bucket. See the [module](self) for its digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(u64);

impl Word {
    /// A bucket that nobody has touched.
    pub const FULL: Self = Self(0);

    /// The highest word a bucket can have. Budgets are built so that no step ever writes one above it.
    pub(crate) const LAST: Self = Self(u64::MAX - 1);

    /// Not a state: marks a word that has moved to another slot (`bucket/live.rs`). To every step it is a bucket in the
    /// deepest debt, from which nothing is spent.
    #[cfg(feature = "std")]
    pub(crate) const MOVED: Self = Self(u64::MAX);

    /// The word with these bits.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits, as they stand in the atomic.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Packs the two digits; `None` where the timestamp is not below a token or the whole does not fit.
    ///
    /// ```
    /// use admittance::{Budget, bucket::Word};
    /// let budget = Budget::per_second(10);
    /// let word = Word::pack(3, 99, &budget).unwrap();
    /// assert_eq!(word.unpack(&budget), (3, 99));
    /// assert_eq!(Word::pack(3, budget.ticks_per_token(), &budget), None);
    /// ```
    #[must_use]
    pub const fn pack(tokens: u64, timestamp: u64, budget: &Budget) -> Option<Self> {
        let token = budget.ticks_per_token();
        if timestamp >= token {
            return None;
        }
        match tokens.checked_mul(token) {
            Some(ticks) => match ticks.checked_add(timestamp) {
                Some(bits) => Some(Self(bits)),
                None => None,
            },
            None => None,
        }
    }

    /// The digits `(tokens, timestamp)`: the inverse of [`Word::pack`].
    #[must_use]
    pub const fn unpack(self, budget: &Budget) -> (u64, u64) {
        let token = budget.ticks_per_token();
        (self.0 / token, self.0 % token)
    }
}
