//! One key's level over time: the burst spent and the refill seen.

use super::batch::Batch;
use super::engine::Stage;
use super::error::Error;
use super::rule::{Outcome, State};
use crate::rule::Rule;

/// A stretch of time of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Level {
    /// When it begins, in nanoseconds since 1970.
    pub from_ns: u64,
    /// How long it is.
    pub length_ns: u64,
    /// The fewest whole tokens that were there.
    pub lowest: u64,
    /// The most.
    pub highest: u64,
    /// Lines decided in it.
    pub lines: u64,
    /// Those that were denied.
    pub denied: u64,
}

/// Follows one key through a log, in so many stretches of a known span.
pub(super) struct Following<'k> {
    key: &'k [u8],
    rule: Rule,
    state: Option<State>,
    /// Its lines, to be sorted.
    kept: Option<Vec<(u64, u64)>>,
    span: (u64, u64),
    stretch: u64,
    levels: Vec<Level>,
}

impl<'k> Following<'k> {
    /// From the key's first line to its last, both known from a replay before.
    pub(super) fn new(key: &'k [u8], rule: Rule, sort: bool, span: (u64, u64), stretches: u64) -> Self {
        // At least a nanosecond, and the last instant is in the last stretch.
        let stretch = (span.1 - span.0) / stretches.max(1) + 1;
        Self { key, rule, state: None, kept: sort.then(Vec::new), span, stretch, levels: Vec::new() }
    }

    fn decide(&mut self, time: u64, cost: u64) {
        // A line of the same key outside its span was not there when the log was read before: it has grown.
        if time > self.span.1 {
            return;
        }
        let mut state = self.state.unwrap_or_else(|| State::new(time, &self.rule));
        let time = time.max(state.latest());
        self.advance(&state, time);
        let before = state.level(time, &self.rule);
        let (outcome, _) = state.decide(time, cost, &self.rule);
        let after = state.level(time, &self.rule);
        self.state = Some(state);
        if let Some(now) = self.levels.last_mut() {
            now.lowest = now.lowest.min(before).min(after);
            now.highest = now.highest.max(before).max(after);
            now.lines += 1;
            now.denied += u64::from(matches!(outcome, Outcome::Denied { .. }));
        }
    }

    /// Adds the stretches up to the one that `time` is in.
    fn advance(&mut self, state: &State, time: u64) {
        loop {
            let from = match self.levels.last_mut() {
                None => self.span.0,
                Some(last) => {
                    let end = last.from_ns.saturating_add(last.length_ns);
                    if time < end {
                        return;
                    }
                    // What came back until its end, since the line before.
                    let there = state.level(state.latest().max(end - 1), &self.rule);
                    (last.lowest, last.highest) = (last.lowest.min(there), last.highest.max(there));
                    end
                }
            };
            let there = state.level(state.latest().max(from), &self.rule);
            self.levels.push(Level {
                from_ns: from,
                length_ns: self.stretch,
                lowest: there,
                highest: there,
                lines: 0,
                denied: 0,
            });
        }
    }

    pub(super) fn finish(mut self) -> Vec<Level> {
        for (time, cost) in self.kept.take().into_iter().flat_map(in_order) {
            self.decide(time, cost);
        }
        if let Some(state) = self.state {
            self.advance(&state, self.span.1);
        }
        self.levels
    }
}

/// In order of time; lines of one time in order of input.
fn in_order(mut lines: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    lines.sort_by_key(|&(time, _)| time);
    lines
}

impl Stage for Following<'_> {
    fn shards(&self) -> usize {
        1
    }

    fn take(&mut self, batches: Vec<Batch>) -> Result<(), Error> {
        for batch in &batches {
            for entry in &batch.entries {
                if batch.key(entry) != self.key {
                    continue;
                }
                match &mut self.kept {
                    Some(kept) => kept.push((entry.time, entry.cost)),
                    None => self.decide(entry.time, entry.cost),
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Budget;

    #[test]
    fn a_burst_is_spent_and_comes_back() {
        // Four at once, one every 10 ns, from 100 to 139 in stretches of 10.
        let rule = Rule::TokenBucket(Budget::new(4, 1, Duration::from_nanos(10)).unwrap());
        let mut following = Following::new(b"a", rule, false, (100, 139), 4);
        for (time, cost) in [(100, 1), (101, 1), (101, 3), (105, 2), (132, 1), (131, 1), (139, 1)] {
            following.decide(time, cost);
        }
        let levels = following.finish();
        let shown: Vec<_> = levels
            .iter()
            .map(|level| (level.from_ns, level.lowest, level.highest, level.lines, level.denied))
            .collect();
        assert_eq!(shown, [(100, 0, 4, 4, 1), (110, 1, 1, 0, 0), (120, 2, 2, 0, 0), (130, 0, 3, 3, 0)]);
        assert!(levels.iter().all(|level| level.length_ns == 10));
    }
}
