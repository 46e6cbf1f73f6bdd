//! What an nginx writes whose `log_format` is known.
//!
//! A line is split at the literal text of the format: a variable is what is there up to the first place where the text comes that
//! is behind it in the format. nginx escapes quotes in what clients send, so text with a quote in it is safe to go by. Where a
//! variable of a known shape is next (a date, a status), a place without one is passed over: ` [` in a user's name does not end it.
//!
//! - The **time** is `$msec`, or `$time_iso8601`, or `$time_local`: the finest that there is.
//! - The **address** is `$remote_addr`; another is a matter of `--identity`.
//! - The **path** is that of `$request_uri`, or of `$request`, or `$uri`.
//! - **Bytes** are `$body_bytes_sent`, or `$bytes_sent`.

mod template;

pub use template::LogFormat;

use std::borrow::Cow;

use super::combined::decimal;
use super::date::{Dates, LENGTH};
use super::fields::TimeUnit;
use super::instant;
use super::wanted::{FieldError, How, Value, Wanted};
use crate::replay::reading::Reading;
use crate::replay::record::{LineError, Record, Unit, excerpt};
use template::Variable;

/// Reads lines of one log in order; it remembers the last date.
#[derive(Clone, Debug)]
pub struct Reader {
    format: LogFormat,
    wanted: Wanted<usize>,
    time: (usize, Clock),
    /// Which variable is the size; `None` where requests are counted.
    size: Option<usize>,
    dates: Dates,
    /// Where each variable is in the line.
    places: Vec<(usize, usize)>,
}

/// How a variable tells the time.
#[derive(Clone, Copy, Debug)]
enum Clock {
    Msec,
    Iso8601,
    Local,
}

impl Reader {
    pub(super) fn of(format: &LogFormat, reading: &Reading) -> Result<Self, FieldError> {
        let number = |name: &str| format.variables().iter().position(|variable| variable.name() == name);
        let first = |names: &[&str]| names.iter().find_map(|name| number(name));
        let clocks = [("msec", Clock::Msec), ("time_iso8601", Clock::Iso8601), ("time_local", Clock::Local)];
        let time = clocks.into_iter().find_map(|(name, clock)| Some((number(name)?, clock)));
        let time = time.ok_or_else(|| {
            FieldError::new("the log format has no time: it needs $time_local, $time_iso8601 or $msec")
        })?;
        let mut size = None;
        if reading.unit == Unit::Byte {
            let needs = || FieldError::new("the log format has no size: it needs $body_bytes_sent or $bytes_sent");
            size = Some(first(&["body_bytes_sent", "bytes_sent"]).ok_or_else(needs)?);
        }
        let has: Vec<_> = format.variables().iter().map(Variable::name).collect();
        let wanted = Wanted::of(reading, "address", ("the log format", &has.join(", ")), |name| match name {
            "address" => Some((number("remote_addr")?, How::Address)),
            "path" => {
                let request = || Some((number("request")?, How::OfRequest));
                let target = |name| Some((number(name)?, How::OfTarget));
                target("request_uri").or_else(request).or_else(|| target("uri")).or_else(|| target("document_uri"))
            }
            name => Some((number(name)?, How::Text)),
        })?;
        let places = Vec::with_capacity(has.len());
        Ok(Self { format: format.clone(), wanted, time, size, dates: Dates::default(), places })
    }

    /// A reader that counts requests or bytes of addresses.
    ///
    /// # Errors
    ///
    /// When the format has no time, no `$remote_addr`, or (counting bytes) no size.
    pub fn new(format: &LogFormat, unit: Unit) -> Result<Self, FieldError> {
        Self::of(format, &Reading::new().unit(unit))
    }

    /// Reads one line, without its line break.
    ///
    /// # Errors
    ///
    /// When it is not what the format writes. Never panics, on any bytes.
    pub fn read<'l>(&mut self, line: &'l [u8]) -> Result<Record<'l>, LineError> {
        let record = self.read_on_routes(line)?;
        record.ok_or_else(|| LineError::at(0, line, "a line on the routes that are asked about"))
    }

    pub(super) fn read_on_routes<'l>(&mut self, line: &'l [u8]) -> Result<Option<Record<'l>>, LineError> {
        self.format.split(line, &mut self.places)?;
        let time = self.time(line)?;
        let places = &self.places;
        let get = |&number: &usize| {
            let (from, to) = places[number];
            Ok(Value { place: from, text: Some(Cow::Borrowed(&line[from..to])) })
        };
        if !self.wanted.covers(get)? {
            return Ok(None);
        }
        let key = self.wanted.key(get)?;
        let cost = match self.size {
            None => 1,
            Some(number) => {
                let (from, to) = places[number];
                size(&line[from..to]).ok_or_else(|| {
                    let name = self.format.variables()[number].name();
                    let expected = format!("${name}, a whole number from 0 to 18446744073709551615");
                    LineError::found(from, expected, excerpt(&line[from..to]))
                })?
            }
        };
        Ok(Some(Record { time, key, cost }))
    }

    pub(super) fn time_of(&mut self, line: &[u8]) -> Option<u64> {
        self.format.split(line, &mut self.places).ok()?;
        self.time(line).ok()
    }

    fn time(&mut self, line: &[u8]) -> Result<u64, LineError> {
        let (number, clock) = self.time;
        let (from, to) = self.places[number];
        let text = &line[from..to];
        let time = match clock {
            Clock::Msec => instant::number(text, TimeUnit::Seconds),
            Clock::Iso8601 => instant::rfc3339(text),
            Clock::Local => match <&[u8; LENGTH]>::try_from(text) {
                Ok(text) => self.dates.read(text),
                Err(_) => Err("a date like 17/May/2015:10:05:03 +0000"),
            },
        };
        time.map_err(|expected| LineError::found(from, expected, excerpt(text)))
    }
}

/// `-` is a response that was not sent.
fn size(text: &[u8]) -> Option<u64> {
    match text {
        b"-" => Some(0),
        b"" => None,
        digits => {
            if digits.iter().all(u8::is_ascii_digit) {
                decimal(digits)
            } else {
                None
            }
        }
    }
}
