//! Every case of `tests/vectors/retry_after.jsonl` through the library.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use admittance::retry::{Lenience, Lenient, Plan, Response, Wait};
use admittance::{ManualClock, retry::Outcome};
use serde::Deserialize;

use crate::support::{get, plain};

const CASES: &str = include_str!("../vectors/retry_after.jsonl");

#[derive(Debug, Deserialize)]
struct Case {
    lines: Vec<String>,
    wall: jiff_free::Wall,
    date: Option<String>,
    age: Option<String>,
    expect: Expected,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Expected {
    WaitNs(u128),
    Reject(bool),
    Saturated(bool),
}

/// The vectors' instants, `2026-03-10T12:00:02.400Z`, read without the library that the crate uses.
mod jiff_free {
    use super::{Duration, SystemTime, UNIX_EPOCH};

    #[derive(Clone, Copy, Debug, serde::Deserialize)]
    #[serde(try_from = "String")]
    pub(super) struct Wall(pub(super) SystemTime);

    impl TryFrom<String> for Wall {
        type Error = std::num::ParseIntError;

        fn try_from(text: String) -> Result<Self, Self::Error> {
            let field = |from: usize, to: usize| text[from..to].parse::<u64>();
            let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
            let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
            let days_of = |month: u64| match month {
                2 => 28 + u64::from(leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            let days = (1970..year).map(|year| 365 + u64::from(leap(year))).sum::<u64>()
                + (1..month).map(days_of).sum::<u64>()
                + day
                - 1;
            let seconds = days * 86_400 + field(11, 13)? * 3_600 + field(14, 16)? * 60 + field(17, 19)?;
            Ok(Self(UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(field(20, 23)?)))
        }
    }
}

fn cases() -> Vec<Case> {
    CASES.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

impl Case {
    fn response(&self) -> Response<'_> {
        let lines = self.lines.iter().map(|line| ("Retry-After", line.as_bytes()));
        let others = [("Date", &self.date), ("Age", &self.age)];
        let others = others.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?.as_bytes())));
        Response::new(503, self.wall.0, lines.chain(others))
    }

    fn answer(&self, lenience: Lenience) -> Expected {
        match self.response().signal(lenience).map(|signal| signal.wait()) {
            None => Expected::Reject(true),
            Some(Wait::Saturated) => Expected::Saturated(true),
            Some(Wait::Exactly(wait)) => Expected::WaitNs(wait.as_nanos()),
        }
    }
}

#[test]
fn every_case_matches() {
    let cases = cases();
    assert_eq!(cases.len(), 61);
    for case in cases {
        assert_eq!(case.answer(Lenience::STRICT), case.expect, "{case:?}");
    }
}

/// A case that is read strictly is read the same with every switch on.
#[test]
fn lenience_changes_nothing_that_is_valid() {
    let every = Lenient::ALL.into_iter().fold(Lenience::STRICT, Lenience::with);
    for case in cases().iter().filter(|case| case.expect != Expected::Reject(true)) {
        assert_eq!(case.answer(every), case.expect, "{case:?}");
    }
}

/// What a case says is what a plan obeys: to the nanosecond, and invalid is as good as absent.
#[test]
fn plans_obey_every_case() {
    for case in cases() {
        let clock = ManualClock::at(5);
        let retry = plain(2, Duration::MAX, &clock).build().unwrap();
        let plan = get(&retry).after(&Outcome::Response(case.response()));
        let backoff = 100_000_000;
        match (case.expect, plan) {
            (Expected::Reject(_), Plan::RetryAt(retry)) => assert_eq!(retry.at(), 5 + backoff),
            (Expected::WaitNs(wait), Plan::RetryAt(retry)) => {
                assert_eq!(u128::from(retry.at()), 5 + wait.max(backoff.into()), "{case:?}");
            }
            // Past the clock's end.
            (Expected::Saturated(_), Plan::Stop(stop)) => assert_eq!(stop.resume_at(), None),
            (Expected::WaitNs(wait), Plan::Stop(stop)) => {
                assert!(wait > u128::from(u64::MAX) - 5, "{case:?}: {stop}");
                assert_eq!(stop.resume_at(), None);
            }
            (_, plan) => panic!("{case:?}: {plan}"),
        }
    }
}
