//! Any bytes as the lines of a response: what they ask for, and what a call does that is answered with them.

use std::time::{Duration, UNIX_EPOCH};

use admittance::ManualClock;
use admittance::retry::{
    Backoff, Body, IdempotentMethod, Jitter, Lenience, Lenient, Outcome, Plan, Response, Retry, RetryAfter, Safety,
    SeededRandom, Wait,
};
use num_bigint::BigUint;

/// Byte 0: a bit for each lenience. Byte 1: attempts (0 to 2), jitter (3 and 4), status (5). Byte 2: how long the deadline is.
/// Then lines: `d` is a `Date`, `a` an `Age`, and any other a `Retry-After`, from its second byte on.
pub fn run(data: &[u8]) {
    let Some((&[lenient, shape, deadline], lines)) = data.split_first_chunk() else { return };
    let lenience = Lenient::ALL
        .into_iter()
        .enumerate()
        .filter(|(bit, _)| lenient >> bit & 1 == 1)
        .fold(Lenience::STRICT, |lenience, (_, what)| lenience.with(what));
    let lines: Vec<(&str, &[u8])> = lines.split(|&byte| byte == b'\n').filter_map(line).collect();
    for (_, value) in lines.iter().filter(|(name, _)| *name == "retry-after") {
        one(value, lenience);
    }
    let wait = asks(&lines, lenience);
    joined(&lines, lenience, wait);
    call(shape, deadline, &lines, lenience, wait);
}

fn line(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (&kind, value) = bytes.split_first()?;
    Some((
        if kind == b'd' {
            "date"
        } else if kind == b'a' {
            "age"
        } else {
            "retry-after"
        },
        value,
    ))
}

/// When every response comes: 2026-03-10, noon and a bit.
const NOW: Duration = Duration::new(1_773_144_000, 400_000_000);

fn response<'a>(status: u16, lines: &[(&'a str, &'a [u8])]) -> Response<'a> {
    Response::new(status, UNIX_EPOCH + NOW, lines.iter().copied())
}

fn asks(lines: &[(&str, &[u8])], lenience: Lenience) -> Option<Wait> {
    response(503, lines).signal(lenience).map(|signal| signal.wait())
}

/// One value by itself.
fn one(value: &[u8], lenience: Lenience) {
    let strict = RetryAfter::parse(value, Lenience::STRICT);
    if strict.is_ok() {
        // What is valid means the same whatever else is read; but for the day of the week, which is then not looked at.
        let waits = [Lenience::STRICT, lenience].map(|lenience| asks(&[("retry-after", value)], lenience));
        assert!(waits[0].is_none() || waits[0] == waits[1], "{waits:?}");
    }
    let digits = value.trim_start().trim_end();
    let number = BigUint::parse_bytes(digits, 10).filter(|_| digits.iter().all(u8::is_ascii_digit));
    let expected = number.map(|number| {
        u64::try_from(number).map_or(Wait::Saturated, |seconds| Wait::Exactly(Duration::from_secs(seconds)))
    });
    match strict {
        Ok(RetryAfter::Delay(wait)) => assert_eq!(Some(wait), expected),
        Ok(RetryAfter::Date(_)) | Err(_) => assert_eq!(expected, None),
    }
    // A date that is to come is the one that is written.
    let wait = match RetryAfter::parse(value, lenience) {
        Ok(RetryAfter::Date(_)) => asks(&[("retry-after", value)], lenience),
        Ok(RetryAfter::Delay(_)) | Err(_) => None,
    };
    if let Some(Wait::Exactly(wait)) = wait.filter(|wait| wait.nanos() > 0) {
        let at = NOW + wait;
        assert_eq!(at.subsec_nanos(), 0, "a date is a whole second");
        let written = write(at.as_secs());
        assert_eq!(
            asks(&[("retry-after", written.as_bytes())], Lenience::STRICT),
            Some(Wait::Exactly(wait)),
            "{written}"
        );
    }
}

/// The spaces and tabs of HTTP, and no other.
trait Trim {
    fn trim_start(&self) -> &Self;
    fn trim_end(&self) -> &Self;
}

impl Trim for [u8] {
    fn trim_start(&self) -> &Self {
        let mut rest = self;
        while let [b' ' | b'\t', inner @ ..] = rest {
            rest = inner;
        }
        rest
    }

    fn trim_end(&self) -> &Self {
        let mut rest = self;
        while let [inner @ .., b' ' | b'\t'] = rest {
            rest = inner;
        }
        rest
    }
}

/// Seconds since 1970 as HTTP writes them, day by day.
fn write(seconds: u64) -> String {
    let days = seconds / 86_400;
    let (mut year, mut left) = (1970, days);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 0;
    let length = |month: usize| [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month];
    while left >= length(month) {
        left -= length(month);
        month += 1;
    }
    let weekday = &DAYS[(days % 7) as usize][..3];
    let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][month];
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    // A leap second at the end of the last year that is written.
    if year == 10_000 {
        return "Fri, 31 Dec 9999 23:59:60 GMT".into();
    }
    format!("{weekday}, {:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT", left + 1)
}

const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// The same in one line asks for the same.
fn joined(lines: &[(&str, &[u8])], lenience: Lenience, wait: Option<Wait>) {
    let values: Vec<&[u8]> = lines.iter().filter(|(name, _)| *name == "retry-after").map(|(_, value)| *value).collect();
    // A day's name that ends a line is no date with the next line's beginning, until they are joined.
    let ends_in_a_day = |value: &&[u8]| {
        let last = value.rsplit(|&byte| byte == b',').next().unwrap_or(value).trim_ascii();
        DAYS.iter().any(|day| last == day.as_bytes() || last == &day.as_bytes()[..3])
    };
    if values.iter().any(ends_in_a_day) {
        return;
    }
    let line = values.join(&b',');
    let mut all: Vec<(&str, &[u8])> = lines.iter().filter(|(name, _)| *name != "retry-after").copied().collect();
    if !values.is_empty() {
        all.push(("retry-after", &line));
    }
    assert_eq!(asks(&all, lenience), wait);
}

/// A call that is answered with these lines each time.
fn call(shape: u8, deadline: u8, lines: &[(&str, &[u8])], lenience: Lenience, wait: Option<Wait>) {
    let clock = ManualClock::new();
    let attempts = u32::from(shape & 7) + 1;
    let jitter = [Jitter::None, Jitter::Full, Jitter::Equal, Jitter::Decorrelated][usize::from(shape >> 3 & 3)];
    let status = if shape >> 5 & 1 == 0 { 503 } else { 429 };
    let retry = Retry::builder_with(
        attempts,
        Duration::from_nanos(1 << (deadline & 63)),
        &clock,
        SeededRandom::new(shape.into()),
    )
    .backoff(Backoff::new(Duration::from_millis(10)).jitter(jitter))
    .lenience(lenience)
    .build()
    .expect("plain terms");
    let asked = wait.map_or(0, Wait::nanos);
    let mut call = retry.start(Safety::IdempotentMethod(IdempotentMethod::GET), Body::Repeatable);
    let (mut now, mut sent) = (0_u64, 1);
    while let Plan::RetryAt(next) = call.after(&Outcome::Response(response(status, lines))) {
        sent += 1;
        assert!(sent <= attempts);
        assert!(next.boundary() >= now.saturating_add(asked) && next.at() >= next.boundary(), "{next:?}");
        assert!(next.at() < call.deadline(), "{next:?}");
        now = next.at();
        clock.set(now);
    }
}
