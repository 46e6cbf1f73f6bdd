//! One value of `Retry-After` (RFC 9110, section 10.2.3), from bytes.

use core::fmt;
use core::time::Duration;
use std::error::Error;
use std::string::String;

use super::date::HttpDate;
use super::lenience::{Lenience, Lenient};

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wait {
    /// This long.
    Exactly(Duration),
    /// More seconds than 2⁶⁴ - 1: longer than anybody waits.
    Saturated,
}

impl Wait {
    /// In nanoseconds; `u64::MAX` (584 years) for all that is longer.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        match self {
            Self::Exactly(wait) => nanos(wait),
            Self::Saturated => u64::MAX,
        }
    }

    /// Whether it is more than could be said.
    #[must_use]
    pub const fn is_saturated(self) -> bool {
        matches!(self, Self::Saturated)
    }
}

/// Nanoseconds of a duration; `u64::MAX` for all that is longer.
pub(super) const fn nanos(duration: Duration) -> u64 {
    let nanos = duration.as_nanos();
    if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }
}

/// What one value of `Retry-After` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RetryAfter {
    /// Seconds from when the answer came.
    Delay(Wait),
    /// Not before this date.
    Date(HttpDate),
}

impl RetryAfter {
    /// Reads one value. Spaces and tabs around it are not part of it.
    ///
    /// # Errors
    ///
    /// When it is neither a whole number of seconds in ASCII digits nor a date in one of HTTP's three forms, nor what
    /// `lenience` adds to them. **A value that cannot be read is as good as none**: it is not 0.
    ///
    /// ```
    /// use std::time::Duration;
    /// use admittance::retry::{Lenience, RetryAfter, Wait};
    ///
    /// let read = |value: &str| RetryAfter::parse(value.as_bytes(), Lenience::STRICT);
    /// assert_eq!(read("3"), Ok(RetryAfter::Delay(Wait::Exactly(Duration::from_secs(3)))));
    /// assert!(read("Sun, 06 Nov 1994 08:49:37 GMT").is_ok());
    /// for wrong in ["+3", "3.5", "1e3", "-1", ""] {
    ///     assert!(read(wrong).is_err());
    /// }
    /// ```
    pub fn parse(value: &[u8], lenience: Lenience) -> Result<Self, RetryAfterError> {
        let value = trim(value);
        Self::read(value, lenience).ok_or_else(|| RetryAfterError::new(value))
    }

    /// As [`parse`](Self::parse), of what has no spaces around it.
    pub(super) fn read(value: &[u8], lenience: Lenience) -> Option<Self> {
        delay(value, lenience).map(Self::Delay).or_else(|| HttpDate::read(value, lenience).map(Self::Date))
    }
}

/// Without the spaces and tabs around it, which are all the white space that HTTP knows in a line.
pub(super) fn trim(text: &[u8]) -> &[u8] {
    let is_inside = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let start = text.iter().position(is_inside).unwrap_or(text.len());
    let end = text.iter().rposition(is_inside).map_or(start, |last| last + 1);
    &text[start..end]
}

fn delay(text: &[u8], lenience: Lenience) -> Option<Wait> {
    let text = match text.strip_prefix(b"+") {
        Some(rest) if lenience.allows(Lenient::PlusSign) => rest,
        _ => text,
    };
    match text.iter().position(|&byte| byte == b'.') {
        Some(point) if lenience.allows(Lenient::Fraction) => {
            let (whole, part) = (seconds(&text[..point])?, fraction(&text[point + 1..])?);
            let Wait::Exactly(whole) = whole else { return Some(whole) };
            Some(whole.checked_add(part).map_or(Wait::Saturated, Wait::Exactly))
        }
        _ => seconds(text),
    }
}

/// A whole number of seconds in digits alone.
pub(super) fn seconds(digits: &[u8]) -> Option<Wait> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |number: u64, digit: &u8| number.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    let seconds = digits.iter().try_fold(0, add);
    Some(seconds.map_or(Wait::Saturated, |seconds| Wait::Exactly(Duration::from_secs(seconds))))
}

/// What stands behind the point, rounded up to the nanosecond.
fn fraction(digits: &[u8]) -> Option<Duration> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (kept, rest) = digits.split_at(digits.len().min(9));
    let nanos = (0..9).fold(0, |nanos, place| nanos * 10 + kept.get(place).map_or(0, |digit| u64::from(digit - b'0')));
    Some(Duration::from_nanos(nanos + u64::from(rest.iter().any(|&digit| digit != b'0'))))
}

/// A value of `Retry-After` is in no form that is read. Says the value, cut off where it is long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryAfterError {
    value: String,
}

impl RetryAfterError {
    const SHOWN: usize = 60;

    fn new(value: &[u8]) -> Self {
        let shown = &value[..value.len().min(Self::SHOWN)];
        let more = if shown.len() < value.len() { "…" } else { "" };
        Self { value: std::format!("{}{more}", shown.escape_ascii()) }
    }

    /// The field: `retry-after`.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        "retry-after"
    }
}

impl fmt::Display for RetryAfterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "retry-after: '{}' is neither seconds in digits, as in 120, nor an HTTP date", self.value)
    }
}

impl Error for RetryAfterError {}
