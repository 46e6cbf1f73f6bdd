//! `TOKENS/DURATION`: how a refill or a window is written on a command line.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// So many tokens per so long: `2/1s`, `7/3s`, `600000000/1s`, `1/1d`.
///
/// Both are whole numbers of at least 1; units are ns, us, ms, s, m, h and d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Per {
    /// Tokens.
    pub tokens: u64,
    /// In this long.
    pub duration: Duration,
}

/// What is wrong with an amount, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmountError(String);

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AmountError {}

fn wrong(what: impl fmt::Display) -> AmountError {
    AmountError(format!("{what}; write TOKENS/DURATION, as in 2/1s or 100/1m (units: ns, us, ms, s, m, h, d)"))
}

impl FromStr for Per {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        let (tokens, duration) = text.split_once('/').ok_or_else(|| wrong("there is no '/'"))?;
        let (tokens, nanos) = (count(tokens, "tokens")?, nanos(duration)?);
        Ok(Self { tokens, duration: Duration::from_nanos(nanos) })
    }
}

/// As it is read: `2/1s`, `1/1d`.
impl fmt::Display for Per {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.tokens, Spelled(self.duration))
    }
}

/// A duration alone: `2s`, `250ms`.
#[cfg(feature = "policy")]
pub(crate) fn duration(text: &str) -> Result<Duration, AmountError> {
    nanos(text).map(Duration::from_nanos)
}

/// A duration as it is read: a whole number of the largest unit that has one.
pub(crate) struct Spelled(pub(crate) Duration);

impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u128, &str); 7] = [
            (86_400_000_000_000, "d"),
            (3_600_000_000_000, "h"),
            (60_000_000_000, "m"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "us"),
            (1, "ns"),
        ];
        let nanos = self.0.as_nanos();
        let (scale, unit) = UNITS.into_iter().find(|(scale, _)| nanos.is_multiple_of(*scale)).unwrap_or((1, "ns"));
        write!(f, "{}{unit}", nanos / scale)
    }
}

/// A whole number of at least 1, in digits alone: no sign, no fraction, no exponent.
fn count(text: &str, what: &str) -> Result<u64, AmountError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(format_args!("{what}: '{text}' is not a whole number")));
    }
    match text.parse() {
        Ok(0) => Err(wrong(format_args!("{what}: must be at least 1"))),
        Ok(number) => Ok(number),
        Err(_) => Err(wrong(format_args!("{what}: '{text}' is more than {}", u64::MAX))),
    }
}

fn nanos(text: &str) -> Result<u64, AmountError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let scale: u64 = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        "" => return Err(wrong(format_args!("duration: '{text}' has no unit"))),
        other => return Err(wrong(format_args!("duration: '{other}' is not a unit"))),
    };
    let number = count(number, "duration")?;
    number.checked_mul(scale).ok_or_else(|| wrong(format_args!("duration: '{text}' is more than 584 years")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        for (text, tokens, nanos) in [
            ("2/1s", 2, 1_000_000_000),
            ("997/1009000ns", 997, 1_009_000),
            ("1/250us", 1, 250_000),
            ("3/5ms", 3, 5_000_000),
            ("100/1m", 100, 60_000_000_000),
            ("4/1h", 4, 3_600_000_000_000),
            ("1/1d", 1, 86_400_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Per { tokens, duration: Duration::from_nanos(nanos) }), "{text}");
        }
    }

    #[test]
    fn an_amount_is_told_as_it_can_be_read() {
        for text in ["2/1s", "997/1009us", "1/1500ms", "100/1m", "7/3s", "5/36h", "1/1d"] {
            assert_eq!(text.parse::<Per>().unwrap().to_string(), text);
        }
        assert_eq!("60/60s".parse::<Per>().unwrap().to_string(), "60/1m");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, what) in [
            ("2", "no '/'"),
            ("/1s", "tokens: ''"),
            ("+2/1s", "tokens: '+2'"),
            ("0/1s", "tokens: must be at least 1"),
            ("1e3/1s", "tokens: '1e3'"),
            ("3.5/1s", "tokens: '3.5'"),
            ("99999999999999999999/1s", "is more than 18446744073709551615"),
            ("2/1", "'1' has no unit"),
            ("2/s", "duration: '' is not a whole number"),
            ("2/0s", "duration: must be at least 1"),
            ("2/-1s", "duration: '-1s' is not a unit"),
            ("2/1.5s", "duration: '.5s' is not a unit"),
            ("2/1week", "'week' is not a unit"),
            ("2/999999999999d", "more than 584 years"),
        ] {
            let error = text.parse::<Per>().unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("2/1s or 100/1m"), "{text}: {error}");
        }
    }
}
