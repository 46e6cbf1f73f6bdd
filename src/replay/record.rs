//! One line's facts, and what is wrong with a line.

use std::borrow::Cow;
use std::fmt;

/// What a line of an access log costs. A trace says itself, by its `cost`, and the unit changes nothing.
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

/// A line that cannot be read: where, what was expected there, and what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The byte at which reading stopped, counted from 1; one past the end where the line is too short.
    pub column: usize,
    /// What would have been right.
    pub expected: Cow<'static, str>,
    /// What was there instead, short and printable; empty where nothing was.
    pub found: String,
}

impl LineError {
    /// At `offset`, counted from 0, something else was expected than what `line` has.
    #[cold]
    pub(super) fn at(offset: usize, line: &[u8], expected: impl Into<Cow<'static, str>>) -> Self {
        Self::found(offset, expected, excerpt(line.get(offset..).unwrap_or_default()))
    }

    #[cold]
    pub(super) fn found(offset: usize, expected: impl Into<Cow<'static, str>>, found: String) -> Self {
        Self { column: offset + 1, expected: expected.into(), found }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: ", self.column)?;
        self.what(f)
    }
}

impl LineError {
    /// Without the place.
    pub(super) fn what(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found ", self.expected)?;
        f.write_str(if self.found.is_empty() { "the end of the line" } else { &self.found })
    }
}

impl std::error::Error for LineError {}

/// The beginning of some bytes, printable, for a message; empty for none.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const MOST: usize = 32;
    if bytes.is_empty() { String::new() } else { format!("'{}'", printable(bytes, MOST)) }
}

/// The beginning of a line, printable.
pub(super) fn beginning(line: &[u8]) -> String {
    const MOST: usize = 200;
    printable(line, MOST)
}

fn printable(bytes: &[u8], most: usize) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(most)]);
    let mut printable = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        // Quotes are as they are: nobody parses this.
        if matches!(letter, '"' | '\'') { printable.push(letter) } else { printable.extend(letter.escape_debug()) }
    }
    if bytes.len() > most {
        printable.push('…');
    }
    printable
}
