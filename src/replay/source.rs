//! Files, gzip and standard input: one stream of blocks of whole lines.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use memchr::{memchr, memrchr};

use super::progress::Progress;

/// What a block holds, about: enough to keep all threads busy, little beside the keys.
const BLOCK: usize = 4 << 20;

/// A longer line is not kept: it is counted as one that cannot be read.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// Where a log comes from.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file; gzip by its ending `.gz` or its first bytes.
    File(PathBuf),
    /// Standard input; gzip by its first bytes.
    Stdin,
    /// Bytes in memory, under a name.
    Bytes(Arc<[u8]>),
}

impl Input {
    /// A file's path, or `-` for standard input.
    #[must_use]
    pub fn from_arg(arg: &OsStr) -> Self {
        if arg == "-" { Self::Stdin } else { Self::File(PathBuf::from(arg)) }
    }

    /// What it is called in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "standard input".into(),
            Self::Bytes(_) => "bytes".into(),
        }
    }

    /// How many bytes it has to read, where that is known.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::File(path) => path.metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len()),
            Self::Stdin => None,
            Self::Bytes(bytes) => Some(bytes.len() as u64),
        }
    }

    /// Whether it is there, as far as can be told without opening it: a pipe can be opened once.
    pub(super) fn check(&self) -> io::Result<()> {
        match self {
            Self::File(path) if path.metadata()?.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            _ => Ok(()),
        }
    }

    fn open(&self, progress: &Progress) -> io::Result<Box<dyn Read + Send>> {
        let raw: Box<dyn Read + Send> = match self {
            Self::File(path) => Box::new(File::open(path)?),
            Self::Stdin => Box::new(io::stdin()),
            Self::Bytes(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        };
        let mut counted = BufReader::with_capacity(1 << 18, Counted { inner: raw, progress: progress.clone() });
        let zipped = starts_with_gzip(&mut counted)? || matches!(self, Self::File(path) if ends_in_gz(path));
        Ok(if zipped { Box::new(MultiGzDecoder::new(counted)) } else { Box::new(counted) })
    }
}

fn ends_in_gz(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
}

fn starts_with_gzip(reader: &mut impl io::BufRead) -> io::Result<bool> {
    // A pipe may hand over a single byte first. A log that is one byte long is not gzip, and its second byte never comes:
    // what the buffer has is what is decided on.
    Ok(reader.fill_buf()?.starts_with(&[0x1f, 0x8b]))
}

/// Counts the bytes that were read, before they are unzipped.
struct Counted<R> {
    inner: R,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.add_bytes(read as u64);
        Ok(read)
    }
}

/// Some whole lines of one input.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Which input.
    pub(super) input: usize,
    /// Whether these are its first lines.
    pub(super) first: bool,
    pub(super) bytes: Vec<u8>,
    /// Whether the first line is what is left of one that was longer than [`LONGEST_LINE`]: nothing.
    pub(super) beheaded: bool,
}

/// Reads all inputs in order, and hands each block on until `next` says stop.
pub(super) fn blocks(
    inputs: &[Input],
    progress: &Progress,
    mut next: impl FnMut(Block) -> bool,
) -> Result<(), (usize, io::Error)> {
    for (input, source) in inputs.iter().enumerate() {
        let failed = |error| (input, error);
        let mut reader = source.open(progress).map_err(failed)?;
        let (mut first, mut end) = (true, false);
        // The beginning of a line whose end was not read yet, and whether it was too long to keep.
        let (mut carry, mut too_long) = (Vec::new(), false);
        while !end {
            let mut block = Block { input, first, bytes: std::mem::take(&mut carry), beheaded: too_long };
            end = fill(&mut *reader, &mut block.bytes).map_err(failed)? == 0;
            if too_long {
                let rest = memchr(b'\n', &block.bytes);
                block.bytes.drain(..rest.unwrap_or(block.bytes.len()));
                if rest.is_none() && !end {
                    continue;
                }
                if end {
                    block.bytes.push(b'\n');
                }
                too_long = false;
            }
            if !end {
                let whole = memrchr(b'\n', &block.bytes).map_or(0, |at| at + 1);
                carry.extend_from_slice(&block.bytes[whole..]);
                block.bytes.truncate(whole);
                // What is carried then is dropped with the rest of its line, next time.
                too_long = carry.len() > LONGEST_LINE;
            }
            if !block.bytes.is_empty() {
                first = false;
                if !next(block) {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Appends up to a block of bytes, fewer only at the end.
fn fill(reader: &mut dyn Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    bytes.reserve_exact(BLOCK);
    reader.take(BLOCK as u64).read_to_end(bytes)
}
