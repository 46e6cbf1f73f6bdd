//! Counts over time, in bounded memory whatever the span.
//!
//! While lines come, they are counted in short intervals; where there are too many, intervals are merged, each length a
//! whole multiple of the one before, so that none is cut. At the end the intervals are joined to a few dozen bars, of a
//! length that people count in.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// More intervals than this are merged.
const MOST: usize = 1024;

/// How many bars there are at most; 25 at least, unless the whole log is shorter than as many nanoseconds.
const BARS: u64 = 64;

/// Lines decided in an interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bar {
    /// When it begins, in nanoseconds since 1970.
    pub from_ns: u64,
    /// How long it is, in nanoseconds.
    pub length_ns: u64,
    /// Lines decided in it, admitted or not.
    pub lines: u64,
    /// Lines of those that were denied.
    pub denied: u64,
    /// Lines of those whose cost is above what the limit ever holds.
    pub never: u64,
}

/// What is counted in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) lines: u64,
    pub(super) denied: u64,
    pub(super) never: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.lines += other.lines;
        self.denied += other.denied;
        self.never += other.never;
    }
}

const SECOND: u64 = 1_000_000_000;

/// How long intervals are while they are counted, in nanoseconds: each a whole multiple of the one before. After a day come 2,
/// 4, 8 … days.
const INTERVALS: [u64; 48] = {
    let mut lengths = [0; 48];
    let mut place = 0;
    let mut length = 1;
    while length < SECOND {
        (lengths[place], lengths[place + 1]) = (length, 2 * length);
        (place, length) = (place + 2, 10 * length);
    }
    let mut seconds = [1, 2, 10, 20, 60, 120, 600, 1200, 3600, 7200, 21_600, 43_200, 86_400].as_slice();
    while let [first, rest @ ..] = seconds {
        length = *first * SECOND;
        (lengths[place], place, seconds) = (length, place + 1, rest);
    }
    while place < lengths.len() {
        length *= 2;
        (lengths[place], place) = (length, place + 1);
    }
    lengths
};

/// How long bars are, in nanoseconds, at most 2.5 times the one before. Each is a whole multiple of every interval that is
/// fine enough to be counted beneath it (a test says so), so that bars are the same however intervals were merged.
fn bar_lengths() -> impl Iterator<Item = u64> {
    let below_a_second = (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    let below_a_day = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200]
        .map(|length| length * SECOND);
    let days = (0..18).map(|power| (86_400 * SECOND) << power);
    below_a_second.chain(below_a_day).chain(days)
}

/// Intervals are aligned to multiples of their length, so that timelines of different shards add up.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    /// Which of [`INTERVALS`].
    grade: usize,
    /// What was counted in the interval that begins then.
    counts: BTreeMap<u64, Counts>,
    /// The interval of the last count, not yet in `counts`: lines of the same interval come in a row.
    last: Option<(u64, Counts)>,
}

impl Timeline {
    fn length(&self) -> u64 {
        INTERVALS[self.grade]
    }

    pub(super) fn count(&mut self, time: u64, counts: Counts) {
        let length = self.length();
        match &mut self.last {
            Some((from, last)) if time >= *from && time - *from < length => *last += counts,
            _ => {
                self.flush();
                self.last = Some((time - time % self.length(), counts));
            }
        }
    }

    fn flush(&mut self) {
        if let Some((from, counts)) = self.last.take() {
            self.add(from, counts);
            while self.counts.len() > MOST {
                self.coarsen(self.grade + 1);
            }
        }
    }

    fn add(&mut self, time: u64, counts: Counts) {
        *self.counts.entry(time - time % self.length()).or_default() += counts;
    }

    fn coarsen(&mut self, grade: usize) {
        self.grade = grade;
        for (from, counts) in std::mem::take(&mut self.counts) {
            self.add(from, counts);
        }
    }

    /// Adds the counts of other lines, for [`bars`](Self::bars): those are whole multiples of either's intervals.
    pub(super) fn merge(&mut self, mut other: Self) {
        self.flush();
        other.flush();
        for (from, counts) in other.counts {
            self.add(from, counts);
        }
    }

    /// At most [`BARS`], without gaps, from the first count to the last.
    pub(super) fn bars(mut self) -> Vec<Bar> {
        self.flush();
        let (Some((&first, _)), Some((&last, _))) = (self.counts.first_key_value(), self.counts.last_key_value())
        else {
            return Vec::new();
        };
        let length = bar_lengths()
            .find(|length| last / length - first / length < BARS)
            .expect("the longest bar is longer than half of all time");
        let number = |time: u64| time / length - first / length;
        let from = |number: u64| (first / length + number) * length;
        let mut bars: Vec<_> = (0..=number(last))
            .map(|number| Bar { from_ns: from(number), length_ns: length, lines: 0, denied: 0, never: 0 })
            .collect();
        for (time, counts) in self.counts {
            // Less than `BARS`.
            let bar = &mut bars[number(time) as usize];
            bar.lines += counts.lines;
            bar.denied += counts.denied;
            bar.never += counts.never;
        }
        bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(denied: bool) -> Counts {
        Counts { lines: 1, denied: u64::from(denied), never: u64::from(!denied) }
    }

    #[test]
    fn counts_add_up_however_long_the_span() {
        for step in [1, 1_007, 1_000_007, SECOND, 86_399 * SECOND, 1_800_000 * SECOND] {
            let (mut even, mut odd) = (Timeline::default(), Timeline::default());
            for number in 0..10_000_u64 {
                let half = if number % 2 == 0 { &mut even } else { &mut odd };
                half.count(number * step, one(number % 3 == 0));
            }
            assert!(even.counts.len() <= MOST && odd.counts.len() <= MOST);
            even.merge(odd);
            let bars = even.bars();
            assert!((BARS / 3..=BARS).contains(&(bars.len() as u64)), "{} bars", bars.len());
            assert_eq!(bars.iter().map(|bar| bar.lines).sum::<u64>(), 10_000);
            assert_eq!(bars.iter().map(|bar| bar.denied).sum::<u64>(), 3_334);
            assert_eq!(bars.iter().map(|bar| bar.never).sum::<u64>(), 6_666);
            for pair in bars.windows(2) {
                assert_eq!(pair[0].from_ns + pair[0].length_ns, pair[1].from_ns);
            }
            let first = bars[0];
            assert_eq!(first.lines, (0..10_000).filter(|number| number * step < first.length_ns).count() as u64);
        }
    }

    #[test]
    fn bars_do_not_tell_how_many_shards_there_were() {
        let times: Vec<u64> =
            (0..20_000).map(|number: u64| (number * number * 7_919) % (977 * 3600) * SECOND).collect();
        let bars = |shards: usize| {
            let mut all = Timeline::default();
            for shard in 0..shards {
                let mut part = Timeline::default();
                times.iter().skip(shard).step_by(shards).for_each(|&time| part.count(time, one(time % 2 == 0)));
                all.merge(part);
            }
            all.bars()
        };
        let one = bars(1);
        assert!([2, 3, 8, 64].into_iter().all(|shards| bars(shards) == one));
    }

    #[test]
    fn intervals_and_bars_are_never_cut() {
        assert!(INTERVALS.windows(2).all(|pair| pair[1] > pair[0] && pair[1] % pair[0] == 0), "{INTERVALS:?}");
        assert!(u64::MAX / INTERVALS[INTERVALS.len() - 1] < 2, "{INTERVALS:?}");
        let bars: Vec<u64> = bar_lengths().collect();
        assert!(bars.windows(2).all(|pair| pair[1] > pair[0] && pair[1] / 5 <= pair[0] / 2 + pair[0] % 2), "{bars:?}");
        assert!(u64::MAX / bars[bars.len() - 1] < BARS);
        // An interval is used where more than `MOST` of the one before were; a bar, where `BARS` of the one before are too
        // few. So the longest interval beneath a bar is at most 5 · BARS / MOST of the bar.
        for bar in bars {
            let beneath =
                |&length: &u64| u128::from(length) * (MOST as u128 - 1) <= u128::from(bar) * 5 * u128::from(BARS);
            assert!(INTERVALS.iter().filter(|length| beneath(length)).all(|length| bar % length == 0), "{bar}");
        }
    }

    #[test]
    fn the_ends_of_time_are_bars_too() {
        let mut all = Timeline::default();
        all.count(0, one(true));
        all.count(u64::MAX, one(false));
        assert_eq!(all.bars().iter().map(|bar| bar.lines).sum::<u64>(), 2);
    }
}
