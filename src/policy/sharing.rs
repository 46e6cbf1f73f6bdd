//! How budgets are shared between processes, and what happens when that cannot be.

use core::fmt;
use core::num::NonZeroU32;
use core::time::Duration;

/// How a policy's budgets are kept in a shared store.
///
/// ```
/// use core::time::Duration;
/// use admittance::policy::{OnStoreFailure, Scope, Sharing};
///
/// let sharing = Sharing::new(OnStoreFailure::Deny)
///     .deadline(Duration::from_millis(50))
///     .lease(256, Duration::from_secs(1))
///     .remember_denials();
/// let scope = Scope::shared(sharing).routes(["/api"]);
/// # assert_eq!(scope.sharing().unwrap().batch_of(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sharing {
    on_store_failure: OnStoreFailure,
    deadline: Duration,
    lease: Option<Leasing>,
    batch: Option<NonZeroU32>,
    remember_denials: bool,
}

/// What happens to work while the store is slow or gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnStoreFailure {
    /// It is denied.
    Deny,
    /// It is admitted. Nothing bounds it meanwhile.
    Admit,
    /// Each process decides by itself, with one part in so many of the budget: `one_in` processes or fewer admit no more
    /// than one budget together, on top of what the store had handed out before.
    Local {
        /// The part: one in this many.
        one_in: NonZeroU32,
    },
}

/// Tokens a process takes from the store at once and spends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leasing {
    /// Tokens at most; fewer as the budget nears exhaustion, down to one.
    pub most: u64,
    /// How long they may be kept; what is left then goes back.
    pub max_age: Duration,
}

impl Sharing {
    /// The time a decision may take where nothing else is said.
    pub const DEADLINE: Duration = Duration::from_millis(20);

    /// Each decision is one call to the store, within [`DEADLINE`](Self::DEADLINE): no leases, no batches, nothing
    /// remembered.
    #[must_use]
    pub const fn new(on_store_failure: OnStoreFailure) -> Self {
        Self { on_store_failure, deadline: Self::DEADLINE, lease: None, batch: None, remember_denials: false }
    }

    /// How long a decision may take; past it, what [`OnStoreFailure`] says.
    #[must_use]
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Takes up to `most` tokens of an identity at once, and keeps them for `max_age` at most.
    ///
    /// Never admits more than the budget: leased tokens are spent in the store first. What a process holds when it crashes is
    /// lost to the others until the budget has refilled it.
    #[must_use]
    pub const fn lease(mut self, most: u64, max_age: Duration) -> Self {
        self.lease = Some(Leasing { most, max_age });
        self
    }

    /// Puts up to `most` concurrent checks of one identity into one call. Nothing is delayed for it: while one call is
    /// under way, those who come are collected for the next.
    #[must_use]
    pub const fn batch(mut self, most: NonZeroU32) -> Self {
        self.batch = Some(most);
        self
    }

    /// Remembers a denial until its own `retry_after`: whoever would be denied until then is, without a call. Tokens that
    /// another process gives back meanwhile are seen only after it.
    #[must_use]
    pub const fn remember_denials(mut self) -> Self {
        self.remember_denials = true;
        self
    }

    /// What happens while the store is slow or gone.
    #[must_use]
    pub const fn on_store_failure(&self) -> OnStoreFailure {
        self.on_store_failure
    }

    /// How long a decision may take.
    #[must_use]
    pub const fn deadline_of(&self) -> Duration {
        self.deadline
    }

    /// The leases, where there are.
    #[must_use]
    pub const fn leasing(&self) -> Option<Leasing> {
        self.lease
    }

    /// The checks in one call at most, where they are put together.
    #[must_use]
    pub const fn batch_of(&self) -> Option<NonZeroU32> {
        self.batch
    }

    /// Whether denials are remembered.
    #[must_use]
    pub const fn remembers_denials(&self) -> bool {
        self.remember_denials
    }

    /// What cannot be, with the field.
    pub(super) fn fault(&self) -> Option<&'static str> {
        match self.lease {
            _ if self.deadline.is_zero() => Some("deadline: must be more than nothing, as 20ms"),
            Some(Leasing { most: 0, .. }) => Some("lease: most must be at least 1"),
            Some(Leasing { max_age, .. }) if max_age.as_millis() == 0 => Some("lease: max_age must be at least 1ms"),
            _ => None,
        }
    }
}

impl fmt::Display for OnStoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deny => f.write_str("deny"),
            Self::Admit => f.write_str("admit"),
            Self::Local { one_in } => write!(f, "each process by itself with 1/{one_in} of it"),
        }
    }
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deciding within {:?}", self.deadline)?;
        if let Some(Leasing { most, max_age }) = self.lease {
            write!(f, ", leasing up to {most} for {max_age:?}")?;
        }
        if let Some(most) = self.batch {
            write!(f, ", up to {most} checks in a call")?;
        }
        if self.remember_denials {
            f.write_str(", remembering denials")?;
        }
        write!(f, "; while the store is gone: {}", self.on_store_failure)
    }
}
