//! How a policy is built: by saying each part of it.

use std::borrow::ToOwned;
use std::format;
use std::string::String;
use std::vec::Vec;

use super::error::Fault;
use super::near;
use super::{IdentityKind, OnExhausted, OnStoreFailure, Policy, PolicyError, Scope, Sharing, Unit};
use crate::keyed::{MAX_TIERS, Overflow};
use crate::rule::Rule;

/// Builds a [`Policy`]. No part has a default.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct PolicyBuilder {
    name: String,
    unit: Option<Unit>,
    identity: Option<Vec<IdentityKind>>,
    scope: Option<Scope>,
    tiers: Vec<(String, Rule)>,
    on_exhausted: Option<OnExhausted>,
    max_keys: Option<usize>,
    overflow: Option<Overflow>,
}

impl PolicyBuilder {
    pub(super) const fn new(name: String) -> Self {
        Self {
            name,
            unit: None,
            identity: None,
            scope: None,
            tiers: Vec::new(),
            on_exhausted: None,
            max_keys: None,
            overflow: None,
        }
    }

    /// What a token stands for.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = Some(unit);
        self
    }

    /// Whose budget it is: one kind, or two or three joined, as `[Tenant, Account]`.
    pub fn identity(mut self, kinds: impl IntoIterator<Item = IdentityKind>) -> Self {
        self.identity = Some(kinds.into_iter().collect());
        self
    }

    /// Where it holds.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// The time rule of everybody.
    pub fn rule(self, rule: impl Into<Rule>) -> Self {
        self.tier("default", rule)
    }

    /// The time rule of one tier, instead of everybody's. The first is the one of a check that says none.
    pub fn tier(mut self, name: impl Into<String>, rule: impl Into<Rule>) -> Self {
        self.tiers.push((name.into(), rule.into()));
        self
    }

    /// What happens after exhaustion.
    pub fn on_exhausted(mut self, on_exhausted: OnExhausted) -> Self {
        self.on_exhausted = Some(on_exhausted);
        self
    }

    /// How many identities at once that are not at rest, and what happens to one more. Memory is 31 bytes for each.
    pub fn keys(self, max_keys: usize, overflow: Overflow) -> Self {
        self.max_keys(Some(max_keys)).overflow(Some(overflow))
    }

    pub(super) fn max_keys(mut self, max_keys: Option<usize>) -> Self {
        self.max_keys = max_keys;
        self
    }

    pub(super) fn overflow(mut self, overflow: Option<Overflow>) -> Self {
        self.overflow = overflow;
        self
    }

    /// The policy.
    ///
    /// # Errors
    ///
    /// When a part is missing, or cannot be: all of them at once.
    pub fn build(self) -> Result<Policy, PolicyError> {
        let faults = self.faults();
        match self {
            Self {
                name,
                unit: Some(unit),
                identity: Some(identity),
                scope: Some(scope),
                tiers,
                on_exhausted: Some(on_exhausted),
                max_keys: Some(max_keys),
                overflow: Some(overflow),
            } if faults.is_empty() => {
                Ok(Policy { name, unit, identity, scope, tiers, on_exhausted, max_keys, overflow })
            }
            incomplete => Err(PolicyError::new(&incomplete.name, faults)),
        }
    }

    fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut missing = |part, is_missing: bool, asks: &str| {
            if is_missing {
                faults.push(Fault { part, says: asks.to_owned(), missing: true });
            }
        };
        missing("unit", self.unit.is_none(), "a token is one of what? Say unit: request, byte, or a name of your own");
        missing(
            "identity",
            self.identity.as_ref().is_none_or(Vec::is_empty),
            "whose requests? Say identity: account, credential, address, tenant, session, or two or three of them",
        );
        missing(
            "scope",
            self.scope.is_none(),
            "where does it hold? Say scope: store process or shared, and routes if not all",
        );
        missing(
            "rule",
            self.tiers.is_empty(),
            "how much, and how does it come back? Say rule: capacity and refill, or window; or tiers of them",
        );
        missing(
            "on_exhausted",
            self.on_exhausted.is_none(),
            "what happens after exhaustion? Say on_exhausted: deny, wait_up_to or shadow",
        );
        missing(
            "max_keys",
            self.max_keys.is_none(),
            "how many of them at once? Say max_keys (31 bytes of memory for each)",
        );
        missing(
            "overflow",
            self.overflow.is_none(),
            "what happens to one more than max_keys? Say overflow: deny, admit or share",
        );

        let mut wrong = |part, says: Option<String>| {
            if let Some(says) = says {
                faults.push(Fault { part, says, missing: false });
            }
        };
        wrong("name", (!is_name(&self.name)).then(|| name_fault("name", &self.name)));
        wrong("unit", self.unit.as_ref().and_then(unit_fault));
        let kinds = self.identity.as_deref().unwrap_or_default();
        wrong("identity", (kinds.len() > 3).then(|| format!("identity: {} joined kinds are more than 3", kinds.len())));
        let twice = kinds.iter().enumerate().find(|(number, kind)| kinds[..*number].contains(kind));
        wrong("identity", twice.map(|(_, kind)| format!("identity: {kind} is there twice")));
        let routes = self.scope.as_ref().map(Scope::prefixes).unwrap_or_default();
        let bare = routes.iter().find(|route| !route.starts_with('/'));
        wrong(
            "scope",
            bare.map(|route| format!("scope: the route '{}' does not begin with '/'", route.escape_debug())),
        );
        let sharing = self.scope.as_ref().and_then(Scope::sharing);
        wrong("scope", sharing.and_then(Sharing::fault).map(|fault| format!("scope: {fault}")));
        let local = sharing.and_then(|sharing| self.tiers.iter().find_map(|(_, rule)| local_fault(sharing, rule)));
        wrong("scope", local);
        wrong("max_keys", (self.max_keys == Some(0)).then(|| "max_keys: must be at least 1".into()));
        if self.on_exhausted == Some(OnExhausted::WaitUpTo(core::time::Duration::ZERO)) {
            wrong("on_exhausted", Some("on_exhausted: to wait up to nothing is to deny; say deny".into()));
        }
        wrong("tiers", self.tier_fault());
        faults
    }

    fn tier_fault(&self) -> Option<String> {
        let tiers = &self.tiers;
        if tiers.len() > MAX_TIERS {
            return Some(format!("tiers: {} are more than {MAX_TIERS}", tiers.len()));
        }
        tiers.iter().enumerate().find_map(|(number, (name, rule))| {
            if !is_name(name) {
                Some(name_fault("tiers", name))
            } else if tiers[..number].iter().any(|(other, _)| other == name) {
                Some(format!("tiers: '{name}' is there twice"))
            } else if !rule.is_same_kind(&tiers[0].1) {
                Some(format!(
                    "tiers: '{name}' and '{}' must both have a capacity and a refill, or both a window",
                    tiers[0].0
                ))
            } else {
                None
            }
        })
    }
}

fn local_fault(sharing: &Sharing, rule: &Rule) -> Option<String> {
    match sharing.on_store_failure() {
        OnStoreFailure::Local { one_in } if rule.share(one_in).is_none() => Some(format!(
            "scope: on_store_failure: 1/{one_in} of {rule} is less than a token, or cannot be counted; say a larger share, or deny"
        )),
        _ => None,
    }
}

/// What is wrong with a unit. A name close to that of a unit there is would be another unit, and nobody would be told.
pub(super) fn unit_fault(unit: &Unit) -> Option<String> {
    let Unit::Named(name) = unit else { return None };
    if matches!(&**name, "request" | "byte") {
        return Some(format!("unit: '{name}' is a unit of its own; say Unit::Request or Unit::Byte"));
    }
    match near::meant(name, &["request", "byte"]) {
        Some(meant) => Some(format!(
            "unit: '{}' is close to '{meant}'; say {meant}, or a name of your own that is not close to it",
            name.escape_debug()
        )),
        None => (!is_name(name)).then(|| name_fault("unit", name)),
    }
}

/// Whether it is 1 to 64 of `a-z`, `0-9`, `-` and `_`, and begins with a letter.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
}

fn name_fault(part: &str, name: &str) -> String {
    format!("{part}: '{}' is not 1 to 64 of a-z, 0-9, '-' and '_' that begin with a letter", name.escape_debug())
}
