//! What a shared limiter answers.

use core::time::Duration;

use super::failure::StoreFailure;
use crate::decision::Decision;
use crate::limiter::Verdict;

/// A decision, whether it is enforced, and who made it.
#[must_use = "a verdict that is not looked at limits nothing"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedVerdict {
    verdict: Verdict,
    by: DecidedBy,
    limit: usize,
    /// The server's instant of the decision, in µs, where it decided.
    at: u64,
    reset_after: Option<Duration>,
}

/// Who made a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// The store, in this call.
    Store,
    /// This process, with tokens that it had leased from the store.
    Lease,
    /// This process, which remembers that the store denied until later than now.
    Memory,
    /// Nobody had to ask: the cost is above the capacity.
    Capacity,
    /// This process without the store, as the policy's `on_store_failure` says; and why.
    Degraded(StoreFailure),
}

/// A decision, and how it came about.
pub(super) struct Decided {
    pub(super) decision: Decision,
    pub(super) limit: usize,
    pub(super) by: DecidedBy,
    pub(super) at: u64,
    pub(super) reset_after: Option<Duration>,
}

impl Decided {
    /// By somebody else than the store.
    pub(super) const fn here(decision: Decision, limit: usize, by: DecidedBy) -> Self {
        Self { decision, limit, by, at: 0, reset_after: None }
    }
}

impl SharedVerdict {
    pub(super) fn new(decided: Decided, shadow: bool) -> Self {
        let Decided { decision, limit, by, at, reset_after } = decided;
        Self { verdict: Verdict::new(decision, shadow), by, limit, at, reset_after }
    }

    /// The server's instant of the decision, in µs since 1970; 0 where it did not decide.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// Whether the work may go: it was admitted, or the policy only watches.
    #[must_use]
    pub const fn is_admitted(&self) -> bool {
        self.verdict.is_admitted()
    }

    /// Whether the work goes only because the policy watches.
    #[must_use]
    pub const fn would_be_denied(&self) -> bool {
        self.verdict.would_be_denied()
    }

    /// What was decided, enforced or not.
    ///
    /// Of several limits an admission tells the fewest remaining tokens, and a denial the longest wait; see
    /// [`limit`](Self::limit). After a decision without the store, a denial's wait is until the store is looked for
    /// again, and promises nothing; an admission by `admit` tells no remaining tokens.
    pub const fn decision(&self) -> Decision {
        self.verdict.decision()
    }

    /// The wait after which work that may not go now may, counted from this answer's arrival; `None` where it may, or never.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.verdict.retry_after()
    }

    /// Until the budget that bound is whole again, counted from this answer's arrival, where the store told it.
    #[must_use]
    pub const fn reset_after(&self) -> Option<Duration> {
        self.reset_after
    }

    /// Who decided.
    #[must_use]
    pub const fn decided_by(&self) -> &DecidedBy {
        &self.by
    }

    /// Why it was decided without the store; `None` where it was not.
    #[must_use]
    pub const fn degraded(&self) -> Option<&StoreFailure> {
        match &self.by {
            DecidedBy::Degraded(failure) => Some(failure),
            _ => None,
        }
    }

    /// Of several limits, which one it was that bound: its number in the order in which they were given.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// As a limiter of one process answers.
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }
}
