//! What all uses of a log have in common: a thread reads blocks, each block is parsed in parallel, its lines are counted, and
//! its records go on to a stage, in order.

mod parse;

pub(super) use parse::Parsing;

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};

use super::batch::Batch;
use super::error::Error;
use super::progress::Progress;
use super::reading::Reading;
use super::source::{Block, Input, blocks};
use super::weave::woven;

/// What is done with records.
pub(super) trait Stage {
    /// Into how many shards of keys they are dealt.
    fn shards(&self) -> usize;

    /// Takes records, which come after those of the calls before.
    ///
    /// # Errors
    ///
    /// What stops it all.
    fn take(&mut self, batches: Vec<Batch>) -> Result<(), Error>;
}

/// Hands all blocks of all inputs on: one input after the other, or their lines in order of time.
pub(super) fn drive(
    reading: &Reading,
    inputs: &[Input],
    progress: &Progress,
    mut next: impl FnMut(&Block) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |(input, error): Failed| Error::Read { input: inputs[input].name(), error };
    // Better now than after an hour of the inputs before it.
    for (number, input) in inputs.iter().enumerate() {
        input.check().map_err(|error| failed((number, error)))?;
    }
    let (blocks, reader) = read(reading, inputs, progress);
    for block in blocks {
        next(&block.map_err(failed)?)?;
    }
    // A reader that panicked has also stopped sending: what it did not read must not pass for the end.
    reader.join().unwrap_or_else(|panic| resume_unwind(panic));
    Ok(())
}

/// Reads on a thread of its own. It ends by itself when nobody takes its blocks any more.
fn read(reading: &Reading, inputs: &[Input], progress: &Progress) -> (Receiver<Result<Block, Failed>>, JoinHandle<()>) {
    let (send, receive) = mpsc::sync_channel(2);
    let (reading, inputs, progress) = (reading.clone(), inputs.to_vec(), progress.clone());
    let reader = thread::spawn(move || {
        let next = |block| send.send(Ok(block)).is_ok();
        // One input alone has nothing to be merged with.
        let merge = reading.merge && inputs.len() > 1;
        let read = if merge { woven(&reading, &inputs, &progress, next) } else { blocks(&inputs, &progress, next) };
        if let Err(error) = read {
            // Nobody listens when the replay has stopped for another reason.
            let _ = send.send(Err(error));
        }
    });
    (receive, reader)
}

/// Which input could not be read, and why.
type Failed = (usize, io::Error);
