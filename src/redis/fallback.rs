//! What is decided without the store.

use std::vec::Vec;

use super::limits::{Limits, SharedError};
use crate::clock::TscClock;
use crate::decision::{Decision, Denial, Permit};
use crate::keyed::Keyed;
use crate::policy::OnStoreFailure;

/// Until when a denial without the store lets its caller wait: the store is looked for more often.
const LOOK_AGAIN: u64 = 100_000_000;

pub(super) enum Fallback {
    Deny,
    Admit,
    /// This process's share of each limit, in tables of its own, which fill up from the first failure on.
    Local(Vec<Keyed<[u8]>>),
}

impl Fallback {
    pub(super) fn new(limits: &Limits) -> Result<Self, SharedError> {
        let one_in = match limits.sharing().on_store_failure() {
            OnStoreFailure::Deny => return Ok(Self::Deny),
            OnStoreFailure::Admit => return Ok(Self::Admit),
            OnStoreFailure::Local { one_in } => one_in,
        };
        let tables = limits.policies.iter().map(|policy| {
            let share = |number: usize| {
                policy.tiers()[number]
                    .1
                    .share(one_in)
                    .ok_or_else(|| SharedError::new("scope: on_store_failure: the share is less than a token"))
            };
            let mut builder = Keyed::<[u8]>::builder(share(0)?, policy.max_keys(), policy.overflow());
            for number in 1..policy.tiers().len() {
                builder = builder.tier(share(number)?);
            }
            builder.build().map_err(|error| SharedError::new(std::format!("policy '{}': {error}", policy.name())))
        });
        Ok(Self::Local(tables.collect::<Result<_, _>>()?))
    }

    /// Decides, and tells which limit bound. `now` is the time of `clock`.
    pub(super) fn decide(&self, key: &[u8], tier: usize, cost: u64, now: u64) -> (Decision, usize) {
        match self {
            Self::Deny => (Decision::Denied(Denial::at(now.saturating_add(LOOK_AGAIN), now)), 0),
            Self::Admit => (Decision::Admitted(Permit::new(0, 1, 0)), 0),
            Self::Local(tables) => all(tables, key, tier, cost),
        }
    }
}

/// All tables or none. One after the other: who comes between may be denied for tokens that are given back.
fn all(tables: &[Keyed<[u8], TscClock>], key: &[u8], tier: usize, cost: u64) -> (Decision, usize) {
    let tier_of = |table: &Keyed<[u8], TscClock>| table.tier(tier).or_else(|| table.tier(0)).unwrap_or_default();
    let mut permits: Vec<Permit> = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        match table.check_as(key, tier_of(table), cost) {
            Decision::Admitted(permit) => permits.push(permit),
            other => {
                for (table, permit) in tables.iter().zip(&permits) {
                    table.refund_as(key, tier_of(table), cost, permit);
                }
                return (other, number);
            }
        }
    }
    let fewest = permits.iter().enumerate().min_by_key(|(_, permit)| permit.remaining());
    fewest.map_or((Decision::Never, 0), |(number, permit)| (Decision::Admitted(*permit), number))
}
