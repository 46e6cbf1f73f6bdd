//! A policy: a rate limit with all of it said.
//!
//! A limit is a budget for admitted work, and five things make it one: its *unit*, *whose* it is, over which routes and
//! workers it holds, under which time rule, and what happens after exhaustion. A number alone says none of them. A
//! [`Policy`] says all five, or it does not build: what is missing is asked for.
//!
//! ```
//! use std::time::Duration;
//! use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
//! use admittance::{Budget, Overflow};
//!
//! let policy = Policy::builder("api")
//!     .unit(Unit::Request)
//!     .identity([IdentityKind::Account])
//!     .scope(Scope::process().routes(["/api"]))
//!     .rule(Budget::per_minute(100).with_capacity(20))
//!     .on_exhausted(OnExhausted::Deny)
//!     .keys(100_000, Overflow::Deny)
//!     .build()?;
//! assert!(policy.scope().covers("/api/users") && !policy.scope().covers("/apix"));
//!
//! let missing = Policy::builder("api").rule(Budget::per_minute(100)).build().unwrap_err();
//! assert!(missing.to_string().contains("whose requests?"));
//! # Ok::<(), admittance::policy::PolicyError>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | this one | [`Policy`] |
//! | `builder`, `error` | how one is built, and what is missing or wrong |
//! | `near` | words that were meant to be others |
//! | `parts` | [`Unit`], [`IdentityKind`], [`Scope`], [`OnExhausted`] |
//! | `sharing` | [`Sharing`]: how budgets are shared between processes, and [`OnStoreFailure`] |
//! | `file`, `raw` | policies as TOML (feature `policy`), and where in it something is wrong |

mod builder;
mod error;
#[cfg(feature = "policy")]
mod file;
mod near;
mod parts;
#[cfg(feature = "policy")]
mod raw;
mod sharing;

use core::fmt;
use std::string::String;
use std::vec::Vec;

pub use builder::PolicyBuilder;
#[cfg(feature = "http")]
pub(crate) use builder::is_name;
pub use error::PolicyError;
#[cfg(feature = "policy")]
pub use file::{FileError, Policies};
pub use parts::{IdentityKind, OnExhausted, Scope, StoreKind, Unit};
pub use sharing::{Leasing, OnStoreFailure, Sharing};

use crate::keyed::Overflow;
use crate::rule::Rule;

/// A rate limit with all of it said. See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    name: String,
    unit: Unit,
    identity: Vec<IdentityKind>,
    scope: Scope,
    tiers: Vec<(String, Rule)>,
    on_exhausted: OnExhausted,
    max_keys: usize,
    overflow: Overflow,
}

impl Policy {
    /// A policy of this name that says nothing yet. Names are 1 to 64 of `a-z`, `0-9`, `-` and `_`, and begin with a letter:
    /// they go into headers, keys and labels.
    pub fn builder(name: impl Into<String>) -> PolicyBuilder {
        PolicyBuilder::new(name.into())
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a token stands for.
    #[must_use]
    pub const fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Whose budget it is: one kind of identity, or two or three joined.
    #[must_use]
    pub fn identity(&self) -> &[IdentityKind] {
        &self.identity
    }

    /// Where it holds.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The rule; of several tiers, the first one's.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.tiers[0].1
    }

    /// The tiers by name, one called `default` where the policy has none.
    #[must_use]
    pub fn tiers(&self) -> &[(String, Rule)] {
        &self.tiers
    }

    /// What happens after exhaustion.
    #[must_use]
    pub const fn on_exhausted(&self) -> OnExhausted {
        self.on_exhausted
    }

    /// How many identities at once that are not at rest.
    #[must_use]
    pub const fn max_keys(&self) -> usize {
        self.max_keys
    }

    /// What happens to one more.
    #[must_use]
    pub const fn overflow(&self) -> Overflow {
        self.overflow
    }
}

/// The policy in a sentence or two.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: for each ", self.name)?;
        // `["tenant", "account"]` is an account within its tenant.
        for (number, kind) in self.identity.iter().rev().enumerate() {
            write!(f, "{}{kind}", if number > 0 { " of each " } else { "" })?;
        }
        for (number, (tier, rule)) in self.tiers.iter().enumerate() {
            write!(f, "{} ", if number > 0 { ";" } else { "," })?;
            if self.tiers.len() > 1 {
                write!(f, "tier {tier}: ")?;
            }
            write!(f, "{rule}")?;
        }
        write!(f, " (a token is one {}). Holds {}. ", self.unit, self.scope)?;
        write!(f, "After exhaustion: {}. ", self.on_exhausted)?;
        write!(f, "Up to {} at once; one more: {}.", self.max_keys, parts::overflow_name(self.overflow))
    }
}
