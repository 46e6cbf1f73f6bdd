//! The stage of a fit: every caller's lines, kept.

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::replay::batch::Batch;
use crate::replay::engine::Stage;
use crate::replay::error::Error;
use crate::replay::name::Name;

/// When, and for how much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) time: u64,
    pub(super) cost: u64,
}

/// A caller, and its lines in the order in which they came.
#[derive(Debug)]
pub(super) struct Caller {
    hash: u64,
    pub(super) name: Name,
    pub(super) lines: Vec<Line>,
}

/// Keeps what comes.
pub(super) struct Gathering {
    shards: Vec<HashTable<Caller>>,
}

impl Default for Gathering {
    fn default() -> Self {
        Self { shards: (0..rayon::current_num_threads() * 4).map(|_| HashTable::new()).collect() }
    }
}

impl Stage for Gathering {
    fn shards(&self) -> usize {
        self.shards.len()
    }

    fn take(&mut self, batches: Vec<Batch>) -> Result<(), Error> {
        self.shards.par_iter_mut().enumerate().for_each(|(number, callers)| {
            for batch in &batches {
                for &place in &batch.dealt[number] {
                    let entry = &batch.entries[place];
                    let name = batch.key(entry);
                    callers
                        .entry(
                            entry.hash,
                            |caller| caller.hash == entry.hash && *caller.name == *name,
                            |caller| caller.hash,
                        )
                        .or_insert_with(|| Caller { hash: entry.hash, name: name.into(), lines: Vec::new() })
                        .into_mut()
                        .lines
                        .push(Line { time: entry.time, cost: entry.cost });
                }
            }
        });
        Ok(())
    }
}

impl Gathering {
    /// All callers, in no order, their lines at the instants at which a replay decides them, and in its order.
    pub(super) fn finish(self, sort: bool) -> Vec<Caller> {
        let mut callers: Vec<Caller> = self.shards.into_iter().flatten().collect();
        callers.par_iter_mut().for_each(|caller| {
            caller.lines.shrink_to_fit();
            if sort {
                // Stable: lines of one time stay in order of input.
                caller.lines.sort_by_key(|line| line.time);
            } else {
                let mut latest = 0;
                for line in &mut caller.lines {
                    latest = line.time.max(latest);
                    line.time = latest;
                }
            }
        });
        callers
    }
}
