//! What one caller was told, for all who share its limit.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::time::Duration;
use std::collections::{BTreeSet, HashMap};
use std::sync::PoisonError;

use siphasher::sip::SipHasher13;

use super::error::RetryError;
use super::parse::nanos;
use super::random::{Random, SystemRandom};
use crate::clock::{Clock, TscClock};
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Holds every caller of a key until the instant that a 429 for that key has named.
///
/// A key is whoever the server limits: a host, or a host and a credential. Planners that share a gate (by `Arc`) share what
/// any of them was told. **No wait is invented**: a key that no server has asked to wait is never held, nor is one that was
/// answered 429 without a `Retry-After` that can be read. A hold only grows: a later, shorter answer does not cut it.
///
/// Callers who were held are released spread over `release`, not all at once.
///
/// # Costs and limits
///
/// At most `max_keys` keys are held at once, about 100 bytes each. When more are told to wait, those whose wait ends first are
/// forgotten early and [counted](Self::forgotten); who was told itself waits all the same. While no key is held, asking costs a
/// clock reading and one relaxed load; otherwise a lock for the time of one look. Keys are known by a keyed 64-bit hash and are
/// not stored; two of them are taken for one with a chance of 2⁻⁶⁴.
///
/// A hold lasts as long as the server said, even where that is absurd; [`open`](Self::open) ends it by hand.
///
/// ```
/// use std::time::Duration;
/// use admittance::ManualClock;
/// use admittance::retry::Gate;
///
/// let clock = ManualClock::new();
/// let gate = Gate::with_clock(1000, Duration::from_millis(500), &clock)?;
/// gate.hold("api.example", Duration::from_secs(3));
/// assert_eq!(gate.wait("api.example"), Some(Duration::from_secs(3)));
/// assert_eq!(gate.wait("other.example"), None);
/// clock.advance(Duration::from_secs(3));
/// assert_eq!(gate.wait("api.example"), None);
/// # Ok::<(), admittance::retry::RetryError>(())
/// ```
pub struct Gate<C = TscClock> {
    clock: C,
    /// Of the hash.
    seed: [u64; 2],
    max_keys: usize,
    release: u64,
    /// No key is held from this instant on.
    all_open: AtomicU64,
    held: Mutex<Held>,
}

/// The instants until which keys are held, by hash and by time.
#[derive(Default)]
struct Held {
    until: HashMap<u64, u64>,
    order: BTreeSet<(u64, u64)>,
    forgotten: u64,
}

impl Gate {
    /// A gate on the precise clock, for so many keys held at once, that releases the callers of a key spread over `release`.
    ///
    /// # Errors
    ///
    /// When `max_keys` or `release` is 0.
    pub fn new(max_keys: usize, release: Duration) -> Result<Self, RetryError> {
        Self::with_clock(max_keys, release, TscClock::new())
    }
}

impl<C: Clock> Gate<C> {
    /// As [`new`](Gate::new), on `clock`.
    ///
    /// # Errors
    ///
    /// When `max_keys` or `release` is 0.
    pub fn with_clock(max_keys: usize, release: Duration, clock: C) -> Result<Self, RetryError> {
        if max_keys == 0 {
            return Err(RetryError::zero("max_keys"));
        }
        if release.is_zero() {
            return Err(RetryError::zero("release"));
        }
        Ok(Self {
            clock,
            seed: [SystemRandom.seed(), SystemRandom.seed()],
            max_keys,
            release: nanos(release),
            all_open: AtomicU64::new(0),
            held: Mutex::default(),
        })
    }

    /// Holds the callers of `key` for this long from now, or longer where they are held already.
    pub fn hold<K: Hash + ?Sized>(&self, key: &K, wait: Duration) {
        self.hold_hash(self.hash(key), nanos(wait));
    }

    /// How much longer the callers of `key` are held; `None` when they are not.
    #[must_use]
    pub fn wait<K: Hash + ?Sized>(&self, key: &K) -> Option<Duration> {
        Some(self.wait_hash(self.hash(key))).filter(|&wait| wait > 0).map(Duration::from_nanos)
    }

    /// Lets the callers of `key` go at once: whoever operates it knows that the server was wrong. Returns whether they were held.
    #[allow(clippy::must_use_candidate, reason = "most callers only want it open")]
    pub fn open<K: Hash + ?Sized>(&self, key: &K) -> bool {
        let hash = self.hash(key);
        let mut held = self.lock();
        let until = held.until.remove(&hash);
        until.is_some_and(|until| held.order.remove(&(until, hash)) && until > self.clock.now())
    }

    /// How many keys are held now.
    #[must_use]
    pub fn held(&self) -> usize {
        let mut held = self.lock();
        held.expire(self.clock.now());
        held.until.len()
    }

    /// How many holds were given up before their time, because more than `max_keys` keys were held.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.lock().forgotten
    }

    pub(super) fn hash<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.seed[0], self.seed[1]);
        key.hash(&mut hasher);
        hasher.finish()
    }

    pub(super) fn hold_hash(&self, hash: u64, wait: u64) {
        if wait == 0 {
            return;
        }
        let mut held = self.lock();
        let now = self.clock.now();
        let until = now.saturating_add(wait);
        held.expire(now);
        if held.until.get(&hash).is_some_and(|&already| already >= until) {
            return;
        }
        // Relaxed: a caller who learned of this hold from the thread that made it sees at least this number, because its
        // knowing comes after the store; one who did not may go, as it might have gone a moment ago. The holds themselves are
        // behind the lock. Nobody else writes: the lock is held.
        if until > self.all_open.load(Ordering::Relaxed) {
            self.all_open.store(until, Ordering::Relaxed);
        }
        if let Some(old) = held.until.insert(hash, until) {
            held.order.remove(&(old, hash));
        }
        held.order.insert((until, hash));
        if held.until.len() > self.max_keys {
            held.forget_first();
        }
    }

    /// Nanoseconds that the callers of this key are still held.
    pub(super) fn wait_hash(&self, hash: u64) -> u64 {
        let now = self.clock.now();
        // Relaxed: as in `hold_hash`.
        if now >= self.all_open.load(Ordering::Relaxed) {
            return 0;
        }
        self.lock().until.get(&hash).map_or(0, |until| until.saturating_sub(now))
    }

    /// Over how long the callers of a key are released.
    pub(super) const fn release(&self) -> u64 {
        self.release
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // Nothing in here panics half way.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn expire(&mut self, now: u64) {
        while self.order.first().is_some_and(|&(until, _)| until <= now) {
            self.pop();
        }
    }

    fn forget_first(&mut self) {
        self.pop();
        self.forgotten += 1;
    }

    fn pop(&mut self) {
        if let Some((_, hash)) = self.order.pop_first() {
            self.until.remove(&hash);
        }
    }
}

impl<C: Clock> fmt::Debug for Gate<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither seed nor hashes, as with a table of buckets.
        f.debug_struct("Gate")
            .field("max_keys", &self.max_keys)
            .field("release", &Duration::from_nanos(self.release))
            .field("held", &self.held())
            .finish_non_exhaustive()
    }
}
