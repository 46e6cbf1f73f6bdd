//! What a report tells beyond the summary: every caller that was denied, when and for how long, and what all would have needed.

use std::cmp::Reverse;

use super::history::History;
use super::shard::{Key, Shard};
use super::summary::Summary;
use crate::rule::Rule;

/// A replay in detail.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The sums.
    pub summary: Summary,
    /// Every caller that was refused at least once: denied, or asking for what is never admitted. Most often first; of those
    /// refused as often, the first by their bytes.
    pub denied: Vec<Caller>,
    /// Callers that were refused at least once: denied, or asking for what is never admitted.
    pub refused: u64,
    /// The peak demands of all callers.
    pub demand: Peaks,
}

/// A caller that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caller {
    /// As it stands in the log.
    pub key: Vec<u8>,
    /// Its lines.
    pub lines: u64,
    /// Its lines that were denied.
    pub denied: u64,
    /// Its lines whose cost is above what the limit ever holds.
    pub never: u64,
    /// The first line that was denied or is never admitted, in nanoseconds since 1970.
    pub first_denied_ns: u64,
    /// The last one.
    pub last_denied_ns: u64,
    /// Stretches of time at the limit: each from a denial to the instant from which what was denied would have passed. None
    /// where each refused line is never admitted: no wait would have helped.
    pub spells: u64,
    /// Their lengths together.
    pub held_ns: u64,
    /// The longest of them: when it began and when it ended; of equal ones the first.
    pub longest: (u64, u64),
    /// The smallest capacity that would have denied it nothing, at this refill; of a window, the smallest limit.
    pub peak: u64,
}

/// How callers' peak demands are spread. A caller's peak demand is the smallest capacity that denies it nothing at the refill
/// (or window) that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peaks(Vec<u64>);

impl Peaks {
    /// How many callers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The smallest capacity that spares a share of all callers, in thousandths: `999` is 99.9 %. `None` of no callers.
    ///
    /// # Panics
    ///
    /// Never: a share of more than a thousand thousandths is all.
    #[must_use]
    pub fn spares(&self, thousandths: u32) -> Option<u64> {
        let callers = (self.0.len() as u128 * u128::from(thousandths.min(1000))).div_ceil(1000);
        let place = usize::try_from(callers).unwrap_or(usize::MAX).saturating_sub(1);
        self.0.get(place).copied()
    }

    /// How many callers need more than `above` and at most `most`.
    #[must_use]
    pub fn between(&self, above: u64, most: u64) -> usize {
        let until = |most| self.0.partition_point(|&peak| peak <= most);
        until(most).saturating_sub(until(above))
    }

    /// How many callers asked for nothing, ever.
    #[must_use]
    pub fn of_nothing(&self) -> usize {
        self.0.partition_point(|&peak| peak == 0)
    }

    /// The largest of all; `None` of no callers.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        self.0.last().copied()
    }
}

impl Report {
    pub(super) fn gather(summary: Summary, shards: Vec<Shard<History>>) -> Self {
        let rule = &summary.rule;
        let mut peaks: Vec<u64> =
            shards.iter().flat_map(|shard| &shard.keys).map(|key| key.detail.demand.capacity(rule)).collect();
        peaks.sort_unstable();
        let mut denied: Vec<Caller> =
            shards.into_iter().flat_map(|shard| shard.keys).filter_map(|key| Caller::of(key, rule)).collect();
        denied.sort_unstable_by(|a, b| (Reverse(a.refused()), &a.key).cmp(&(Reverse(b.refused()), &b.key)));
        Self { refused: denied.len() as u64, denied, demand: Peaks(peaks), summary }
    }
}

impl Caller {
    /// Its lines that were not admitted: denied, or never admitted.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.denied + self.never
    }

    /// How long the longest stretch at the limit was.
    #[must_use]
    pub fn longest_ns(&self) -> u64 {
        self.longest.1 - self.longest.0
    }

    /// `None` where it was never refused.
    fn of(key: Key<History>, rule: &Rule) -> Option<Self> {
        let held = key.detail.held?;
        Some(Self {
            key: key.name.into(),
            lines: key.lines,
            denied: key.denied,
            never: key.never,
            first_denied_ns: held.first,
            last_denied_ns: held.last,
            spells: held.spells,
            held_ns: held.total,
            longest: held.longest,
            peak: key.detail.demand.capacity(rule),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_callers_is_rounded_up_so_that_it_is_never_missed() {
        let peaks = Peaks((1..=1000).collect());
        for (thousandths, capacity) in [(0, 1), (1, 1), (999, 999), (1000, 1000), (4000, 1000)] {
            assert_eq!(peaks.spares(thousandths), Some(capacity));
        }
        // 999 of 999 and a little is all of them.
        assert_eq!(Peaks((1..=999).collect()).spares(999), Some(999));
        assert_eq!(Peaks(vec![2, 2, 9]).spares(666), Some(2));
        assert_eq!(Peaks(vec![2, 2, 9]).spares(667), Some(9));
        assert_eq!(Peaks(Vec::new()).spares(999), None);
    }

    #[test]
    fn bands_part_all_callers() {
        let peaks = Peaks(vec![1, 2, 2, 3, 8, u64::MAX]);
        assert_eq!((peaks.between(0, 2), peaks.between(2, 8), peaks.between(8, u64::MAX)), (3, 2, 1));
        assert_eq!(peaks.between(8, 2), 0);
    }
}
