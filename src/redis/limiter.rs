//! A policy at work in a store.

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::string::String;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::vec::Vec;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

use super::background::Background;
use super::courier::{Errand, carry};
use super::desk::{Known, Place, Told, Waiting};
use super::failure::{FailureKind, StoreFailure};
use super::fallback::Fallback;
use super::inner::Inner;
use super::key::Digest;
use super::limits::{Limits, SharedError};
use super::script::{Answer, Call, Request};
use super::store::Store;
use super::verdict::{Decided, DecidedBy, SharedVerdict};
use crate::decision::{Decision, Denial, Permit};
use crate::identity::{Identity, Kind};
use crate::policy::{OnExhausted, Policy};

/// What a [`Policy`] of a shared scope says, done: one budget for each identity, in all processes together.
///
/// Cheap to clone. `I` names the kind of identity it can be asked about, as of a [`Limiter`](crate::Limiter).
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use admittance::identity::Account;
/// use admittance::policy::{IdentityKind, OnExhausted, OnStoreFailure, Policy, Scope, Sharing, Unit};
/// use admittance::redis::{SharedLimiter, Store};
/// use admittance::{Budget, Overflow};
///
/// let policy = Policy::builder("api")
///     .unit(Unit::Request)
///     .identity([IdentityKind::Account])
///     .scope(Scope::shared(Sharing::new(OnStoreFailure::Deny)))
///     .rule(Budget::per_minute(100).with_capacity(20))
///     .on_exhausted(OnExhausted::Deny)
///     .keys(100_000, Overflow::Deny)
///     .build()?;
/// let store = Store::connect("redis://127.0.0.1/").await?;
/// let limiter: SharedLimiter<Account> = SharedLimiter::new(policy, store)?;
///
/// let verdict = limiter.check(&Account::new("ann")?, 1).await;
/// if let Some(failure) = verdict.degraded() {
///     eprintln!("decided without the store: {failure}");
/// }
/// # Ok(())
/// # }
/// ```
///
/// # What it promises
///
/// - **Never more than the budget**, whichever and however many processes ask: each decision is one script, or is made of
///   tokens that a script had spent. What can exceed it is the store itself: see the [module](super#what-can-go-wrong).
/// - **An answer by the policy's deadline**, whatever the store does.
/// - **No wait that is too short**: the told wait is the server's, counted from the answer's arrival.
///
/// # Cancel safety
///
/// A check that is dropped may have been charged; one that was not sent yet is not.
pub struct SharedLimiter<I> {
    inner: Arc<Inner>,
    identity: PhantomData<fn(&I)>,
}

/// A tier of a [`SharedLimiter`]: of several rules in one policy, which one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SharedTier(usize);

/// An identity, to the store and to this process.
#[cfg(feature = "tower")]
pub(crate) struct Who {
    place: Place,
    digest: Digest,
}

/// A shared limiter at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedStats {
    /// Calls to the store so far, those not answered too.
    pub calls: u64,
    /// Decisions made without the store so far.
    pub degraded: u64,
    /// Identities of which this process keeps something: a lease, a denial, callers who wait.
    pub seats: usize,
    /// Tokens that are leased and not spent.
    pub leased: u64,
}

impl<I: Identity> SharedLimiter<I> {
    /// The policy at work in a store.
    ///
    /// # Errors
    ///
    /// When the policy is of another kind of identity than `I`, is not of a shared scope, or is more than a script can count
    /// exactly (2⁵³).
    pub fn new(policy: Policy, store: Store) -> Result<Self, SharedError> {
        Self::all([policy], store)
    }

    /// Several policies of one identity ("10 a second *and* 1000 an hour"), in one call: all or nothing, and on denial
    /// nothing stays spent.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); when there are none or more than 8, or when they differ in how they are shared, in what
    /// happens after exhaustion, or in their tiers.
    pub fn all(policies: impl IntoIterator<Item = Policy>, store: Store) -> Result<Self, SharedError> {
        let mut asked = Vec::new();
        I::Kind::names(&mut |name| asked.push(name));
        let limits = Limits::new(policies.into_iter().collect(), &asked, store.prefix())?;
        let fallback = Fallback::new(&limits)?;
        Ok(Self { inner: Arc::new(Inner::new(limits, fallback, store)), identity: PhantomData })
    }

    /// The policies it was built of.
    #[must_use]
    pub fn policies(&self) -> &[Policy] {
        &self.inner.limits.policies
    }

    /// The tier of this name.
    #[must_use]
    pub fn tier(&self, name: &str) -> Option<SharedTier> {
        self.inner.limits.tier(name).map(SharedTier)
    }

    /// The names of an identity's budgets in the store, a policy each: for who operates it.
    #[must_use]
    pub fn keys_of<Q: Identity<Kind = I::Kind>>(&self, identity: &Q) -> Vec<String> {
        self.inner.limits.keys(&Digest::of(identity))
    }

    /// This limiter at a glance. Looks at every seat.
    #[must_use]
    pub fn stats(&self) -> SharedStats {
        SharedStats {
            // Relaxed: counts that order nothing.
            calls: self.inner.calls.load(Ordering::Relaxed),
            degraded: self.inner.degraded.load(Ordering::Relaxed),
            seats: self.inner.desk.len(),
            leased: self.inner.desk.leased(),
        }
    }

    /// Spends `cost` tokens of the identity's budget if they are there now; never waits for tokens, and for the store no longer
    /// than the policy's deadline.
    ///
    /// Under `shadow` the verdict is an admission whatever was decided, and tells what was.
    pub async fn check<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, cost: u64) -> SharedVerdict {
        self.check_as(identity, SharedTier(0), cost).await
    }

    /// As [`check`](Self::check), for an identity of this tier. One that changes tier keeps its tokens, at most the new
    /// capacity.
    ///
    /// # Panics
    ///
    /// When the tier is another limiter's, and this one has fewer.
    pub async fn check_as<Q: Identity<Kind = I::Kind>>(
        &self,
        identity: &Q,
        tier: SharedTier,
        cost: u64,
    ) -> SharedVerdict {
        let SharedTier(tier) = tier;
        self.decide(self.inner.desk.place(identity, tier), || Digest::of(identity), tier, cost).await
    }

    async fn decide(&self, place: Place, digest: impl FnOnce() -> Digest, tier: usize, cost: u64) -> SharedVerdict {
        let decided = if let Some(decided) = self.at_once(place, tier, cost) {
            decided
        } else {
            let errand = Errand { place, digest: digest(), tier };
            let asked = self.ask(errand, cost).await;
            asked.unwrap_or_else(|failure| self.without(failure, place, tier, cost))
        };
        SharedVerdict::new(decided, self.inner.limits.on_exhausted() == OnExhausted::Shadow)
    }

    /// As [`check`](Self::check), and waits for the tokens where the policy says `wait_up_to`.
    ///
    /// A wait that cannot end in time is not begun: the verdict is a denial at once. Several who wait for one budget are not
    /// served in order; each asks again when its tokens should be there.
    pub async fn wait<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, cost: u64) -> SharedVerdict {
        self.wait_at(self.inner.desk.place(identity, 0), Digest::of(identity), cost).await
    }

    async fn wait_at(&self, place: Place, digest: Digest, cost: u64) -> SharedVerdict {
        let limit = match self.inner.limits.on_exhausted() {
            OnExhausted::WaitUpTo(limit) => limit,
            OnExhausted::Deny | OnExhausted::Shadow => Duration::ZERO,
        };
        let begun = Instant::now();
        loop {
            let verdict = self.decide(place, || digest, 0, cost).await;
            match verdict.retry_after() {
                Some(wait) if begun.elapsed().saturating_add(wait) <= limit => sleep(wait).await,
                _ => return verdict,
            }
        }
    }

    /// Gives back `cost` tokens of those that `verdict` admitted: work that turned out to be free, as an answer from a cache.
    /// Never past full, and not to a later window. Nothing where it was decided without the store.
    ///
    /// Give back only what was spent, once. A call to the store, unless the tokens were of a lease; what is lost on the way
    /// stays spent.
    pub async fn refund<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, cost: u64, verdict: &SharedVerdict) {
        self.give_back(self.inner.desk.place(identity, 0), || Digest::of(identity), cost, verdict).await;
    }

    async fn give_back(&self, place: Place, digest: impl FnOnce() -> Digest, cost: u64, verdict: &SharedVerdict) {
        let inner = &self.inner;
        if cost == 0 || !verdict.decision().is_admitted() {
            return;
        }
        match verdict.decided_by() {
            DecidedBy::Store => inner.refund(digest(), cost, verdict.at()).await,
            DecidedBy::Lease => {
                // A lease that is over meanwhile has been given back, and these tokens are lost until refilled.
                inner.desk.with(place, |seat| seat.put_back(cost));
            }
            DecidedBy::Memory | DecidedBy::Capacity | DecidedBy::Degraded(_) => {}
        }
    }

    /// Where it is.
    pub(super) fn store(&self) -> &Store {
        &self.inner.store
    }

    /// What is left of its leases when it is dropped goes back from there, on whatever thread that is.
    pub(super) fn lives_in(&self, background: &Arc<Background>) {
        // Of several the first, which is the same: there is one at a time, for as long as anybody has it.
        let _ = self.inner.home.set(Arc::clone(background));
    }

    /// Who this is to the store and to this process.
    #[cfg(feature = "tower")]
    pub(crate) fn who<Q: Identity<Kind = I::Kind>>(&self, identity: &Q) -> Who {
        Who { place: self.inner.desk.place(identity, 0), digest: Digest::of(identity) }
    }

    /// As [`wait`](Self::wait).
    #[cfg(feature = "tower")]
    pub(crate) async fn wait_for(&self, who: &Who, cost: u64) -> SharedVerdict {
        self.wait_at(who.place, who.digest, cost).await
    }

    /// As [`refund`](Self::refund).
    #[cfg(feature = "tower")]
    pub(crate) async fn refund_of(&self, who: &Who, cost: u64, verdict: &SharedVerdict) {
        self.give_back(who.place, || who.digest, cost, verdict).await;
    }

    /// Gives back what is left of all leases now, and waits until that is done or has failed. For before a process ends; a
    /// lease is also given back when it has aged, and when the last handle to the limiter is dropped within a runtime.
    pub async fn give_back_leases(&self) {
        self.inner.give_back(|_| true).await;
    }

    /// What needs no call.
    fn at_once(&self, place: Place, tier: usize, cost: u64) -> Option<Decided> {
        let inner = &self.inner;
        if cost > inner.limits.capacity(tier) {
            return Some(Decided::here(Decision::Never, 0, DecidedBy::Capacity));
        }
        if cost == 0 || !(inner.carries || inner.sharing.remembers_denials()) {
            return None;
        }
        let now = inner.now();
        inner.desk.with(place, |seat| {
            if let Some(left) = seat.spend(cost, now) {
                return Some(Decided::here(Decision::Admitted(Permit::new(left, 1, 0)), 0, DecidedBy::Lease));
            }
            let (wait, limit) = seat.denies(&inner.limits, tier, cost, now)?;
            let at = now.saturating_add(wait.saturating_mul(1_000));
            Some(Decided::here(Decision::Denied(Denial::at(at, now)), limit, DecidedBy::Memory))
        })?
    }

    /// With others where the policy says so, and there is a seat to wait in.
    async fn ask(&self, errand: Errand, cost: u64) -> Result<Decided, StoreFailure> {
        let deadline = Instant::now() + self.inner.sharing.deadline_of();
        if self.inner.carries
            && let Some(asked) = self.together(errand, cost, deadline).await
        {
            return asked;
        }
        self.alone(errand, cost, deadline).await
    }

    /// With the other callers of this identity; `None` where there is no seat to wait in.
    async fn together(&self, errand: Errand, cost: u64, deadline: Instant) -> Option<Result<Decided, StoreFailure>> {
        let inner = &self.inner;
        let (tell, told) = oneshot::channel();
        let begins = inner.desk.sit(errand.place, inner.now(), |seat| seat.join(Waiting { cost, tell }))?;
        if begins {
            tokio::spawn(carry(Arc::clone(inner), errand));
        }
        Some(match timeout_at(deadline, told).await {
            Ok(Ok(Ok(Told::Answer(answer, taken)))) => {
                Ok(inner.limits.decided(errand.tier, &answer, cost, taken, inner.now()))
            }
            Ok(Ok(Ok(Told::Leased(left)))) => {
                Ok(Decided::here(Decision::Admitted(Permit::new(left, 1, 0)), 0, DecidedBy::Lease))
            }
            Ok(Ok(Err(failure))) => Err(failure),
            Ok(Err(_)) => Err(StoreFailure::new(FailureKind::Unreachable, "the task that carries calls has ended")),
            Err(_) => Err(StoreFailure::new(FailureKind::Timeout, "")),
        })
    }

    /// By a call of its own.
    async fn alone(&self, errand: Errand, cost: u64, deadline: Instant) -> Result<Decided, StoreFailure> {
        let inner = &self.inner;
        let Errand { place, digest, tier } = errand;
        let terms = inner.limits.terms(tier);
        let request = Request { least: cost, most: cost };
        let call = Call::spend(inner.limits.keys(&digest), digest.slot(), None, terms, [request]);
        let sent = inner.now();
        // Relaxed: a count that orders nothing.
        inner.calls.fetch_add(1, Ordering::Relaxed);
        let answer = Answer::read(&inner.store.call(&call, deadline).await?, terms.len(), 1)?;
        let now = inner.now();
        let decided = inner.limits.decided(tier, &answer, cost, answer.taken[0], now);
        if inner.sharing.remembers_denials() {
            if decided.decision.is_denied() {
                let known = Known { states: answer.states, server: answer.now, sent };
                // Without a seat it is forgotten, which costs a call.
                let _ = inner.desk.sit(place, now, |seat| seat.remember(Some(known)));
            } else {
                inner.desk.with(place, |seat| seat.remember(None));
            }
        }
        Ok(decided)
    }

    /// As the policy says for a store that is slow or gone.
    fn without(&self, failure: StoreFailure, place: Place, tier: usize, cost: u64) -> Decided {
        // Relaxed: a count that orders nothing.
        self.inner.degraded.fetch_add(1, Ordering::Relaxed);
        let (decision, limit) = self.inner.fallback.decide(&place.bytes(), tier, cost, self.inner.now());
        Decided::here(decision, limit, DecidedBy::Degraded(failure))
    }
}

impl<I> Clone for SharedLimiter<I> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), identity: PhantomData }
    }
}

impl<I> fmt::Debug for SharedLimiter<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLimiter")
            .field("policies", &self.inner.limits.policies)
            .field("store", &self.inner.store)
            .finish_non_exhaustive()
    }
}
