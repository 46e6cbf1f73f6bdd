//! A shared limiter for threads.

use core::fmt;
use std::io;
use std::sync::Arc;

use super::background::Background;
use super::failure::StoreFailure;
use super::limiter::{SharedLimiter, SharedTier};
use super::verdict::SharedVerdict;
use crate::identity::Identity;

/// A [`SharedLimiter`] that is asked by threads, in programs without tokio: the same verdicts, by the same deadline.
///
/// Cheap to clone, and to share between threads. Connections and timers are driven by one thread of the process, `admittance-io`,
/// which is started with the first of these and ends with the last; callers sleep on their own threads until they are answered.
///
/// ```no_run
/// # fn run(policy: admittance::Policy) -> Result<(), Box<dyn std::error::Error>> {
/// use admittance::identity::Account;
/// use admittance::redis::{SharedLimiter, Store};
///
/// let store = Store::open("redis://127.0.0.1/")?;
/// let limiter = SharedLimiter::<Account>::new(policy, store)?.blocking()?;
/// // Tells now that nobody is there, or that the user may not run scripts.
/// limiter.ready()?;
///
/// let verdict = limiter.check(&Account::new("ann")?, 1);
/// println!("{:?} by {:?}", verdict.decision(), verdict.decided_by());
/// // Before the process ends, where tokens are leased.
/// limiter.give_back_leases();
/// # Ok(())
/// # }
/// ```
///
/// # Within a runtime
///
/// It may be asked there too: it neither panics nor waits for itself. But it blocks the thread, and so other tasks, for as
/// long as the policy's deadline; tasks ask [`limiter`](Self::limiter). Have a [`Store`](super::Store) for each: the connections
/// of one that is shared live in the runtime of whoever asked first, and stand still while that is blocked.
///
/// # Panics
///
/// Asked in the destructor of a thread's local variable, its methods may panic: what a runtime keeps there may be gone.
///
/// A process that forks leaves the thread behind: begin anew in the child.
pub struct BlockingLimiter<I> {
    limiter: SharedLimiter<I>,
    background: Arc<Background>,
}

impl<I: Identity> SharedLimiter<I> {
    /// For threads that are in no runtime. Starts the thread that they wait for, where there is none.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn blocking(&self) -> io::Result<BlockingLimiter<I>> {
        let background = Background::get()?;
        self.lives_in(&background);
        Ok(BlockingLimiter { limiter: self.clone(), background })
    }
}

impl<I: Identity> BlockingLimiter<I> {
    /// As [`SharedLimiter::check`].
    pub fn check<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, cost: u64) -> SharedVerdict {
        self.background.block_on(self.limiter.check(identity, cost))
    }

    /// As [`SharedLimiter::check_as`].
    ///
    /// # Panics
    ///
    /// When the tier is another limiter's, and this one has fewer.
    pub fn check_as<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, tier: SharedTier, cost: u64) -> SharedVerdict {
        self.background.block_on(self.limiter.check_as(identity, tier, cost))
    }

    /// As [`SharedLimiter::wait`].
    pub fn wait<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, cost: u64) -> SharedVerdict {
        self.background.block_on(self.limiter.wait(identity, cost))
    }

    /// As [`SharedLimiter::refund`].
    pub fn refund<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, cost: u64, verdict: &SharedVerdict) {
        self.background.block_on(self.limiter.refund(identity, cost, verdict));
    }

    /// As [`SharedLimiter::give_back_leases`]. Leases are also given back when the last handle is dropped, by the thread, if the
    /// process lives on.
    pub fn give_back_leases(&self) {
        self.background.block_on(self.limiter.give_back_leases());
    }

    /// As [`Store::ready`](super::Store::ready).
    ///
    /// # Errors
    ///
    /// When the store is not there, or does not permit what limiters do.
    pub fn ready(&self) -> Result<(), StoreFailure> {
        self.background.block_on(self.limiter.store().ready())
    }

    /// The same limiter, for tasks, and for what asks nobody: policies, tiers, keys, statistics.
    #[must_use]
    pub const fn limiter(&self) -> &SharedLimiter<I> {
        &self.limiter
    }
}

impl<I> Clone for BlockingLimiter<I> {
    fn clone(&self) -> Self {
        Self { limiter: self.limiter.clone(), background: Arc::clone(&self.background) }
    }
}

impl<I> fmt::Debug for BlockingLimiter<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BlockingLimiter").field(&self.limiter).finish()
    }
}
