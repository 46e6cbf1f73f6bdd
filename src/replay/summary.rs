//! What is told at the end.

mod json;

use std::cmp::Reverse;
use std::fmt;

use super::format::Format;
use super::identity::{Identity, whose};
use super::record::{LineError, Unit, beginning};
use super::shard::{Key, Shard, Totals};
use super::timeline::Bar;
use crate::rule::Rule;

/// How many keys are named.
const NAMED: usize = 10;

/// How many unreadable lines are shown.
pub(super) const SHOWN: usize = 5;

/// A replay in numbers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The limit that was tried.
    pub rule: Rule,
    /// What a log's lines cost.
    pub unit: Unit,
    /// How the log is written; `None` where there was no line.
    pub format: Option<Format>,
    /// Whose lines shared one budget, where that was said.
    pub identity: Option<Identity>,
    /// Lines that were not empty.
    pub lines: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// The first five of those.
    pub bad_lines: Vec<BadLine>,
    /// Lines that are not on the routes that were asked about, and were passed over.
    pub outside: u64,
    /// Lines that were earlier than the line before them.
    pub out_of_order: u64,
    /// Lines that were earlier than their key's latest, and were decided at it.
    pub decided_late: u64,
    /// The first and the last time, in nanoseconds since 1970.
    pub span: Option<(u64, u64)>,
    /// Different keys.
    pub keys: u64,
    /// Keys that were denied at least once.
    pub keys_denied: u64,
    /// Keys that asked at least once for what is never admitted.
    pub keys_never: u64,
    /// Lines admitted.
    pub admitted: u64,
    /// Lines denied.
    pub denied: u64,
    /// Lines whose cost is above what the limit ever holds.
    pub never: u64,
    /// Tokens of all lines that were decided.
    pub cost: u128,
    /// Tokens of all lines that were admitted.
    pub cost_admitted: u128,
    /// The largest cost of a line: a limit that holds as much has nothing that is never admitted.
    pub largest_cost: u64,
    /// The keys denied most, at most ten; of those denied as often, the first by their bytes.
    pub most_denied: Vec<DeniedKey>,
    /// All lines over time: at most 64 bars, without gaps.
    pub timeline: Vec<Bar>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadLine {
    /// The input's name.
    pub input: String,
    /// Counted from 1.
    pub line: u64,
    /// How many lines of all inputs were read before it, empty ones too.
    pub at: u64,
    /// Its beginning, printable.
    pub text: String,
    /// What it was read as: the log's format, or what it looks most like where that is not known.
    pub format: Format,
    /// Where in it, and what was expected.
    pub error: LineError,
}

impl BadLine {
    /// A line, counted from 1, of the only input, which has this name.
    #[must_use]
    pub fn new(input: String, number: u64, line: &[u8], format: Format, error: LineError) -> Self {
        Self { input, line: number, at: number.saturating_sub(1), text: beginning(line), format, error }
    }
}

/// `access.log:7:14: expected …, found …`.
impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.input, self.line, self.error.column)?;
        self.error.what(f)
    }
}

/// A key that was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeniedKey {
    /// As it stands in the log, or several parts: see [`key`](super::key).
    pub key: Vec<u8>,
    /// Its lines.
    pub lines: u64,
    /// Its lines that were denied.
    pub denied: u64,
    /// Its lines whose cost is above what the limit ever holds.
    pub never: u64,
}

impl Summary {
    /// Lines that were decided.
    #[must_use]
    pub fn decided(&self) -> u64 {
        self.admitted + self.denied + self.never
    }

    /// The share of decided lines that `part` is, from 0 to 1; 0 where none were decided.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a share is told to a few digits")]
    pub fn share(&self, part: u64) -> f64 {
        if self.decided() == 0 { 0.0 } else { part as f64 / self.decided() as f64 }
    }

    /// The fields that said who asked, by their names in the format.
    #[must_use]
    pub fn whose(&self) -> Vec<&str> {
        whose(self.identity.as_ref(), self.format.as_ref())
    }

    pub(super) fn gather<D>(replay: (Rule, Unit, Option<Format>), seen: Seen, shards: &mut [Shard<D>]) -> Self {
        let (rule, unit, format) = replay;
        let mut totals = Totals::default();
        let (mut keys, mut keys_denied, mut keys_never, mut most_denied) = (0, 0, 0, Most::default());
        for shard in shards {
            totals.merge(std::mem::take(&mut shard.totals));
            keys += shard.keys.len() as u64;
            for key in &shard.keys {
                keys_never += u64::from(key.never > 0);
                keys_denied += u64::from(key.denied > 0);
                most_denied.offer(key);
            }
        }
        Self {
            rule,
            unit,
            format,
            identity: seen.identity,
            lines: seen.lines,
            unreadable: seen.unreadable,
            bad_lines: seen.bad_lines,
            outside: seen.outside,
            out_of_order: seen.out_of_order,
            decided_late: totals.late,
            span: totals.span,
            keys,
            keys_denied,
            keys_never,
            admitted: totals.admitted,
            denied: totals.denied,
            never: totals.never,
            cost: totals.cost,
            cost_admitted: totals.cost_admitted,
            largest_cost: totals.largest_cost,
            most_denied: most_denied.in_order(),
            timeline: totals.timeline.bars(),
        }
    }
}

/// The keys denied most, so far. Ties by name, so that the answer is the same however keys were spread.
#[derive(Default)]
struct Most(Vec<DeniedKey>);

impl Most {
    fn offer<D>(&mut self, key: &Key<D>) {
        let rank = (Reverse(key.denied), &*key.name);
        let is_full = self.0.len() == NAMED;
        if key.denied == 0 || (is_full && self.0.last().is_some_and(|last| last.rank() < rank)) {
            return;
        }
        let place = self.0.partition_point(|known| known.rank() < rank);
        self.0.truncate(NAMED - 1);
        self.0.insert(
            place,
            DeniedKey { key: key.name.to_vec(), lines: key.lines, denied: key.denied, never: key.never },
        );
    }

    fn in_order(self) -> Vec<DeniedKey> {
        self.0
    }
}

impl DeniedKey {
    fn rank(&self) -> (Reverse<u64>, &[u8]) {
        (Reverse(self.denied), &self.key)
    }
}

/// What was seen of the lines, before any was decided.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) lines: u64,
    pub(super) unreadable: u64,
    pub(super) bad_lines: Vec<BadLine>,
    pub(super) out_of_order: u64,
    /// Lines that are not on the routes that were asked about.
    pub(super) outside: u64,
    /// Whose lines share one budget, where that was said.
    pub(super) identity: Option<Identity>,
}

impl Seen {
    /// Notes a line that cannot be read; the first few are kept.
    pub(super) fn bad(&mut self, line: BadLine) {
        if self.bad_lines.len() < SHOWN {
            self.bad_lines.push(line);
        }
    }
}
