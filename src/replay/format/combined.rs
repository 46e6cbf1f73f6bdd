//! Access logs in the common and combined formats of Apache and nginx.
//!
//! ```text
//! 192.0.2.7 - alice [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5120 "https://example.org/" "Mozilla/5.0"
//! ```
//!
//! Only what is asked for matters: the first field and the time, and perhaps the size, the request's path, or another field that
//! says who asked. Whatever else a line holds may be broken.
//!
//! - The **time** is the first date in brackets that is followed by the quote that opens the request. A user name may hold
//!   brackets and spaces, and even a date, but both servers escape quotes in it.
//! - The **size** is what follows the quote that closes the request and a status of three digits. Both servers escape quotes in
//!   a request. Where one did not, and it shows, the size is taken only if no second place could be meant.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::date::{Dates, LENGTH};
use super::wanted::{FieldError, How, Value, Wanted};
use crate::replay::identity::Identity;
use crate::replay::key;
use crate::replay::reading::Reading;
use crate::replay::record::{LineError, Record, Unit};

/// Reads lines of one log in order; it remembers the last date.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    unit: Unit,
    dates: Dates,
    /// `None` asks for the address of every line: the way most logs are read, and the fast one.
    wanted: Option<Box<Wanted<Field>>>,
}

/// A part of a line that can say who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Address,
    User,
    Request,
    Referer,
    Agent,
}

/// Where the parts of a line are that come before its request.
#[derive(Clone, Copy)]
struct Places {
    /// Behind the address.
    address: usize,
    /// Behind the quote that opens the request.
    request: usize,
}

impl Reader {
    /// A reader that counts requests or bytes of addresses.
    #[must_use]
    pub fn new(unit: Unit) -> Self {
        Self { unit, ..Self::default() }
    }

    pub(super) fn of(reading: &Reading) -> Result<Self, FieldError> {
        let has = "address, user, path, referer and agent";
        let wanted = Wanted::of(reading, "address", ("the combined format", has), |name| {
            Some(match name {
                "address" => (Field::Address, How::Address),
                "user" => (Field::User, How::Text),
                "path" => (Field::Request, How::OfRequest),
                "referer" => (Field::Referer, How::Text),
                "agent" => (Field::Agent, How::Text),
                _ => return None,
            })
        })?;
        let plain = reading.scope.is_none() && reading.identity.as_ref().is_none_or(Identity::is_address);
        Ok(Self { wanted: (!plain).then(|| Box::new(wanted)), ..Self::new(reading.unit) })
    }

    /// Reads one line, without its line break.
    ///
    /// # Errors
    ///
    /// When the address, the time or (counting bytes) the size is not where it should be. Never panics, on any bytes.
    #[inline(always)]
    pub fn read<'l>(&mut self, line: &'l [u8]) -> Result<Record<'l>, LineError> {
        let (time, Places { address, request }) = self.places(line)?;
        if address == 1 && line[0] == b'-' {
            return Err(LineError::found(0, "address, to tell whose line it is", "'-'".into()));
        }
        let cost = self.cost(line, request)?;
        Ok(Record { time, key: key::address(Cow::Borrowed(&line[..address])), cost })
    }

    #[inline(always)]
    pub(super) fn read_on_routes<'l>(&mut self, line: &'l [u8]) -> Result<Option<Record<'l>>, LineError> {
        if self.wanted.is_some() { self.read_wanted(line) } else { self.read(line).map(Some) }
    }

    #[inline(never)]
    fn read_wanted<'l>(&mut self, line: &'l [u8]) -> Result<Option<Record<'l>>, LineError> {
        let (time, places) = self.places(line)?;
        let Some(wanted) = &self.wanted else { return Ok(None) };
        let get = |&field: &Field| field.of(line, places);
        if !wanted.covers(get)? {
            return Ok(None);
        }
        let key = wanted.key(get)?;
        let cost = self.cost(line, places.request)?;
        Ok(Some(Record { time, key, cost }))
    }

    pub(super) fn time_of(&mut self, line: &[u8]) -> Option<u64> {
        self.places(line).ok().map(|(time, _)| time)
    }

    #[inline(always)]
    fn places(&mut self, line: &[u8]) -> Result<(u64, Places), LineError> {
        let address = match memchr(b' ', line) {
            Some(0) => return Err(LineError::at(0, line, "an address in the first field")),
            Some(end) => end,
            None => return Err(LineError::at(line.len(), line, "a space after the address")),
        };
        let (time, request) = self.time(line, address)?;
        Ok((time, Places { address, request }))
    }

    #[inline]
    fn cost(&self, line: &[u8], request: usize) -> Result<u64, LineError> {
        match self.unit {
            Unit::Request => Ok(1),
            Unit::Byte => size(line, request),
        }
    }

    /// The time, and where the request begins: after its opening quote.
    #[inline(always)]
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

impl Field {
    fn of(self, line: &[u8], Places { address, request }: Places) -> Result<Value<'_>, LineError> {
        let some = |from: usize, to: usize| Value { place: from, text: Some(Cow::Borrowed(&line[from..to])) };
        Ok(match self {
            Self::Address => some(0, address),
            Self::User => {
                // Before it the identd's word, which has no spaces; behind it ` [`, the date and `] "`.
                let bracket = request - (LENGTH + 4);
                let end = if line[bracket - 1] == b' ' { bracket - 1 } else { bracket };
                match memchr(b' ', line.get(address + 1..end).unwrap_or_default()) {
                    Some(space) => some(address + 1 + space + 1, end),
                    None => Value { place: address + 1, text: None },
                }
            }
            // Where the quote is missing that closes it, the line still has a target.
            Self::Request => some(request, closing_quote(line, request).unwrap_or(line.len())),
            Self::Referer => quoted(line, request, 0)?,
            Self::Agent => quoted(line, request, 1)?,
        })
    }
}

/// What is in quotes behind the size, after so many others.
fn quoted(line: &[u8], request: usize, others: usize) -> Result<Value<'_>, LineError> {
    let (place, size) = place_of_size(line, request)?;
    let mut end = place + size.len();
    for number in 0..=others {
        if !line[end..].starts_with(b" \"") {
            // The common format ends here.
            return Ok(Value { place: end, text: None });
        }
        let start = end + 2;
        let Some(quote) = closing_quote(line, start) else {
            return Err(LineError::at(line.len(), line, "a closing quote"));
        };
        if number == others {
            return Ok(Value { place: start, text: Some(Cow::Borrowed(&line[start..quote])) });
        }
        end = quote + 1;
    }
    Ok(Value { place: end, text: None })
}

/// The quote that closes what begins at `from`: the first that is not escaped.
fn closing_quote(line: &[u8], from: usize) -> Option<usize> {
    quotes(line, from).find(|&quote| !is_escaped(&line[from..quote]))
}

/// Where the size is, after the request and the status, and its text.
fn place_of_size(line: &[u8], request: usize) -> Result<(usize, &[u8]), LineError> {
    let closing = closing_quote(line, request);
    match closing.and_then(|quote| status_and_size(line, quote + 1)) {
        Some(found) => Ok(found),
        None => the_only_size(line, request, closing),
    }
}

/// The size after the request and the status.
fn size(line: &[u8], request: usize) -> Result<u64, LineError> {
    let (place, size) = place_of_size(line, request)?;
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

pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}
