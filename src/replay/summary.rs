//! What is told at the end.

use super::engine::Error;
use super::record::{Format, LineError, Unit};
use super::rule::Rule;
use super::shard::{Shard, Totals};
use super::timeline::{Bar, Timeline};

/// How many keys are named.
const NAMED: usize = 10;

/// How many bars the timeline has at most.
const BARS: u64 = 48;

/// A replay in numbers.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The limit that was tried.
    pub rule: Rule,
    /// What the log's lines cost.
    pub unit: Unit,
    /// How the log is written; `None` where there was no line.
    pub format: Option<Format>,
    /// Lines that were not empty.
    pub lines: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// The first few of those.
    pub bad_lines: Vec<BadLine>,
    /// Lines that were earlier than the line before them.
    pub out_of_order: u64,
    /// Lines that were earlier than their key's latest, and were decided at it.
    pub decided_late: u64,
    /// The first and the last time, in nanoseconds since 1970.
    pub span: Option<(u64, u64)>,
    /// Different keys.
    pub keys: u64,
    /// Keys that were denied at least once, or asked for what is never admitted.
    pub keys_denied: u64,
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
    /// The keys denied most, at most ten.
    pub most_denied: Vec<DeniedKey>,
    /// Denials over time.
    pub timeline: Vec<Bar>,
}

/// A line that could not be read.
#[derive(Clone, Debug)]
pub struct BadLine {
    /// The input's name.
    pub input: String,
    /// Counted from 1.
    pub line: u64,
    /// Where in it, and what was expected.
    pub error: LineError,
}

/// A key that was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedKey {
    /// As it stands in the log.
    pub key: Vec<u8>,
    /// Its lines.
    pub lines: u64,
    /// Its lines that were not admitted.
    pub denied: u64,
}

impl Summary {
    /// Lines that were decided.
    #[must_use]
    pub fn decided(&self) -> u64 {
        self.admitted + self.denied + self.never
    }

    /// The share of decided lines that `part` is; 0 where none were.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a share is told to a few digits")]
    pub fn share(&self, part: u64) -> f64 {
        if self.decided() == 0 { 0.0 } else { part as f64 / self.decided() as f64 }
    }

    /// The summary as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let most_denied: Vec<_> = self
            .most_denied
            .iter()
            .map(|key| {
                serde_json::json!({
                    "key": String::from_utf8_lossy(&key.key),
                    "lines": key.lines,
                    "denied": key.denied,
                })
            })
            .collect();
        let bad_lines: Vec<_> = self
            .bad_lines
            .iter()
            .map(|bad| {
                serde_json::json!({
                    "input": bad.input,
                    "line": bad.line,
                    "column": bad.error.column,
                    "expected": bad.error.expected,
                })
            })
            .collect();
        serde_json::json!({
            "rule": rule_json(&self.rule),
            "unit": self.unit,
            "format": self.format,
            "lines": self.lines,
            "decided": self.decided(),
            "unreadable": self.unreadable,
            "bad_lines": bad_lines,
            "out_of_order": self.out_of_order,
            "decided_late": self.decided_late,
            "first_ns": self.span.map(|(first, _)| first),
            "last_ns": self.span.map(|(_, last)| last),
            "keys": self.keys,
            "keys_denied": self.keys_denied,
            "admitted": self.admitted,
            "denied": self.denied,
            "never": self.never,
            "admitted_share": self.share(self.admitted),
            "denied_share": self.share(self.denied),
            "never_share": self.share(self.never),
            "cost": number(self.cost),
            "cost_admitted": number(self.cost_admitted),
            "most_denied": most_denied,
            "timeline": self.timeline,
        })
    }

    pub(super) fn gather(replay: (Rule, Unit, Option<Format>), seen: Seen, shards: Vec<Shard>) -> Self {
        let (rule, unit, format) = replay;
        let mut totals = Totals::default();
        let mut timeline = Timeline::default();
        let (mut keys, mut denied) = (0, Vec::new());
        for shard in shards {
            let part = shard.totals;
            keys += shard.keys.len() as u64;
            totals.admitted += part.admitted;
            totals.denied += part.denied;
            totals.never += part.never;
            totals.cost += part.cost;
            totals.cost_admitted += part.cost_admitted;
            totals.late += part.late;
            totals.span = match (totals.span, part.span) {
                (Some((from, to)), Some((first, last))) => Some((from.min(first), to.max(last))),
                (one, other) => one.or(other),
            };
            timeline.merge(part.timeline);
            denied.extend(shard.keys.into_iter().filter(|key| key.denied > 0));
        }
        let keys_denied = denied.len() as u64;
        // Ties by name, so that the answer is the same however the keys were spread.
        denied.sort_unstable_by(|a, b| b.denied.cmp(&a.denied).then_with(|| a.name.cmp(&b.name)));
        let most_denied = denied
            .into_iter()
            .take(NAMED)
            .map(|key| DeniedKey { key: key.name.into_vec(), lines: key.lines, denied: key.denied })
            .collect();
        Self {
            rule,
            unit,
            format,
            lines: seen.lines,
            unreadable: seen.unreadable,
            bad_lines: seen.bad_lines,
            out_of_order: seen.out_of_order,
            decided_late: totals.late,
            span: totals.span,
            keys,
            keys_denied,
            admitted: totals.admitted,
            denied: totals.denied,
            never: totals.never,
            cost: totals.cost,
            cost_admitted: totals.cost_admitted,
            most_denied,
            timeline: timeline.bars(BARS),
        }
    }
}

/// What was seen of the lines, before any was decided.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) lines: u64,
    pub(super) unreadable: u64,
    pub(super) bad_lines: Vec<BadLine>,
    pub(super) out_of_order: u64,
}

impl Seen {
    /// Notes a line that cannot be read; the first few are kept.
    pub(super) fn bad(&mut self, line: BadLine) {
        if self.bad_lines.len() < 5 {
            self.bad_lines.push(line);
        }
    }

    /// The error that stops a strict replay.
    pub(super) fn stop(&self) -> Option<Error> {
        self.bad_lines.first().map(|bad| Error::Unreadable(bad.clone()))
    }
}

/// JSON has no integers past 64 bits that readers agree on.
fn number(sum: u128) -> serde_json::Value {
    u64::try_from(sum).map_or_else(|_| format!("{sum}").into(), Into::into)
}

fn rule_json(rule: &Rule) -> serde_json::Value {
    let exact = rule.resolution() == crate::Resolution::Exact;
    match rule {
        Rule::Bucket(budget) => serde_json::json!({
            "kind": "token bucket",
            "capacity": budget.capacity(),
            "refill_tokens": budget.refill_tokens(),
            "refill_ns": number(budget.refill_duration().as_nanos()),
            "exact": exact,
        }),
        Rule::Window(window) => serde_json::json!({
            "kind": "fixed window",
            "limit": window.limit(),
            "window_ns": number(window.length().as_nanos()),
            "exact": exact,
        }),
    }
}
