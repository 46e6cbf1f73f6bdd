//! All that a response says about waiting, as one wait from the instant it came.

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};
use std::vec::Vec;

use super::date::{HttpDate, SECOND, is_day_name};
use super::lenience::Lenience;
use super::parse::{RetryAfter, Wait, seconds, trim};

/// A response, as far as waiting goes: its status, when it came by the wall clock, and its lines `Retry-After`, `Date` and
/// `Age`.
#[derive(Clone, Debug)]
#[must_use]
pub struct Response<'a> {
    status: u16,
    /// Nanoseconds since 1970.
    received: i128,
    retry_after: Vec<&'a [u8]>,
    date: Vec<&'a [u8]>,
    age: Vec<&'a [u8]>,
}

impl<'a> Response<'a> {
    /// `received` is the client's own wall clock, which counts only where the response has no `Date` and says a date to wait for.
    /// `lines` are name and value of header lines, in any case and order; those of other names are passed over.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use admittance::retry::{Lenience, Response, Wait};
    ///
    /// let response = Response::new(503, SystemTime::now(), [("retry-after", "3".as_bytes()), ("server", b"x")]);
    /// let signal = response.signal(Lenience::STRICT).unwrap();
    /// assert_eq!(signal.wait(), Wait::Exactly(Duration::from_secs(3)));
    /// ```
    pub fn new(status: u16, received: SystemTime, lines: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let received = match received.duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_nanos().cast_signed(),
            Err(before) => -before.duration().as_nanos().cast_signed(),
        };
        let mut response = Self { status, received, retry_after: Vec::new(), date: Vec::new(), age: Vec::new() };
        for (name, value) in lines {
            if name.eq_ignore_ascii_case("retry-after") {
                response.retry_after.push(value);
            } else if name.eq_ignore_ascii_case("date") {
                response.date.push(value);
            } else if name.eq_ignore_ascii_case("age") {
                response.age.push(value);
            }
        }
        response
    }

    /// Its status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// The wait that the server asks for, counted from when the response came; `None` when it asks for none in a form that
    /// can be read.
    ///
    /// - A number of seconds is that long, however old the response is.
    /// - A date is that long after the *server's* now: its `Date` and the `Age` that caches have added. The client's clock,
    ///   which may be wrong by any amount, counts only where there is no `Date`.
    /// - Of several values, in lines of their own or joined by commas in one, the longest wait counts; those that cannot be
    ///   read are passed over.
    /// - Of several lines `Date` or `Age` that can be read, those count that make the wait longest: the smallest.
    #[must_use]
    pub fn signal(&self, lenience: Lenience) -> Option<Signal> {
        let now = self.server_now(lenience);
        let reference = now.unwrap_or(self.received);
        let (mut longest, mut values, mut dated) = (None, 0_usize, false);
        for line in &self.retry_after {
            each_value(line, |value| {
                values += 1;
                let wait = match RetryAfter::read(value, lenience) {
                    Some(RetryAfter::Delay(wait)) => (Some(wait), false),
                    Some(RetryAfter::Date(date)) => (until(&date, reference), true),
                    None => (None, false),
                };
                // `None` is less than any wait.
                if wait.0 > longest {
                    (longest, dated) = wait;
                }
            });
        }
        let reference = match (dated, now) {
            (false, _) => Reference::Arrival,
            (true, Some(_)) => Reference::Server,
            (true, None) => Reference::WallClock,
        };
        longest.map(|wait| Signal { wait, several: values > 1, reference })
    }

    /// The server's now in nanoseconds since 1970, if it says one.
    fn server_now(&self, lenience: Lenience) -> Option<i128> {
        let dates =
            self.date.iter().filter_map(|line| HttpDate::read(trim(line), lenience)?.unix_seconds(self.received));
        let date = dates.min()?;
        let mut least: Option<Duration> = None;
        for line in &self.age {
            each_value(line, |value| {
                // One that no 64 bits hold is no age. As with any that cannot be read, the wait is then longer, not shorter.
                if let Some(Wait::Exactly(age)) = seconds(value) {
                    least = Some(least.map_or(age, |least| least.min(age)));
                }
            });
        }
        let age = least.map_or(0, |age| age.as_secs());
        Some((i128::from(date) + i128::from(age)) * SECOND)
    }
}

/// From `reference` until the date; nothing when that is past.
fn until(date: &HttpDate, reference: i128) -> Option<Wait> {
    let second = SECOND.unsigned_abs();
    // What is past is negative, and no wait.
    let nanos = u128::try_from(i128::from(date.unix_seconds(reference)?) * SECOND - reference).unwrap_or(0);
    let seconds = u64::try_from(nanos / second);
    Some(seconds.map_or(Wait::Saturated, |seconds| Wait::Exactly(Duration::new(seconds, (nanos % second) as u32))))
}

/// Every value of a line. Whoever passes lines on may join them by commas, and a date has a comma of its own.
fn each_value<'a>(line: &'a [u8], mut see: impl FnMut(&'a [u8])) {
    let comma = |from: usize| line[from..].iter().position(|&byte| byte == b',').map(|at| from + at);
    let mut start = 0;
    loop {
        let end = match comma(start) {
            Some(end) if is_day_name(trim(&line[start..end])) => comma(end + 1),
            end => end,
        };
        see(trim(&line[start..end.unwrap_or(line.len())]));
        match end {
            Some(end) => start = end + 1,
            None => return,
        }
    }
}

/// What a server asks for: a wait, and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Signal {
    wait: Wait,
    several: bool,
    reference: Reference,
}

/// What a wait was counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// Seconds: from when the response came.
    Arrival,
    /// A date: from the response's `Date` and `Age`.
    Server,
    /// A date, in a response without a `Date`: from the client's own wall clock, which may be wrong.
    WallClock,
}

impl Signal {
    /// How long to wait from when the response came. The longest, where there were several.
    #[must_use]
    pub const fn wait(&self) -> Wait {
        self.wait
    }

    /// Whether there was more than one value, valid or not: something between here and the server is worth a look.
    #[must_use]
    pub const fn several(&self) -> bool {
        self.several
    }

    /// What the wait was counted from.
    #[must_use]
    pub const fn reference(&self) -> Reference {
        self.reference
    }
}
