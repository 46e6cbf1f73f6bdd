//! Counts over time, in bounded memory whatever the span.

use std::collections::BTreeMap;

/// More intervals than this are merged two by two.
const MOST: usize = 1024;

/// Counts an interval of time: requests, and those denied (never admissible ones included).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bar {
    /// When it begins, in nanoseconds since 1970.
    pub from_ns: u64,
    /// How long it is, in nanoseconds.
    pub length_ns: u64,
    /// Lines decided in it.
    pub lines: u64,
    /// Lines of those that were not admitted.
    pub denied: u64,
}

/// How long intervals may be, in nanoseconds: lengths that people count in, each a whole multiple of the one before, so
/// that intervals merge without being cut. After a day come 2, 4, 8 … days.
const LENGTHS: [u64; 48] = {
    const SECOND: u64 = 1_000_000_000;
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

/// Intervals are aligned to multiples of their length, so that timelines of different shards add up.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    /// Which of [`LENGTHS`].
    grade: usize,
    /// Lines and denials of the interval that begins then.
    counts: BTreeMap<u64, (u64, u64)>,
    /// The interval of the last count, not yet in `counts`: lines of the same interval come in a row.
    last: Option<(u64, (u64, u64))>,
}

impl Timeline {
    fn length(&self) -> u64 {
        LENGTHS[self.grade]
    }

    pub(super) fn count(&mut self, time: u64, denied: bool) {
        let length = self.length();
        match &mut self.last {
            Some((from, (lines, bad))) if time >= *from && time - *from < length => {
                *lines += 1;
                *bad += u64::from(denied);
            }
            _ => {
                self.flush();
                self.last = Some((time - time % self.length(), (1, u64::from(denied))));
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

    fn add(&mut self, time: u64, (lines, denied): (u64, u64)) {
        let sum = self.counts.entry(time - time % self.length()).or_default();
        *sum = (sum.0 + lines, sum.1 + denied);
    }

    fn coarsen(&mut self, grade: usize) {
        self.grade = grade;
        for (from, counts) in std::mem::take(&mut self.counts) {
            self.add(from, counts);
        }
    }

    pub(super) fn merge(&mut self, mut other: Self) {
        self.flush();
        other.flush();
        self.coarsen(self.grade.max(other.grade));
        for (from, counts) in other.counts {
            self.add(from, counts);
        }
    }

    /// At most `most` bars (2 at least), without gaps, from the first count to the last.
    pub(super) fn bars(mut self, most: u64) -> Vec<Bar> {
        self.flush();
        loop {
            let (Some((&first, _)), Some((&last, _))) = (self.counts.first_key_value(), self.counts.last_key_value())
            else {
                return Vec::new();
            };
            let length = self.length();
            if (last - first) / length < most {
                return (0..=(last - first) / length)
                    .map(|number| {
                        let from = first + number * length;
                        let (lines, denied) = self.counts.get(&from).copied().unwrap_or_default();
                        Bar { from_ns: from, length_ns: length, lines, denied }
                    })
                    .collect();
            }
            self.coarsen(self.grade + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_however_long_the_span() {
        let (mut one, mut other) = (Timeline::default(), Timeline::default());
        for number in 0..10_000_u64 {
            let time = number * 1_000_000_007;
            if number % 2 == 0 { one.count(time, false) } else { other.count(time, number % 3 == 0) }
        }
        assert!(one.counts.len() <= MOST && other.counts.len() <= MOST);
        one.merge(other);
        let bars = one.bars(50);
        assert!(bars.len() > 10 && bars.len() <= 50);
        assert_eq!(bars.iter().map(|bar| bar.lines).sum::<u64>(), 10_000);
        assert_eq!(bars.iter().map(|bar| bar.denied).sum::<u64>(), (0..10_000).filter(|n| n % 6 == 3).count() as u64);
        for pair in bars.windows(2) {
            assert_eq!(pair[0].from_ns + pair[0].length_ns, pair[1].from_ns);
        }
    }

    #[test]
    fn each_length_is_a_multiple_of_the_one_before_and_the_last_is_long_enough() {
        assert!(LENGTHS.windows(2).all(|pair| pair[1] > pair[0] && pair[1] % pair[0] == 0), "{LENGTHS:?}");
        assert!(u64::MAX / LENGTHS[LENGTHS.len() - 1] < 2, "{LENGTHS:?}");
    }

    #[test]
    fn the_ends_of_time_are_bars_too() {
        let mut all = Timeline::default();
        all.count(0, true);
        all.count(u64::MAX, false);
        assert_eq!(all.bars(10).iter().map(|bar| bar.lines).sum::<u64>(), 2);
    }
}
