//! A policy at work: its table, its clock and its counts.
//!
//! | file | holds |
//! |---|---|
//! | this one | [`Limiter`] |
//! | `verdict` | [`Verdict`]: what a check answers |
//! | `top` | [`TopDenied`]: who is denied most |
//! | `count` | counters for the `metrics` facade (feature `metrics`) |

mod count;
mod top;
mod verdict;

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::string::String;
use std::vec::Vec;

pub use top::{Denied, TopDenied};
pub use verdict::Verdict;

#[cfg(feature = "tower")]
use crate::bucket::Word;
use crate::clock::{Clock, TscClock};
use crate::decision::{Decision, Permit};
use crate::identity::{Identity, Kind};
use crate::keyed::{Keyed, KeyedError, Stats, Tier};
use crate::policy::{OnExhausted, Policy};
use count::Counts;

/// What a [`Policy`] says, done: a budget for each identity of kind `I`.
///
/// Share it by reference or `Arc`; every method takes `&self`. `I` names the kind of identity it can be asked about;
/// whether that owns its bytes or borrows them is the same.
///
/// ```
/// use admittance::identity::Account;
/// use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
/// use admittance::{Budget, Limiter, Overflow};
///
/// let policy = Policy::builder("api")
///     .unit(Unit::Request)
///     .identity([IdentityKind::Account])
///     .scope(Scope::process())
///     .rule(Budget::per_minute(100).with_capacity(20))
///     .on_exhausted(OnExhausted::Deny)
///     .keys(100_000, Overflow::Deny)
///     .build()?;
/// let limiter: Limiter<Account> = Limiter::new(policy)?;
///
/// let account = Account::new("ann")?;
/// let verdict = limiter.check(&account, 1);
/// assert!(verdict.is_admitted());
/// assert_eq!(verdict.decision().remaining(), Some(19));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Asking a limiter of accounts about an address does not compile:
///
/// ```compile_fail,E0271
/// use admittance::Limiter;
/// use admittance::identity::{Account, Address};
///
/// fn ask(limiter: &Limiter<Account>, address: &Address) {
///     let _ = limiter.check(address, 1);
/// }
/// ```
///
/// Exactness, memory and progress are those of [`Keyed`]. The policy's routes are not looked at here: who calls knows the
/// path, and asks [`Scope::covers`](crate::policy::Scope::covers).
pub struct Limiter<I, C = TscClock> {
    policy: Policy,
    table: Keyed<[u8], C>,
    counts: Counts,
    identity: PhantomData<fn(&I)>,
}

/// A policy cannot be put to work as it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimiterError(Fault);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    Identity { policy: String, says: Vec<&'static str>, asked: Vec<&'static str> },
    Shared { policy: String },
    Table { policy: String, error: KeyedError },
}

impl<I: Identity> Limiter<I> {
    /// The policy at work, on the precise clock.
    ///
    /// # Errors
    ///
    /// When the policy is of another kind of identity than `I`, is of a shared store, or is of more keys than a table can
    /// have.
    pub fn new(policy: Policy) -> Result<Self, LimiterError> {
        Self::with_clock(policy, TscClock::new())
    }
}

impl<I: Identity, C: Clock> Limiter<I, C> {
    /// As [`new`](Limiter::new), on a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`new`](Limiter::new).
    pub fn with_clock(policy: Policy, clock: C) -> Result<Self, LimiterError> {
        let says: Vec<_> = policy.identity().iter().map(|kind| kind.name()).collect();
        let mut asked = Vec::new();
        I::Kind::names(&mut |name| asked.push(name));
        if says != asked {
            return Err(LimiterError(Fault::Identity { policy: policy.name().into(), says, asked }));
        }
        if policy.scope().sharing().is_some() {
            return Err(LimiterError(Fault::Shared { policy: policy.name().into() }));
        }
        let [(_, first), more @ ..] = policy.tiers() else { unreachable!("a policy has a rule") };
        let builder = Keyed::builder(*first, policy.max_keys(), policy.overflow());
        let table = more
            .iter()
            .fold(builder, |builder, (_, rule)| builder.tier(*rule))
            .build_with_clock(clock)
            .map_err(|error| LimiterError(Fault::Table { policy: policy.name().into(), error }))?;
        Ok(Self { counts: Counts::new(policy.name()), policy, table, identity: PhantomData })
    }

    /// The policy it was built of. A rule that was changed since is the [`table`](Self::table)'s to tell.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Spends `cost` tokens of the identity's budget if they are there now; never waits.
    ///
    /// Under `shadow` the verdict is an admission whatever was decided, and tells what was.
    pub fn check<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, cost: u64) -> Verdict {
        self.check_as(identity, Tier::default(), cost)
    }

    /// As [`check`](Self::check), for an identity of this tier: see [`tier`](Self::tier).
    ///
    /// # Panics
    ///
    /// When the tier is another limiter's, and this one has fewer.
    pub fn check_as<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, tier: Tier, cost: u64) -> Verdict {
        let hash = self.table.hash_fed(|to| identity.feed(to));
        self.verdict(self.table.check_hash(hash, tier, cost))
    }

    /// Checks many identities at one instant, and tells the verdicts in order: see [`Keyed::check_many`].
    pub fn check_many<'q, Q: Identity<Kind = I::Kind> + 'q>(
        &self,
        requests: impl IntoIterator<Item = (&'q Q, u64)>,
        mut tell: impl FnMut(Verdict),
    ) {
        let hashed = requests.into_iter().map(|(identity, cost)| (self.table.hash_fed(|to| identity.feed(to)), cost));
        self.table.check_hashed(hashed, Tier::default(), |decision| tell(self.verdict(decision)));
    }

    /// Gives back `cost` tokens of those that `permit` was given for: work that turned out to be free, as an answer from a
    /// cache. Never past full, and not to a later window.
    pub fn refund<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, cost: u64, permit: &Permit) {
        self.refund_hashed(self.hash(identity), cost, permit);
    }

    /// Who this is to the table.
    pub(crate) fn hash<Q: Identity<Kind = I::Kind>>(&self, identity: &Q) -> u64 {
        self.table.hash_fed(|to| identity.feed(to))
    }

    #[cfg(feature = "tower")]
    pub(crate) fn check_hashed(&self, hash: u64, cost: u64) -> Verdict {
        self.verdict(self.table.check_hash(hash, Tier::default(), cost))
    }

    pub(crate) fn refund_hashed(&self, hash: u64, cost: u64, permit: &Permit) {
        self.table.refund_hash(hash, Tier::default(), cost, permit);
    }

    /// Until the budget that an admission was spent of is whole again; of a denial its wait.
    #[cfg(feature = "tower")]
    pub(crate) fn reset_after(&self, verdict: &Verdict) -> Duration {
        match verdict.decision() {
            Decision::Admitted(permit) => {
                let now = self.table.clock().now();
                let rule = self.table.rule(Tier::default());
                Duration::from_nanos(rule.full_at(Word::from_bits(permit.stamp()), now).saturating_sub(now))
            }
            decision => decision.retry_after().unwrap_or_default(),
        }
    }

    fn verdict(&self, decision: Decision) -> Verdict {
        let verdict = Verdict::new(decision, self.policy.on_exhausted() == OnExhausted::Shadow);
        self.counts.count(&verdict);
        verdict
    }

    /// As [`check`](Self::check), and waits for the tokens where the policy says `wait_up_to`: blocks the thread.
    ///
    /// A wait that cannot end in time is not begun: the verdict is a denial at once. Several who wait for one budget are not
    /// served in order; each asks again when its tokens should be there.
    pub fn wait<Q: Identity<Kind = I::Kind>>(&self, identity: &Q, cost: u64) -> Verdict {
        let limit = match self.policy.on_exhausted() {
            OnExhausted::WaitUpTo(limit) => u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
            OnExhausted::Deny | OnExhausted::Shadow => 0,
        };
        let deadline = self.table.clock().now().saturating_add(limit);
        let hash = self.table.hash_fed(|to| identity.feed(to));
        loop {
            match self.table.check_hash(hash, Tier::default(), cost) {
                Decision::Denied(denial) if denial.retry_at() <= deadline => {
                    std::thread::sleep(Duration::from_nanos(denial.retry_after_nanos()));
                }
                decision => return self.verdict(decision),
            }
        }
    }

    /// The tier of this name.
    #[must_use]
    pub fn tier(&self, name: &str) -> Option<Tier> {
        self.policy.tiers().iter().position(|(tier, _)| tier == name).and_then(|number| self.table.tier(number))
    }

    /// The table at a glance.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.table.stats()
    }

    /// The table: to look at every bucket, or to change a tier's rule. Asked about keys of its own it knows nobody that this
    /// limiter knows.
    #[must_use]
    pub const fn table(&self) -> &Keyed<[u8], C> {
        &self.table
    }
}

impl<I, C> fmt::Debug for Limiter<I, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter").field("policy", &self.policy).field("table", &self.table).finish_non_exhaustive()
    }
}

impl fmt::Display for LimiterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Fault::Identity { policy, says, asked } => {
                write!(
                    f,
                    "policy '{policy}': identity: is {}, and the limiter is of {}",
                    says.join("+"),
                    asked.join("+")
                )
            }
            Fault::Shared { policy } => write!(
                f,
                "policy '{policy}': scope: store is shared, and this limiter is of one process; use redis::SharedLimiter, or say store = \"process\""
            ),
            Fault::Table { policy, error } => write!(f, "policy '{policy}': {error}"),
        }
    }
}

impl std::error::Error for LimiterError {}
