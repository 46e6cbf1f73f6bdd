//! The summary as JSON. Names are a promise: programs read them.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::{BadLine, DeniedKey, Summary};
use crate::budget::Resolution;
use crate::replay::format::Format;
use crate::replay::key::InJson;
use crate::replay::record::Unit;
use crate::replay::timeline::Bar;
use crate::rule::Rule;

/// In this order. Times and lengths are in nanoseconds, shares from 0 to 1, keys as near to their bytes as JSON can.
#[derive(Serialize)]
struct Fields<'s> {
    rule: RuleFields,
    unit: Unit,
    format: Option<Format>,
    identity: Vec<&'s str>,
    lines: u64,
    unreadable: u64,
    outside: u64,
    decided: u64,
    admitted: u64,
    denied: u64,
    never: u64,
    admitted_share: f64,
    denied_share: f64,
    never_share: f64,
    cost: u128,
    cost_admitted: u128,
    largest_cost: u64,
    first_ns: Option<u64>,
    last_ns: Option<u64>,
    out_of_order: u64,
    decided_late: u64,
    keys: u64,
    keys_denied: u64,
    keys_never: u64,
    most_denied: Vec<KeyFields<'s>>,
    timeline: &'s [Bar],
    bad_lines: Vec<BadFields<'s>>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum RuleFields {
    TokenBucket { capacity: u64, refill_tokens: u64, refill_ns: u128, resolution: &'static str },
    FixedWindow { limit: u64, window_ns: u128, resolution: &'static str },
}

#[derive(Serialize)]
struct KeyFields<'s> {
    key: InJson<'s>,
    /// As it can be named, where `key` is not its name already.
    #[serde(skip_serializing_if = "Option::is_none")]
    named: Option<String>,
    lines: u64,
    denied: u64,
    never: u64,
}

#[derive(Serialize)]
struct BadFields<'s> {
    input: &'s str,
    line: u64,
    column: usize,
    expected: &'s str,
    found: &'s str,
}

/// As one JSON object; its names are stable.
impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (first_ns, last_ns) = self.span.unzip();
        Fields {
            rule: (&self.rule).into(),
            unit: self.unit,
            format: self.format.clone(),
            identity: self.whose(),
            lines: self.lines,
            unreadable: self.unreadable,
            outside: self.outside,
            decided: self.decided(),
            admitted: self.admitted,
            denied: self.denied,
            never: self.never,
            admitted_share: self.share(self.admitted),
            denied_share: self.share(self.denied),
            never_share: self.share(self.never),
            cost: self.cost,
            cost_admitted: self.cost_admitted,
            largest_cost: self.largest_cost,
            first_ns,
            last_ns,
            out_of_order: self.out_of_order,
            decided_late: self.decided_late,
            keys: self.keys,
            keys_denied: self.keys_denied,
            keys_never: self.keys_never,
            most_denied: self.most_denied.iter().map(Into::into).collect(),
            timeline: &self.timeline,
            bad_lines: self.bad_lines.iter().map(Into::into).collect(),
        }
        .serialize(serializer)
    }
}

impl From<&Rule> for RuleFields {
    fn from(rule: &Rule) -> Self {
        let resolution = match rule.resolution() {
            Resolution::Exact => "exact",
            Resolution::WithinOneNanosecond => "within_one_nanosecond",
        };
        let nanos = |duration: Duration| duration.as_nanos();
        match rule {
            Rule::TokenBucket(budget) => Self::TokenBucket {
                capacity: budget.capacity(),
                refill_tokens: budget.refill_tokens(),
                refill_ns: nanos(budget.refill_duration()),
                resolution,
            },
            Rule::FixedWindow(window) => {
                Self::FixedWindow { limit: window.limit(), window_ns: nanos(window.length()), resolution }
            }
        }
    }
}

impl<'s> From<&'s DeniedKey> for KeyFields<'s> {
    fn from(DeniedKey { key, lines, denied, never }: &'s DeniedKey) -> Self {
        let key = InJson(key);
        Self { key, named: key.name(), lines: *lines, denied: *denied, never: *never }
    }
}

impl<'s> From<&'s BadLine> for BadFields<'s> {
    fn from(BadLine { input, line, error, .. }: &'s BadLine) -> Self {
        Self { input, line: *line, column: error.column, expected: &error.expected, found: &error.found }
    }
}
