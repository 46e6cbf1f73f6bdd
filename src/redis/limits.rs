//! The limits of a shared limiter: what the policies say, in a script's numbers.

use core::fmt;
use core::time::Duration;
use std::string::{String, ToString};
use std::vec::Vec;

use super::key::{self, Digest};
use super::script::Answer;
use super::terms::{InexactError, State, Terms};
use super::verdict::{Decided, DecidedBy};
use crate::decision::{Decision, Denial, Permit};
use crate::policy::{OnExhausted, Policy, Sharing};

/// Limits that one call decides at most.
const MOST: usize = 8;

/// Policies of one kind of identity, decided together.
pub(super) struct Limits {
    pub(super) policies: Vec<Policy>,
    stems: Vec<String>,
    /// By tier, and then by policy.
    terms: Vec<Vec<Terms>>,
}

/// Policies cannot be put to work in a store as it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedError(String);

impl SharedError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    fn of(policy: &Policy, text: impl fmt::Display) -> Self {
        Self(std::format!("policy '{}': {text}", policy.name()))
    }
}

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SharedError {}

impl Limits {
    pub(super) fn new(policies: Vec<Policy>, asked: &[&str], prefix: &str) -> Result<Self, SharedError> {
        let Some(first) = policies.first() else {
            return Err(SharedError::new("there is no policy; say at least one"));
        };
        if policies.len() > MOST {
            return Err(SharedError(std::format!("{} policies are more than {MOST} of one call", policies.len())));
        }
        for (number, policy) in policies.iter().enumerate() {
            let says: Vec<_> = policy.identity().iter().map(|kind| kind.name()).collect();
            if says != asked {
                let (says, asked) = (says.join("+"), asked.join("+"));
                return Err(SharedError::of(
                    policy,
                    std::format!("identity: is {says}, and the limiter is of {asked}"),
                ));
            }
            if policy.scope().sharing().is_none() {
                return Err(SharedError::of(
                    policy,
                    "scope: store is process, and this limiter is of a shared one; use Limiter, or say store = \"shared\"",
                ));
            }
            if policies[..number].iter().any(|other| other.name() == policy.name()) {
                return Err(SharedError::of(policy, "name: two policies of this name would share their budgets"));
            }
            if policy.scope().sharing() != first.scope().sharing() || policy.on_exhausted() != first.on_exhausted() {
                return Err(SharedError::of(
                    policy,
                    std::format!(
                        "is decided in one call with '{}', and must have its scope's sharing and its on_exhausted",
                        first.name()
                    ),
                ));
            }
        }
        let names: Vec<_> = policies
            .iter()
            .max_by_key(|policy| policy.tiers().len())
            .map_or(&[][..], Policy::tiers)
            .iter()
            .map(|(name, _)| name)
            .collect();
        let terms = (0..names.len()).map(|tier| {
            policies.iter().map(|policy| match policy.tiers() {
                [(_, everybodys)] => Terms::new(everybodys).map_err(|error| SharedError::of(policy, error)),
                tiers => match tiers.get(tier) {
                    Some((name, rule)) if name == names[tier] => Terms::new(rule).map_err(|error| SharedError::of(policy, error)),
                    _ => Err(SharedError::of(policy, std::format!("tiers: is decided in one call with others, and must have their tiers, '{}' too, or one rule", names[tier]))),
                },
            }).collect()
        }).collect::<Result<_, _>>()?;
        let stems = policies
            .iter()
            .map(|policy| {
                let kind = match policy.rule() {
                    crate::rule::Rule::TokenBucket(_) => "bucket",
                    crate::rule::Rule::FixedWindow(_) => "window",
                };
                key::stem(prefix, &std::format!("{}:{kind}", policy.name()))
            })
            .collect();
        Ok(Self { policies, stems, terms })
    }

    pub(super) fn sharing(&self) -> Sharing {
        // Checked when it was built: every policy has one, and the same.
        self.policies[0].scope().sharing().copied().unwrap_or(Sharing::new(crate::policy::OnStoreFailure::Deny))
    }

    pub(super) fn on_exhausted(&self) -> OnExhausted {
        self.policies[0].on_exhausted()
    }

    pub(super) fn tier(&self, name: &str) -> Option<usize> {
        let most = self.policies.iter().max_by_key(|policy| policy.tiers().len())?;
        most.tiers().iter().position(|(tier, _)| tier == name)
    }

    pub(super) fn terms(&self, tier: usize) -> &[Terms] {
        &self.terms[tier]
    }

    /// The largest cost that all limits ever admit.
    pub(super) fn capacity(&self, tier: usize) -> u64 {
        self.terms[tier].iter().map(Terms::capacity).min().unwrap_or(0)
    }

    pub(super) fn keys(&self, digest: &Digest) -> Vec<String> {
        self.stems.iter().map(|stem| key::key(stem, digest)).collect()
    }

    /// A lease's key and the limits'.
    pub(super) fn lease_keys(&self, digest: &Digest, id: u128) -> Vec<String> {
        let mut keys = Vec::from([key::lease_key(&self.stems[0], digest, id)]);
        keys.extend(self.keys(digest));
        keys
    }

    /// Whole tokens that all limits have, and which has the fewest.
    pub(super) fn available(&self, tier: usize, states: &[State]) -> (u64, usize) {
        let there = self.terms[tier].iter().zip(states).map(|(terms, state)| terms.available(state));
        there.enumerate().map(|(number, there)| (there, number)).min().unwrap_or((0, 0))
    }

    /// How long after `now` all limits admit `cost`, in µs, and which takes longest: 0 where they do at once.
    pub(super) fn wait(&self, tier: usize, states: &[State], cost: u64, now: u64) -> (u64, usize) {
        let waits = self.terms[tier].iter().zip(states).map(|(terms, state)| terms.wait(state, cost, now));
        // Of equals the first.
        waits
            .enumerate()
            .map(|(number, wait)| (wait, number))
            .max_by_key(|(wait, number)| (*wait, usize::MAX - number))
            .unwrap_or((0, 0))
    }

    /// How long after the answer's instant the first window ends, in µs; `None` where all are buckets.
    pub(super) fn window_left(&self, tier: usize, answer: &Answer) -> Option<u64> {
        self.terms[tier]
            .iter()
            .zip(&answer.states)
            .filter_map(|(terms, state)| terms.window_left(state, answer.now))
            .min()
    }

    /// What a request of `cost` is told that took `taken`, at `now` of this process's clock.
    pub(super) fn decided(&self, tier: usize, answer: &Answer, cost: u64, taken: u64, now: u64) -> Decided {
        let (decision, limit) = if taken >= cost {
            let (there, limit) = self.available(tier, &answer.states);
            (Decision::Admitted(Permit::new(there, 1, 0)), limit)
        } else {
            let (wait, limit) = self.wait(tier, &answer.states, cost, answer.now);
            // A request that was denied and would pass now was overtaken within its batch by a refill; it may come again
            // at once.
            let wait = wait.max(1).saturating_mul(1_000);
            (Decision::Denied(Denial::at(now.saturating_add(wait), now)), limit)
        };
        let whole = self.terms[tier][limit].until_whole(&answer.states[limit], answer.now);
        Decided {
            decision,
            limit,
            by: DecidedBy::Store,
            at: answer.now,
            reset_after: Some(Duration::from_micros(whole)),
        }
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.policies.iter().map(ToString::to_string)).finish()
    }
}

impl From<InexactError> for SharedError {
    fn from(error: InexactError) -> Self {
        Self(error.to_string())
    }
}
