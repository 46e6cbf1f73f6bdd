//! Times as text: RFC 3339, and numbers since 1970, exact to the nanosecond.

use jiff::Timestamp;

use super::fields::TimeUnit;

/// What is said where a time is out of range.
pub(super) const RANGE: &str = "a time from 1970 to 2554";

/// Nanoseconds since 1970 of a date as RFC 3339 writes it, or what was expected.
pub(super) fn rfc3339(text: &[u8]) -> Result<u64, &'static str> {
    let time: Timestamp = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or("a time as RFC 3339 writes it, as in 2015-05-17T10:05:03.25Z")?;
    u64::try_from(time.as_nanosecond()).map_err(|_| RANGE)
}

/// Nanoseconds since 1970 of a decimal number, as JSON writes numbers. No floating point: what is finer than a nanosecond is
/// cut off, and nothing else is lost.
pub(super) fn number(text: &[u8], unit: TimeUnit) -> Result<u64, &'static str> {
    let (expected, nanos_digits) = match unit {
        TimeUnit::Rfc3339 => return rfc3339(text),
        TimeUnit::Seconds => ("a number of seconds since 1970, as in 1431857103.25", 9),
        TimeUnit::Millis => ("a number of milliseconds since 1970, as in 1431857103250", 6),
        TimeUnit::Micros => ("a number of microseconds since 1970, as in 1431857103250000", 3),
        TimeUnit::Nanos => ("a number of nanoseconds since 1970, as in 1431857103250000000", 0),
    };
    let decimal = Decimal::read(text).ok_or(expected)?;
    decimal.shifted(nanos_digits).ok_or(RANGE)
}

/// A number as it is written.
struct Decimal<'t> {
    negative: bool,
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: i64,
}

impl<'t> Decimal<'t> {
    /// The grammar of JSON, and zeros before.
    fn read(text: &'t [u8]) -> Option<Self> {
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (digits, exponent) = match memchr::memchr2(b'e', b'E', text) {
            Some(at) => (&text[..at], exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (whole, fraction) = match memchr::memchr(b'.', digits) {
            Some(dot) => (&digits[..dot], Some(&digits[dot + 1..])),
            None => (digits, None),
        };
        let all_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
        if !all_digits(whole) || fraction.is_some_and(|fraction| !all_digits(fraction)) {
            return None;
        }
        Some(Self { negative, whole, fraction: fraction.unwrap_or_default(), exponent })
    }

    /// This number times ten to `by`, without what is behind the point; `None` where it does not fit.
    fn shifted(&self, by: i64) -> Option<u64> {
        let mut digits = self.whole.iter().chain(self.fraction).map(|digit| u64::from(digit - b'0'));
        // A line is at most a mebibyte: lengths are far from the ends.
        let mut places = i64::try_from(self.whole.len()).ok()?.saturating_add(self.exponent).saturating_add(by);
        let mut sum = 0_u64;
        let mut any = false;
        for digit in &mut digits {
            any |= digit > 0;
            if places <= 0 {
                continue;
            }
            places -= 1;
            sum = sum.checked_mul(10)?.checked_add(digit)?;
        }
        // Zeros behind the last digit that is written: of 0 none are needed, of another number few fit.
        while sum > 0 && places > 0 {
            places -= 1;
            sum = sum.checked_mul(10)?;
        }
        if self.negative && any { None } else { Some(sum) }
    }
}

/// Saturates: what is that large or small does not fit, or is 0.
fn exponent(text: &[u8]) -> Option<i64> {
    const MOST: i64 = 1 << 40;
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] | digits => (1, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(sign * digits.iter().fold(0, |sum: i64, digit| (sum * 10 + i64::from(digit - b'0')).min(MOST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_to_the_nanosecond() {
        use TimeUnit::{Micros, Millis, Nanos, Seconds};
        for (text, unit, nanos) in [
            ("0", Seconds, 0),
            ("-0.0", Seconds, 0),
            ("1646861401.5241024", Seconds, 1_646_861_401_524_102_400),
            // Not what a double has: 1431857103.1234567 is 1431857103.1234567165374756.
            ("1431857103.123456789", Seconds, 1_431_857_103_123_456_789),
            ("1431857103.1234567899", Seconds, 1_431_857_103_123_456_789),
            ("1.431857103123456789e9", Seconds, 1_431_857_103_123_456_789),
            ("14318571031234567890E-10", Seconds, 1_431_857_103_123_456_789),
            ("1431857103123", Millis, 1_431_857_103_123_000_000),
            ("1431857103123.456789", Millis, 1_431_857_103_123_456_789),
            ("1431857103123456.5", Micros, 1_431_857_103_123_456_500),
            ("18446744073709551615", Nanos, u64::MAX),
            ("18446744073.709551615999", Seconds, u64::MAX),
            ("1e0", Nanos, 1),
            ("1e-99999999999999999999", Seconds, 0),
            ("0e99999999999999999999", Seconds, 0),
            ("0.0000000001e10", Nanos, 1),
        ] {
            assert_eq!(number(text.as_bytes(), unit), Ok(nanos), "{text}");
        }
        for text in ["18446744073.709551616", "1e99999999999999999999", "-1", "-0.0000000000001", "1e11", "99999999999"]
        {
            assert_eq!(number(text.as_bytes(), Seconds), Err(RANGE), "{text}");
        }
        for text in ["", "-", ".5", "5.", "1e", "1e+", "+1", " 1", "1 ", "0x1", "1_0", "NaN", "1.2.3", "--1", "１"] {
            assert!(number(text.as_bytes(), Seconds).unwrap_err().starts_with("a number of seconds"), "{text}");
        }
    }

    #[test]
    fn dates_of_rfc_3339_are_read_with_their_offset() {
        for (text, nanos) in [
            ("2015-05-17T10:05:03Z", 1_431_857_103_000_000_000),
            ("2015-05-17T12:05:03.123456789+02:00", 1_431_857_103_123_456_789),
            ("2015-05-17t10:05:03.5z", 1_431_857_103_500_000_000),
            ("2015-05-17 10:05:03+00:00", 1_431_857_103_000_000_000),
            ("2015-05-17T10:05:03.250+0000", 1_431_857_103_250_000_000),
        ] {
            assert_eq!(rfc3339(text.as_bytes()), Ok(nanos), "{text}");
        }
        for text in ["2015-05-17T10:05:03", "2015-05-17", "1431857103", "17/May/2015:10:05:03 +0000", "", "\u{ff}"] {
            assert!(rfc3339(text.as_bytes()).unwrap_err().contains("RFC 3339"), "{text}");
        }
        assert_eq!(rfc3339(b"1969-12-31T23:59:59Z"), Err(RANGE));
        assert_eq!(rfc3339(b"2600-01-01T00:00:00Z"), Err(RANGE));
    }
}
