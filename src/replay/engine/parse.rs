//! Blocks become records: parsed in parallel, counted, handed on.

use hashbrown::DefaultHashBuilder;
use rayon::prelude::*;

use super::Stage;
use crate::replay::batch::{Batch, Parser, pieces};
use crate::replay::error::Error;
use crate::replay::format::{Format, Reader, detect, guess};
use crate::replay::progress::Progress;
use crate::replay::reading::Reading;
use crate::replay::source::{Block, Input};
use crate::replay::summary::{BadLine, Seen};

/// Reads a log for one stage.
pub(in crate::replay) struct Parsing<'r, S> {
    reading: &'r Reading,
    inputs: &'r [Input],
    progress: Option<&'r Progress>,
    pub(in crate::replay) stage: S,
    pub(in crate::replay) format: Option<Format>,
    /// Of the format, as soon as it is known.
    reader: Option<Reader>,
    /// What lines were read as before it was known.
    guessed: Option<Format>,
    pub(in crate::replay) seen: Seen,
    hasher: DefaultHashBuilder,
    /// Into how many pieces a block is cut.
    pieces: usize,
    /// Line breaks passed in the current input.
    breaks: u64,
    /// Those of all inputs.
    passed: u64,
    /// The time of the last record.
    last: Option<u64>,
}

impl<'r, S: Stage> Parsing<'r, S> {
    /// Where several stages read one log, one of them tells of its progress.
    pub(in crate::replay) fn new(
        reading: &'r Reading,
        inputs: &'r [Input],
        progress: Option<&'r Progress>,
        stage: S,
    ) -> Self {
        Self {
            reading,
            inputs,
            progress,
            stage,
            format: reading.format.clone(),
            reader: None,
            guessed: None,
            seen: Seen { identity: reading.identity.clone(), ..Seen::default() },
            hasher: DefaultHashBuilder::default(),
            // More than there are threads, so that one which is slow or late holds nobody up for long.
            pieces: rayon::current_num_threads() * 2,
            breaks: 0,
            passed: 0,
            last: None,
        }
    }

    pub(in crate::replay) fn block(&mut self, block: &Block) -> Result<(), Error> {
        if block.first || !block.runs.is_empty() {
            self.breaks = 0;
        }
        let mut batches = self.parse(block)?;
        let strict = self.reading.strict;
        let stop = if strict { batches.iter().position(|batch| batch.bad_count > 0) } else { None };
        if let Some(last) = stop {
            // What comes after the line that stops the replay is not decided.
            batches.truncate(last + 1);
        }
        for batch in &mut batches {
            self.note(batch, block);
        }
        self.stage.take(batches)?;
        match self.seen.bad_lines.first() {
            Some(bad) if strict => Err(Error::Unreadable(Box::new(bad.clone()))),
            _ => Ok(()),
        }
    }

    fn parse(&mut self, block: &Block) -> Result<Vec<Batch>, Error> {
        if self.format.is_none() {
            self.format = detect(&block.bytes);
        }
        if let (None, Some(format)) = (&self.reader, &self.format) {
            self.reader = Some(Reader::new(format, self.reading).map_err(Error::Field)?);
        }
        let guessed;
        let reader = if let Some(reader) = &self.reader {
            reader
        } else {
            // No line of these can be read; who asked does not matter.
            let format = self.guessed.insert(guess(&block.bytes));
            guessed = Reader::new(format, &Reading::new()).map_err(Error::Field)?;
            &guessed
        };
        let parser = Parser { reader, reading: self.reading, shards: self.stage.shards(), hasher: &self.hasher };
        let batches = pieces(&block.bytes, self.pieces)
            .into_par_iter()
            .enumerate()
            .map(|(number, piece)| parser.parse(piece, block.beheaded && number == 0));
        Ok(batches.collect())
    }

    /// Counts a batch's lines, the bad ones too.
    fn note(&mut self, batch: &mut Batch, block: &Block) {
        let seen = &mut self.seen;
        seen.lines += batch.lines;
        seen.unreadable += batch.bad_count;
        seen.outside += batch.outside;
        let format = self.format.as_ref().or(self.guessed.as_ref());
        for (number, text, error) in batch.bad.drain(..) {
            let (input, line) = block.place(self.breaks + number);
            let (input, format) = (self.inputs[input].name(), format.cloned().unwrap_or(Format::Combined));
            seen.bad(BadLine { input, line, at: self.passed + number, text, format, error });
        }
        if let (Some(first), Some(last)) = (batch.entries.first(), batch.entries.last()) {
            seen.out_of_order += batch.disordered + u64::from(self.last.is_some_and(|before| first.time < before));
            self.last = Some(last.time);
        }
        self.breaks += batch.breaks;
        self.passed += batch.breaks;
        if let Some(progress) = self.progress {
            progress.add_lines(batch.lines);
        }
    }
}
