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

/// Follows one key through a log, over known spans of time.
pub(super) struct Following<'k> {
    key: &'k [u8],
    rule: Rule,
    state: Option<State>,
    /// Its lines, to be sorted.
    kept: Option<Vec<(u64, u64)>>,
    spans: Vec<Span>,
}

/// A span of time, in stretches of equal length.
struct Span {
    from: u64,
    until: u64,
    stretch: u64,
    levels: Vec<Level>,
    is_closed: bool,
}

impl<'k> Following<'k> {
    pub(super) fn new(key: &'k [u8], rule: Rule, sort: bool, spans: &[(u64, u64)], stretches: u64) -> Self {
        let spans = spans.iter().map(|&(from, until)| Span {
            from,
            until: until.max(from),
            // At least a nanosecond, and the last instant is in the last stretch.
            stretch: (until.saturating_sub(from) / stretches.max(1)).saturating_add(1),
            levels: Vec::new(),
            is_closed: false,
        });
        Self { key, rule, state: None, kept: sort.then(Vec::new), spans: spans.collect() }
    }

    fn decide(&mut self, time: u64, cost: u64) {
        let rule = &self.rule;
        let before = self.state.unwrap_or_else(|| State::new(time, rule));
        let time = time.max(before.latest());
        let mut after = before;
        let (outcome, _) = after.decide(time, cost, rule);
        for span in &mut self.spans {
            span.note(&before, &after, time, outcome, rule);
        }
        self.state = Some(after);
    }

    pub(super) fn finish(mut self) -> Vec<Vec<Level>> {
        for (time, cost) in self.kept.take().into_iter().flat_map(in_order) {
            self.decide(time, cost);
        }
        let (state, rule) = (self.state, self.rule);
        self.spans
            .into_iter()
            .map(|mut span| {
                if let Some(state) = state {
                    span.close(&state, &rule);
                }
                span.levels
            })
            .collect()
    }
}

impl Span {
    /// A line at `time` changed the state.
    fn note(&mut self, before: &State, after: &State, time: u64, outcome: Outcome, rule: &Rule) {
        if time < self.from {
            return;
        }
        if time > self.until {
            self.close(before, rule);
            return;
        }
        self.advance(before, time, rule);
        if let Some(now) = self.levels.last_mut() {
            for there in [before.level(time, rule), after.level(time, rule)] {
                (now.lowest, now.highest) = (now.lowest.min(there), now.highest.max(there));
            }
            now.lines += 1;
            now.denied += u64::from(matches!(outcome, Outcome::Denied { .. }));
        }
    }

    /// Ends the span: what came back until then came back to this state, which no line within the span changes any more.
    fn close(&mut self, state: &State, rule: &Rule) {
        if self.is_closed {
            return;
        }
        self.is_closed = true;
        self.advance(state, self.until, rule);
        let there = state.level(state.latest().max(self.until), rule);
        if let Some(last) = self.levels.last_mut() {
            (last.lowest, last.highest) = (last.lowest.min(there), last.highest.max(there));
        }
    }

    /// Adds the stretches up to the one that `time` is in.
    fn advance(&mut self, state: &State, time: u64, rule: &Rule) {
        let there = |time: u64| state.level(state.latest().max(time), rule);
        loop {
            let from = match self.levels.last_mut() {
                None => self.from,
                Some(last) => {
                    let end = last.from_ns.saturating_add(last.length_ns);
                    if time < end {
                        return;
                    }
                    // What came back until its end, since the line before.
                    let there = there(end - 1);
                    (last.lowest, last.highest) = (last.lowest.min(there), last.highest.max(there));
                    end
                }
            };
            let (lowest, highest) = (there(from), there(from));
            self.levels.push(Level { from_ns: from, length_ns: self.stretch, lowest, highest, lines: 0, denied: 0 });
        }
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
        let mut following = Following::new(b"a", rule, false, &[(100, 139)], 4);
        for (time, cost) in [(100, 1), (101, 1), (101, 3), (105, 2), (132, 1), (131, 1), (139, 1)] {
            following.decide(time, cost);
        }
        let levels = following.finish().remove(0);
        let shown: Vec<_> = levels
            .iter()
            .map(|level| (level.from_ns, level.lowest, level.highest, level.lines, level.denied))
            .collect();
        assert_eq!(shown, [(100, 0, 4, 4, 1), (110, 1, 1, 0, 0), (120, 2, 2, 0, 0), (130, 0, 3, 3, 0)]);
        assert!(levels.iter().all(|level| level.length_ns == 10));
    }
}
