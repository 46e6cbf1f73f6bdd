//! Zstandard (RFC 8878), frame by frame.

use std::error::Error;
use std::io::{self, BufRead, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The first bytes of a frame.
pub(super) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether these are the first bytes of a frame, or of one that is to be skipped.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC) || matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Reads what all frames of a stream hold: more than one is what appending leaves.
pub(super) struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    within: bool,
}

impl<R: BufRead> Zstd<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), within: false }
    }

    /// Begins the next frame; says whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.within = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(failed(&error)),
            }
        }
        Ok(false)
    }

    /// What was decoded is what was encoded, where the frame says so.
    fn end(&mut self) -> io::Result<()> {
        self.within = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(said), Some(is)) if said != is => {
                Err(invalid("the checksum of a zstd frame does not match what it holds"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.within || self.begin()? {
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|error| failed(&error))?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.end()?;
        }
        Ok(0)
    }
}

/// In words of ours: those of the decoder are for whoever works on it.
fn failed(error: &FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(this) = cause {
        if let Some(io) = this.downcast_ref::<io::Error>() {
            // The end, or what the system said of the file.
            return match io.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io.kind().into(),
            };
        }
        cause = this.source();
    }
    match error {
        FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_)) => {
            invalid("where a zstd frame would begin, there is something else")
        }
        FrameDecoderError::WindowSizeTooBig { requested, max } => invalid(format!(
            "a zstd frame wants a window of {requested} bytes, more than the {max} that are given; pack it without --long"
        )),
        FrameDecoderError::DictNotProvided { dict_id } => {
            invalid(format!("a zstd frame was packed with a dictionary ({dict_id:#x}); unpack it with zstd -D first"))
        }
        FrameDecoderError::FailedToReadBlockHeader(_) | FrameDecoderError::FailedToReadBlockBody(_) => {
            invalid("a block of a zstd frame cannot be unpacked")
        }
        _ => invalid("the head of a zstd frame cannot be read"),
    }
}

fn invalid(error: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}
