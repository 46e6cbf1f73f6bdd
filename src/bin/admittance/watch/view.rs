//! What there is to see at one instant: taken from the tally, and drawn or written as often as one likes.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use admittance::replay::{BadLine, LiveSums};

use super::limited::SECOND;
use super::minute::Minute;
use super::tally::Tally;
use crate::text::{grouped, printable, span};

/// How many callers are named in each list of the highest.
const TOP: usize = 50;

pub(super) struct View {
    /// The log's latest time, and how long ago that was.
    pub(super) latest: Option<(u64, Duration)>,
    /// What time it is in the log, in nanoseconds since 1970.
    pub(super) now: Option<u64>,
    pub(super) sums: LiveSums,
    callers: usize,
    pub(super) rates: [Rate; 3],
    /// Who is limited, or was in the last minute.
    pub(super) limited: Vec<Row>,
    /// Refused lines of callers that are not among them.
    pub(super) unlisted: u64,
    pub(super) top_lines: Vec<(String, u64)>,
    pub(super) top_refused: Vec<(String, u64)>,
    pub(super) bad: Option<BadLine>,
    pub(super) ended: bool,
}

/// A rate and the minute behind it.
pub(super) struct Rate {
    pub(super) name: &'static str,
    pub(super) per_second: f64,
    pub(super) series: Vec<u64>,
}

/// A caller that is limited, or was in the last minute.
pub(super) struct Row {
    pub(super) key: String,
    pub(super) minute: u64,
    pub(super) refused: u64,
    /// As of [`Limited::wait`](super::limited::Limited::wait).
    pub(super) wait: Option<u64>,
}

impl Row {
    fn is_held(&self) -> bool {
        self.wait != Some(0)
    }
}

/// In what order those who are limited are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    Denials,
    Wait,
    Key,
}

impl Sort {
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Denials => Self::Wait,
            Self::Wait => Self::Key,
            Self::Key => Self::Denials,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Denials => "denials",
            Self::Wait => "wait",
            Self::Key => "key",
        }
    }

    /// Held before not held; of equal ones the first by their keys, so that rows keep their places.
    pub(super) fn apply(self, rows: &mut [Row]) {
        let wait = |row: &Row| Reverse(row.wait.unwrap_or(u64::MAX));
        match self {
            Self::Denials => rows.sort_by(|a, b| {
                (Reverse(a.is_held()), Reverse(a.minute), &a.key).cmp(&(
                    Reverse(b.is_held()),
                    Reverse(b.minute),
                    &b.key,
                ))
            }),
            Self::Wait => rows.sort_by(|a, b| (wait(a), &a.key).cmp(&(wait(b), &b.key))),
            Self::Key => rows.sort_by(|a, b| a.key.cmp(&b.key)),
        }
    }
}

impl View {
    pub(super) fn of(tally: &Tally, at: Instant) -> Self {
        let now = tally.clock.now(at);
        let (first, second) = (tally.first.unwrap_or_default(), now.unwrap_or_default() / SECOND);
        let rate = |name, minute: &Minute| Rate {
            name,
            per_second: minute.rate(first, second),
            series: minute.series(second).collect(),
        };
        let named = |top: Vec<(&[u8], u64)>| top.into_iter().map(|(key, count)| (printable(key), count)).collect();
        let limited = tally.limited.iter().map(|(key, limited)| Row {
            key: printable(key),
            minute: limited.minute.sum(second),
            refused: limited.refused,
            wait: limited.wait(now.unwrap_or_default()),
        });
        Self {
            latest: tally.clock.latest(at),
            now,
            sums: tally.live.sums(),
            callers: tally.live.keys(),
            rates: [
                rate("lines/s", &tally.lines),
                rate("admitted/s", &tally.admitted),
                rate("refused/s", &tally.refused),
            ],
            limited: limited.collect(),
            unlisted: tally.limited.unlisted,
            top_lines: named(tally.by_lines.top(TOP)),
            top_refused: named(tally.by_refused.top(TOP)),
            bad: tally.bad.clone(),
            ended: tally.ended,
        }
    }

    /// How many are limited now.
    pub(super) fn held(&self) -> usize {
        self.limited.iter().filter(|row| row.is_held()).count()
    }

    /// Refused lines of the last minute.
    pub(super) fn refused_in_minute(&self) -> u64 {
        self.rates[2].series.iter().sum()
    }

    pub(super) fn sums_text(&self) -> String {
        let number = |count: u64| grouped(count.into());
        let sums = &self.sums;
        let mut text =
            format!("{} lines: {} admitted, {} denied", number(sums.lines), number(sums.admitted), number(sums.denied));
        for (count, what) in [
            (sums.never, "never admitted at their cost"),
            (sums.outside, "of other routes"),
            (sums.unreadable, "unreadable"),
            (sums.undecided, "undecided (too many callers)"),
            (sums.ahead, "ahead of their time"),
            (sums.decided_late, "late"),
        ] {
            if count > 0 {
                text.extend([", ", &number(count), " ", what]);
            }
        }
        text
    }

    pub(super) fn limited_text(&self) -> String {
        let callers = grouped(self.callers as u128);
        format!("{} limited now of {callers} caller{}", self.held(), if self.callers == 1 { "" } else { "s" })
    }
}

/// A wait as it is read at a glance: whole seconds, rounded up, or whole milliseconds below one.
pub(super) fn wait(nanos: Option<u64>) -> String {
    match nanos {
        None => "never".into(),
        Some(0) => "now".into(),
        Some(u64::MAX) => "36 years or more".into(),
        Some(short) if short < SECOND => format!("{}ms", short.div_ceil(1_000_000)),
        Some(long) => span(long.div_ceil(SECOND).saturating_mul(SECOND)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_rounded_up() {
        for (nanos, text) in [
            (None, "never"),
            (Some(0), "now"),
            (Some(1), "1ms"),
            (Some(428_571_428), "429ms"),
            (Some(SECOND), "1s"),
            (Some(SECOND + 1), "2s"),
            (Some(3_599 * SECOND + 1), "1h"),
            (Some(u64::MAX), "36 years or more"),
        ] {
            assert_eq!(wait(nanos), text);
        }
    }

    #[test]
    fn whoever_is_held_comes_first_and_equal_ones_keep_their_places() {
        let row = |key: &str, minute, wait| Row { key: key.into(), minute, refused: minute, wait };
        let mut rows = [row("d", 9, Some(0)), row("c", 2, Some(5)), row("b", 2, Some(7)), row("a", 1, None)];
        for (sort, expected) in
            [(Sort::Denials, "bcad"), (Sort::Wait, "abcd"), (Sort::Key, "abcd"), (Sort::Denials, "bcad")]
        {
            sort.apply(&mut rows);
            assert_eq!(rows.iter().map(|row| &*row.key).collect::<String>(), expected, "{sort:?}");
        }
    }
}
