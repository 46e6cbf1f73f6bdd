//! What a policy says, part by part.

use core::fmt;
use core::time::Duration;
use std::string::String;
use std::vec::Vec;

use super::sharing::Sharing;
use crate::keyed::Overflow;

/// What one token stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A request: each costs 1.
    Request,
    /// A byte: each request costs its size.
    Byte,
    /// Something of your own, as `model-token` or `row`. A name that differs from `request` or `byte` by upper case, a plural
    /// or one letter does not build: `requests` would be a unit of its own, which was hardly meant.
    Named(String),
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => f.write_str("request"),
            Self::Byte => f.write_str("byte"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// A kind of identity, as a policy names it. See [`crate::identity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdentityKind {
    /// An [`Account`](crate::identity::Account).
    Account,
    /// A [`Credential`](crate::identity::Credential).
    Credential,
    /// An [`Address`](crate::identity::Address).
    Address,
    /// A [`Tenant`](crate::identity::Tenant).
    Tenant,
    /// A [`Session`](crate::identity::Session).
    Session,
}

impl IdentityKind {
    /// All there are.
    pub const ALL: [Self; 5] = [Self::Account, Self::Credential, Self::Address, Self::Tenant, Self::Session];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Credential => "credential",
            Self::Address => "address",
            Self::Tenant => "tenant",
            Self::Session => "session",
        }
    }
}

impl fmt::Display for IdentityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a policy holds: on which routes, and in which processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    routes: Vec<String>,
    store: StoreKind,
}

/// Who shares a policy's budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// The threads of one process: each process has budgets of its own.
    Process,
    /// All processes of one shared store.
    Shared(Sharing),
}

impl Scope {
    /// All routes, in this process alone.
    #[must_use]
    pub const fn process() -> Self {
        Self { routes: Vec::new(), store: StoreKind::Process }
    }

    /// All routes, in all processes together.
    #[must_use]
    pub const fn shared(sharing: Sharing) -> Self {
        Self { routes: Vec::new(), store: StoreKind::Shared(sharing) }
    }

    /// Only routes below these. Each begins with `/`, and is of whole segments: `/api` has `/api` and `/api/users`, not `/apix`.
    #[must_use]
    pub fn routes(mut self, routes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.routes = routes.into_iter().map(Into::into).collect();
        self
    }

    /// The routes it was given; none are all.
    #[must_use]
    pub fn prefixes(&self) -> &[String] {
        &self.routes
    }

    /// Who shares the budgets.
    #[must_use]
    pub const fn store(&self) -> StoreKind {
        self.store
    }

    /// How the budgets are shared; `None` where they are one process's.
    #[must_use]
    pub const fn sharing(&self) -> Option<&Sharing> {
        match &self.store {
            StoreKind::Process => None,
            StoreKind::Shared(sharing) => Some(sharing),
        }
    }

    /// Whether it holds for this path (without a query).
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        self.routes.is_empty()
            || self.routes.iter().any(|route| {
                let route = route.strip_suffix('/').unwrap_or(route);
                path.strip_prefix(route).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("on ")?;
        if self.routes.is_empty() {
            f.write_str("all routes")?;
        }
        for (number, route) in self.routes.iter().enumerate() {
            write!(f, "{}{route}", if number > 0 { ", " } else { "" })?;
        }
        match &self.store {
            StoreKind::Process => f.write_str(" of each process for itself"),
            StoreKind::Shared(sharing) => write!(f, " of all processes together, {sharing}"),
        }
    }
}

/// What happens to work that the budget does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnExhausted {
    /// It is denied, with the wait.
    Deny,
    /// It waits its turn, so long at most; what would wait longer is denied at once.
    WaitUpTo(Duration),
    /// It is admitted, and counted as what would have been denied: to see a limit before it is switched on.
    Shadow,
}

impl fmt::Display for OnExhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deny => f.write_str("deny, with the wait"),
            Self::WaitUpTo(limit) => write!(f, "wait up to {limit:?}, deny what would wait longer"),
            Self::Shadow => f.write_str("admit and count (shadow)"),
        }
    }
}

/// As it is written.
pub(super) const fn overflow_name(overflow: Overflow) -> &'static str {
    match overflow {
        Overflow::Deny => "deny",
        Overflow::Admit => "admit",
        Overflow::Share => "share",
    }
}
