//! One limit of a layer, whatever kind of identity it is of and wherever its budgets are.

use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::boxed::Box;
use std::sync::Arc;

use super::extract::Extract;
use super::seen::Seen;
use crate::clock::{Clock, TscClock};
use crate::decision::Permit;
use crate::identity::Identity;
use crate::limiter::{Limiter, Verdict};
use crate::policy::{OnExhausted, Policy};

/// A future whose type is forgotten.
pub(super) type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Decides requests, and takes back what was spent.
pub(super) trait Guard: Send + Sync {
    /// Its policies: several are decided in one call.
    fn policies(&self) -> &[Policy];

    /// Decides a request that costs so much. `keep` says whether something is to be known of an admission later.
    fn decide(&self, seen: &Seen<'_>, cost: u64, keep: bool) -> Decided;

    /// Until when the budget that a verdict came of is whole again, or admits again; `None` where that is not known here.
    fn reset_after(&self, verdict: &Verdict) -> Option<Duration>;

    /// Gives back what was spent; later, where that takes a call.
    fn give_back(&self, ticket: Ticket) -> Option<Later<()>>;
}

/// What came of asking.
pub(super) enum Decided {
    /// The request has no such identity.
    Missing,
    /// It is admitted, and nothing of that was to be kept.
    Admitted,
    Now(Made),
    /// Not before a store has answered or a wait is over.
    Later(Later<Made>),
}

/// A decision, and what it takes to give back what it spent.
pub(super) struct Made {
    pub(super) verdict: Verdict,
    /// Of several policies, which one bound.
    pub(super) policy: usize,
    /// Decided without the store.
    pub(super) degraded: bool,
    /// As [`Guard::reset_after`], where the store told it.
    pub(super) reset_after: Option<Duration>,
    pub(super) ticket: Option<Ticket>,
}

/// What was spent, and of whom.
pub(super) enum Ticket {
    Process {
        hash: u64,
        cost: u64,
        /// Of the permit: a ticket goes along with the answer to come, so it is kept small.
        stamp: u64,
    },
    #[cfg(feature = "redis")]
    Shared(Box<dyn FnOnce() -> Later<()> + Send>),
}

/// A limit of this process.
pub(super) struct Process<I, E, C = TscClock> {
    limiter: Arc<Limiter<I, C>>,
    extract: E,
}

impl<I, E, C> Process<I, E, C> {
    pub(super) const fn new(limiter: Arc<Limiter<I, C>>, extract: E) -> Self {
        Self { limiter, extract }
    }
}

impl<I, E, C> Guard for Process<I, E, C>
where
    I: Identity + 'static,
    E: Extract,
    E::Identity: Identity<Kind = I::Kind>,
    C: Clock + Send + Sync + 'static,
{
    fn policies(&self) -> &[Policy] {
        core::slice::from_ref(self.limiter.policy())
    }

    fn decide(&self, seen: &Seen<'_>, cost: u64, keep: bool) -> Decided {
        let Some(hash) = self.extract.with(seen, |who| who.map(|who| self.limiter.hash(who))) else {
            return Decided::Missing;
        };
        let verdict = self.limiter.check_hashed(hash, cost);
        if verdict.is_admitted() && !keep {
            return Decided::Admitted;
        }
        match (self.limiter.policy().on_exhausted(), verdict.retry_after()) {
            (OnExhausted::WaitUpTo(limit), Some(wait)) if wait <= limit => {
                let limiter = Arc::clone(&self.limiter);
                Decided::Later(Box::pin(
                    async move { made(waited(&limiter, hash, cost, wait, limit).await, hash, cost) },
                ))
            }
            _ => Decided::Now(made(verdict, hash, cost)),
        }
    }

    fn reset_after(&self, verdict: &Verdict) -> Option<Duration> {
        Some(self.limiter.reset_after(verdict))
    }

    fn give_back(&self, ticket: Ticket) -> Option<Later<()>> {
        match ticket {
            Ticket::Process { hash, cost, stamp } => {
                // A refund looks at nothing else of a permit.
                self.limiter.refund_hashed(hash, cost, &Permit::new(0, 1, stamp));
            }
            #[cfg(feature = "redis")]
            Ticket::Shared(_) => {}
        }
        None
    }
}

fn made(verdict: Verdict, hash: u64, cost: u64) -> Made {
    let ticket = verdict.decision().admitted().map(|permit| Ticket::Process { hash, cost, stamp: permit.stamp() });
    Made { verdict, policy: 0, degraded: false, reset_after: None, ticket }
}

/// Asks again when the tokens should be there, for as long as the policy says.
async fn waited<I: Identity, C: Clock>(
    limiter: &Limiter<I, C>,
    hash: u64,
    cost: u64,
    mut wait: Duration,
    limit: Duration,
) -> Verdict {
    let begun = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(wait).await;
        let verdict = limiter.check_hashed(hash, cost);
        match verdict.retry_after() {
            Some(longer) if begun.elapsed().saturating_add(longer) <= limit => wait = longer,
            _ => return verdict,
        }
    }
}

#[cfg(feature = "redis")]
pub(super) use shared::Shared;

#[cfg(feature = "redis")]
mod shared {
    use super::{Box, Decided, Duration, Extract, Guard, Identity, Later, Made, Policy, Seen, Ticket, Verdict};
    use crate::redis::{SharedLimiter, SharedVerdict, Who};

    /// A limit of all processes.
    pub(in crate::tower) struct Shared<I, E> {
        limiter: SharedLimiter<I>,
        extract: E,
    }

    impl<I, E> Shared<I, E> {
        pub(in crate::tower) const fn new(limiter: SharedLimiter<I>, extract: E) -> Self {
            Self { limiter, extract }
        }
    }

    impl<I, E> Guard for Shared<I, E>
    where
        I: Identity + 'static,
        E: Extract,
        E::Identity: Identity<Kind = I::Kind>,
    {
        fn policies(&self) -> &[Policy] {
            self.limiter.policies()
        }

        fn decide(&self, seen: &Seen<'_>, cost: u64, _keep: bool) -> Decided {
            let Some(who) = self.extract.with(seen, |who| who.map(|who| self.limiter.who(who))) else {
                return Decided::Missing;
            };
            let limiter = self.limiter.clone();
            Decided::Later(Box::pin(async move {
                let verdict = limiter.wait_for(&who, cost).await;
                made(limiter, who, cost, verdict)
            }))
        }

        fn reset_after(&self, _: &Verdict) -> Option<Duration> {
            None
        }

        fn give_back(&self, ticket: Ticket) -> Option<Later<()>> {
            match ticket {
                Ticket::Shared(give_back) => Some(give_back()),
                Ticket::Process { .. } => None,
            }
        }
    }

    fn made<I: Identity + 'static>(limiter: SharedLimiter<I>, who: Who, cost: u64, verdict: SharedVerdict) -> Made {
        let (of_all, policy, degraded) = (verdict.verdict(), verdict.limit(), verdict.degraded().is_some());
        let reset_after = verdict.reset_after();
        let spent = verdict.decision().is_admitted() && !degraded;
        let give_back = move || -> Later<()> { Box::pin(async move { limiter.refund_of(&who, cost, &verdict).await }) };
        let ticket = spent.then(|| Ticket::Shared(Box::new(give_back)));
        Made { verdict: of_all, policy, degraded, reset_after, ticket }
    }
}
