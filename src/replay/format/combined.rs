//! Access logs in the common and combined formats of Apache and nginx.
//!
//! ```text
//! 192.0.2.7 - alice [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5120 "https://example.org/" "Mozilla/5.0"
//! ```
//!
//! Only the first field, the time and, where bytes are counted, the size matter; whatever else a line holds may be broken.
//!
//! - The **time** is the first date in brackets that is followed by the quote that opens the request. A user name may hold
//!   brackets and spaces, and even a date, but both servers escape quotes in it.
//! - The **size** is what follows the quote that closes the request and a status of three digits. Both servers escape quotes in
//!   a request. Where one did not, and it shows, the size is taken only if no second place could be meant.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::date::{Dates, LENGTH};
use crate::replay::record::{LineError, Record, Unit};

/// Reads lines of one log in order; it remembers the last date.
#[derive(Debug, Default)]
pub struct Reader {
    unit: Unit,
    dates: Dates,
}

impl Reader {
    /// A reader that counts requests or bytes.
    #[must_use]
    pub fn new(unit: Unit) -> Self {
        Self { unit, dates: Dates::default() }
    }

    /// Reads one line, without its line break.
    ///
    /// # Errors
    ///
    /// When the address, the time or (counting bytes) the size is not where it should be. Never panics, on any bytes.
    pub fn read<'l>(&mut self, line: &'l [u8]) -> Result<Record<'l>, LineError> {
        let key = match memchr(b' ', line) {
            Some(0) => return Err(LineError::at(0, line, "an address in the first field")),
            Some(end) => &line[..end],
            None => return Err(LineError::at(line.len(), line, "a space after the address")),
        };
        let (time, request) = self.time(line, key.len())?;
        let cost = match self.unit {
            Unit::Request => 1,
            Unit::Byte => size(line, request)?,
        };
        Ok(Record { time, key: Cow::Borrowed(key), cost })
    }

    /// The time, and where the request begins: after its opening quote.
    fn time(&mut self, line: &[u8], from: usize) -> Result<(u64, usize), LineError> {
        for bracket in memchr_iter(b'[', &line[from..]) {
            let start = from + bracket + 1;
            let Some((text, rest)) = line[start..].split_first_chunk::<LENGTH>() else { break };
            if rest.starts_with(b"] \"") {
                let time = self.dates.read(text).map_err(|expected| LineError::at(start, line, expected))?;
                return Ok((time, start + LENGTH + 3));
            }
        }
        let place = memchr(b'[', &line[from..]).map_or(line.len(), |bracket| from + bracket);
        Err(LineError::at(place, line, "[17/May/2015:10:05:03 +0000] and then a quoted request"))
    }
}

/// The size after the request and the status.
fn size(line: &[u8], request: usize) -> Result<u64, LineError> {
    let closing = quotes(line, request).find(|&quote| !is_escaped(&line[request..quote]));
    let (place, size) = match closing.and_then(|quote| status_and_size(line, quote + 1)) {
        Some(found) => found,
        None => the_only_size(line, request, closing)?,
    };
    // `-` is a response without a body.
    let bytes = if size == b"-" { Some(0) } else { decimal(size) };
    bytes.ok_or_else(|| LineError::at(place, line, "a size of at most 18446744073709551615"))
}

/// The size where the first quote does not close the request: one was not escaped. Whoever sends a request chooses what is
/// in it, so a size is believed only where there is no other.
#[cold]
fn the_only_size(line: &[u8], request: usize, closing: Option<usize>) -> Result<(usize, &[u8]), LineError> {
    let mut sizes = quotes(line, request).filter_map(|quote| status_and_size(line, quote + 1));
    match (sizes.next(), sizes.next()) {
        (Some(only), None) => Ok(only),
        (Some((place, _)), Some(_)) => {
            Err(LineError::at(place, line, "one status and size, not two, after a request with raw quotes"))
        }
        (None, _) => {
            let place = closing.map_or(line.len(), |quote| quote + 1);
            Err(LineError::at(place, line, "a status of three digits, and a size or -, after the request"))
        }
    }
}

fn quotes(line: &[u8], from: usize) -> impl Iterator<Item = usize> {
    memchr_iter(b'"', &line[from..]).map(move |quote| from + quote)
}

/// Whether what follows is escaped: by a backslash that is not itself escaped.
fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// The size in ` 200 5120` at `from`, and then a space or the end, and where it stands: digits, or `-`.
fn status_and_size(line: &[u8], from: usize) -> Option<(usize, &[u8])> {
    let [b' ', a, b, c, b' ', rest @ ..] = &line[from..] else { return None };
    if ![a, b, c].into_iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = &rest[..memchr(b' ', rest).unwrap_or(rest.len())];
    let is_size = size == b"-" || (!size.is_empty() && size.iter().all(u8::is_ascii_digit));
    is_size.then_some((from + 5, size))
}

fn decimal(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}
