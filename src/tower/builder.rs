//! How a layer is built.

use core::fmt;
use std::boxed::Box;
use std::string::{String, ToString as _};
use std::sync::Arc;
use std::vec::Vec;

use http::{HeaderMap, StatusCode};

use super::extract::Extract;
use super::guard::{Guard, Process};
use super::layer::{Cost, Limit, MOST, RateLimitLayer, Refund, Rules};
use super::respond::ProblemJson;
use super::seen::Seen;
use crate::clock::Clock;
use crate::http::{Dialect, Quota, RateLimitFields};
use crate::identity::Identity;
use crate::limiter::Limiter;
use crate::policy::{Policy, Unit};

/// Builds a [`RateLimitLayer`].
///
/// ```
/// use admittance::http::{ClientAddress, Dialect};
/// use admittance::identity::{Account, Address};
/// use admittance::tower::{RateLimitLayer, from_extension, from_peer};
/// # use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
/// # use admittance::{Budget, Limiter, Overflow};
/// # let policy = |name, kind| Policy::builder(name).unit(Unit::Request).identity([kind]).scope(Scope::process())
/// #     .rule(Budget::per_minute(100)).on_exhausted(OnExhausted::Deny).keys(1_000, Overflow::Deny).build();
/// # let accounts: Limiter<Account> = Limiter::new(policy("accounts", IdentityKind::Account)?)?;
/// # let strangers: Limiter<Address> = Limiter::new(policy("strangers", IdentityKind::Address)?)?;
///
/// // An account where there is one, and otherwise the address that the socket's peer has.
/// let peer = |extensions: &http::Extensions| extensions.get::<std::net::SocketAddr>().map(std::net::SocketAddr::ip);
/// let layer = RateLimitLayer::builder()
///     .limit(accounts, from_extension::<Account>())
///     .or(strangers, from_peer(ClientAddress::peer(), peer))
///     .refund_when(|status, _| status == 304)
///     .fields(Dialect::DraftList)
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a builder does nothing until it is built"]
pub struct RateLimitLayerBuilder<R = ProblemJson> {
    limits: Vec<Building>,
    dialect: Option<Dialect>,
    refund: Option<Refund>,
    respond: R,
    fault: Option<&'static str>,
}

/// A limit that is being built.
struct Building {
    guards: Vec<Box<dyn Guard>>,
    cost: Option<Cost>,
    lets_anonymous_pass: bool,
}

/// A layer cannot be built as it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerError(String);

impl RateLimitLayerBuilder {
    pub(super) fn new() -> Self {
        Self { limits: Vec::new(), dialect: None, refund: None, respond: ProblemJson::default(), fault: None }
    }
}

impl<R> RateLimitLayerBuilder<R> {
    /// One more limit, of this process. A request must be admitted by all that cover its path; they are asked in order.
    pub fn limit<I, C, E>(self, limiter: impl Into<Arc<Limiter<I, C>>>, extract: E) -> Self
    where
        I: Identity + 'static,
        C: Clock + Send + Sync + 'static,
        E: Extract,
        E::Identity: Identity<Kind = I::Kind>,
    {
        self.one_more(Box::new(Process::new(limiter.into(), extract)))
    }

    /// One more limit, of all processes of a store.
    #[cfg(feature = "redis")]
    pub fn limit_shared<I, E>(self, limiter: crate::redis::SharedLimiter<I>, extract: E) -> Self
    where
        I: Identity + 'static,
        E: Extract,
        E::Identity: Identity<Kind = I::Kind>,
    {
        self.one_more(Box::new(super::guard::Shared::new(limiter, extract)))
    }

    /// Who decides where a request has no identity for the limit before: an address in place of an account, say.
    ///
    /// Without it such a request is answered 401: never do those of whom nothing is known share a budget by accident.
    pub fn or<I, C, E>(self, limiter: impl Into<Arc<Limiter<I, C>>>, extract: E) -> Self
    where
        I: Identity + 'static,
        C: Clock + Send + Sync + 'static,
        E: Extract,
        E::Identity: Identity<Kind = I::Kind>,
    {
        self.another(Box::new(Process::new(limiter.into(), extract)))
    }

    /// As [`or`](Self::or), of all processes of a store.
    #[cfg(feature = "redis")]
    pub fn or_shared<I, E>(self, limiter: crate::redis::SharedLimiter<I>, extract: E) -> Self
    where
        I: Identity + 'static,
        E: Extract,
        E::Identity: Identity<Kind = I::Kind>,
    {
        self.another(Box::new(super::guard::Shared::new(limiter, extract)))
    }

    /// Lets a request pass that has no identity for the limit before, unlimited by it.
    pub fn or_pass(mut self) -> Self {
        match self.limits.last_mut() {
            Some(limit) => limit.lets_anonymous_pass = true,
            None => self.fault = Some("or_pass: there is no limit before it"),
        }
        self
    }

    /// What a request costs of the limit before: 1 where this is not said, and the policy counts requests.
    pub fn cost(mut self, cost: impl Fn(&Seen<'_>) -> u64 + Send + Sync + 'static) -> Self {
        match self.limits.last_mut() {
            Some(limit) => limit.cost = Some(Box::new(cost)),
            None => self.fault = Some("cost: there is no limit before it"),
        }
        self
    }

    /// Gives back what a request was charged when its answer is such a one: `|status, _| status == 304`, or all but failures.
    ///
    /// The answer's head decides; the tokens are spent until it is there.
    pub fn refund_when(mut self, when: impl Fn(StatusCode, &HeaderMap) -> bool + Send + Sync + 'static) -> Self {
        self.refund = Some(Box::new(when));
        self
    }

    /// Adds `RateLimit` fields to every answer, in this dialect. None where the budgets could not be looked at.
    pub fn fields(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Answers refusals otherwise than with a problem as JSON: with [`Grpc`](super::Grpc), or in words of your own.
    pub fn respond<T>(self, respond: T) -> RateLimitLayerBuilder<T> {
        let Self { limits, dialect, refund, fault, .. } = self;
        RateLimitLayerBuilder { limits, dialect, refund, respond, fault }
    }

    /// The layer.
    ///
    /// # Errors
    ///
    /// When there is no limit, there are more than 8, two policies have one name, or one counts something else than requests and
    /// no cost was said.
    pub fn build(self) -> Result<RateLimitLayer<R>, LayerError> {
        let Self { limits, dialect, refund, respond, fault } = self;
        if let Some(fault) = fault {
            return Err(LayerError(fault.into()));
        }
        if limits.is_empty() || limits.len() > MOST {
            return Err(LayerError(std::format!("a layer has from 1 to {MOST} limits, not {}", limits.len())));
        }
        let policies: Vec<&Policy> =
            limits.iter().flat_map(|limit| &limit.guards).flat_map(|guard| guard.policies()).collect();
        for (number, policy) in policies.iter().enumerate() {
            if policies[..number].iter().any(|other| other.name() == policy.name()) {
                return Err(LayerError(std::format!(
                    "policy '{}': is there twice; clients tell policies by name",
                    policy.name()
                )));
            }
        }
        for limit in &limits {
            let other =
                limit.guards.iter().flat_map(|guard| guard.policies()).find(|policy| *policy.unit() != Unit::Request);
            if let (Some(policy), None) = (other, &limit.cost) {
                return Err(LayerError(std::format!(
                    "policy '{}': how many {}s does a request cost? Say cost after its limit",
                    policy.name(),
                    policy.unit()
                )));
            }
        }
        let fields = dialect
            .map(|dialect| RateLimitFields::new(dialect, policies.into_iter().map(Quota::of)))
            .transpose()
            .map_err(|error| LayerError(error.to_string()))?;
        let limits = limits
            .into_iter()
            .map(|Building { guards, cost, lets_anonymous_pass }| Limit {
                has_routes: guards
                    .iter()
                    .flat_map(|guard| guard.policies())
                    .any(|policy| !policy.scope().prefixes().is_empty()),
                guards,
                cost,
                lets_anonymous_pass,
            })
            .collect();
        Ok(RateLimitLayer { rules: Arc::new(Rules { limits, fields, refund }), respond: Arc::new(respond) })
    }

    fn one_more(mut self, guard: Box<dyn Guard>) -> Self {
        self.limits.push(Building { guards: Vec::from([guard]), cost: None, lets_anonymous_pass: false });
        self
    }

    fn another(mut self, guard: Box<dyn Guard>) -> Self {
        match self.limits.last_mut() {
            Some(limit) => limit.guards.push(guard),
            None => self.fault = Some("or: there is no limit before it"),
        }
        self
    }
}

impl<R> fmt::Debug for RateLimitLayerBuilder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitLayerBuilder").field("limits", &self.limits.len()).finish_non_exhaustive()
    }
}

impl fmt::Display for LayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LayerError {}
