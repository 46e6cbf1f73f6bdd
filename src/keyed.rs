//! One budget per key, for millions of keys, in memory that is bounded when it is built.
//!
//! A *full* bucket says nothing that no bucket would not say, so only buckets in use need a place. [`Keyed`] keeps them in a
//! table of fixed size, 16 bytes a slot: no key is stored, no key is cloned, nothing is allocated after it is built, and
//! nothing needs to be cleaned up.
//!
//! | file | holds |
//! |---|---|
//! | this one | [`Keyed`]: what callers see |
//! | `builder`, [`Overflow`], `error` | what a table is asked for, and what is wrong with it |
//! | `hash` | what a key feeds, hashed in words |
//! | `owner`, `slot` | the two words of a slot, and the protocol by which it changes hands |
//! | `table` | groups of slots: finding a bucket, meeting a newcomer, changing terms |
//! | `tier`, `stripes` | a tier's rules; the locks of newcomers |
//! | `batch` | many keys at once |
//! | `stats` | what operators look at |

mod batch;
mod builder;
mod error;
mod hash;
mod overflow;
mod owner;
mod slot;
mod stats;
mod stripes;
mod table;
mod tier;

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

pub use builder::KeyedBuilder;
pub use error::KeyedError;
pub use overflow::Overflow;
pub use stats::{Bucket, Stats};

use crate::bucket::step::Step;
use crate::clock::{Clock, TscClock};
use crate::decision::{Decision, Permit};
use crate::rule::Rule;
use hash::KeyHasher;
use table::Table;

/// Tiers a table can have.
pub const MAX_TIERS: usize = 128;

/// One budget per key.
///
/// Share it by reference or `Arc`; every method takes `&self`. `K` is what a key looks like where it is asked about: `str`,
/// `[u8]`, `u64`, [`IpAddr`](core::net::IpAddr), a tuple, an identity. Only its hash is used.
///
/// ```
/// use admittance::{Budget, Keyed, ManualClock, Overflow};
///
/// let clock = ManualClock::new();
/// // Ten a second for each caller, and up to 100 000 callers at once that are not at rest.
/// let callers: Keyed<str, _> = Keyed::builder(Budget::per_second(10), 100_000, Overflow::Deny).build_with_clock(&clock)?;
///
/// assert!(callers.check("ann", 10).is_admitted());
/// assert!(callers.check("ann", 1).is_denied());
/// assert!(callers.check("bob", 1).is_admitted());
/// # Ok::<(), admittance::KeyedError>(())
/// ```
///
/// # Exactness
///
/// Each key's answers are those of a [`TokenBucket`](crate::TokenBucket) of its own, from the key's first call on: two
/// threads that meet a new key together share one bucket, and a key that was idle for long enough to be full is forgotten
/// at no loss. **Only full buckets are forgotten**: no flood of other keys gives anybody a fresh bucket.
///
/// When a newcomer finds no room, because every slot it could have holds a bucket that is not full, [`Overflow`] decides.
///
/// # Two keys in one bucket
///
/// A slot knows its key by 56 bits of a hash and by its place in the table. The hash is SipHash-1-3 with a seed of the table's
/// own, so nobody can choose keys that meet. A newcomer is taken for one of `n` keys about once in 2⁶⁴/`n` newcomers, and in tables
/// of less than 30 000 keys once in 2⁴⁹; both then share one bucket until it is full and forgotten.
///
/// # Progress, memory, ordering
///
/// A key that has its bucket: lock-free, two cache lines at most, one compare-and-swap, and none if it is denied. A newcomer
/// takes a lock that it shares with a 64th of all newcomers; so does a key whose tier changes.
///
/// Memory is 31 bytes a key of `max_keys`, and some kilobytes; all of it is taken when the table is built.
///
/// As with [`TokenBucket`](crate::TokenBucket#progress-and-memory-ordering), being admitted does not make another thread's
/// writes visible.
///
/// # What it does not promise
///
/// That `max_keys` buckets in use all find a slot: of a table filled to the last key about one newcomer in 20 000 does
/// not (`tests/keyed/room.rs`). Build it larger than what you expect at once. Nor does it know the keys: it cannot list them.
pub struct Keyed<K: ?Sized, C = TscClock> {
    table: Table,
    clock: C,
    /// Of the hash.
    seed: [u64; 2],
    max_keys: usize,
    key: PhantomData<fn(&K)>,
}

/// A class of keys that share a rule, each with a bucket of its own: `free` and `paid`. From [`Keyed::tier`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tier(u8);

impl<K: ?Sized> Keyed<K> {
    /// Asks for what has no safe default: the rule of the first tier, how many keys at once that are not at rest, and what
    /// happens to one more.
    pub fn builder(rule: impl Into<Rule>, max_keys: usize, overflow: Overflow) -> KeyedBuilder<K> {
        KeyedBuilder::new(rule.into(), max_keys, overflow)
    }
}

impl<K: ?Sized, C> Keyed<K, C> {
    /// The tier of this number: 0 is the builder's first rule, and the rest follow in order. `None` past the last.
    #[must_use]
    pub fn tier(&self, number: usize) -> Option<Tier> {
        (number < self.table.tiers()).then_some(Tier(number as u8))
    }

    /// The rule of a tier, as it is now.
    ///
    /// # Panics
    ///
    /// When the tier is another table's, and this one has fewer.
    #[must_use]
    pub fn rule(&self, tier: Tier) -> Rule {
        self.table.rule(tier.0.into())
    }

    /// The clock it reads.
    #[must_use]
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// The most keys at once that it was built for.
    #[must_use]
    pub const fn max_keys(&self) -> usize {
        self.max_keys
    }
}

impl<K: Hash + ?Sized, C: Clock> Keyed<K, C> {
    /// Spends `cost` tokens of the key's bucket if they are there now; never waits.
    ///
    /// `cost = 0` is admitted and spends nothing. `cost` above the capacity is [`Decision::Never`].
    #[inline]
    pub fn check(&self, key: &K, cost: u64) -> Decision {
        self.check_as(key, Tier(0), cost)
    }

    /// As [`check`](Self::check), for a key of this tier.
    ///
    /// A key that was of another tier keeps its tokens, at most the new capacity, and its debt. Which tier a key is of is said
    /// by each call: two callers that disagree move the bucket to and fro, and each move takes a lock.
    ///
    /// ```
    /// use admittance::{Budget, Keyed, Overflow};
    ///
    /// let callers = Keyed::<str>::builder(Budget::per_hour(10), 1_000, Overflow::Deny).tier(Budget::per_hour(50)).build()?;
    /// let [free, paid] = [0, 1].map(|number| callers.tier(number).unwrap());
    /// assert_eq!(callers.check_as("ann", free, 4).remaining(), Some(6));
    /// assert_eq!(callers.check_as("ann", paid, 1).remaining(), Some(5));
    /// # Ok::<(), admittance::KeyedError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When the tier is another table's, and this one has fewer. So do the other calls that take a tier.
    #[inline]
    pub fn check_as(&self, key: &K, tier: Tier, cost: u64) -> Decision {
        self.check_hash(self.hash(key), tier, cost)
    }

    /// What [`check_as`](Self::check_as) would answer now. Spends nothing.
    pub fn peek_as(&self, key: &K, tier: Tier, cost: u64) -> Decision {
        let now = self.clock.now();
        let look = move |word, rule: &Rule| Step::Keep(rule.acquire(word, cost, now).decision());
        self.table.apply(self.hash(key), tier.0.into(), now, look)
    }

    /// What [`check`](Self::check) would answer now. Spends nothing; a later call may find otherwise.
    pub fn peek(&self, key: &K, cost: u64) -> Decision {
        self.peek_as(key, Tier(0), cost)
    }

    /// Whole tokens in the key's bucket now.
    #[must_use]
    pub fn available(&self, key: &K) -> u64 {
        self.available_as(key, Tier(0))
    }

    /// As [`available`](Self::available), for a key of this tier.
    #[must_use]
    pub fn available_as(&self, key: &K, tier: Tier) -> u64 {
        let now = self.clock.now();
        let look = move |word, rule: &Rule| Step::Keep(Decision::Admitted(rule.available(word, now)));
        self.table.apply(self.hash(key), tier.0.into(), now, look).admitted().unwrap_or(0)
    }

    /// Gives back `cost` tokens of those that `permit` was given for: work that was admitted and did not happen. Never past
    /// the capacity; nothing where the window that they were spent in is over.
    ///
    /// Give back only what was spent, once: the bucket cannot tell. What [`Overflow`] decided was not charged to the key, and
    /// is not to be given back.
    pub fn refund(&self, key: &K, cost: u64, permit: &Permit) {
        self.refund_as(key, Tier(0), cost, permit);
    }

    /// As [`refund`](Self::refund), for a key of this tier.
    pub fn refund_as(&self, key: &K, tier: Tier, cost: u64, permit: &Permit) {
        self.refund_hash(self.hash(key), tier, cost, permit);
    }

    /// Replaces a tier's rule while callers are at work, for all its keys.
    ///
    /// Tokens in hand carry over, up to the new capacity; so does debt. What was refilled before the change is at the old rate,
    /// what comes after it at the new. A key that has no bucket has the new rule's full one.
    ///
    /// Goes through the whole table once, some milliseconds for a million keys; callers do not wait for it. Each change keeps
    /// about 100 bytes until the table is dropped.
    ///
    /// # Errors
    ///
    /// When the rule is a window where the table has buckets, or the other way round: their words cannot be carried over.
    pub fn set_tier_budget(&self, tier: Tier, rule: impl Into<Rule>) -> Result<(), KeyedError> {
        let rule = rule.into();
        let old = self.rule(tier);
        if !old.is_same_kind(&rule) {
            return Err(KeyedError::mixed(tier.0.into(), &old, &rule));
        }
        self.table.change(tier.0.into(), rule, || self.clock.now());
        Ok(())
    }

    #[inline]
    fn hash(&self, key: &K) -> u64 {
        self.hash_fed(|hasher| key.hash(hasher))
    }
}

impl<K: ?Sized, C: Clock> Keyed<K, C> {
    /// The hash of what `feed` feeds.
    #[inline]
    pub(crate) fn hash_fed(&self, feed: impl FnOnce(&mut KeyHasher)) -> u64 {
        let mut hasher = KeyHasher::new(self.seed);
        feed(&mut hasher);
        hasher.finish()
    }

    /// As [`refund_as`](Self::refund_as), by hash.
    pub(crate) fn refund_hash(&self, hash: u64, tier: Tier, cost: u64, permit: &Permit) {
        let now = self.clock.now();
        let permit = *permit;
        let give = move |word, rule: &Rule| match rule.refund(word, cost, &permit, now) {
            // Full already, or forgotten because it was.
            next if next == word => Step::Keep(Decision::Admitted(())),
            next => Step::Spend { next, permit: () },
        };
        let _ = self.table.apply(hash, tier.0.into(), now, give);
    }

    /// As [`check_as`](Self::check_as), by hash.
    #[inline]
    pub(crate) fn check_hash(&self, hash: u64, tier: Tier, cost: u64) -> Decision {
        let now = self.clock.now();
        self.table.apply(hash, tier.0.into(), now, move |word, rule| rule.acquire(word, cost, now))
    }
}

impl<K: ?Sized, C> fmt::Debug for Keyed<K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither seed nor fingerprints: whoever knows the seed can choose keys that meet.
        f.debug_struct("Keyed").field("max_keys", &self.max_keys).field("stats", &self.stats()).finish_non_exhaustive()
    }
}
