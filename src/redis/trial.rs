//! A rule tried in a store, at the instants of a log.

use core::time::Duration;
use std::collections::HashMap;
use std::string::String;
use std::vec::Vec;

use ::redis::cmd;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::failure::{FailureKind, StoreFailure};
use super::key::{self, Digest};
use super::limits::SharedError;
use super::script::{Answer, Call, Request};
use super::store::Store;
use super::terms::Terms;
use crate::decision::{Decision, Denial, Permit};
use crate::identity::{Account, Tenant};
use crate::rule::Rule;

/// How long one call may take: nobody waits behind it.
const WITHIN: Duration = Duration::from_secs(10);

/// Keys that are under way at a time. The calls of one key go one after the other.
const KEYS_AT_A_TIME: usize = 128;

/// A day, in microseconds.
const DAY: u64 = 86_400_000_000;

/// One rule in a store, asked at instants that are given: a log's.
///
/// All instants are moved into the future, so that nothing expires before its time; the keys are this trial's own, and are
/// deleted by [`clean`](Self::clean). A store counts microseconds: instants are rounded down to them.
#[derive(Debug)]
pub struct Trial {
    store: Store,
    stem: String,
    terms: Terms,
    /// What is added to an instant, in microseconds. Known when the first is.
    shift: Option<u64>,
    /// Who each key is in the store, and its latest instant, moved.
    keys: HashMap<Vec<u8>, (Digest, u64)>,
}

/// One thing to be decided by a [`Trial`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trying {
    /// Who asks.
    pub key: Vec<u8>,
    /// When, in nanoseconds since 1970. One that is earlier than its key's latest is decided at the latest.
    pub time: u64,
    /// For how many tokens.
    pub cost: u64,
}

/// One of many, by its number: when, and for how many tokens.
struct One {
    number: usize,
    now: u64,
    cost: u64,
}

/// Decisions by number.
type Decisions = Vec<(usize, Decision)>;

impl Trial {
    /// A trial of `rule` with budgets of its own.
    ///
    /// # Errors
    ///
    /// When the rule is more than a script can count exactly.
    pub fn new(store: Store, rule: &Rule) -> Result<Self, SharedError> {
        use std::hash::{BuildHasher as _, RandomState};
        let name = std::format!("trial-{:016x}", RandomState::new().hash_one(0));
        let stem = key::stem(store.prefix(), &name);
        Ok(Self { stem, store, terms: Terms::new(rule)?, shift: None, keys: HashMap::new() })
    }

    /// Decides, and tells the decisions in order. Those of one key are decided in order; those of different keys do not
    /// depend on each other, and go at the same time.
    ///
    /// # Errors
    ///
    /// When the store fails: nothing is decided without it.
    pub async fn decide(&mut self, all: &[Trying]) -> Result<Vec<Decision>, StoreFailure> {
        let Some(first) = all.first() else { return Ok(Vec::new()) };
        let shift = match self.shift {
            Some(shift) => shift,
            None => *self.shift.insert(self.shift_of(first.time / 1_000).await?),
        };
        let mut queues: Vec<(Digest, Vec<One>)> = Vec::new();
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        for (number, one) in all.iter().enumerate() {
            let (digest, latest) = self.keys.entry(one.key.clone()).or_insert_with(|| (digest_of(&one.key), 0));
            *latest = (*latest).max((one.time / 1_000).saturating_add(shift));
            let place = *places.entry(&one.key).or_insert_with(|| {
                queues.push((*digest, Vec::new()));
                queues.len() - 1
            });
            queues[place].1.push(One { number, now: *latest, cost: one.cost });
        }
        let mut decisions = std::vec![Decision::Never; all.len()];
        let mut under_way: JoinSet<Result<Decisions, StoreFailure>> = JoinSet::new();
        for (digest, queue) in queues {
            if under_way.len() >= KEYS_AT_A_TIME
                && let Some(told) = under_way.join_next().await
            {
                place(&mut decisions, told)?;
            }
            let key = key::key(&self.stem, &digest);
            under_way.spawn(one_key(self.store.clone(), key, digest.slot(), self.terms, queue));
        }
        while let Some(told) = under_way.join_next().await {
            place(&mut decisions, told)?;
        }
        Ok(decisions)
    }

    /// Deletes the trial's keys. What is left undeleted expires, if late.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn clean(self) -> Result<(), StoreFailure> {
        for (digest, _) in self.keys.values() {
            let key = key::key(&self.stem, digest);
            self.store.command(cmd("UNLINK").arg(key), digest.slot(), Instant::now() + WITHIN).await?;
        }
        Ok(())
    }

    /// What brings the first instant to tomorrow, in whole windows.
    async fn shift_of(&self, first: u64) -> Result<u64, StoreFailure> {
        let probe = Digest::of(&Tenant::new("clock").expect("it is not empty"));
        let ask = Request { least: 0, most: 0 };
        let call = Call::spend(Vec::from([key::key(&self.stem, &probe)]), probe.slot(), None, &[self.terms], [ask]);
        let answer = Answer::read(&self.store.call(&call, Instant::now() + WITHIN).await?, 1, 1)?;
        let shift = (answer.now + DAY).saturating_sub(first);
        Ok(match self.terms {
            Terms::Bucket { .. } => shift,
            Terms::Window { length, .. } => shift.next_multiple_of(length),
        })
    }
}

/// Like any user's words: an account of that name, and one of its own where there is none.
fn digest_of(key: &[u8]) -> Digest {
    match Account::new(key) {
        Ok(account) => Digest::of(&account),
        Err(_) => Digest::of(&Tenant::new("nobody").expect("it is not empty")),
    }
}

/// Puts one key's decisions where they belong.
fn place(
    decisions: &mut [Decision],
    told: Result<Result<Decisions, StoreFailure>, tokio::task::JoinError>,
) -> Result<(), StoreFailure> {
    let told = told.map_err(|error| StoreFailure::new(FailureKind::Other, std::format!("{error}")))?;
    for (number, decision) in told? {
        decisions[number] = decision;
    }
    Ok(())
}

async fn one_key(
    store: Store,
    key: String,
    slot: u16,
    terms: Terms,
    queue: Vec<One>,
) -> Result<Decisions, StoreFailure> {
    let mut told = Vec::with_capacity(queue.len());
    for One { number, now, cost } in queue {
        if cost > terms.capacity() {
            continue;
        }
        let request = Request { least: cost, most: cost };
        let call = Call::spend(Vec::from([key.clone()]), slot, Some(now), &[terms], [request]);
        let answer = Answer::read(&store.call(&call, Instant::now() + WITHIN).await?, 1, 1)?;
        let decision = if answer.taken[0] >= cost {
            Decision::Admitted(Permit::new(terms.available(&answer.states[0]), 1, 0))
        } else {
            let wait = terms.wait(&answer.states[0], cost, answer.now);
            Decision::Denied(Denial::at(wait.saturating_mul(1_000), 0))
        };
        told.push((number, decision));
    }
    Ok(told)
}
