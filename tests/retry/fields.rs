//! `Retry-After`, `Date` and `Age` beyond the vectors.

use std::time::{Duration, UNIX_EPOCH};

use admittance::retry::{Lenience, Lenient, Reference, Response, RetryAfter, Wait};

use crate::support::{noon, response, secs, signal};

fn wait(lines: &[&str]) -> Option<Duration> {
    match signal(lines)?.wait() {
        Wait::Exactly(wait) => Some(wait),
        Wait::Saturated => Some(Duration::MAX),
    }
}

/// The wait from this instant, in seconds since 1970, to a date.
fn from(unix: u64, nanos: u32, date: &str) -> Option<Wait> {
    let response = Response::new(503, UNIX_EPOCH + Duration::new(unix, nanos), [("retry-after", date.as_bytes())]);
    response.signal(Lenience::STRICT).map(|signal| signal.wait())
}

#[test]
fn the_longest_of_several_counts_and_is_flagged() {
    for (lines, longest) in [
        (&["3", "120", "7"][..], Some(120)),
        (&["120", "3"], Some(120)),
        (&["3, 120 ,7"], Some(120)),
        (&["3", "x"], Some(3)),
        (&["x", "3"], Some(3)),
        (&["x, 3"], Some(3)),
        (&["Tue, 10 Mar 2026 12:01:00 GMT, 3"], Some(60)),
        (&["3,Tue, 10 Mar 2026 12:01:00 GMT"], Some(60)),
        (&["Tuesday, 10-Mar-26 12:00:05 GMT,Tue, 10 Mar 2026 12:01:00 GMT ,Tue Mar 10 12:00:03 2026"], Some(60)),
        (&["x", "y"], None),
        (&[",,"], None),
        (&["Mon, 3"], None),
    ] {
        assert_eq!(wait(lines), longest.map(secs), "{lines:?}");
        assert!(signal(lines).is_none_or(|signal| signal.several()), "{lines:?}");
    }
    assert_eq!(wait(&["3", "99999999999999999999"]), Some(Duration::MAX));
    assert!(!signal(&["3"]).unwrap().several());
    assert!(!signal(&["Tue, 10 Mar 2026 12:01:00 GMT"]).unwrap().several());
}

#[test]
fn two_digits_of_a_year_are_at_most_fifty_years_ahead() {
    // Read in 2026, at noon of 10 March.
    for (date, seconds) in [
        ("Monday, 09-Mar-76 12:00:00 GMT", Some(1_577_836_800)),
        ("Wednesday, 10-Mar-76 12:00:00 GMT", None), // That is the day of 1976, and 2076 is meant.
        ("Thursday, 11-Mar-76 12:00:00 GMT", Some(0)),
        ("Tuesday, 10-Mar-26 11:00:00 GMT", Some(0)),
        ("Friday, 01-Jan-27 00:00:00 GMT", Some(25_617_600)),
        ("Friday, 31-Dec-99 23:59:59 GMT", Some(0)),
        ("Saturday, 01-Jan-00 00:00:00 GMT", Some(0)),
    ] {
        assert_eq!(wait(&[date]), seconds.map(secs), "{date}");
    }
    // In 2099 the year 05 is 2105, and 49 is 2149; read on a 29 February, fifty years on is none.
    assert_eq!(
        from(4_070_908_800, 0, "Thursday, 01-Jan-05 00:00:00 GMT"),
        Some(Wait::Exactly(secs(189_302_400))),
        "2099-01-01 to 2105-01-01"
    );
    assert_eq!(from(1_709_164_800, 0, "Saturday, 29-Feb-74 00:00:00 GMT"), None, "there is none in 2074 or 1974");
    // A nanosecond of the reference decides.
    let last = "Tuesday, 10-Mar-76 12:00:00 GMT";
    assert!(matches!(from(1_773_144_000, 0, last), Some(Wait::Exactly(wait)) if wait > secs(1_000_000_000)));
    assert_eq!(from(1_773_143_999, 999_999_999, "Wednesday, 10-Mar-76 12:00:00 GMT"), Some(Wait::Exactly(secs(0))));
}

#[test]
fn a_leap_second_is_the_next_minute() {
    assert_eq!(from(1_483_228_798, 0, "Sat, 31 Dec 2016 23:59:60 GMT"), Some(Wait::Exactly(secs(2))));
    assert_eq!(from(1_483_228_798, 0, "Saturday, 31-Dec-16 23:59:60 GMT"), Some(Wait::Exactly(secs(2))));
    assert_eq!(from(1_483_228_798, 0, "Sat Dec 31 23:59:60 2016"), Some(Wait::Exactly(secs(2))));
    assert_eq!(from(1_483_228_798, 0, "Fri, 31 Dec 9999 23:59:60 GMT").map(Wait::is_saturated), Some(false));
}

#[test]
fn date_and_age_beat_the_clients_clock() {
    let until = "Tue, 10 Mar 2026 12:10:30 GMT";
    let at = |lines: &[(&'static str, &'static str)]| {
        let lines = lines.iter().map(|(name, value)| (*name, value.as_bytes()));
        let signal = Response::new(503, noon(), lines).signal(Lenience::STRICT).unwrap();
        (signal.wait().nanos() / 1_000_000_000, signal.reference())
    };
    let date = ("date", "Tue, 10 Mar 2026 12:10:00 GMT");
    assert_eq!(at(&[("RETRY-AFTER", until)]), (630, Reference::WallClock));
    assert_eq!(at(&[date, ("Retry-After", until)]), (30, Reference::Server));
    assert_eq!(at(&[("Age", "10"), date, ("Retry-After", until)]), (20, Reference::Server));
    // Seconds count from the arrival, however old the response is.
    assert_eq!(at(&[("Age", "10"), date, ("Retry-After", "30")]), (30, Reference::Arrival));
    // Without a Date there is nothing to add an Age to.
    assert_eq!(at(&[("Age", "10"), ("Retry-After", until)]), (630, Reference::WallClock));
    // What cannot be read is not there; of several, those that make the wait longest.
    for age in ["-10", "1.5", "x", "", "99999999999999999999"] {
        assert_eq!(at(&[("Age", age), date, ("Retry-After", until)]), (30, Reference::Server), "{age}");
    }
    assert_eq!(at(&[("Age", "20"), ("Age", "5, 7"), date, ("Retry-After", until)]), (25, Reference::Server));
    assert_eq!(at(&[("Date", "Tue, 10 Mar 2026"), ("Retry-After", until)]), (630, Reference::WallClock));
    let earlier = ("date", "Tue, 10 Mar 2026 12:09:50 GMT");
    assert_eq!(at(&[date, earlier, date, ("Retry-After", until)]), (40, Reference::Server));
}

#[test]
fn each_lenience_is_a_switch_of_its_own() {
    let seconds = |nanos| Wait::Exactly(Duration::from_nanos(nanos));
    for (what, line, expected) in [
        (Lenient::PlusSign, "+3", seconds(3_000_000_000)),
        (Lenient::Fraction, "3.5", seconds(3_500_000_000)),
        (Lenient::Fraction, "0.0000000001", seconds(1)),
        (Lenient::Fraction, "1.9999999999", seconds(2_000_000_000)),
        (Lenient::Fraction, "18446744073709551615.9999999999", Wait::Saturated),
        (Lenient::Fraction, "99999999999999999999.5", Wait::Saturated),
        (Lenient::WrongWeekday, "Mon, 10 Mar 2026 12:00:03 GMT", seconds(3_000_000_000)),
        (Lenient::WrongWeekday, "Monday, 10-Mar-26 12:00:03 GMT", seconds(3_000_000_000)),
        (Lenient::UtcNames, "Tue, 10 Mar 2026 12:00:03 UTC", seconds(3_000_000_000)),
        (Lenient::UtcNames, "Tue, 10 Mar 2026 12:00:03 gmt", seconds(3_000_000_000)),
        (Lenient::UtcNames, "Tue, 10 Mar 2026 12:00:03 +0000", seconds(3_000_000_000)),
        (Lenient::ShortDay, "Mon Apr 6 12:00:00 2026", seconds(2_332_800_000_000_000)),
        (Lenient::ShortDay, "Mon, 6 Apr 2026 12:00:00 GMT", seconds(2_332_800_000_000_000)),
        (Lenient::ShortDay, "Monday, 6-Apr-26 12:00:00 GMT", seconds(2_332_800_000_000_000)),
        (Lenient::Timestamp, "2026-03-10T12:00:03Z", seconds(3_000_000_000)),
        (Lenient::Timestamp, "2026-03-10T13:00:02.1+01:00", seconds(3_000_000_000)),
    ] {
        let lines = [line];
        let read = |lenience| response(503, &lines).signal(lenience).map(|signal| signal.wait());
        assert_eq!(read(Lenience::STRICT.with(what)), Some(expected), "{what:?}: {line}");
        let others = Lenient::ALL.into_iter().filter(|other| *other != what).fold(Lenience::STRICT, Lenience::with);
        assert_eq!(read(others), None, "{line} without {what:?}");
    }
    let every = Lenient::ALL.into_iter().fold(Lenience::STRICT, Lenience::with);
    for line in [
        "",
        "+",
        "++3",
        "+-3",
        "-3",
        "-0",
        "1e3",
        "3.",
        ".5",
        "3.5.5",
        "3s",
        "0x10",
        "1_0",
        "Tue, 32 Mar 2026 12:00:03 GMT",
    ] {
        assert!(RetryAfter::parse(line.as_bytes(), every).is_err(), "{line}");
    }
}

#[test]
fn a_date_is_in_one_of_three_forms_to_the_byte() {
    let good = ["Tue, 10 Mar 2026 12:00:03 GMT", "Tuesday, 10-Mar-26 12:00:03 GMT", "Tue Mar 10 12:00:03 2026"];
    for date in good {
        assert_eq!(wait(&[date]), Some(secs(3)));
        for at in 0..date.len() {
            // A byte left out, a byte twice, another byte.
            let without = [&date[..at], &date[at + 1..]].concat();
            let twice = [&date[..=at], &date[at..]].concat();
            let other = [&date[..at], "_", &date[at + 1..]].concat();
            for wrong in [without, twice, other] {
                assert_ne!(wait(&[&wrong]), Some(secs(3)), "{wrong}");
                // Nothing that is read is another form: what is left is a date of another digit.
                assert!(wait(&[&wrong]).is_none(), "{wrong}");
            }
        }
    }
    for wrong in ["Tue, 10 mar 2026 12:00:03 GMT", "TUE, 10 Mar 2026 12:00:03 GMT", "Tue, 00 Mar 2026 12:00:03 GMT"] {
        assert_eq!(wait(&[wrong]), None, "{wrong}");
    }
}

#[test]
fn an_error_names_the_field_and_the_value() {
    let error = RetryAfter::parse(b" +3 ", Lenience::STRICT).unwrap_err();
    assert_eq!(error.field(), "retry-after");
    assert_eq!(error.to_string(), "retry-after: '+3' is neither seconds in digits, as in 120, nor an HTTP date");
    let error = RetryAfter::parse(&[0xff; 1000], Lenience::STRICT).unwrap_err().to_string();
    assert!(error.starts_with("retry-after: '\\xff\\xff") && error.contains("…'") && error.len() < 400, "{error}");
}
