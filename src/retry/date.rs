//! The three forms of a date in HTTP (RFC 9110, section 5.6.7).
//!
//! | form | as in |
//! |---|---|
//! | the one that is written | `Sun, 06 Nov 1994 08:49:37 GMT` |
//! | RFC 850's, with two digits of the year | `Sunday, 06-Nov-94 08:49:37 GMT` |
//! | C's `asctime` | `Sun Nov  6 08:49:37 1994` |
//!
//! The fields stand in fixed places and are cut out here; the calendar is jiff's. Parsers of general formats take more than
//! these forms (one digit for two, any case, any zone), and none that we tried knows the rule of 50 years.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::lenience::{Lenience, Lenient};

/// Nanoseconds in a second.
pub(super) const SECOND: i128 = 1_000_000_000;

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Whether it is what stands before the comma inside a date.
pub(super) fn is_day_name(text: &[u8]) -> bool {
    DAYS.iter().any(|day| text == day.as_bytes() || text == &day.as_bytes()[..3])
}

/// A date as it was written, to the second. What two digits of a year mean depends on when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HttpDate {
    /// From Monday; `None` where it need not be right.
    weekday: Option<i8>,
    year: Year,
    month: i8,
    day: i8,
    hour: i8,
    minute: i8,
    /// 60 is a leap second.
    second: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Year {
    Full(i16),
    LastTwo(i16),
}

impl HttpDate {
    /// `None` when it is in none of the forms, or there is no such day.
    pub(super) fn read(text: &[u8], lenience: Lenience) -> Option<Self> {
        let date = fixdate(Text(text), lenience)
            .or_else(|| rfc850(Text(text), lenience))
            .or_else(|| asctime(Text(text), lenience))
            .or_else(|| lenience.allows(Lenient::Timestamp).then(|| timestamp(text)).flatten())?;
        if date.hour > 23 || date.minute > 59 || date.second > 60 {
            return None;
        }
        // With a full year it is right or wrong whenever it is read.
        if let Year::Full(year) = date.year {
            date.day_of(year)?;
        }
        Some(date)
    }

    /// Seconds since 1970, for who reads it `reference` nanoseconds after 1970. A leap second is the first of the next minute.
    ///
    /// Two digits of a year are the latest such year that is not more than 50 years after the reference. `None` when that
    /// year has no such day, or it is another day of the week.
    pub(super) fn unix_seconds(&self, reference: i128) -> Option<i64> {
        let year = match self.year {
            Year::Full(year) => year,
            Year::LastTwo(digits) => self.century(digits, reference)?,
        };
        // jiff's leap seconds are the seconds before; counted on, they are not early.
        let time = self.day_of(year)?.at(self.hour, self.minute, self.second.min(59), 0);
        let since: SignedDuration = time.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
        Some(since.as_secs() + i64::from(self.second == 60))
    }

    /// The year of these last two digits.
    fn century(&self, digits: i16, reference: i128) -> Option<i16> {
        let now = Offset::UTC.to_datetime(Timestamp::from_nanosecond(reference).ok()?);
        let last = now.year() + 50;
        let year = last - (last - digits).rem_euclid(100);
        let fields = (year, self.month, self.day, self.hour, self.minute, self.second, 0);
        // Field by field: fifty years after a 29 February need not be a day.
        let limit = (last, now.month(), now.day(), now.hour(), now.minute(), now.second(), now.subsec_nanosecond());
        Some(if fields > limit { year - 100 } else { year })
    }

    fn day_of(&self, year: i16) -> Option<Date> {
        let date = Date::new(year, self.month, self.day).ok()?;
        let said = self.weekday.map(Weekday::from_monday_zero_offset).transpose().ok()?;
        said.is_none_or(|said| said == date.weekday()).then_some(date)
    }
}

/// What is left to read.
struct Text<'a>(&'a [u8]);

impl Text<'_> {
    fn literal(&mut self, literal: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(literal.as_bytes())?;
        Some(())
    }

    /// So many digits, and no fewer.
    fn digits(&mut self, count: usize) -> Option<i16> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i16::from(digit - b'0')))
    }

    fn two(&mut self) -> Option<i8> {
        self.digits(2).map(|number| number as i8)
    }

    /// The number of the name that is next, from 0, by its first `length` bytes; by all of them where they are fewer.
    fn name(&mut self, names: &[&str], length: usize) -> Option<i8> {
        let short = |name: &str| name.len().min(length);
        let number = names.iter().position(|name| self.0.starts_with(&name.as_bytes()[..short(name)]))?;
        self.0 = &self.0[short(names[number])..];
        Some(number as i8)
    }

    fn month(&mut self) -> Option<i8> {
        Some(self.name(&MONTHS, 3)? + 1)
    }

    /// Two digits; where that is allowed also one.
    fn day(&mut self, lenience: Lenience) -> Option<i8> {
        let is_short = self.0.get(1).is_some_and(|next| !next.is_ascii_digit());
        if is_short && lenience.allows(Lenient::ShortDay) { self.digits(1).map(|day| day as i8) } else { self.two() }
    }

    fn time(&mut self) -> Option<[i8; 3]> {
        let hour = self.two()?;
        self.literal(":")?;
        let minute = self.two()?;
        self.literal(":")?;
        Some([hour, minute, self.two()?])
    }

    fn zone(&self, lenience: Lenience) -> Option<()> {
        let others: &[&[u8]] =
            if lenience.allows(Lenient::UtcNames) { &[b"gmt", b"UTC", b"utc", b"+0000"] } else { &[] };
        (self.0 == b"GMT" || others.contains(&self.0)).then_some(())
    }
}

/// The day that a date must be, if it must.
fn held_to(weekday: i8, lenience: Lenience) -> Option<i8> {
    (!lenience.allows(Lenient::WrongWeekday)).then_some(weekday)
}

fn fixdate(mut text: Text<'_>, lenience: Lenience) -> Option<HttpDate> {
    let weekday = held_to(text.name(&DAYS, 3)?, lenience);
    text.literal(", ")?;
    let day = text.day(lenience)?;
    text.literal(" ")?;
    let month = text.month()?;
    text.literal(" ")?;
    let year = Year::Full(text.digits(4)?);
    text.literal(" ")?;
    let [hour, minute, second] = text.time()?;
    text.literal(" ")?;
    text.zone(lenience)?;
    Some(HttpDate { weekday, year, month, day, hour, minute, second })
}

fn rfc850(mut text: Text<'_>, lenience: Lenience) -> Option<HttpDate> {
    let weekday = held_to(text.name(&DAYS, usize::MAX)?, lenience);
    text.literal(", ")?;
    let day = text.day(lenience)?;
    text.literal("-")?;
    let month = text.month()?;
    text.literal("-")?;
    let year = Year::LastTwo(text.digits(2)?);
    text.literal(" ")?;
    let [hour, minute, second] = text.time()?;
    text.literal(" ")?;
    text.zone(lenience)?;
    Some(HttpDate { weekday, year, month, day, hour, minute, second })
}

fn asctime(mut text: Text<'_>, lenience: Lenience) -> Option<HttpDate> {
    let weekday = held_to(text.name(&DAYS, 3)?, lenience);
    text.literal(" ")?;
    let month = text.month()?;
    text.literal(" ")?;
    // Two places: a digit that is alone has a space before it.
    let day = match text.literal(" ") {
        Some(()) => text.digits(1)? as i8,
        None => text.day(lenience)?,
    };
    text.literal(" ")?;
    let [hour, minute, second] = text.time()?;
    text.literal(" ")?;
    let year = Year::Full(text.digits(4)?);
    text.0.is_empty().then_some(HttpDate { weekday, year, month, day, hour, minute, second })
}

fn timestamp(text: &[u8]) -> Option<HttpDate> {
    let time: Timestamp = str::from_utf8(text).ok()?.parse().ok()?;
    // Up to the whole second: never early.
    let up = i64::from(time.subsec_nanosecond() > 0);
    let whole = time.as_nanosecond().div_euclid(SECOND) + i128::from(up);
    let time = Offset::UTC.to_datetime(Timestamp::from_nanosecond(whole * SECOND).ok()?);
    Some(HttpDate {
        weekday: None,
        year: Year::Full(time.year()),
        month: time.month(),
        day: time.day(),
        hour: time.hour(),
        minute: time.minute(),
        second: time.second(),
    })
}
