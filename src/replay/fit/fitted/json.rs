//! What was found as JSON. Names are a promise: programs read them.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use super::{Checked, Demanding, FitPoint, Fitted, Refused};
use crate::budget::Resolution;
use crate::replay::fit::share::Of;
use crate::replay::format::Format;
use crate::replay::record::Unit;

/// In this order. Times and lengths are in nanoseconds, keys as near to their bytes as JSON can.
#[derive(Serialize)]
struct Fields<'f> {
    unit: Unit,
    format: Option<Format>,
    lines: u64,
    unreadable: u64,
    out_of_order: u64,
    counted_late: u64,
    callers: u64,
    requests: u64,
    cost: u128,
    first_ns: Option<u64>,
    last_ns: Option<u64>,
    spare: String,
    of: Of,
    to_spare: u64,
    over_ns: u128,
    frontier: Vec<PointFields<'f>>,
    suggested: PointFields<'f>,
    check: CheckFields,
    refused: Vec<RefusedFields>,
}

#[derive(Serialize)]
struct PointFields<'f> {
    refill: String,
    refill_tokens: u64,
    refill_ns: u128,
    capacity: u64,
    resolution: &'static str,
    most_in_over: u128,
    callers_denied: u64,
    requests_spared: u64,
    most_demanding: Vec<DemandingFields<'f>>,
}

#[derive(Serialize)]
struct DemandingFields<'f> {
    key: Cow<'f, str>,
    lines: u64,
    capacity: u64,
}

#[derive(Serialize)]
struct CheckFields {
    callers_denied: u64,
    admitted: u64,
    denied: u64,
    never: u64,
}

#[derive(Serialize)]
struct RefusedFields {
    refill: String,
    why: String,
}

/// As one JSON object; its names are stable.
impl Serialize for Fitted {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Fields {
            unit: self.unit,
            format: self.format.clone(),
            lines: self.lines,
            unreadable: self.unreadable,
            out_of_order: self.out_of_order,
            counted_late: self.counted_late,
            callers: self.callers,
            requests: self.requests,
            cost: self.cost,
            first_ns: self.span.map(|(first, _)| first),
            last_ns: self.span.map(|(_, last)| last),
            spare: self.spare.to_string(),
            of: self.of,
            to_spare: self.to_spare,
            over_ns: self.over.as_nanos(),
            frontier: self.frontier.iter().map(|point| self.point(point)).collect(),
            suggested: self.point(self.suggestion()),
            check: self.check.into(),
            refused: self.refused.iter().map(RefusedFields::from).collect(),
        }
        .serialize(to)
    }
}

impl Fitted {
    fn point<'f>(&self, point: &'f FitPoint) -> PointFields<'f> {
        PointFields {
            refill: point.refill.to_string(),
            refill_tokens: point.refill.tokens,
            refill_ns: point.refill.duration.as_nanos(),
            capacity: point.budget.capacity(),
            resolution: match point.budget.resolution() {
                Resolution::Exact => "exact",
                Resolution::WithinOneNanosecond => "within_one_nanosecond",
            },
            most_in_over: point.most_in(self.over),
            callers_denied: point.callers_denied,
            requests_spared: point.requests_spared,
            most_demanding: point.most_demanding.iter().map(DemandingFields::from).collect(),
        }
    }
}

impl<'f> From<&'f Demanding> for DemandingFields<'f> {
    fn from(caller: &'f Demanding) -> Self {
        Self { key: String::from_utf8_lossy(&caller.key), lines: caller.lines, capacity: caller.capacity }
    }
}

impl From<Checked> for CheckFields {
    fn from(Checked { callers_denied, admitted, denied, never }: Checked) -> Self {
        Self { callers_denied, admitted, denied, never }
    }
}

impl From<&Refused> for RefusedFields {
    fn from(refused: &Refused) -> Self {
        Self { refill: refused.refill.to_string(), why: refused.error.to_string() }
    }
}
