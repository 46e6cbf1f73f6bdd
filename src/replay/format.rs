//! The formats: a line's bytes in, its record out.

pub mod combined;
mod date;
mod detect;
pub mod jsonl;

pub(super) use detect::{detect, guess};

use super::reading::Reading;
use super::record::{LineError, Record};

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Apache's and nginx's common and combined formats. The key is the first field, the client's address.
    Combined,
    /// A JSON object a line: `{"t_ns":u64,"key":"…","cost":u64}`; `cost` is 1 where it is missing.
    Jsonl,
}

/// Reads lines of one log in order.
#[derive(Debug)]
pub(super) enum Reader {
    // Boxed for the dates it remembers.
    Combined(Box<combined::Reader>),
    Jsonl,
}

impl Reader {
    pub(super) fn new(format: Format, reading: &Reading) -> Self {
        match format {
            Format::Combined => Self::Combined(Box::new(combined::Reader::new(reading.unit))),
            Format::Jsonl => Self::Jsonl,
        }
    }

    pub(super) fn read<'l>(&mut self, line: &'l [u8]) -> Result<Record<'l>, LineError> {
        match self {
            Self::Combined(reader) => reader.read(line),
            Self::Jsonl => jsonl::read(line),
        }
    }
}
