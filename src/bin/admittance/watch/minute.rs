//! Counts of the last minute, second by second.

/// How many seconds are counted.
pub(super) const SECONDS: u64 = 60;

/// Seconds over which a rate is told: one alone would flicker.
const RATE: u64 = 10;

#[derive(Clone)]
pub(super) struct Minute {
    /// The latest second that was counted in.
    newest: u64,
    counts: [u32; SECONDS as usize],
}

impl Default for Minute {
    fn default() -> Self {
        Self { newest: 0, counts: [0; SECONDS as usize] }
    }
}

impl Minute {
    /// Counts one more in a second since 1970. One that is a minute before the newest, or more, is past.
    pub(super) fn count(&mut self, second: u64) {
        if second > self.newest {
            for passed in (self.newest + 1..=second).take(SECONDS as usize) {
                self.counts[place(passed)] = 0;
            }
            self.newest = second;
        }
        if self.newest - second < SECONDS {
            let count = &mut self.counts[place(second)];
            *count = count.saturating_add(1);
        }
    }

    fn of(&self, second: u64) -> u64 {
        let is_there = second <= self.newest && self.newest - second < SECONDS;
        if is_there { self.counts[place(second)].into() } else { 0 }
    }

    /// The minute that ends with `second`, oldest first.
    pub(super) fn series(&self, second: u64) -> impl Iterator<Item = u64> {
        (0..SECONDS).rev().map(move |ago| second.checked_sub(ago).map_or(0, |second| self.of(second)))
    }

    /// The sum of the minute that ends with `second`.
    pub(super) fn sum(&self, second: u64) -> u64 {
        self.series(second).sum()
    }

    /// How many a second, in the last ten or in as many as there are since the first.
    #[allow(clippy::cast_precision_loss, reason = "told to a tenth")]
    pub(super) fn rate(&self, first: u64, second: u64) -> f64 {
        let over = RATE.min(second.saturating_sub(first).saturating_add(1));
        let counted: u64 = self.series(second).skip((SECONDS - over) as usize).sum();
        counted as f64 / over as f64
    }
}

fn place(second: u64) -> usize {
    (second % SECONDS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a list of all that was counted.
    #[test]
    fn the_last_minute_is_counted_and_no_more() {
        let seconds = [100, 100, 101, 100, 150, 159, 160, 99, 101, 220, 400, 399, 341, 340, 339, 1000, u64::MAX - 1];
        let (mut minute, mut newest, mut all) = (Minute::default(), 0, Vec::new());
        for second in seconds {
            minute.count(second);
            newest = newest.max(second);
            if newest - second < SECONDS {
                all.push(second);
            }
            for now in [newest - 1, newest, newest + 1] {
                let counted = |at: u64| all.iter().filter(|&&second| second == at && newest - second < SECONDS).count();
                let expected: Vec<u64> =
                    (0..60).rev().map(|ago| now.checked_sub(ago).map_or(0, counted) as u64).collect();
                assert_eq!(minute.series(now).collect::<Vec<_>>(), expected, "{second} {now}");
                assert_eq!(minute.sum(now), expected.iter().sum::<u64>());
            }
        }
    }

    #[test]
    #[allow(clippy::float_cmp, reason = "these are exact")]
    fn a_rate_is_of_ten_seconds_or_of_as_many_as_there_were() {
        let mut minute = Minute::default();
        for second in 100..=104 {
            (0..4).for_each(|_| minute.count(second));
        }
        assert_eq!((minute.rate(100, 100), minute.rate(100, 103), minute.rate(100, 104)), (4.0, 4.0, 4.0));
        assert_eq!((minute.rate(100, 109), minute.rate(100, 111), minute.rate(100, 200)), (2.0, 1.2, 0.0));
    }
}
