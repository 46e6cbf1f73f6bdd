//! Access logs in the common and combined formats of Apache and nginx.
//!
//! ```text
//! 192.0.2.7 - alice [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5120 "https://example.org/" "Mozilla/5.0"
//! ```
//!
//! Only the first field, the time and, where bytes are counted, the size matter; whatever else a line holds may be broken.
//! The time is the first date in brackets that is followed by the quote that opens the request: a user name may hold
//! brackets and spaces, but both servers escape quotes in it. The size is what follows the quote that closes the request
//! and a status of three digits.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::date::{Dates, LENGTH};
use super::record::{LineError, Record, Unit};

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
            Some(end) if end > 0 => &line[..end],
            Some(_) => return Err(LineError::new(0, "an address in the first field")),
            None => return Err(LineError::new(line.len(), "a space after the address")),
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
            let end = start + LENGTH;
            if line.get(end..end + 3) == Some(b"] \"".as_slice())
                && let Some(text) = line[start..end].first_chunk()
            {
                let time = self.dates.read(text).map_err(|expected| LineError::new(start, expected))?;
                return Ok((time, end + 3));
            }
        }
        match memchr(b'[', &line[from..]) {
            Some(bracket) => {
                let expected = "[17/May/2015:10:05:03 +0000] and then a quoted request";
                Err(LineError::new(from + bracket, expected))
            }
            None => Err(LineError::new(line.len(), "a date in brackets")),
        }
    }
}

/// The size after the request and the status.
fn size(line: &[u8], request: usize) -> Result<u64, LineError> {
    for quote in memchr_iter(b'"', &line[request..]) {
        let end = request + quote;
        // An escaped quote is part of the request; an escaped backslash before it is not an escape of it.
        let backslashes = line[request..end].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if backslashes % 2 == 0
            && let Some(size) = status_and_size(&line[end + 1..])
        {
            // Six bytes of quote and status, and then the size.
            let fits = if size == b"-" { Some(0) } else { decimal(size) };
            return fits.ok_or_else(|| LineError::new(end + 6, "a size that fits in 64 bits"));
        }
    }
    Err(LineError::new(line.len(), "a closing quote, a status of three digits, and a size or -"))
}

/// The size in ` 200 5120` and then a space or the end: digits, or `-`.
fn status_and_size(rest: &[u8]) -> Option<&[u8]> {
    let [b' ', a, b, c, b' ', rest @ ..] = rest else { return None };
    if ![a, b, c].into_iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = &rest[..memchr(b' ', rest).unwrap_or(rest.len())];
    (size == b"-" || (!size.is_empty() && size.iter().all(u8::is_ascii_digit))).then_some(size)
}

fn decimal(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}
