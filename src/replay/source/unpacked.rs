//! What a compressed input holds, and what is wrong with one that is cut short or damaged: in words, and how far it was read.

use std::fmt;
use std::io::{self, ErrorKind, Read};

use memchr::memchr_iter;

use super::Compression;

/// Reads through a decoder, and counts what comes out of it.
pub(super) struct Unpacked<R> {
    decoder: R,
    compression: Compression,
    /// Whether the input's first bytes say so too, and not its name alone.
    begins: bool,
    bytes: u64,
    lines: u64,
}

impl<R> Unpacked<R> {
    pub(super) fn new(decoder: R, compression: Compression, begins: bool) -> Self {
        Self { decoder, compression, begins, bytes: 0, lines: 0 }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.decoder.read(buffer) {
            Ok(read) => {
                self.bytes += read as u64;
                self.lines += memchr_iter(b'\n', &buffer[..read]).count() as u64;
                Ok(read)
            }
            // The system's own, of the file below, are as they are.
            Err(error) if is_of_what_is_read(&error) => Err(self.damage(&error)),
            Err(error) => Err(error),
        }
    }
}

fn is_of_what_is_read(error: &io::Error) -> bool {
    // Such as come from the system have a number.
    let kinds = [ErrorKind::UnexpectedEof, ErrorKind::InvalidData, ErrorKind::InvalidInput];
    error.raw_os_error().is_none() && kinds.contains(&error.kind())
}

impl<R> Unpacked<R> {
    fn damage(&self, error: &io::Error) -> io::Error {
        let (name, part) = match self.compression {
            Compression::Gzip => ("gzip", "member"),
            Compression::Zstd => ("zstd", "frame"),
        };
        let what = if error.kind() == ErrorKind::UnexpectedEof && (self.begins || self.bytes > 0) {
            format!("ends in the middle of a {name} {part}: it was cut short, or is still being written")
        } else if self.begins || self.bytes > 0 {
            format!("is damaged: {error}")
        } else {
            format!("its name says {name}, and it is none")
        };
        let (bytes, lines) = (self.bytes, self.lines);
        io::Error::new(error.kind(), Damage { what, bytes, lines })
    }
}

/// What is wrong, and what came before it.
#[derive(Debug)]
struct Damage {
    what: String,
    bytes: u64,
    lines: u64,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, bytes, lines } = self;
        let s = if *lines == 1 { "" } else { "s" };
        match bytes {
            0 => write!(f, "{what}; nothing in it could be read"),
            _ => write!(f, "{what}; {lines} whole line{s} ({bytes} bytes, unpacked) could be read before that"),
        }
    }
}

impl std::error::Error for Damage {}
