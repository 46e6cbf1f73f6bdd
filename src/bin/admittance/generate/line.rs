//! How a line is written.

use std::io::Write;

use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

use super::caller::{Address, Own};
use super::draw::Draw;
use super::site::Site;
use super::traffic::Call;
use crate::args::{self, LogFormat};

/// Seconds whose text is remembered: a late line is up to two of them behind.
const REMEMBERED: usize = 4;

/// Writes lines.
pub(super) struct Writer {
    format: LogFormat,
    keys: u32,
    seed: u64,
    site: Site,
    asked: Draw,
    dates: [(u64, String); REMEMBERED],
    number: itoa::Buffer,
}

impl Writer {
    pub(super) fn new(args: &args::Generate) -> Self {
        Self {
            format: args.format,
            keys: args.keys,
            seed: args.seed,
            site: Site::new(),
            asked: Draw::new(args.seed, 3),
            dates: std::array::from_fn(|_| (u64::MAX, String::new())),
            number: itoa::Buffer::new(),
        }
    }

    /// Appends a line, with its break.
    pub(super) fn write(&mut self, call: Call, to: &mut Vec<u8>) {
        let own = Own::new(call.rank, self.seed);
        match self.format {
            LogFormat::Combined => self.combined(call.time, own, to),
            LogFormat::Jsonl => {
                to.extend_from_slice(b"{\"t_ns\":");
                self.number(call.time, to);
                to.extend_from_slice(b",\"key\":\"");
                self.address(own, to);
                to.extend_from_slice(b"\",\"cost\":1}\n");
            }
        }
    }

    fn combined(&mut self, time: u64, own: Own, to: &mut Vec<u8>) {
        self.address(own, to);
        to.extend_from_slice(b" - - [");
        to.extend_from_slice(date(&mut self.dates, time / 1_000_000_000));
        to.extend_from_slice(b"] \"");
        let route = self.site.route(&mut self.asked);
        let answer = route.answer(&mut self.asked);
        for part in [route.method, " ", &route.path, " HTTP/1.1\" "] {
            to.extend_from_slice(part.as_bytes());
        }
        to.extend_from_slice(self.number.format(answer.status).as_bytes());
        to.push(b' ');
        match answer.size {
            Some(size) => to.extend_from_slice(self.number.format(size).as_bytes()),
            None => to.push(b'-'),
        }
        to.extend_from_slice(b" \"");
        if self.asked.below(3) == 0 {
            to.extend_from_slice(b"https://shop.example");
            to.extend_from_slice(self.site.route(&mut self.asked).path.as_bytes());
        } else {
            to.push(b'-');
        }
        to.extend_from_slice(b"\" \"");
        to.extend_from_slice(own.agent().as_bytes());
        to.extend_from_slice(b"\"\n");
    }

    fn number(&mut self, number: u64, to: &mut Vec<u8>) {
        to.extend_from_slice(self.number.format(number).as_bytes());
    }

    fn address(&mut self, own: Own, to: &mut Vec<u8>) {
        match own.address(self.keys) {
            Address::V4(address) => {
                for (place, part) in address.octets().into_iter().enumerate() {
                    if place > 0 {
                        to.push(b'.');
                    }
                    to.extend_from_slice(self.number.format(part).as_bytes());
                }
            }
            Address::V6(address) => write!(to, "{address}").expect("a vector takes everything"),
        }
    }
}

/// A second as an access log writes it: `17/May/2015:10:05:03 +0000`.
fn date(dates: &mut [(u64, String); REMEMBERED], second: u64) -> &[u8] {
    let (known, text) = &mut dates[second as usize % REMEMBERED];
    if *known != second {
        // Before the year 2500: it can be written.
        let time =
            TimeZone::UTC.to_datetime(Timestamp::from_second(second.cast_signed()).unwrap_or(Timestamp::UNIX_EPOCH));
        *text = strtime::format("%d/%b/%Y:%H:%M:%S +0000", time).unwrap_or_default();
        *known = second;
    }
    text.as_bytes()
}
