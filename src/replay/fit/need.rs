//! What a refill would have taken: of each caller, the smallest capacity that denies it nothing; of the share, the smallest that
//! denies nobody in it.

use rayon::prelude::*;

use super::fitted::{Checked, Demanding};
use super::gather::{Caller, Kept};
use super::share::{Of, Share};
use crate::budget::BudgetError;
use crate::replay::demand::Demand;
use crate::replay::rule::{Outcome, State};
use crate::{Budget, Per, Rule};

/// How many of the most demanding callers are named.
const NAMED: usize = 5;

/// Everybody, and how many of them are to be spared.
pub(super) struct Callers {
    all: Vec<Caller>,
    pub(super) requests: u64,
    pub(super) span: Option<(u64, u64)>,
    pub(super) late: u64,
    pub(super) spare: Share,
    pub(super) of: Of,
}

/// What a capacity would do at a refill.
pub(super) struct Spared {
    /// Callers that are denied at least once.
    pub(super) denied: u64,
    /// Lines of the others.
    pub(super) requests: u64,
    /// The most demanding of those that are denied.
    pub(super) most_demanding: Vec<Demanding>,
}

impl Callers {
    pub(super) fn new(kept: Kept, spare: Share, of: Of) -> Self {
        let Kept { callers: all, span, late } = kept;
        let requests = all.iter().map(|caller| caller.lines.len() as u64).sum();
        Self { all, requests, span, late, spare, of }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn len(&self) -> u64 {
        self.all.len() as u64
    }

    pub(super) fn cost(&self) -> u128 {
        self.all.iter().flat_map(|caller| &caller.lines).map(|line| u128::from(line.cost)).sum()
    }

    /// What each would need, in no order.
    fn needs(&self, refill: Per) -> Result<Vec<u64>, BudgetError> {
        // Of the budget only the refill is asked.
        let rule = Rule::TokenBucket(Budget::new(1, refill.tokens, refill.duration)?);
        Ok(self.all.par_iter().map(|caller| caller.need(&rule)).collect())
    }

    /// The smallest capacity that denies nothing to the share; 1 at least, as no bucket holds less.
    pub(super) fn smallest(&self, refill: Per) -> Result<u64, BudgetError> {
        let mut needs = self.needs(refill)?;
        let smallest = match self.of {
            Of::Callers => {
                // A share is of somebody: at least one.
                let last = self.spare.of(needs.len() as u64) - 1;
                *needs.select_nth_unstable(last as usize).1
            }
            Of::Requests => {
                let lines = self.all.iter().map(|caller| caller.lines.len() as u64);
                let mut needs: Vec<(u64, u64)> = needs.into_iter().zip(lines).collect();
                needs.par_sort_unstable();
                let enough = self.spare.of(self.requests);
                let mut spared = 0;
                let reached = needs.iter().find(|(_, lines)| {
                    spared += lines;
                    spared >= enough
                });
                // All of them together make all requests, and the share is not more.
                reached.or(needs.last()).map_or(1, |(need, _)| *need)
            }
        };
        Ok(smallest.max(1))
    }

    /// Who would be denied under a budget.
    pub(super) fn spared(&self, budget: &Budget, refill: Per) -> Result<Spared, BudgetError> {
        let needs = self.needs(refill)?;
        let mut denied: Vec<(u64, &Caller)> =
            needs.into_iter().zip(&self.all).filter(|(need, _)| *need > budget.capacity()).collect();
        let lost: u64 = denied.iter().map(|(_, caller)| caller.lines.len() as u64).sum();
        let count = denied.len() as u64;
        // Ties by name: the same answer however callers were spread.
        let order = |a: &(u64, &Caller), b: &(u64, &Caller)| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name));
        if denied.len() > NAMED {
            denied.select_nth_unstable_by(NAMED, order);
            denied.truncate(NAMED);
        }
        denied.sort_unstable_by(order);
        let name = |(capacity, caller): (u64, &Caller)| Demanding {
            key: caller.name.to_vec(),
            lines: caller.lines.len() as u64,
            capacity,
        };
        let most_demanding = denied.into_iter().map(name).collect();
        Ok(Spared { denied: count, requests: self.requests - lost, most_demanding })
    }

    /// Decides every line as a replay would, with the bucket's own steps.
    pub(super) fn check(&self, budget: Budget) -> Checked {
        let rule = Rule::TokenBucket(budget);
        self.all.par_iter().map(|caller| caller.decide(&rule)).reduce(Checked::default, Checked::and)
    }
}

impl Caller {
    /// The smallest capacity that denies it nothing, at this rule's refill.
    fn need(&self, rule: &Rule) -> u64 {
        let mut demand = Demand::default();
        for line in &self.lines {
            demand.note(line.time, line.cost, rule);
        }
        demand.capacity(rule)
    }

    fn decide(&self, rule: &Rule) -> Checked {
        let Some(first) = self.lines.first() else { return Checked::default() };
        let mut state = State::new(first.time, rule);
        let mut told = Checked::default();
        for line in &self.lines {
            match state.decide(line.time, line.cost, rule).0 {
                Outcome::Admitted { .. } => told.admitted += 1,
                Outcome::Denied { .. } => told.denied += 1,
                Outcome::Never => told.never += 1,
            }
        }
        told.callers_denied = u64::from(told.denied + told.never > 0);
        told
    }
}
