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

/// All that was kept.
pub(super) struct Kept {
    /// In no order; their lines in the order in which a replay decides them. (One that is earlier than those before it is
    /// counted, as it is decided, at the latest of them: by [`Demand`](crate::replay::demand::Demand) and by the state.)
    pub(super) callers: Vec<Caller>,
    /// The first and the last time that a line says.
    pub(super) span: Option<(u64, u64)>,
    /// Lines that are decided later than they say: at their caller's latest.
    pub(super) late: u64,
}

impl Gathering {
    pub(super) fn finish(self, sort: bool) -> Kept {
        let mut callers: Vec<Caller> = self.shards.into_iter().flatten().collect();
        let (span, late) = callers
            .par_iter_mut()
            .map(|caller| {
                let times = || caller.lines.iter().map(|line| line.time);
                let span = times().min().zip(times().max());
                (span, caller.settle(sort))
            })
            .reduce(|| (None, 0), |(span, late), (other, more)| (wider(span, other), late + more));
        Kept { callers, span, late }
    }
}

impl Caller {
    /// Puts its lines in the order in which they are decided, and says how many are decided later than they say.
    fn settle(&mut self, sort: bool) -> u64 {
        self.lines.shrink_to_fit();
        if sort {
            // Stable: lines of one time stay in order of input.
            self.lines.sort_by_key(|line| line.time);
            return 0;
        }
        let (mut latest, mut late) = (0, 0);
        for line in &self.lines {
            late += u64::from(line.time < latest);
            latest = line.time.max(latest);
        }
        late
    }
}

fn wider(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (one, other) {
        (Some((from, to)), Some((first, last))) => Some((from.min(first), to.max(last))),
        (one, other) => one.or(other),
    }
}
