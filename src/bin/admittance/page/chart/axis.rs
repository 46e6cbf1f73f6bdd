//! Marks on axes, where people would put them.

use jiff::tz::TimeZone;
use jiff::{Timestamp, fmt::strtime};

pub(super) use super::frame::Marks;
use crate::page::number;
use crate::text::span;

const SECOND: u64 = 1_000_000_000;

/// An axis of counts, from 0 to a round number that has room for `most`.
#[allow(clippy::cast_precision_loss, reason = "a place in a drawing")]
pub(super) fn of_counts(most: u64) -> Marks {
    let at: Vec<_> = count_ticks(most, 4).into_iter().map(|tick| (tick as f64, number(tick))).collect();
    Marks { end: at.last().map_or(1.0, |(tick, _)| *tick), at }
}

/// An axis of time, in nanoseconds since `from`.
#[allow(clippy::cast_precision_loss, reason = "a place in a drawing")]
pub(super) fn of_time(from: u64, until: u64, labels: u64) -> Marks {
    let at = time_ticks(from, until, labels).into_iter().map(|(tick, text)| ((tick - from) as f64, text)).collect();
    Marks { end: (until - from).max(1) as f64, at }
}

/// Marks of a count: 0, and whole steps of 1, 2 or 5 up to the first at or above `most`.
fn count_ticks(most: u64, about: u64) -> Vec<u64> {
    let mut step: u64 = 1;
    for factor in [2, 5, 10].into_iter().cycle() {
        if most / step < about {
            break;
        }
        let power = 10_u64.checked_pow(step.ilog10()).unwrap_or(1);
        step = power.saturating_mul(factor);
        if step == u64::MAX {
            break;
        }
    }
    let mut ticks = vec![0];
    while let Some(&last) = ticks.last() {
        if last >= most.max(1) {
            break;
        }
        ticks.push(last.saturating_add(step));
    }
    ticks
}

/// Marks of time at whole minutes, hours and days of UTC, at most `about`, and what they say.
fn time_ticks(from: u64, until: u64, about: u64) -> Vec<(u64, String)> {
    const LONG: [u64; 22] = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800,
        345_600, 691_200, 2_764_800,
    ];
    let below = (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    let years = (0..12).map(|power| (2_764_800 * SECOND).saturating_mul(12 << power));
    let about = about.max(1);
    let step = below
        .chain(LONG.map(|length| length * SECOND))
        .chain(years)
        .find(|step| (until - from) / step < about)
        .unwrap_or(u64::MAX);
    let first = from.div_ceil(step).saturating_mul(step);
    std::iter::successors(Some(first), |tick| tick.checked_add(step))
        .take_while(|&tick| tick <= until)
        .map(|tick| (tick, mark(tick, step)))
        .collect()
}

/// An instant as short as its step allows; a trace that begins near 0 is told as time since then.
fn mark(instant: u64, step: u64) -> String {
    const YEAR_1990: u64 = 631_152_000_000_000_000;
    let format = match step / SECOND {
        0 => "%H:%M:%S%.f",
        1..60 => "%H:%M:%S",
        60..86_400 => "%-d %b %H:%M",
        86_400..31_536_000 => "%-d %b",
        _ => "%b %Y",
    };
    match Timestamp::from_nanosecond(instant.into()) {
        Ok(time) if instant >= YEAR_1990 => {
            strtime::format(format, TimeZone::UTC.to_datetime(time)).unwrap_or_else(|_| time.to_string())
        }
        _ => span(instant),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_marked_at_round_numbers_that_reach_the_largest() {
        for (most, about, marks) in [
            (0, 5, vec![0, 1]),
            (3, 5, vec![0, 1, 2, 3]),
            (7, 5, vec![0, 2, 4, 6, 8]),
            (148, 5, vec![0, 50, 100, 150]),
            (u64::MAX, 3, vec![0, 10_000_000_000_000_000_000, u64::MAX]),
        ] {
            assert_eq!(count_ticks(most, about), marks, "{most}");
        }
    }

    #[test]
    fn time_is_marked_at_whole_hours_of_the_day() {
        let start = 1_431_857_103 * SECOND;
        let marks: Vec<_> = time_ticks(start, start + 86_400 * SECOND, 5).into_iter().map(|(_, text)| text).collect();
        assert_eq!(marks, ["17 May 12:00", "17 May 18:00", "18 May 00:00", "18 May 06:00"]);
        let marks: Vec<_> = time_ticks(0, 4 * SECOND, 5).into_iter().map(|(_, text)| text).collect();
        assert_eq!(marks, ["0ns", "1s", "2s", "3s", "4s"]);
        // The ends of time are marked too, and it ends.
        assert!(time_ticks(0, u64::MAX, 8).len() <= 9);
        assert_eq!(time_ticks(7, 7, 3).len(), 1);
    }
}
