//! What was found.

mod json;

use core::time::Duration;

use super::frontier::{Found, most_in};
use super::need::Callers;
use super::share::{Of, Share};
use crate::budget::BudgetError;
use crate::replay::format::Format;
use crate::replay::identity::{Identity, whose};
use crate::replay::record::Unit;
use crate::replay::summary::{BadLine, Seen};
use crate::{Budget, Per};

/// The budgets that fit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fitted {
    /// What a log's lines cost.
    pub unit: Unit,
    /// How the log is written.
    pub format: Option<Format>,
    /// Whose lines shared one budget, if it was said.
    pub identity: Option<Identity>,
    /// Lines that were not empty.
    pub lines: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Lines of other routes, passed over.
    pub outside: u64,
    /// The first five of those.
    pub bad_lines: Vec<BadLine>,
    /// Lines that were earlier than the line before them.
    pub out_of_order: u64,
    /// Lines that were earlier than their caller's latest, and were counted at it.
    pub counted_late: u64,
    /// The first and the last time, in nanoseconds since 1970.
    pub span: Option<(u64, u64)>,
    /// Different callers.
    pub callers: u64,
    /// Lines that could be read.
    pub requests: u64,
    /// Tokens of all of them.
    pub cost: u128,
    /// The share that was to be spared.
    pub spare: Share,
    /// Of what.
    pub of: Of,
    /// How many of them that is: callers, or requests.
    pub to_spare: u64,
    /// The smallest budget at each refill, the slowest first. Where the refills were not asked for, each needs less
    /// capacity than the one before. Not empty.
    pub frontier: Vec<FitPoint>,
    /// Which of them is suggested: its place.
    pub suggested: usize,
    /// The time in which the suggested one lets a caller do least.
    pub over: Duration,
    /// Every line, decided under the suggested one.
    pub check: Checked,
    /// Refills that were asked for, and at which no budget has the capacity it would take.
    pub refused: Vec<Refused>,
}

/// A refill, and the smallest budget that spares the share there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FitPoint {
    /// The refill, as it is written.
    pub refill: Per,
    /// The budget.
    pub budget: Budget,
    /// Callers that would have been denied at least once.
    pub callers_denied: u64,
    /// Requests of the others.
    pub requests_spared: u64,
    /// Of those that would have been denied, the five that would have needed most; of equals, the first by their bytes.
    pub most_demanding: Vec<Demanding>,
}

impl FitPoint {
    /// The most that one caller can do in a time: the capacity, and what is refilled meanwhile, in whole tokens.
    #[must_use]
    pub fn most_in(&self, over: Duration) -> u128 {
        most_in(&self.budget, over)
    }
}

/// A caller, and what it would have needed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Demanding {
    /// As it stands in the log.
    pub key: Vec<u8>,
    /// Its lines.
    pub lines: u64,
    /// The smallest capacity that would have denied it nothing, at the refill; `u64::MAX` where none is as large.
    pub capacity: u64,
}

/// What a replay under a budget decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Callers that were denied at least once, or asked for what is never admitted.
    pub callers_denied: u64,
    /// Lines admitted.
    pub admitted: u64,
    /// Lines denied.
    pub denied: u64,
    /// Lines whose cost is above the capacity.
    pub never: u64,
}

impl Checked {
    /// The sums of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            callers_denied: self.callers_denied + other.callers_denied,
            admitted: self.admitted + other.admitted,
            denied: self.denied + other.denied,
            never: self.never + other.never,
        }
    }
}

/// A refill at which no budget can be as large as it would have to be.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Refused {
    /// The refill.
    pub refill: Per,
    /// Why, with the bound.
    pub error: BudgetError,
}

impl Fitted {
    /// The fields that said who asked, by their names in the format.
    #[must_use]
    pub fn whose(&self) -> Vec<&str> {
        whose(self.identity.as_ref(), self.format.as_ref())
    }

    pub(super) fn new(
        (unit, format, over): (Unit, Option<Format>, Duration),
        seen: Seen,
        callers: &Callers,
        found: Found,
    ) -> Self {
        let whole = match callers.of {
            Of::Callers => callers.len(),
            Of::Requests => callers.requests,
        };
        Self {
            unit,
            format,
            identity: seen.identity,
            lines: seen.lines,
            unreadable: seen.unreadable,
            outside: seen.outside,
            bad_lines: seen.bad_lines,
            out_of_order: seen.out_of_order,
            counted_late: callers.late,
            span: callers.span,
            callers: callers.len(),
            requests: callers.requests,
            cost: callers.cost(),
            spare: callers.spare,
            of: callers.of,
            to_spare: callers.spare.of(whole),
            frontier: found.frontier,
            suggested: found.suggested,
            over,
            check: found.check,
            refused: found.refused,
        }
    }

    /// The suggested budget.
    ///
    /// # Panics
    ///
    /// When `suggested` was changed to a place that the frontier does not have.
    #[must_use]
    pub fn suggestion(&self) -> &FitPoint {
        &self.frontier[self.suggested]
    }
}
