//! The callers with the highest counts, where counts only grow: exact, in memory for these alone.

use std::cmp::Reverse;
use std::collections::HashMap;

/// How many are kept: more than any screen shows.
const MOST: usize = 200;

/// Who has the highest counts of those that were noted.
///
/// A count that is not among the highest gets there only by growing, and is noted when it does: so nobody else's is needed.
#[derive(Default)]
pub(super) struct Leaders {
    counts: HashMap<Box<[u8]>, u64>,
    /// No more than the lowest of them, once there are enough.
    least: u64,
}

impl Leaders {
    /// Notes that a caller's count has grown by one, to `count`; or to less where it was forgotten in between, and is
    /// remembered here.
    pub(super) fn note(&mut self, key: &[u8], count: u64) {
        if let Some(known) = self.counts.get_mut(key) {
            *known = (*known + 1).max(count);
        } else if self.counts.len() < MOST {
            self.counts.insert(key.into(), count);
        } else if count > self.least {
            let lowest = self.counts.iter().min_by_key(|(_, count)| **count).map(|(key, count)| (key.clone(), *count));
            let Some((lowest, least)) = lowest else { return };
            self.least = least;
            if count > least {
                self.counts.remove(&lowest);
                self.counts.insert(key.into(), count);
            }
        }
    }

    /// The highest, of equal ones the first by their bytes.
    pub(super) fn top(&self, most: usize) -> Vec<(&[u8], u64)> {
        let mut all: Vec<(&[u8], u64)> = self.counts.iter().map(|(key, count)| (&**key, *count)).collect();
        all.sort_unstable_by_key(|&(key, count)| (Reverse(count), key));
        all.truncate(most);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_are_those_of_a_count_of_everybody() {
        let (mut leaders, mut all) = (Leaders::default(), HashMap::<u64, u64>::new());
        // A fixed mix of few that come often and many that come seldom; the many come first.
        let mut random = 1_u64;
        for step in 0..60_000_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let high = random >> 33;
            let caller = if step % 3 == 0 { high % 40 } else { 1000 + high % (4000 - step / 20) };
            let count = all.entry(caller).or_default();
            *count += 1;
            leaders.note(&caller.to_be_bytes(), *count);
        }
        let mut expected: Vec<u64> = all.into_values().collect();
        expected.sort_unstable_by_key(|&count| Reverse(count));
        let got: Vec<u64> = leaders.top(MOST).iter().map(|&(_, count)| count).collect();
        assert_eq!(got, expected[..MOST]);
    }

    #[test]
    fn who_was_forgotten_elsewhere_is_counted_on_here() {
        let mut leaders = Leaders::default();
        for count in [1, 2, 3, 1, 2] {
            leaders.note(b"a", count);
        }
        assert_eq!(leaders.top(9), [(&b"a"[..], 5)]);
    }
}
