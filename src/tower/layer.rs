//! The layer, and what all its services have in common.

use core::fmt;
use std::boxed::Box;
use std::sync::Arc;
use std::vec::Vec;

use http::{HeaderMap, StatusCode};
use tower_layer::Layer;

use super::builder::{LayerError, RateLimitLayerBuilder};
use super::extract::Extract;
use super::guard::Guard;
use super::respond::ProblemJson;
use super::seen::Seen;
use super::service::RateLimit;
use crate::clock::Clock;
use crate::http::RateLimitFields;
use crate::identity::Identity;
use crate::limiter::Limiter;
use crate::policy::Policy;

/// Limits a layer has at most: so many decisions of a request are kept without an allocation.
pub(super) const MOST: usize = 8;

/// Limits the requests that go through a service.
///
/// A layer has one limit or several. Each has a policy, at work in a [`Limiter`] or a shared one, and takes its identity from
/// the request ([`Extract`]). A request goes when all of them that cover its path admit it; on denial nothing stays spent.
///
/// ```
/// use admittance::identity::Account;
/// use admittance::tower::{RateLimitLayer, from_extension};
/// # use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
/// # use admittance::{Budget, Limiter, Overflow};
/// # let policy = Policy::builder("api").unit(Unit::Request).identity([IdentityKind::Account]).scope(Scope::process())
/// #     .rule(Budget::per_minute(100)).on_exhausted(OnExhausted::Deny).keys(1_000, Overflow::Deny).build()?;
///
/// let accounts: Limiter<Account> = Limiter::new(policy)?;
/// // Who has no account is answered 401.
/// let layer = RateLimitLayer::new(accounts, from_extension::<Account>())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Put it behind what finds out who asks, and before the work. It counts a request when it is called, not when it is ready.
pub struct RateLimitLayer<R = ProblemJson> {
    pub(super) rules: Arc<Rules>,
    pub(super) respond: Arc<R>,
}

/// What a layer and its services have in common.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) limits: Vec<Limit>,
    /// The `RateLimit` fields of answers, where there are any.
    pub(super) fields: Option<RateLimitFields>,
    pub(super) refund: Option<Refund>,
}

impl Rules {
    /// Whether there is something to be done with answers.
    pub(super) const fn looks_at_answers(&self) -> bool {
        self.fields.is_some() || self.refund.is_some()
    }

    /// Whether something is to be known of an admission later.
    pub(super) const fn keeps_admissions(&self) -> bool {
        self.fields.is_some() || self.gives_back()
    }

    /// Whether what was spent may have to be given back.
    pub(super) const fn gives_back(&self) -> bool {
        self.refund.is_some() || self.limits.len() > 1
    }
}

/// Whether an answer gives back what its request was charged.
pub(super) type Refund = Box<dyn Fn(StatusCode, &HeaderMap) -> bool + Send + Sync>;

/// What a request costs.
pub(super) type Cost = Box<dyn Fn(&Seen<'_>) -> u64 + Send + Sync>;

/// One limit: the first of its guards that knows who asks decides.
pub(super) struct Limit {
    pub(super) guards: Vec<Box<dyn Guard>>,
    /// What a request costs; 1 where that is not said.
    pub(super) cost: Option<Cost>,
    /// Whether it holds on some routes alone.
    pub(super) has_routes: bool,
    /// What happens to a request of whom no guard knows who asks.
    pub(super) lets_anonymous_pass: bool,
}

impl Limit {
    pub(super) fn covers(&self, seen: &Seen<'_>) -> bool {
        let path = || seen.uri().path();
        !self.has_routes
            || self.guards.iter().flat_map(|guard| guard.policies()).any(|policy| policy.scope().covers(path()))
    }
}

impl RateLimitLayer {
    /// A layer of one limit of this process. Who has no identity is answered 401.
    ///
    /// # Errors
    ///
    /// When the policy's unit is not the request: then a cost is to be said, with the [`builder`](Self::builder).
    pub fn new<I, C, E>(limiter: impl Into<Arc<Limiter<I, C>>>, extract: E) -> Result<Self, LayerError>
    where
        I: Identity + 'static,
        C: Clock + Send + Sync + 'static,
        E: Extract,
        E::Identity: Identity<Kind = I::Kind>,
    {
        Self::builder().limit(limiter, extract).build()
    }

    /// A layer of several limits, or of one with more to say.
    pub fn builder() -> RateLimitLayerBuilder {
        RateLimitLayerBuilder::new()
    }
}

impl<R> RateLimitLayer<R> {
    /// Its policies, in the order in which they were given.
    pub fn policies(&self) -> impl Iterator<Item = &Policy> {
        self.rules.limits.iter().flat_map(|limit| &limit.guards).flat_map(|guard| guard.policies())
    }
}

impl<S, R> Layer<S> for RateLimitLayer<R> {
    type Service = RateLimit<S, R>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimit::new(inner, Arc::clone(&self.rules), Arc::clone(&self.respond))
    }
}

impl<R> Clone for RateLimitLayer<R> {
    fn clone(&self) -> Self {
        Self { rules: Arc::clone(&self.rules), respond: Arc::clone(&self.respond) }
    }
}

impl<R> fmt::Debug for RateLimitLayer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.policies().map(Policy::name).collect();
        f.debug_struct("RateLimitLayer").field("policies", &names).finish_non_exhaustive()
    }
}
