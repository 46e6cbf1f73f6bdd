//! Tables of limiters, asked about keys drawn uniformly from a crowd.
//!
//! A table is built and filled once a process, and shared by all measurements: filling a million keys takes longer than
//! asking about some thousands.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "peers")]
use admittance::AtomicWord;
use admittance::{Budget, Clock, Keyed, Overflow, TscClock};

use super::ours::BenchClock;
use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;

/// A thousand.
pub const FEW: u64 = 1_000;
/// A million.
pub const MANY: u64 = 1_000_000;

/// One limiter a key.
pub trait Table: Send + Sync + 'static {
    /// How reports call it.
    const NAME: &'static str;

    /// An empty table with room for `keys`.
    fn build(plan: &Plan, keys: u64) -> Self;

    /// One decision about one token of this key's.
    fn admit(&self, key: u64) -> bool;

    /// Decisions about up to 64 keys; the low bit is the first's.
    fn admit_many(&self, keys: &[u64]) -> u64 {
        keys.iter().enumerate().fold(0, |bits, (at, &key)| bits | u64::from(self.admit(key)) << at)
    }
}

/// A table that `KEYS` keys have met.
#[derive(Debug)]
pub struct Crowd<T: 'static, const KEYS: u64>(&'static T);

/// As [`Crowd`], asked about `BATCH` keys at a time, 64 at most.
#[derive(Debug)]
pub struct Batches<T: 'static, const KEYS: u64, const BATCH: usize = 64>(&'static T);

impl<T: Table, const KEYS: u64> Limiter for Crowd<T, KEYS> {
    const NAME: &'static str = T::NAME;

    type Caller<'l> = Visitor<T, KEYS>;

    fn build(plan: &Plan) -> Self {
        Self(filled(plan, KEYS))
    }

    fn caller(&self) -> Visitor<T, KEYS> {
        Visitor { table: self.0, draw: Draw::new() }
    }
}

impl<T: Table, const KEYS: u64, const BATCH: usize> Limiter for Batches<T, KEYS, BATCH> {
    const NAME: &'static str = "admittance, check_many";

    type Caller<'l> = BatchVisitor<T, KEYS, BATCH>;

    fn build(plan: &Plan) -> Self {
        Self(filled(plan, KEYS))
    }

    fn caller(&self) -> BatchVisitor<T, KEYS, BATCH> {
        const { assert!(0 < BATCH && BATCH <= 64, "a bit a key") };
        BatchVisitor { table: self.0, draw: Draw::new(), decided: Cell::new(0), left: Cell::new(0) }
    }
}

/// A thread that asks about one key after the other.
#[derive(Debug)]
pub struct Visitor<T: 'static, const KEYS: u64> {
    table: &'static T,
    draw: Draw<KEYS>,
}

impl<T: Table, const KEYS: u64> Caller for Visitor<T, KEYS> {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.table.admit(self.draw.next())
    }
}

/// A thread that asks about `BATCH` keys, and tells one answer at a time.
#[derive(Debug)]
pub struct BatchVisitor<T: 'static, const KEYS: u64, const BATCH: usize> {
    table: &'static T,
    draw: Draw<KEYS>,
    decided: Cell<u64>,
    left: Cell<u32>,
}

impl<T: Table, const KEYS: u64, const BATCH: usize> Caller for BatchVisitor<T, KEYS, BATCH> {
    #[inline(always)]
    fn admit(&self) -> bool {
        if self.left.get() == 0 {
            let keys: [u64; BATCH] = std::array::from_fn(|_| self.draw.next());
            self.decided.set(self.table.admit_many(&keys));
            self.left.set(BATCH as u32);
        }
        let decided = self.decided.get();
        self.decided.set(decided >> 1);
        self.left.set(self.left.get() - 1);
        decided & 1 == 1
    }
}

/// Uniform draws below `KEYS`, for less than a nanosecond each: splitmix64's sequence.
#[derive(Debug)]
struct Draw<const KEYS: u64>(Cell<u64>);

impl<const KEYS: u64> Draw<KEYS> {
    fn new() -> Self {
        static DRAWN: AtomicU64 = AtomicU64::new(1);
        // Relaxed: only to begin somewhere else each time.
        Self(Cell::new(DRAWN.fetch_add(0x5851_f42d_4c95_7f2d, Ordering::Relaxed)))
    }

    #[inline(always)]
    fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * u128::from(KEYS)) >> 64) as u64
    }
}

/// The one table of its kind, size and plan, which all its keys have met.
fn filled<T: Table>(plan: &Plan, keys: u64) -> &'static T {
    type Tables = HashMap<(TypeId, &'static str, u64), &'static (dyn Any + Send + Sync)>;
    static TABLES: Mutex<Option<Tables>> = Mutex::new(None);
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let table = tables.get_or_insert_default().entry((TypeId::of::<T>(), plan.name, keys)).or_insert_with(|| {
        let table = T::build(plan, keys);
        for key in 0..keys {
            table.admit(key);
        }
        Box::leak(Box::new(table))
    });
    table.downcast_ref().expect("it was put in under its own type")
}

pub(super) fn budget(plan: &Plan) -> Budget {
    Budget::new(plan.capacity.into(), plan.tokens.into(), plan.per).expect("a plan's budget is plain")
}

/// A key as a request would carry it: sixteen characters, on the stack.
#[inline(always)]
pub(super) fn spell(key: u64) -> [u8; 16] {
    let mut text = [0; 16];
    // Odd: no two keys are spelled alike.
    let scrambled = key.wrapping_mul(0x2545_f491_4f6c_dd1d);
    for (at, place) in text.iter_mut().enumerate() {
        *place = b"0123456789abcdef"[(scrambled >> (4 * at)) as usize & 15];
    }
    text
}

/// This crate's table, `u64` keys.
#[derive(Debug)]
pub struct Ours<C: Clock = TscClock>(Keyed<u64, C>);

impl<C: BenchClock + 'static> Table for Ours<C> {
    const NAME: &'static str = C::NAME;

    fn build(plan: &Plan, keys: u64) -> Self {
        let table = Keyed::builder(budget(plan), keys as usize, Overflow::Admit).build_with_clock(C::make());
        Self(table.expect("a plain table"))
    }

    #[inline(always)]
    fn admit(&self, key: u64) -> bool {
        self.0.check(&key, 1).is_admitted()
    }

    fn admit_many(&self, keys: &[u64]) -> u64 {
        let mut bits = 0;
        self.0.check_many(keys.iter().map(|key| (key, 1)), |decision| {
            bits = bits >> 1 | u64::from(decision.is_admitted()) << 63;
        });
        // Those of fewer than 64 are still on their way down.
        bits >> (64 - keys.len())
    }
}

/// This crate's table, text keys.
#[derive(Debug)]
pub struct OursText(Keyed<[u8]>);

impl Table for OursText {
    const NAME: &'static str = "admittance";

    fn build(plan: &Plan, keys: u64) -> Self {
        Self(Keyed::builder(budget(plan), keys as usize, Overflow::Admit).build().expect("a plain table"))
    }

    #[inline(always)]
    fn admit(&self, key: u64) -> bool {
        self.0.check(&spell(key), 1).is_admitted()
    }
}

/// This crate's words and clock in somebody else's map: what the table itself is worth.
#[cfg(feature = "peers")]
macro_rules! words_in_a_map {
    ($(#[$attr:meta])* $name:ident, $said:literal, $map:ty, |$here:ident, $key:ident, $ask:ident| $find:expr) => {
        $(#[$attr])*
        #[derive(Debug)]
        pub struct $name<K: Spelled = u64> {
            map: $map,
            budget: Budget,
            clock: TscClock,
        }

        impl<K: Spelled> Table for $name<K> {
            const NAME: &'static str = $said;

            fn build(plan: &Plan, _keys: u64) -> Self {
                Self { map: Default::default(), budget: budget(plan), clock: TscClock::new() }
            }

            #[inline(always)]
            fn admit(&self, key: u64) -> bool {
                let ($here, $key, now) = (&self.map, K::spell(key), self.clock.now());
                let $ask = |word: &AtomicWord| word.try_acquire(1, now, &self.budget).is_admitted();
                $find
            }
        }
    };
}

/// How a key is spelled.
pub trait Spelled: std::hash::Hash + Eq + Copy + Send + Sync + std::fmt::Debug + 'static {
    /// This key, so spelled.
    fn spell(key: u64) -> Self;
}

impl Spelled for u64 {
    #[inline(always)]
    fn spell(key: u64) -> Self {
        key
    }
}

impl Spelled for [u8; 16] {
    #[inline(always)]
    fn spell(key: u64) -> Self {
        spell(key)
    }
}

#[cfg(feature = "peers")]
words_in_a_map!(
    /// In a map whose shards have locks.
    WordsInDashmap, "words in dashmap", dashmap::DashMap<K, AtomicWord>,
    |map, key, ask| match map.get(&key) {
        Some(word) => ask(&word),
        None => ask(&map.entry(key).or_default()),
    }
);

#[cfg(feature = "peers")]
words_in_a_map!(
    /// In a map that is read without locks.
    WordsInPapaya, "words in papaya", papaya::HashMap<K, AtomicWord>,
    |map, key, ask| ask(map.pin().get_or_insert_with(key, AtomicWord::new))
);

#[cfg(feature = "peers")]
mod governor {
    use governor::{DefaultKeyedRateLimiter, RateLimiter};

    use super::{Plan, Spelled, Table};
    use crate::contenders::governor::quota;

    /// governor's keyed limiter on its default store, `DashMap`. Text keys are arrays: it keeps the keys, and asking
    /// for strings would take an allocation a call.
    #[derive(Debug)]
    pub struct GovernorKeyed<K: Spelled = u64>(DefaultKeyedRateLimiter<K>);

    impl<K: Spelled> Table for GovernorKeyed<K> {
        const NAME: &'static str = "governor";

        fn build(plan: &Plan, _keys: u64) -> Self {
            Self(RateLimiter::keyed(quota(plan)))
        }

        #[inline(always)]
        fn admit(&self, key: u64) -> bool {
            self.0.check_key(&K::spell(key)).is_ok()
        }
    }
}

#[cfg(feature = "peers")]
pub use governor::GovernorKeyed;
