//! What a shared limiter and its tasks have in common.

use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::vec::Vec;

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep};

use super::background::Background;
use super::desk::{Desk, Held};
use super::fallback::Fallback;
use super::key::Digest;
use super::limits::Limits;
use super::script::{Call, Return};
use super::store::Store;
use crate::clock::{Clock as _, TscClock};
use crate::policy::Sharing;

/// Checks in one call, where leases put them together and nothing is said of batches.
const BATCH: usize = 64;

/// How long giving a lease back may take, and how often it is tried: the store knows a lease that it has taken back.
const GIVE_BACK: Duration = Duration::from_millis(500);
const TRIES: usize = 2;

/// How long after it was spent a token may be given back, in microseconds: an hour.
const REFUND_WITHIN: u64 = 3_600_000_000;

/// Leases that are given back at a time.
const AT_A_TIME: usize = 64;

pub(super) struct Inner {
    pub(super) limits: Arc<Limits>,
    pub(super) sharing: Sharing,
    pub(super) store: Store,
    pub(super) desk: Desk,
    pub(super) fallback: Fallback,
    /// Checks in one call at most.
    pub(super) batch: usize,
    /// Whether callers of one identity go together.
    pub(super) carries: bool,
    pub(super) degraded: AtomicU64,
    pub(super) calls: AtomicU64,
    clock: TscClock,
    /// The first half of every lease's name: of this limiter alone.
    name: u64,
    leases: AtomicU64,
    tending: Mutex<Option<JoinHandle<()>>>,
    /// Where threads ask that are in no runtime.
    pub(super) home: OnceLock<Arc<Background>>,
}

impl Inner {
    pub(super) fn new(limits: Limits, fallback: Fallback, store: Store) -> Self {
        use std::hash::{BuildHasher as _, RandomState};
        let sharing = limits.sharing();
        let most = limits.policies.iter().map(crate::policy::Policy::max_keys).max().unwrap_or(1);
        Self {
            limits: Arc::new(limits),
            sharing,
            store,
            desk: Desk::new(most),
            fallback,
            batch: sharing.batch_of().map_or(BATCH, |most| most.get() as usize),
            carries: sharing.batch_of().is_some() || sharing.leasing().is_some(),
            degraded: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            clock: TscClock::new(),
            name: RandomState::new().hash_one(0),
            leases: AtomicU64::new(0),
            tending: Mutex::new(None),
            home: OnceLock::new(),
        }
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.now()
    }

    pub(super) fn lease_id(&self) -> u128 {
        // Relaxed: a number that is given once.
        u128::from(self.name) << 64 | u128::from(self.leases.fetch_add(1, Ordering::Relaxed))
    }

    /// Sees to it that leases which have aged are given back.
    pub(super) fn tend_leases(self: &Arc<Self>) {
        let Some(leasing) = self.sharing.leasing() else { return };
        let mut tending = self.tending.lock().unwrap_or_else(PoisonError::into_inner);
        if tending.as_ref().is_none_or(JoinHandle::is_finished) {
            let every = (leasing.max_age / 2).clamp(Duration::from_millis(1), Duration::from_secs(1));
            *tending = Some(tokio::spawn(tend(Arc::downgrade(self), every)));
        }
    }

    /// Gives back tokens that were spent at an instant of the server's. As a lease of its own, so that no failure can give
    /// them back twice.
    pub(super) async fn refund(&self, digest: Digest, tokens: u64, spent_at: u64) {
        let limits = &self.limits;
        let until = spent_at.saturating_add(REFUND_WITHIN);
        let back = Return { tokens, granted: spent_at, until };
        let keys = limits.lease_keys(&digest, self.lease_id());
        let call = Call::give_back(keys, digest.slot(), None, limits.terms(0), back);
        // What cannot be given back is lost until the budget has refilled it.
        let _ = self.store.call(&call, Instant::now() + self.sharing.deadline_of()).await;
    }

    /// Gives back the leases that `picks` says.
    pub(super) async fn give_back(&self, picks: impl Fn(&Held) -> bool) {
        let collected = self.desk.collect(self.now(), picks);
        give_back(self.store.clone(), Arc::clone(&self.limits), collected).await;
    }
}

/// While a limiter is in use, what is left of leases goes back when they have aged.
async fn tend(inner: Weak<Inner>, every: Duration) {
    loop {
        sleep(every).await;
        let Some(inner) = inner.upgrade() else { return };
        let now = inner.now();
        inner.give_back(|held| now >= held.expires).await;
    }
}

async fn give_back(store: Store, limits: Arc<Limits>, collected: Vec<Held>) {
    let mut under_way = JoinSet::new();
    for held in collected {
        if under_way.len() >= AT_A_TIME {
            under_way.join_next().await;
        }
        under_way.spawn(give_one_back(store.clone(), Arc::clone(&limits), held));
    }
    while under_way.join_next().await.is_some() {}
}

async fn give_one_back(store: Store, limits: Arc<Limits>, held: Held) {
    let Held { left, id, granted, digest, tier, .. } = held;
    let age = limits.sharing().leasing().map_or(Duration::ZERO, |leasing| leasing.max_age);
    // It is under way by the time it has aged by half again.
    let until = granted.saturating_add(u64::try_from((age * 2 + GIVE_BACK * 4).as_micros()).unwrap_or(u64::MAX / 4));
    let back = Return { tokens: left, granted, until };
    let call = Call::give_back(limits.lease_keys(&digest, id), digest.slot(), None, limits.terms(tier), back);
    for _ in 0..TRIES {
        // What cannot be given back is lost until the budget has refilled it.
        if store.call(&call, Instant::now() + GIVE_BACK).await.is_ok() {
            return;
        }
    }
}

/// What is left of leases goes back when the last handle is dropped, if there is a runtime to do it.
impl Drop for Inner {
    fn drop(&mut self) {
        let collected = self.desk.collect(self.now(), |_| true);
        if collected.is_empty() {
            return;
        }
        let home = self.home.take();
        let runtime = home.as_ref().map(|home| home.runtime().clone());
        if let Some(runtime) = runtime.or_else(|| Handle::try_current().ok()) {
            let give_back = give_back(self.store.clone(), Arc::clone(&self.limits), collected);
            runtime.spawn(async move {
                give_back.await;
                // It may end now.
                drop(home);
            });
        }
    }
}
