//! The stage of a replay: keys decided in parallel, each in order, and told.

use std::io;

use rayon::prelude::*;

use crate::replay::batch::Batch;
use crate::replay::decided::in_order;
use crate::replay::engine::Stage;
use crate::replay::error::Error;
use crate::replay::history::Detail;
use crate::replay::rule::Outcome;
use crate::replay::shard::Shard;
use crate::rule::Rule;

/// What is done with decided batches.
pub(super) type Tell<'t> = &'t mut dyn FnMut(&[Batch], &[Vec<Outcome>]) -> io::Result<()>;

/// Decides what comes, or keeps it to be sorted.
pub(super) struct Deciding<'t, D = ()> {
    rule: Rule,
    tell: Option<Tell<'t>>,
    pub(super) shards: Vec<Shard<D>>,
    /// Everything, to be sorted.
    all: Option<Batch>,
}

impl<'t, D: Detail> Deciding<'t, D> {
    pub(super) fn new(rule: Rule, sort: bool, tell: Option<Tell<'t>>) -> Self {
        let shards = (0..rayon::current_num_threads() * 4).map(|_| Shard::default()).collect();
        Self { rule, tell, shards, all: sort.then(Batch::default) }
    }

    /// Decides batches in order, each shard on its own.
    fn decide(&mut self, batches: &[Batch]) -> Result<(), Error> {
        let rule = &self.rule;
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

    /// Decides what was kept.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        match self.all.take() {
            Some(mut all) => {
                all.deal_by_time(self.shards.len());
                self.decide(&[all])
            }
            None => Ok(()),
        }
    }
}

impl<D: Detail> Stage for Deciding<'_, D> {
    fn shards(&self) -> usize {
        self.shards.len()
    }

    fn take(&mut self, batches: Vec<Batch>) -> Result<(), Error> {
        match &mut self.all {
            Some(all) => {
                for batch in &batches {
                    all.append(batch);
                }
                Ok(())
            }
            None => self.decide(&batches),
        }
    }
}
