//! Several inputs as one, in order of time.
//!
//! Each input is a strand, taken as it comes. The next lines are those of the strand whose next time is the earliest, the first
//! input's where two are the same. A line without a time goes with the next that has one. Each strand keeps a block, no more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use memchr::memchr;

use super::format::{Reader, detect};
use super::progress::Progress;
use super::reading::Reading;
use super::source::{BLOCK, Block, Blocks, Input, LONGEST_LINE, Run};

struct Strand<'i> {
    input: usize,
    blocks: Blocks<'i>,
    block: Block,
    /// What of the block was taken.
    from: usize,
    /// Up to where the next lines go.
    to: usize,
    /// How many lines those are.
    lines: u64,
    /// The number of the first of them.
    line: u64,
    /// Their time, or that of those before where they have none.
    time: u64,
}

/// Reads all inputs, and hands on blocks of their lines in order of time, until `next` says stop.
pub(super) fn woven(
    reading: &Reading,
    inputs: &[Input],
    progress: &Progress,
    mut next: impl FnMut(Block) -> bool,
) -> Result<(), (usize, io::Error)> {
    // So that all strands together keep not much more than one input would, unless they are very many.
    let size = (2 * BLOCK / inputs.len().max(1)).clamp(LONGEST_LINE / 4, BLOCK);
    let mut times = Times { reading, reader: None };
    let mut strands = Vec::with_capacity(inputs.len());
    let mut heap = BinaryHeap::new();
    for (input, source) in inputs.iter().enumerate() {
        let blocks = Blocks::open(source, input, size, progress).map_err(|error| (input, error))?;
        let block = Block::default();
        let mut strand = Strand { input, blocks, block, from: 0, to: 0, lines: 0, line: 1, time: 0 };
        if strand.look(&mut times).map_err(|error| (input, error))? {
            heap.push(Reverse((strand.time, input)));
        }
        strands.push(strand);
    }
    let mut out = Block { first: true, ..Block::default() };
    while let Some(Reverse((_, input))) = heap.pop() {
        let strand = &mut strands[input];
        // As many as come before all others: most often more than one line.
        loop {
            strand.take(&mut out);
            if out.bytes.len() >= BLOCK {
                let full = std::mem::take(&mut out);
                if !next(full) {
                    return Ok(());
                }
            }
            if !strand.look(&mut times).map_err(|error| (input, error))? {
                break;
            }
            if heap.peek().is_some_and(|Reverse(other)| *other < (strand.time, input)) {
                heap.push(Reverse((strand.time, input)));
                break;
            }
        }
    }
    if !out.bytes.is_empty() {
        next(out);
    }
    Ok(())
}

impl Strand<'_> {
    /// Finds the next lines: up to one with a time, or to the end of the block. Says whether there are any.
    fn look(&mut self, times: &mut Times<'_>) -> io::Result<bool> {
        (self.from, self.line, self.lines) = (self.to, self.line + self.lines, 0);
        if self.from == self.block.bytes.len() {
            let Some(block) = self.blocks.next()? else { return Ok(false) };
            times.first(&block.bytes);
            (self.block, self.from, self.to) = (block, 0, 0);
        }
        while self.to < self.block.bytes.len() {
            let rest = &self.block.bytes[self.to..];
            let end = memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            self.to += end.map_or(rest.len(), |end| end + 1);
            self.lines += 1;
            if let Some(time) = times.of(line) {
                self.time = time;
                break;
            }
        }
        Ok(true)
    }

    /// Moves the next lines on.
    fn take(&self, out: &mut Block) {
        if self.block.beheaded && self.from == 0 {
            // Nothing is left of its first line but that it was too long, and so it is here.
            out.bytes.resize(out.bytes.len() + LONGEST_LINE + 1, b'?');
        }
        out.bytes.extend_from_slice(&self.block.bytes[self.from..self.to]);
        if !out.bytes.ends_with(b"\n") {
            // The end of an input is the end of a line.
            out.bytes.push(b'\n');
        }
        match out.runs.last_mut() {
            Some(run) if run.input == self.input && run.line + run.lines == self.line => run.lines += self.lines,
            _ => out.runs.push(Run { input: self.input, line: self.line, lines: self.lines }),
        }
    }
}

/// Reads times.
struct Times<'r> {
    reading: &'r Reading,
    reader: Option<Reader>,
}

impl Times<'_> {
    /// Sees to it that the format is known, by the first lines that tell it.
    fn first(&mut self, bytes: &[u8]) {
        if self.reader.is_none() {
            let format = self.reading.format.clone().or_else(|| detect(bytes));
            self.reader = format.and_then(|format| Reader::new(&format, self.reading).ok());
        }
    }

    fn of(&mut self, line: &[u8]) -> Option<u64> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.reader.as_mut().filter(|_| line.len() <= LONGEST_LINE)?.time(line)
    }
}
