//! Files, compressed or not, and standard input: one stream of blocks of whole lines.

mod unpacked;
mod zstd;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use memchr::{memchr, memrchr};

use super::progress::Progress;
use unpacked::Unpacked;
use zstd::Zstd;

/// What a block holds, about: enough to keep all threads busy, little beside the keys.
pub(super) const BLOCK: usize = 4 << 20;

/// A longer line is not kept: it is counted as one that cannot be read.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// Where a log comes from.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file; gzip and zstd by their first bytes, or by the endings `.gz`, `.zst` and `.zstd`.
    File(PathBuf),
    /// Standard input; gzip and zstd by their first bytes.
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
        let ending = if let Self::File(path) = self { path.extension() } else { None };
        let first = counted.fill_buf()?;
        let (by_bytes, by_name) = (Compression::of_bytes(first), Compression::of_ending(ending));
        // Nothing, however it is called, is an empty log.
        let compression = by_bytes.or(by_name.filter(|_| !first.is_empty()));
        let begins = by_bytes.is_some() || is_cut_magic(first);
        Ok(match compression {
            None => Box::new(counted),
            Some(gzip @ Compression::Gzip) => Box::new(Unpacked::new(MultiGzDecoder::new(counted), gzip, begins)),
            Some(zstd @ Compression::Zstd) => Box::new(Unpacked::new(Zstd::new(counted), zstd, begins)),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// By the first bytes. A pipe may hand over fewer than there are: what the buffer has is what is decided on.
    fn of_bytes(first: &[u8]) -> Option<Self> {
        if first.starts_with(&[0x1f, 0x8b]) { Some(Self::Gzip) } else { zstd::begins(first).then_some(Self::Zstd) }
    }

    /// By the file's ending, where the bytes do not say.
    fn of_ending(ending: Option<&OsStr>) -> Option<Self> {
        let is = |known: &str| ending.is_some_and(|ending| ending.eq_ignore_ascii_case(known));
        if is("gz") {
            Some(Self::Gzip)
        } else if is("zst") || is("zstd") {
            Some(Self::Zstd)
        } else {
            None
        }
    }
}

/// Whether this is all there is of the first bytes of either.
fn is_cut_magic(first: &[u8]) -> bool {
    [&[0x1f, 0x8b][..], &zstd::MAGIC].iter().any(|magic| magic.starts_with(first))
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

/// Some whole lines.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Which input they are of, unless there are runs.
    pub(super) input: usize,
    /// Whether these are its first lines.
    pub(super) first: bool,
    pub(super) bytes: Vec<u8>,
    /// Whether the first line is what is left of one that was longer than [`LONGEST_LINE`]: nothing.
    pub(super) beheaded: bool,
    /// Where the lines are from, where they are of several inputs.
    pub(super) runs: Vec<Run>,
}

/// Lines of a block that follow each other in one input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) input: usize,
    /// The number of the first, from 1.
    pub(super) line: u64,
    pub(super) lines: u64,
}

impl Block {
    /// The input and the number of a line, by how many lines come before it: in the input, or in a block of several.
    pub(super) fn place(&self, mut before: u64) -> (usize, u64) {
        for run in &self.runs {
            if before < run.lines {
                return (run.input, run.line + before);
            }
            before -= run.lines;
        }
        (self.input, before + 1)
    }
}

/// Reads all inputs in order, and hands each block on until `next` says stop.
pub(super) fn blocks(
    inputs: &[Input],
    progress: &Progress,
    mut next: impl FnMut(Block) -> bool,
) -> Result<(), (usize, io::Error)> {
    for (input, source) in inputs.iter().enumerate() {
        let failed = |error| (input, error);
        let mut blocks = Blocks::open(source, input, BLOCK, progress).map_err(failed)?;
        while let Some(block) = blocks.next().map_err(failed)? {
            if !next(block) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The blocks of one input.
pub(super) struct Blocks<'i> {
    reader: Box<dyn Read + Send + 'i>,
    input: usize,
    /// How many bytes are read for each.
    size: usize,
    first: bool,
    end: bool,
    /// The beginning of a line whose end was not read yet.
    carry: Vec<u8>,
    /// Whether that was too long to keep.
    too_long: bool,
}

impl<'i> Blocks<'i> {
    pub(super) fn open(source: &'i Input, input: usize, size: usize, progress: &Progress) -> io::Result<Self> {
        let reader = source.open(progress)?;
        Ok(Self { reader, input, size, first: true, end: false, carry: Vec::new(), too_long: false })
    }

    /// The next whole lines; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Block>> {
        while !self.end {
            let bytes = std::mem::take(&mut self.carry);
            let mut block =
                Block { input: self.input, first: self.first, bytes, beheaded: self.too_long, runs: Vec::new() };
            self.end = fill(&mut *self.reader, &mut block.bytes, self.size)? == 0;
            if self.too_long {
                let rest = memchr(b'\n', &block.bytes);
                block.bytes.drain(..rest.unwrap_or(block.bytes.len()));
                if rest.is_none() && !self.end {
                    continue;
                }
                if self.end {
                    block.bytes.push(b'\n');
                }
                self.too_long = false;
            }
            if !self.end {
                let whole = memrchr(b'\n', &block.bytes).map_or(0, |at| at + 1);
                self.carry.extend_from_slice(&block.bytes[whole..]);
                block.bytes.truncate(whole);
                // What is carried then is dropped with the rest of its line, next time.
                self.too_long = self.carry.len() > LONGEST_LINE;
            }
            if !block.bytes.is_empty() {
                self.first = false;
                return Ok(Some(block));
            }
        }
        Ok(None)
    }
}

/// Appends up to so many bytes, fewer only at the end.
fn fill(reader: &mut dyn Read, bytes: &mut Vec<u8>, size: usize) -> io::Result<usize> {
    bytes.reserve_exact(size);
    reader.take(size as u64).read_to_end(bytes)
}
