//! Access logs of Application Load Balancers (AWS).
//!
//! ```text
//! h2 2018-07-02T22:23:00.186641Z app/lb/50dc6c 192.0.2.7:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://h:443/a HTTP/1.1" "curl/7" …
//! ```
//!
//! Fields have spaces between them, and some have quotes around them; they are those of "Access log entries" in the user guide
//! of Application Load Balancers. The time is the second field, when the answer began; bytes are `sent_bytes`.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memrchr};

use super::combined::decimal;
use super::instant::rfc3339;
use super::wanted::{FieldError, How, Value, Wanted};
use crate::replay::reading::Reading;
use crate::replay::record::{LineError, Record, Unit};

/// The fields in order. What newer logs have behind them is passed over.
const NAMES: [&str; 30] = [
    "type",
    "time",
    "elb",
    "client:port",
    "target:port",
    "request_processing_time",
    "target_processing_time",
    "response_processing_time",
    "elb_status_code",
    "target_status_code",
    "received_bytes",
    "sent_bytes",
    "request",
    "user_agent",
    "ssl_cipher",
    "ssl_protocol",
    "target_group_arn",
    "trace_id",
    "domain_name",
    "chosen_cert_arn",
    "matched_rule_priority",
    "request_creation_time",
    "actions_executed",
    "redirect_url",
    "error_reason",
    "target:port_list",
    "target_status_code_list",
    "classification",
    "classification_reason",
    "conn_trace_id",
];

const TIME: usize = 1;
const CLIENT: usize = 3;
const SENT: usize = 11;
const REQUEST: usize = 12;

/// What a line begins with.
const TYPES: [&[u8]; 6] = [b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"];

/// Reads lines of one log.
#[derive(Clone, Debug)]
pub struct Reader {
    unit: Unit,
    wanted: Wanted<Field>,
    /// How many fields are looked at.
    fields: usize,
    /// Where each is.
    places: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    /// The client without its port.
    Client,
    Number(usize),
}

impl Reader {
    pub(super) fn of(reading: &Reading) -> Result<Self, FieldError> {
        let mut most = CLIENT.max(if reading.unit == Unit::Byte { SENT } else { TIME });
        let has = format!("address, client, path, {}", NAMES.join(", "));
        let wanted = Wanted::of(reading, "address", ("a log of an ALB", &has), |name| {
            let (field, how) = match name {
                "address" | "client" => (Field::Client, How::Address),
                "path" => (Field::Number(REQUEST), How::OfRequest),
                name => (Field::Number(NAMES.iter().position(|known| *known == name)?), How::Text),
            };
            if let Field::Number(number) = field {
                most = most.max(number);
            }
            Some((field, how))
        })?;
        Ok(Self { unit: reading.unit, wanted, fields: most + 1, places: Vec::with_capacity(NAMES.len()) })
    }

    /// A reader that counts requests or bytes of addresses.
    ///
    /// # Errors
    ///
    /// None: the format has both.
    pub fn new(unit: Unit) -> Result<Self, FieldError> {
        Self::of(&Reading::new().unit(unit))
    }

    /// Reads one line, without its line break.
    ///
    /// # Errors
    ///
    /// When a field that is needed is missing, or is not what it should be. Never panics, on any bytes.
    pub fn read<'l>(&mut self, line: &'l [u8]) -> Result<Record<'l>, LineError> {
        let record = self.read_on_routes(line)?;
        record.ok_or_else(|| LineError::at(0, line, "a line on the routes that are asked about"))
    }

    pub(super) fn read_on_routes<'l>(&mut self, line: &'l [u8]) -> Result<Option<Record<'l>>, LineError> {
        self.split(line)?;
        let time = self.time(line)?;
        let get = |&field: &Field| {
            let number = if let Field::Number(number) = field { number } else { CLIENT };
            let Some(&(from, to)) = self.places.get(number) else {
                return Ok(Value { place: line.len(), text: None });
            };
            let text = &line[from..to];
            let text = if matches!(field, Field::Client) { without_port(text) } else { text };
            Ok(Value { place: from, text: Some(Cow::Borrowed(text)) })
        };
        if !self.wanted.covers(get)? {
            return Ok(None);
        }
        let key = self.wanted.key(get)?;
        let cost = match self.unit {
            Unit::Request => 1,
            Unit::Byte => {
                let (from, to) = self.places.get(SENT).copied().unwrap_or((line.len(), line.len()));
                let text = &line[from..to];
                let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
                let size = if is_number { decimal(text) } else { None };
                size.ok_or_else(|| {
                    LineError::at(from, line, "sent_bytes, a whole number from 0 to 18446744073709551615")
                })?
            }
        };
        Ok(Some(Record { time, key, cost }))
    }

    pub(super) fn time_of(&mut self, line: &[u8]) -> Option<u64> {
        self.split(line).and_then(|()| self.time(line)).ok()
    }

    fn time(&self, line: &[u8]) -> Result<u64, LineError> {
        let (from, to) = self.places.get(TIME).copied().unwrap_or((line.len(), line.len()));
        rfc3339(&line[from..to]).map_err(|expected| LineError::at(from, line, expected))
    }

    /// Finds as many fields as are looked at, or as there are.
    fn split(&mut self, line: &[u8]) -> Result<(), LineError> {
        self.places.clear();
        let mut from = 0;
        while self.places.len() < self.fields && from < line.len() {
            let (start, end) = if line[from] == b'"' {
                let start = from + 1;
                // Requests are logged as they were sent. A quote that closes has a space or nothing behind it.
                let closing = memchr_iter(b'"', &line[start..])
                    .map(|quote| start + quote)
                    .find(|&quote| line.get(quote + 1).is_none_or(|&next| next == b' ') && line[quote - 1] != b'\\');
                (start, closing.ok_or_else(|| LineError::at(line.len(), line, "a closing quote"))?)
            } else {
                (from, memchr(b' ', &line[from..]).map_or(line.len(), |space| from + space))
            };
            if self.places.is_empty() && !TYPES.contains(&&line[start..end]) {
                return Err(LineError::at(start, line, "http, https, h2, grpcs, ws or wss in the first field"));
            }
            self.places.push((start, end));
            from = if start > from { end + 2 } else { end + 1 };
        }
        Ok(())
    }
}

/// `192.0.2.7:2817`, `[2001:db8::1]:2817` and `2001:db8::1:2817` without the port.
fn without_port(client: &[u8]) -> &[u8] {
    let host = match memrchr(b':', client) {
        Some(colon) if client[colon + 1..].iter().all(u8::is_ascii_digit) => &client[..colon],
        _ => client,
    };
    host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host)
}
