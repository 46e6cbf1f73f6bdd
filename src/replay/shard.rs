//! The keys of one shard, decided in order.

use hashbrown::HashTable;

use super::batch::{Batch, Entry};
use super::history::Detail;
use super::name::Name;
use super::rule::{Outcome, State};
use super::timeline::{Counts, Timeline};
use crate::rule::Rule;

/// Everything that is known of one key.
pub(super) struct Key<D> {
    hash: u64,
    pub(super) name: Name,
    state: State,
    pub(super) lines: u64,
    pub(super) denied: u64,
    pub(super) never: u64,
    pub(super) detail: D,
}

/// Sums over lines that were decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) admitted: u64,
    pub(super) denied: u64,
    pub(super) never: u64,
    /// Cost of all lines; a `u128`, so that no log can overflow it.
    pub(super) cost: u128,
    pub(super) cost_admitted: u128,
    pub(super) largest_cost: u64,
    /// Lines that were decided at their key's latest time.
    pub(super) late: u64,
    pub(super) span: Option<(u64, u64)>,
    pub(super) timeline: Timeline,
}

pub(super) struct Shard<D = ()> {
    pub(super) keys: HashTable<Key<D>>,
    pub(super) totals: Totals,
}

impl<D> Default for Shard<D> {
    fn default() -> Self {
        Self { keys: HashTable::new(), totals: Totals::default() }
    }
}

impl<D: Detail> Shard<D> {
    /// Decides one shard's part of a batch.
    pub(super) fn decide(&mut self, batch: &Batch, places: &[usize], rule: &Rule, outcomes: &mut Vec<Outcome>) {
        for &place in places {
            let entry = &batch.entries[place];
            let outcome = self.decide_one(entry, batch.key(entry), rule);
            outcomes.push(outcome);
        }
    }

    fn decide_one(&mut self, entry: &Entry, name: &[u8], rule: &Rule) -> Outcome {
        let Entry { time, cost, hash, .. } = *entry;
        let key = self
            .keys
            .entry(hash, |key| key.hash == hash && *key.name == *name, |key| key.hash)
            .or_insert_with(|| Key::new(hash, name, State::new(time, rule)))
            .into_mut();
        let (outcome, late) = key.state.decide(time, cost, rule);
        key.lines += 1;
        match outcome {
            Outcome::Admitted { .. } => {}
            Outcome::Denied { .. } => key.denied += 1,
            Outcome::Never => key.never += 1,
        }
        key.detail.note(key.state.latest(), cost, outcome, rule);
        self.totals.count(time, cost, outcome, late);
        outcome
    }
}

impl<D: Detail> Key<D> {
    fn new(hash: u64, name: &[u8], state: State) -> Self {
        Self { hash, name: name.into(), state, lines: 0, denied: 0, never: 0, detail: D::default() }
    }
}

impl Totals {
    fn count(&mut self, time: u64, cost: u64, outcome: Outcome, late: bool) {
        self.cost += u128::from(cost);
        self.largest_cost = self.largest_cost.max(cost);
        let mut counts = Counts { lines: 1, ..Counts::default() };
        match outcome {
            Outcome::Admitted { .. } => {
                self.admitted += 1;
                self.cost_admitted += u128::from(cost);
            }
            Outcome::Denied { .. } => {
                self.denied += 1;
                counts.denied = 1;
            }
            Outcome::Never => {
                self.never += 1;
                counts.never = 1;
            }
        }
        self.late += u64::from(late);
        self.span = Some(self.span.map_or((time, time), |(from, to)| (from.min(time), to.max(time))));
        self.timeline.count(time, counts);
    }

    /// Adds the sums of other lines.
    pub(super) fn merge(&mut self, other: Self) {
        self.admitted += other.admitted;
        self.denied += other.denied;
        self.never += other.never;
        self.cost += other.cost;
        self.cost_admitted += other.cost_admitted;
        self.largest_cost = self.largest_cost.max(other.largest_cost);
        self.late += other.late;
        self.span = match (self.span, other.span) {
            (Some((from, to)), Some((first, last))) => Some((from.min(first), to.max(last))),
            (one, other) => one.or(other),
        };
        self.timeline.merge(other.timeline);
    }
}
