//! One line's facts, and what is wrong with a line.

use std::borrow::Cow;
use std::fmt;

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Apache's and nginx's common and combined formats. The key is the first field, the client's address.
    Combined,
    /// A JSON object a line: `{"t_ns":u64,"key":"…","cost":u64}`; `cost` is 1 where it is missing.
    Jsonl,
}

/// What a line of a log costs. A trace says itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Each request costs 1.
    #[default]
    Request,
    /// Each request costs its response's size in bytes; `-` is 0.
    Byte,
}

/// What a line says: who asked when for how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'l> {
    /// Nanoseconds since 1970.
    pub time: u64,
    /// Who. Bytes, because a log may hold any.
    pub key: Cow<'l, [u8]>,
    /// Tokens.
    pub cost: u64,
}

/// A line that cannot be read: where, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The byte at which reading stopped, counted from 1.
    pub column: usize,
    /// What would have been right.
    pub expected: Cow<'static, str>,
}

impl LineError {
    pub(super) fn new(offset: usize, expected: impl Into<Cow<'static, str>>) -> Self {
        Self { column: offset + 1, expected: expected.into() }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: expected {}", self.column, self.expected)
    }
}

impl std::error::Error for LineError {}

/// A piece of a line, short and printable, for a message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]);
    let dots = if bytes.len() > MOST { "…" } else { "" };
    format!("'{}{dots}'", text.escape_debug())
}
