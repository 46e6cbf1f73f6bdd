//! JSON objects, a line each: those of one's own, and Caddy's.
//!
//! Members that are not asked for are passed over, and may be broken in what they hold, though not in their syntax. One that is
//! asked for must be UTF-8, and there once. Numbers are read as they are written: none goes through floating point.

mod tree;

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::fields::{Fields, Path, TimeUnit, path};
use super::instant;
use super::wanted::{FieldError, How, Value, Wanted};
use crate::replay::reading::Reading;
use crate::replay::record::{LineError, Record, Unit, excerpt};
use tree::Tree;

/// Reads lines of one log.
#[derive(Clone, Debug)]
pub struct Reader {
    tree: Tree,
    wanted: Wanted<Vec<usize>>,
    time: usize,
    time_name: String,
    unit: Option<TimeUnit>,
    /// Which value is the cost, and its name; `None` where each line costs 1.
    cost: Option<(usize, String)>,
}

impl Reader {
    pub(super) fn of(fields: &Fields, reading: &Reading) -> Result<Self, FieldError> {
        if reading.unit == Unit::Byte && fields.cost.is_none() {
            return Err(FieldError::new("which field is the size in bytes? Say cost=PATH"));
        }
        let alone = |path: &Option<Path>| path.clone().into_iter().collect::<Vec<_>>();
        let known = Known {
            format: "a JSON log",
            key: alone(&fields.key),
            address: alone(&fields.address),
            route: alone(&fields.route),
            missing: "the path of any member, and what is said to be key=PATH, address=PATH or (its path) route=PATH",
        };
        Self::with(&known, (&fields.time, fields.unit), fields.cost.as_ref(), reading)
    }

    /// Reads Caddy's log. Its time is `ts`, bytes are `size`, and who asked is `request.client_ip`, or `request.remote_ip` before
    /// Caddy 2.7, or `request.remote_addr` before 2.5.
    pub(super) fn caddy(reading: &Reading) -> Result<Self, FieldError> {
        let in_request = |name: &str| vec!["request".to_owned(), name.to_owned()];
        let known = Known {
            format: "Caddy's log",
            key: Vec::new(),
            address: ["client_ip", "remote_ip", "remote_addr"].map(in_request).into(),
            route: vec![in_request("uri")],
            missing: "address, path, and the path of any member, as request.host",
        };
        let size = vec!["size".to_owned()];
        Self::with(&known, (&vec!["ts".to_owned()], None), (reading.unit == Unit::Byte).then_some(&size), reading)
    }

    fn with(
        known: &Known<'_>,
        (time, unit): (&Path, Option<TimeUnit>),
        cost: Option<&Path>,
        reading: &Reading,
    ) -> Result<Self, FieldError> {
        let mut tree = Tree::default();
        let time_name = time.join(".");
        let time = tree.leaf(time);
        let cost = cost.map(|cost| (tree.leaf(cost), cost.join(".")));
        let mut leaves = |paths: &[Path]| paths.iter().map(|path| tree.leaf(path)).collect::<Vec<_>>();
        let mut find = |name: &str| {
            let (paths, how) = match name {
                "address" => (&known.address, How::Address),
                "path" => (&known.route, How::OfTarget),
                "key" => (&known.key, How::Text),
                name => return path(name).ok().map(|path| (leaves(&[path]), How::Text)),
            };
            if !paths.is_empty() {
                return Some((leaves(paths), how));
            }
            // Not a role, so it may be a member of this name.
            if name == "key" { Some((leaves(&[vec![name.to_owned()]]), How::Text)) } else { None }
        };
        // Who asked is what was said to be the key, unless something else is asked for.
        let usual = if known.key.is_empty() { "address" } else { "key" };
        let wanted = Wanted::of(reading, usual, (known.format, known.missing), &mut find)?;
        Ok(Self { tree, wanted, time, time_name, unit, cost })
    }

    /// A reader of these fields.
    ///
    /// # Errors
    ///
    /// When neither key nor address is among them.
    pub fn new(fields: &Fields) -> Result<Self, FieldError> {
        Self::of(fields, &Reading::new())
    }

    /// A reader of Caddy's log that counts requests or bytes of addresses.
    ///
    /// # Errors
    ///
    /// None: the format has both.
    pub fn for_caddy(unit: Unit) -> Result<Self, FieldError> {
        Self::caddy(&Reading::new().unit(unit))
    }

    /// Reads one line, without its line break.
    ///
    /// # Errors
    ///
    /// When it is not a JSON object, or a field that is asked for is missing or not what it should be. Never panics, on any
    /// bytes.
    pub fn read<'l>(&mut self, line: &'l [u8]) -> Result<Record<'l>, LineError> {
        let record = self.read_on_routes(line)?;
        record.ok_or_else(|| LineError::at(0, line, "a line on the routes that are asked about"))
    }

    pub(super) fn read_on_routes<'l>(&mut self, line: &'l [u8]) -> Result<Option<Record<'l>>, LineError> {
        let values = self.tree.read(line)?;
        let time = self.time(line, &values)?;
        let get = |leaves: &Vec<usize>| {
            let present = leaves.iter().find_map(|&leaf| values[leaf].filter(|value| value.get() != "null"));
            match present {
                Some(value) => Ok(Value { place: place(line, value), text: Some(text(line, value)?) }),
                None => Ok(Value { place: line.len(), text: None }),
            }
        };
        if !self.wanted.covers(get)? {
            return Ok(None);
        }
        let key = self.wanted.key(get)?;
        let cost = match &self.cost {
            None => 1,
            Some((leaf, name)) => {
                let raw = values[*leaf].map_or("", RawValue::get);
                let is_number = !raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_digit());
                raw.parse().ok().filter(|_| is_number).ok_or_else(|| {
                    let whole = format!("{name} to be a whole number from 0 to 18446744073709551615");
                    unlike(line, values[*leaf], whole)
                })?
            }
        };
        Ok(Some(Record { time, key, cost }))
    }

    pub(super) fn time_of(&mut self, line: &[u8]) -> Option<u64> {
        let values = self.tree.read(line).ok()?;
        self.time(line, &values).ok()
    }

    fn time(&self, line: &[u8], values: &[Option<&RawValue>]) -> Result<u64, LineError> {
        let wrong = |expected: &str| unlike(line, values[self.time], format!("{} to be {expected}", self.time_name));
        let Some(value) = values[self.time] else {
            return Err(wrong("the time"));
        };
        let is_string = value.get().starts_with('"');
        let text = if is_string { text(line, value)? } else { Cow::Borrowed(value.get().as_bytes()) };
        let time = match (self.unit, is_string) {
            (Some(TimeUnit::Rfc3339), false) => Err("a string, as in \"2015-05-17T10:05:03.25Z\""),
            (Some(unit), _) => instant::number(&text, unit),
            (None, true) => instant::rfc3339(&text),
            // Most likely of another unit, which nobody said.
            (None, false) => instant::number(&text, TimeUnit::Seconds).map_err(|expected| match expected {
                instant::RANGE => "a time from 1970 to 2554 in seconds (:ms, :us and :ns say another unit)",
                expected => expected,
            }),
        };
        time.map_err(wrong)
    }
}

/// What a JSON log is known to have, and how it is called.
struct Known<'k> {
    format: &'k str,
    key: Vec<Path>,
    /// The first that is there counts.
    address: Vec<Path>,
    route: Vec<Path>,
    missing: &'k str,
}

/// Where a value begins in its line.
fn place(line: &[u8], value: &RawValue) -> usize {
    // It was borrowed from the line.
    (value.get().as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len())
}

/// A string's text, or a number as it is written.
fn text<'l>(line: &'l [u8], value: &'l RawValue) -> Result<Cow<'l, [u8]>, LineError> {
    let raw = value.get();
    match raw.as_bytes() {
        [b'"', within @ .., b'"'] if memchr::memchr(b'\\', within).is_none() => Ok(Cow::Borrowed(within)),
        [b'"', ..] => match serde_json::from_str::<String>(raw) {
            Ok(text) => Ok(Cow::Owned(text.into_bytes())),
            Err(_) => Err(unlike(line, Some(value), "a string whose escapes are whole".into())),
        },
        [b'-' | b'0'..=b'9', ..] => Ok(Cow::Borrowed(raw.as_bytes())),
        _ => Err(unlike(line, Some(value), "a string or a number".into())),
    }
}

#[cold]
fn unlike(line: &[u8], value: Option<&RawValue>, expected: String) -> LineError {
    match value {
        Some(value) => LineError::found(place(line, value), expected, excerpt(value.get().as_bytes())),
        None => LineError::found(line.len(), expected, "none".into()),
    }
}
