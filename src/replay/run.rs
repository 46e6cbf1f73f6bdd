//! A replay: what is asked for. The stage that decides is in `stage`.

mod stage;

use std::io::{self, Write};

use super::decided::{self, Decided};
use super::engine::{Parsing, drive};
use super::error::Error;
use super::format::Format;
use super::history::History;
use super::level::{Following, Level};
use super::live::Live;
use super::progress::Progress;
use super::reading::Reading;
use super::record::Unit;
use super::report::Report;
use super::source::Input;
use super::summary::Summary;
use crate::rule::Rule;
use stage::{Deciding, Tell};

/// A limit, and how to read the log it is tried on.
///
/// Runs on rayon's current thread pool, and one more thread that reads.
///
/// ```no_run
/// use admittance::replay::{Input, Replay};
/// use admittance::{Rule, Window};
///
/// let logs = [Input::File("access.log.1.gz".into()), Input::File("access.log".into())];
/// for limit in [100, 300, 1000] {
///     let summary = Replay::new(Rule::FixedWindow(Window::per_minute(limit))).run(&logs)?;
///     println!("{limit} a minute would have denied {}", summary.denied);
/// }
/// # Ok::<(), admittance::replay::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a replay does nothing until it is run"]
pub struct Replay {
    rule: Rule,
    reading: Reading,
    sort: bool,
    progress: Progress,
}

impl Replay {
    /// A replay of `rule`: format detected, requests counted, lines decided as they come, bad lines passed over.
    pub fn new(rule: Rule) -> Self {
        Self { rule, reading: Reading::new(), sort: false, progress: Progress::default() }
    }

    /// The rule it is a replay of.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// How lines are read, all at once.
    pub fn reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// What an access log's lines cost. A trace says itself.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.reading = self.reading.unit(unit);
        self
    }

    /// How the log is written; told from its first readable line where this is not said.
    pub fn format(mut self, format: Format) -> Self {
        self.reading = self.reading.format(format);
        self
    }

    /// Decides in order of time, lines of one time in order of input. Keeps every line's facts in memory, about 90 bytes a line;
    /// the other replays keep keys alone. Decisions are still told in order of input.
    pub fn sort(mut self, sort: bool) -> Self {
        self.sort = sort;
        self
    }

    /// Stops at the first line that cannot be read, and decides those before it (where they are not to be sorted first).
    pub fn strict(mut self, strict: bool) -> Self {
        self.reading = self.reading.strict(strict);
        self
    }

    /// What shows how far it is, from another thread.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// The same for lines that come one at a time: a log that is followed. They are decided as they come, sorted or not.
    #[must_use]
    pub fn live(&self) -> Live {
        Live::new(self.rule, self.reading.clone())
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
        let result = self.drive(inputs, Some(&mut |batches, outcomes| decided::write(batches, outcomes, decisions)));
        // What was decided before a strict replay stopped is told too.
        let flushed = decisions.flush().map_err(Error::Write);
        result.and_then(|summary| flushed.map(|()| summary))
    }

    /// As [`run`](Self::run), and tells each decision, in order of input.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and what `tell` failed with.
    pub fn run_with(
        &self,
        inputs: &[Input],
        mut tell: impl FnMut(Decided<'_>) -> io::Result<()>,
    ) -> Result<Summary, Error> {
        self.drive(
            inputs,
            Some(&mut |batches, outcomes| {
                for (batch, outcomes) in batches.iter().zip(outcomes) {
                    decided::decisions(batch, outcomes, 0, outcomes.len()).try_for_each(&mut tell)?;
                }
                Ok(())
            }),
        )
    }

    /// As [`run_with`](Self::run_with), on bytes in memory.
    ///
    /// # Errors
    ///
    /// When strict and a line cannot be read.
    pub fn run_bytes(&self, bytes: &[u8], mut tell: impl FnMut(Decided<'_>)) -> Result<Summary, Error> {
        self.run_with(&[Input::Bytes(bytes.into())], |decided| {
            tell(decided);
            Ok(())
        })
    }

    /// Decides all inputs, and tells of each caller that was denied. Takes some 100 bytes a key more than [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn report(&self, inputs: &[Input]) -> Result<Report, Error> {
        // One in, one out.
        Self::report_each(std::slice::from_ref(self), inputs).map(|mut reports| reports.remove(0))
    }

    /// As [`report`](Self::report) for several limits, which read the inputs once between them: standard input too. What is
    /// sorted, and how far it is, are those of each replay and of the first.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn report_each(replays: &[Self], inputs: &[Input]) -> Result<Vec<Report>, Error> {
        let mut progress = replays.first().map(|first| &first.progress);
        let mut runs: Vec<Parsing<'_, Deciding<'_, History>>> = replays
            .iter()
            .map(|replay| {
                let deciding = Deciding::new(replay.rule, replay.sort, None);
                Parsing::new(&replay.reading, inputs, progress.take(), deciding)
            })
            .collect();
        let Some(first) = replays.first() else { return Ok(Vec::new()) };
        drive(&first.reading, inputs, &first.progress, |block| runs.iter_mut().try_for_each(|run| run.block(block)))?;
        runs.into_iter()
            .zip(replays)
            .map(|(run, replay)| {
                let Parsing { format, seen, mut stage, .. } = run;
                stage.finish()?;
                let told = (replay.rule, replay.reading.unit, format);
                let summary = Summary::gather(told, seen, &mut stage.shards);
                Ok(Report::gather(summary, stage.shards))
            })
            .collect()
    }

    /// Follows one caller through the log once more: its level over each of some spans of time, in at most `stretches` stretches
    /// each. [`Summary::span`] is the whole log's. Linear in lines; memory in stretches, and when sorted in the caller's lines.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); and standard input, or a pipe, has nothing more to say when it is read again.
    pub fn levels(
        &self,
        inputs: &[Input],
        key: &[u8],
        spans: &[(u64, u64)],
        stretches: u64,
    ) -> Result<Vec<Vec<Level>>, Error> {
        let following = Following::new(key, self.rule, self.sort, spans, stretches);
        let mut run = Parsing::new(&self.reading, inputs, None, following);
        drive(&self.reading, inputs, &Progress::default(), |block| run.block(block))?;
        Ok(run.stage.finish())
    }

    fn drive(&self, inputs: &[Input], tell: Option<Tell<'_>>) -> Result<Summary, Error> {
        let deciding: Deciding<'_> = Deciding::new(self.rule, self.sort, tell);
        let mut run = Parsing::new(&self.reading, inputs, Some(&self.progress), deciding);
        drive(&self.reading, inputs, &self.progress, |block| run.block(block))?;
        let Parsing { format, seen, mut stage, .. } = run;
        stage.finish()?;
        Ok(Summary::gather((self.rule, self.reading.unit, format), seen, &mut stage.shards))
    }
}
