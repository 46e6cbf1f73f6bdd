//! The stages of a replay, in order: read, parse, decide, tell.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use hashbrown::DefaultHashBuilder;
use rayon::prelude::*;

use super::batch::{Batch, Parser, lines, pieces};
use super::record::{Format, Unit};
use super::rule::{Outcome, Rule};
use super::shard::Shard;
use super::source::{Block, Input, blocks};
use super::summary::{BadLine, Seen, Summary};
use super::{combined, jsonl};
use crate::sync::{AtomicU64, Ordering};

/// A limit, and how to read the log it is tried on.
///
/// Runs on rayon's current thread pool, and one more thread that reads.
#[derive(Clone, Debug)]
#[must_use]
pub struct Replay {
    rule: Rule,
    unit: Unit,
    format: Option<Format>,
    sort: bool,
    strict: bool,
    read: Arc<AtomicU64>,
    parsed: Arc<AtomicU64>,
}

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

/// Why a replay stopped.
#[derive(Debug)]
pub enum Error {
    /// An input could not be read.
    Read {
        /// Its name.
        input: String,
        /// What the system said.
        error: io::Error,
    },
    /// The decisions could not be written.
    Write(io::Error),
    /// A line could not be read, and the replay is strict.
    Unreadable(BadLine),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { input, error } => write!(f, "{input}: {error}"),
            Self::Write(error) => write!(f, "decisions: {error}"),
            Self::Unreadable(bad) => write!(f, "{bad}"),
        }
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: expected {}", self.input, self.line, self.error.column, self.error.expected)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { error, .. } | Self::Write(error) => Some(error),
            Self::Unreadable(bad) => Some(&bad.error),
        }
    }
}

/// What is done with decided batches.
type Tell<'t> = &'t mut dyn FnMut(&[Batch], &[Vec<Outcome>]) -> io::Result<()>;

impl Replay {
    /// A replay of `rule`: format detected, requests counted, lines decided as they come, bad lines passed over.
    pub fn new(rule: Rule) -> Self {
        Self {
            rule,
            unit: Unit::Request,
            format: None,
            sort: false,
            strict: false,
            read: Arc::default(),
            parsed: Arc::default(),
        }
    }

    /// What a log's lines cost. A trace says itself.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// How the log is written; detected by its first readable line where this is not said.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Decides in order of time. Keeps every line in memory; decisions are still told in order of input.
    pub fn sort(mut self, sort: bool) -> Self {
        self.sort = sort;
        self
    }

    /// Stops at the first line that cannot be read.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// What shows how far it is, from another thread.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress { read: Arc::clone(&self.read), parsed: Arc::clone(&self.parsed) }
    }

    /// Decides all inputs, one after the other, and tells nothing but the sums.
    ///
    /// # Errors
    ///
    /// When an input cannot be read, or when strict and a line cannot.
    pub fn run(&self, inputs: &[Input]) -> Result<Summary, Error> {
        self.drive(inputs, None)
    }

    /// As [`run`](Self::run), and writes a JSON line a decision, in order of input.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and when they cannot be written.
    pub fn run_to(&self, inputs: &[Input], decisions: &mut dyn Write) -> Result<Summary, Error> {
        let summary =
            self.drive(inputs, Some(&mut |batches, outcomes| write_decisions(batches, outcomes, decisions)))?;
        decisions.flush().map_err(Error::Write)?;
        Ok(summary)
    }

    /// As [`run`](Self::run) on bytes in memory, and tells each decision, in order of input.
    ///
    /// # Errors
    ///
    /// When strict and a line cannot be read.
    pub fn run_bytes(&self, bytes: &[u8], mut tell: impl FnMut(Decided<'_>)) -> Result<Summary, Error> {
        self.drive(
            &[Input::Bytes(bytes.into())],
            Some(&mut |batches, outcomes| {
                for (batch, outcomes) in batches.iter().zip(outcomes) {
                    decided(batch, outcomes, 0, outcomes.len()).for_each(&mut tell);
                }
                Ok(())
            }),
        )
    }

    fn drive(&self, inputs: &[Input], tell: Option<Tell<'_>>) -> Result<Summary, Error> {
        let threads = rayon::current_num_threads();
        let mut run = Run {
            replay: self,
            inputs,
            tell,
            parser: None,
            pieces: threads * 2,
            shards: (0..threads * 4).map(|_| Shard::default()).collect(),
            seen: Seen::default(),
            line: 0,
            last: None,
            all: Batch::default(),
        };
        for block in self.read(inputs) {
            let block = block.map_err(|(input, error)| Error::Read { input: inputs[input].name(), error })?;
            run.block(&block)?;
            if self.strict
                && let Some(stop) = run.seen.stop()
            {
                return Err(stop);
            }
        }
        run.finish()
    }

    /// Reads on a thread of its own. It ends by itself when nobody takes its blocks any more.
    fn read(&self, inputs: &[Input]) -> mpsc::IntoIter<Result<Block, (usize, io::Error)>> {
        let (send, receive) = mpsc::sync_channel(2);
        let (inputs, read) = (inputs.to_vec(), Arc::clone(&self.read));
        thread::spawn(move || {
            if let Err(error) = blocks(&inputs, &read, |block| send.send(Ok(block)).is_ok()) {
                // Nobody listens when the replay has stopped for another reason.
                let _ = send.send(Err(error));
            }
        });
        receive.into_iter()
    }
}

/// How far a replay is.
#[derive(Clone, Debug)]
pub struct Progress {
    read: Arc<AtomicU64>,
    parsed: Arc<AtomicU64>,
}

impl Progress {
    /// Bytes read of the inputs, before they are unzipped.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        // Relaxed, here and below: numbers to look at.
        self.read.load(Ordering::Relaxed)
    }

    /// Lines parsed.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.parsed.load(Ordering::Relaxed)
    }
}

/// A replay under way.
struct Run<'r, 't> {
    replay: &'r Replay,
    inputs: &'r [Input],
    tell: Option<Tell<'t>>,
    /// Made when the format is known.
    parser: Option<Parser<DefaultHashBuilder>>,
    /// Into how many pieces a block is cut.
    pieces: usize,
    shards: Vec<Shard>,
    seen: Seen,
    /// Line breaks passed in the current input.
    line: u64,
    /// The time of the last record.
    last: Option<u64>,
    /// Everything, to be sorted.
    all: Batch,
}

impl Run<'_, '_> {
    fn block(&mut self, block: &Block) -> Result<(), Error> {
        if block.first {
            self.line = 0;
        }
        let parser = self.parser.get_or_insert_with(|| Parser {
            format: self.replay.format.unwrap_or_else(|| detect(&block.bytes)),
            unit: self.replay.unit,
            strict: self.replay.strict,
            shards: self.shards.len(),
            hasher: DefaultHashBuilder::default(),
        });
        let mut batches: Vec<Batch> = pieces(&block.bytes, self.pieces)
            .into_par_iter()
            .enumerate()
            .map(|(number, piece)| parser.parse(piece, block.beheaded && number == 0))
            .collect();
        if self.replay.strict
            && let Some(first) = batches.iter().position(|batch| batch.bad_count > 0)
        {
            // What comes after the line that stops the replay is not decided.
            batches.truncate(first + 1);
        }
        for batch in &mut batches {
            self.note(batch, block.input);
        }
        if self.replay.sort {
            for batch in &batches {
                self.all.append(batch);
            }
            return Ok(());
        }
        self.decide(&batches)
    }

    /// Counts a batch's lines, the bad ones too.
    fn note(&mut self, batch: &mut Batch, input: usize) {
        let seen = &mut self.seen;
        seen.lines += batch.lines;
        seen.unreadable += batch.bad_count;
        for (number, error) in batch.bad.drain(..) {
            seen.bad(BadLine { input: self.inputs[input].name(), line: self.line + number + 1, error });
        }
        if let (Some(first), Some(last)) = (batch.entries.first(), batch.entries.last()) {
            seen.out_of_order += batch.disordered + u64::from(self.last.is_some_and(|before| first.time < before));
            self.last = Some(last.time);
        }
        self.line += batch.breaks();
        // Relaxed: a number to look at.
        self.replay.parsed.fetch_add(batch.lines, Ordering::Relaxed);
    }

    /// Decides batches in order, each shard on its own.
    fn decide(&mut self, batches: &[Batch]) -> Result<(), Error> {
        let rule = &self.replay.rule;
        let decided: Vec<Vec<Outcome>> = self
            .shards
            .par_iter_mut()
            .enumerate()
            .map(|(number, shard)| {
                let mut outcomes = Vec::new();
                for batch in batches {
                    // A batch without lines has dealt nothing out.
                    if let Some(places) = batch.dealt.get(number) {
                        shard.decide(batch, places, rule, &mut outcomes);
                    }
                }
                outcomes
            })
            .collect();
        match &mut self.tell {
            Some(tell) => tell(batches, &in_order(batches, &decided)).map_err(Error::Write),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Summary, Error> {
        if self.replay.sort {
            let mut all = std::mem::take(&mut self.all);
            all.deal_by_time(self.shards.len());
            self.decide(&[all])?;
        }
        let format = self.parser.map(|parser| parser.format);
        Ok(Summary::gather((self.replay.rule, self.replay.unit, format), self.seen, self.shards))
    }
}

/// The format of the first line that can be read, or what it looks like.
fn detect(bytes: &[u8]) -> Format {
    let mut combined = combined::Reader::default();
    for line in lines(bytes) {
        if jsonl::read(line).is_ok() {
            return Format::Jsonl;
        }
        if combined.read(line).is_ok() {
            return Format::Combined;
        }
    }
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => Format::Jsonl,
        _ => Format::Combined,
    }
}

/// Puts each shard's outcomes back to the places of their lines.
fn in_order(batches: &[Batch], decided: &[Vec<Outcome>]) -> Vec<Vec<Outcome>> {
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

fn decided<'b>(batch: &'b Batch, outcomes: &'b [Outcome], from: usize, to: usize) -> impl Iterator<Item = Decided<'b>> {
    batch.entries[from..to].iter().zip(&outcomes[from..to]).map(|(entry, &outcome)| Decided {
        time: entry.time,
        key: batch.key(entry),
        cost: entry.cost,
        outcome,
    })
}

/// Writes decisions as JSON lines, formatted in parallel, some at a time.
fn write_decisions(batches: &[Batch], outcomes: &[Vec<Outcome>], to: &mut dyn Write) -> io::Result<()> {
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
                for decision in decided(batch, outcomes, from, to) {
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

impl Decided<'_> {
    /// Writes it as a JSON line. A key that is not UTF-8 is told as near as JSON can.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_json(&self, to: &mut impl Write) -> io::Result<()> {
        write!(to, "{{\"t_ns\":{},\"key\":", self.time)?;
        serde_json::to_writer(&mut *to, &String::from_utf8_lossy(self.key))?;
        write!(to, ",\"cost\":{},\"outcome\":", self.cost)?;
        match self.outcome {
            Outcome::Admitted { remaining } => writeln!(to, "\"admitted\",\"remaining\":{remaining}}}"),
            Outcome::Denied { retry_after_ns } => writeln!(to, "\"denied\",\"retry_after_ns\":{retry_after_ns}}}"),
            Outcome::Never => writeln!(to, "\"never\"}}"),
        }
    }
}
