//! The keys of one shard, decided in order.

use hashbrown::HashTable;

use super::batch::{Batch, Entry};
use super::rule::{Outcome, Rule, State};
use super::timeline::Timeline;

/// Everything that is known of one key.
pub(super) struct Key {
    hash: u64,
    pub(super) name: Box<[u8]>,
    state: State,
    pub(super) lines: u64,
    pub(super) denied: u64,
}

/// Sums over a shard's lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) admitted: u64,
    pub(super) denied: u64,
    pub(super) never: u64,
    /// Cost of all admitted lines; a `u128`, so that no log can overflow it.
    pub(super) cost_admitted: u128,
    pub(super) cost: u128,
    /// Lines that were decided at their key's latest time.
    pub(super) late: u64,
    pub(super) span: Option<(u64, u64)>,
    pub(super) timeline: Timeline,
}

#[derive(Default)]
pub(super) struct Shard {
    pub(super) keys: HashTable<Key>,
    pub(super) totals: Totals,
}

impl Shard {
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
            .or_insert_with(|| Key { hash, name: name.into(), state: State::new(time, rule), lines: 0, denied: 0 })
            .into_mut();
        let (outcome, late) = key.state.decide(time, cost, rule);
        let admitted = matches!(outcome, Outcome::Admitted { .. });
        key.lines += 1;
        key.denied += u64::from(!admitted);

        let totals = &mut self.totals;
        let cost = u128::from(cost);
        totals.cost += cost;
        match outcome {
            Outcome::Admitted { .. } => {
                totals.admitted += 1;
                totals.cost_admitted += cost;
            }
            Outcome::Denied { .. } => totals.denied += 1,
            Outcome::Never => totals.never += 1,
        }
        totals.late += u64::from(late);
        totals.span = Some(totals.span.map_or((time, time), |(from, to)| (from.min(time), to.max(time))));
        totals.timeline.count(time, !admitted);
        outcome
    }
}
