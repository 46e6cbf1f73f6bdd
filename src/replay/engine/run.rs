//! The stages behind the reader, block by block: parse, count, decide, tell.

use std::io;

use hashbrown::DefaultHashBuilder;
use rayon::prelude::*;

use super::Replay;
use crate::replay::batch::{Batch, Parser, pieces};
use crate::replay::decided::in_order;
use crate::replay::detect::{detect, guess};
use crate::replay::error::Error;
use crate::replay::record::Format;
use crate::replay::rule::Outcome;
use crate::replay::shard::Shard;
use crate::replay::source::{Block, Input};
use crate::replay::summary::{BadLine, Seen, Summary};

/// What is done with decided batches.
pub(super) type Tell<'t> = &'t mut dyn FnMut(&[Batch], &[Vec<Outcome>]) -> io::Result<()>;

/// A replay under way.
pub(super) struct Run<'r, 't> {
    replay: &'r Replay,
    inputs: &'r [Input],
    tell: Option<Tell<'t>>,
    format: Option<Format>,
    hasher: DefaultHashBuilder,
    /// Into how many pieces a block is cut.
    pieces: usize,
    shards: Vec<Shard>,
    seen: Seen,
    /// Line breaks passed in the current input.
    breaks: u64,
    /// The time of the last record.
    last: Option<u64>,
    /// Everything, to be sorted.
    all: Batch,
}

impl<'r, 't> Run<'r, 't> {
    pub(super) fn new(replay: &'r Replay, inputs: &'r [Input], tell: Option<Tell<'t>>) -> Self {
        let threads = rayon::current_num_threads();
        Self {
            replay,
            inputs,
            tell,
            format: replay.format,
            hasher: DefaultHashBuilder::default(),
            // More than there are threads, so that one which is slow or late holds nobody up for long.
            pieces: threads * 2,
            shards: (0..threads * 4).map(|_| Shard::default()).collect(),
            seen: Seen::default(),
            breaks: 0,
            last: None,
            all: Batch::default(),
        }
    }

    pub(super) fn block(&mut self, block: &Block) -> Result<(), Error> {
        if block.first {
            self.breaks = 0;
        }
        let mut batches = self.parse(block);
        let stop = if self.replay.strict { batches.iter().position(|batch| batch.bad_count > 0) } else { None };
        if let Some(last) = stop {
            // What comes after the line that stops the replay is not decided.
            batches.truncate(last + 1);
        }
        for batch in &mut batches {
            self.note(batch, block.input);
        }
        if self.replay.sort {
            for batch in &batches {
                self.all.append(batch);
            }
        } else {
            self.decide(&batches)?;
        }
        match self.seen.bad_lines.first() {
            Some(bad) if self.replay.strict => Err(Error::Unreadable(bad.clone())),
            _ => Ok(()),
        }
    }

    fn parse(&mut self, block: &Block) -> Vec<Batch> {
        self.format = self.format.or_else(|| detect(&block.bytes));
        let parser = Parser {
            format: self.format.unwrap_or_else(|| guess(&block.bytes)),
            unit: self.replay.unit,
            strict: self.replay.strict,
            shards: self.shards.len(),
            hasher: &self.hasher,
        };
        pieces(&block.bytes, self.pieces)
            .into_par_iter()
            .enumerate()
            .map(|(number, piece)| parser.parse(piece, block.beheaded && number == 0))
            .collect()
    }

    /// Counts a batch's lines, the bad ones too.
    fn note(&mut self, batch: &mut Batch, input: usize) {
        let seen = &mut self.seen;
        seen.lines += batch.lines;
        seen.unreadable += batch.bad_count;
        for (number, error) in batch.bad.drain(..) {
            seen.bad(BadLine { input: self.inputs[input].name(), line: self.breaks + number + 1, error });
        }
        if let (Some(first), Some(last)) = (batch.entries.first(), batch.entries.last()) {
            seen.out_of_order += batch.disordered + u64::from(self.last.is_some_and(|before| first.time < before));
            self.last = Some(last.time);
        }
        self.breaks += batch.breaks;
        self.replay.progress.add_lines(batch.lines);
    }

    /// Decides batches in order, each shard on its own.
    fn decide(&mut self, batches: &[Batch]) -> Result<(), Error> {
        let rule = &self.replay.rule;
        let decided: Vec<Vec<Outcome>> = self
            .shards
            .par_iter_mut()
            .enumerate()
            .map(|(number, shard)| {
                let mut outcomes = Vec::new();
                for batch in batches {
                    shard.decide(batch, &batch.dealt[number], rule, &mut outcomes);
                }
                outcomes
            })
            .collect();
        match &mut self.tell {
            Some(tell) => tell(batches, &in_order(batches, &decided)).map_err(Error::Write),
            None => Ok(()),
        }
    }

    pub(super) fn finish(mut self) -> Result<Summary, Error> {
        if self.replay.sort {
            let mut all = std::mem::take(&mut self.all);
            all.deal_by_time(self.shards.len());
            self.decide(&[all])?;
        }
        Ok(Summary::gather((self.replay.rule, self.replay.unit, self.format), self.seen, self.shards))
    }
}
