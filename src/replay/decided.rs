//! Decisions in order of their lines, and as JSON lines.

use std::io::{self, Write};

use rayon::prelude::*;

use super::batch::Batch;
use super::key::InJson;
use super::rule::Outcome;

/// One line's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided<'b> {
    /// The line's own time, in nanoseconds since 1970.
    pub time: u64,
    /// Who asked.
    pub key: &'b [u8],
    /// For how many tokens.
    pub cost: u64,
    /// What was decided.
    pub outcome: Outcome,
}

impl Decided<'_> {
    /// Writes it as a JSON line. A key that is not UTF-8 is told as near as JSON can; one of several parts is an array.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_json(&self, to: &mut impl Write) -> io::Result<()> {
        write!(to, "{{\"t_ns\":{},\"key\":", self.time)?;
        serde_json::to_writer(&mut *to, &InJson(self.key))?;
        write!(to, ",\"cost\":{},\"outcome\":", self.cost)?;
        match self.outcome {
            Outcome::Admitted { remaining } => writeln!(to, "\"admitted\",\"remaining\":{remaining}}}"),
            Outcome::Denied { retry_after_ns } => writeln!(to, "\"denied\",\"retry_after_ns\":{retry_after_ns}}}"),
            Outcome::Never => writeln!(to, "\"never\"}}"),
        }
    }
}

/// Puts each shard's outcomes back to the places of their lines.
pub(super) fn in_order(batches: &[Batch], decided: &[Vec<Outcome>]) -> Vec<Vec<Outcome>> {
    let mut next: Vec<_> = decided.iter().map(|outcomes| outcomes.iter()).collect();
    batches
        .iter()
        .map(|batch| {
            let mut outcomes = vec![Outcome::Never; batch.entries.len()];
            for (places, next) in batch.dealt.iter().zip(&mut next) {
                for (&place, &outcome) in places.iter().zip(next) {
                    outcomes[place] = outcome;
                }
            }
            outcomes
        })
        .collect()
}

/// The decisions of a batch's records `from..to`.
pub(super) fn decisions<'b>(
    batch: &'b Batch,
    outcomes: &'b [Outcome],
    from: usize,
    to: usize,
) -> impl Iterator<Item = Decided<'b>> {
    batch.entries[from..to].iter().zip(&outcomes[from..to]).map(|(entry, &outcome)| Decided {
        time: entry.time,
        key: batch.key(entry),
        cost: entry.cost,
        outcome,
    })
}

/// Writes decisions as JSON lines, formatted in parallel, some at a time.
pub(super) fn write(batches: &[Batch], outcomes: &[Vec<Outcome>], to: &mut dyn Write) -> io::Result<()> {
    const PIECE: usize = 16 << 10;
    const AT_ONCE: usize = 16;
    let pieces: Vec<_> = batches
        .iter()
        .zip(outcomes)
        .flat_map(|(batch, outcomes)| {
            (0..outcomes.len())
                .step_by(PIECE)
                .map(move |from| (batch, outcomes, from, (from + PIECE).min(outcomes.len())))
        })
        .collect();
    for some in pieces.chunks(AT_ONCE) {
        let texts: Vec<Vec<u8>> = some
            .par_iter()
            .map(|&(batch, outcomes, from, to)| {
                let mut text = Vec::with_capacity((to - from) * 112);
                for decision in decisions(batch, outcomes, from, to) {
                    decision.write_json(&mut text)?;
                }
                Ok(text)
            })
            .collect::<io::Result<_>>()?;
        for text in texts {
            to.write_all(&text)?;
        }
    }
    Ok(())
}
