//! What can be said to `admittance retry`.

use std::ffi::OsString;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use admittance::retry::{Jitter, Lenient};
use clap::ValueEnum;
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::Deserialize;

use crate::args::number;

const EXAMPLES: &str = "\
Examples:
  When would five attempts go, if every answer said to wait three seconds?
    admittance retry --header 'Retry-After: 3' --backoff 1s --spread 1s --deadline 10s --attempts 5
  The same of a date, by the server's clock:
    admittance retry --header 'Retry-After: Tue, 10 Mar 2026 12:00:03 GMT' \\
      --header 'Date: Tue, 10 Mar 2026 12:00:00 GMT' --backoff 1s --deadline 10s --attempts 5 --json
  What each line of a file of cases comes to:
    admittance retry --vectors tests/vectors/retry_after.jsonl

An attempt goes at max(backoff, what the server asks for) + spread after the one before it: never before
what the server asks for. One whose wait could not end before the deadline does not go. Answers are
taken to come at once.

Exit codes:
  0  done; a Retry-After that cannot be read is as good as none, and is remarked
  1  a file cannot be read, or a line of it
  2  the command line is wrong";

const PLAN: &str = "The plan";
const READING: &str = "Reading";
const TELLING: &str = "Telling";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Retry {
    /// A header line of the answer, as in 'Retry-After: 3'; Date and Age count too. May be said again.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = OsStringValueParser::new().try_map(Header::read), help_heading = READING)]
    pub(super) headers: Vec<Header>,

    /// The client's wall clock when the answer came, as in 2026-03-10T12:00:00Z; now, without it. Counts only for a date
    /// in an answer without a Date.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = READING)]
    pub(super) wall: Option<Wall>,

    /// Read this too, although the standard has no such form. May be said again.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = READING)]
    pub(super) lenient: Vec<LenientArg>,

    /// How many times it is sent at most, the first included.
    #[arg(long, value_name = "N", value_parser = number::whole::<u32>(1..=4_294_967_295, "5"), allow_hyphen_values = true, required_unless_present = "vectors", help_heading = PLAN)]
    attempts: Option<u32>,

    /// How long all of it may take, as in 10s (units: ns, us, ms, s, m, h, d).
    #[arg(long, value_name = "DURATION", value_parser = number::duration_or_none, allow_hyphen_values = true, required_unless_present = "vectors", help_heading = PLAN)]
    deadline: Option<Duration>,

    /// The client's own wait before the second attempt.
    #[arg(long, value_name = "DURATION", value_parser = number::duration_or_none, allow_hyphen_values = true, default_value = "200ms", help_heading = PLAN)]
    pub(super) backoff: Duration,

    /// How many times longer each backoff is than the one before.
    #[arg(long, value_name = "N", default_value = "2", value_parser = number::whole::<u32>(1..=4_294_967_295, "5"), allow_hyphen_values = true, help_heading = PLAN)]
    pub(super) factor: u32,

    /// The longest backoff. What a server asks for is not shortened.
    #[arg(long, value_name = "DURATION", value_parser = number::duration_or_none, allow_hyphen_values = true, help_heading = PLAN)]
    pub(super) ceiling: Option<Duration>,

    /// How chance shapes the backoff.
    #[arg(long, value_enum, default_value_t, help_heading = PLAN)]
    pub(super) jitter: JitterArg,

    /// Up to this much is added to each wait, by chance.
    #[arg(long, value_name = "DURATION", value_parser = number::duration_or_none, allow_hyphen_values = true, default_value = "100ms", help_heading = PLAN)]
    pub(super) spread: Duration,

    /// A longer wait than this stops the call.
    #[arg(long, value_name = "DURATION", value_parser = number::duration_or_none, allow_hyphen_values = true, help_heading = PLAN)]
    pub(super) longest_wait: Option<Duration>,

    /// The answer as one JSON object.
    #[arg(long, help_heading = TELLING)]
    pub(super) json: bool,

    /// Read cases from a file of JSON lines with `lines`, `wall`, `date` and `age`, and answer each with a JSON line. `-` is
    /// standard input.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["headers", "wall", "attempts", "deadline", "backoff", "factor", "ceiling", "jitter", "spread", "longest_wait", "json"],
        help_heading = TELLING
    )]
    pub(super) vectors: Option<OsString>,
}

impl Retry {
    /// The attempts and the deadline, which are said wherever no file of cases is.
    pub(super) fn bounds(&self) -> (u32, Duration) {
        let (attempts, deadline) = self.attempts.zip(self.deadline).expect("they are required");
        (attempts, deadline)
    }
}

/// A header line. Its value is any bytes.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) value: Vec<u8>,
}

impl Header {
    fn read(line: OsString) -> Result<Self, String> {
        let bytes = line.into_encoded_bytes();
        let colon = bytes.iter().position(|&byte| byte == b':');
        let name = colon.and_then(|colon| str::from_utf8(&bytes[..colon]).ok());
        match (name, colon) {
            (Some(name), Some(colon)) if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Ok(Self { name: name.into(), value: bytes[colon + 1..].to_vec() })
            }
            _ => Err("there is no name and ':'; write as in 'Retry-After: 3'".into()),
        }
    }
}

/// An instant of the wall clock.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Wall(pub(super) SystemTime);

impl FromStr for Wall {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time: jiff::Timestamp =
            text.parse().map_err(|_| format!("'{text}' is no time as in 2026-03-10T12:00:00Z"))?;
        let nanos = time.as_nanosecond();
        let (whole, part) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
        let apart = Duration::new(whole as u64, part as u32);
        let time = if nanos < 0 { UNIX_EPOCH.checked_sub(apart) } else { UNIX_EPOCH.checked_add(apart) };
        time.map(Self).ok_or_else(|| format!("'{text}' is beyond the clock of this system"))
    }
}

impl TryFrom<String> for Wall {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum JitterArg {
    /// The backoff as it is.
    None,
    /// Anything from nothing to the backoff.
    #[default]
    Full,
    /// Anything from half the backoff to all of it.
    Equal,
    /// Anything from the first backoff to three times the last wait; --factor is not used.
    Decorrelated,
}

impl From<JitterArg> for Jitter {
    fn from(jitter: JitterArg) -> Self {
        match jitter {
            JitterArg::None => Self::None,
            JitterArg::Full => Self::Full,
            JitterArg::Equal => Self::Equal,
            JitterArg::Decorrelated => Self::Decorrelated,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum LenientArg {
    /// +3
    PlusSign,
    /// 3.5
    Fraction,
    /// A date whose day of the week is wrong.
    WrongWeekday,
    /// A date in gmt, UTC, utc or +0000 instead of GMT.
    UtcNames,
    /// A date whose day is one digit.
    ShortDay,
    /// 2026-03-10T12:00:03Z
    Timestamp,
}

impl From<LenientArg> for Lenient {
    fn from(what: LenientArg) -> Self {
        match what {
            LenientArg::PlusSign => Self::PlusSign,
            LenientArg::Fraction => Self::Fraction,
            LenientArg::WrongWeekday => Self::WrongWeekday,
            LenientArg::UtcNames => Self::UtcNames,
            LenientArg::ShortDay => Self::ShortDay,
            LenientArg::Timestamp => Self::Timestamp,
        }
    }
}
