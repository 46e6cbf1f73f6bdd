//! Lines one at a time: the decisions of a replay, in bounded memory.

use std::collections::HashSet;

use admittance::Rule;
use admittance::policy::Scope;
use admittance::replay::{Live, LiveError, Outcome, Reading, Replay, Unit};
use proptest::prelude::*;

use crate::support::{Owned, SECOND, TEN, access, bucket, call, decide, window};

/// Hears every line, and tells what was decided; the lines that could not be decided are in the sums.
fn hear(live: &mut Live, log: &[u8]) -> Vec<Owned> {
    log.split_inclusive(|&byte| byte == b'\n')
        .filter_map(|line| live.line(line).ok().flatten().map(|heard| heard.decided.into()))
        .collect()
}

fn is_same(replay: &Replay, log: &[u8]) -> Result<(), TestCaseError> {
    let (decisions, summary) = decide(replay, log);
    let mut live = replay.live();
    prop_assert_eq!(hear(&mut live, log), decisions);
    let sums = live.sums();
    prop_assert_eq!(
        (sums.lines, sums.unreadable, sums.admitted, sums.denied, sums.never, sums.decided_late),
        (summary.lines, summary.unreadable, summary.admitted, summary.denied, summary.never, summary.decided_late)
    );
    prop_assert_eq!((live.keys() as u64, live.clock()), (summary.keys, summary.span.map(|(_, last)| last)));
    Ok(())
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        (1..6_u64, 1..5_u64).prop_map(|(capacity, tokens)| bucket(capacity, tokens)),
        (1..6_u64, 1..20_u64).prop_map(|(limit, seconds)| window(limit, seconds)),
    ]
}

/// A line of a log: readable in one format or the other, or in none.
fn line() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec!["a", "b", "192.0.2.1", "a-key-longer-than-twenty-two-bytes", r"\u0061"]);
    prop_oneof![
        8 => (key, 0..10 * SECOND, 0..8_u64).prop_map(|(key, time, cost)| call(TEN + time, key, cost)),
        8 => (prop::sample::select(vec!["192.0.2.1", "192.0.2.2"]), 0..10_u64, prop::sample::select(vec!["0", "1", "7", "-"]))
            .prop_map(|(address, second, bytes)| access(address, second, bytes)),
        1 => prop::sample::select(vec!["\n", "  \t\r\n", "{}\n", "what?\n", "{\"t_ns\":-1,\"key\":\"a\"}\r\n"]).prop_map(String::from),
    ]
}

/// A call of a caller at so many milliseconds, for a cost.
fn calls() -> impl Strategy<Value = Vec<(u64, u8, u64)>> {
    prop::collection::vec((0..120_u64, 0..40_u8, 0..4_u64), 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { 200 }))]

    #[test]
    fn line_by_line_is_decided_what_a_replay_decides(rule in rule(), lines in prop::collection::vec(line(), 0..80), bytes: bool) {
        let replay = Replay::new(rule).unit(if bytes { Unit::Byte } else { Unit::Request });
        is_same(&replay, lines.concat().as_bytes())?;
    }

    /// Lines that are up to the grace late, callers that come and go: who was heard from the first is decided as in a replay.
    #[test]
    fn a_key_that_was_let_go_comes_back_as_if_it_had_stayed(rule in rule(), calls in calls(), most in 1..20_usize, seconds in 1..20_u64) {
        let mut now = TEN;
        let log: Vec<(String, u8)> = calls
            .iter()
            .map(|&(step, key, cost)| {
                now += step * SECOND * seconds / 20;
                // Late by less than a minute, now and then.
                let late = if step % 5 == 0 { step * SECOND / 3 } else { 0 };
                (call(now - late, &key.to_string(), cost), key)
            })
            .collect();
        let (decisions, _) = decide(&Replay::new(rule), log.iter().map(|(line, _)| line.as_str()).collect::<String>());
        let mut live = Replay::new(rule).live().keys_at_most(most);
        let (mut missed, mut undecided, mut latest) = (HashSet::new(), 0, 0);
        for ((line, key), expected) in log.iter().zip(decisions) {
            latest = expected.time.max(latest);
            match live.line(line.as_bytes()) {
                // What a caller did unheard is not known.
                Ok(heard) if !missed.contains(key) => {
                    prop_assert_eq!(heard.map(|heard| Owned::from(heard.decided)), Some(expected));
                }
                Ok(_) => {}
                Err(LiveError::Full { keys, .. }) => {
                    prop_assert_eq!(keys, most);
                    undecided += 1;
                    missed.insert(*key);
                }
                Err(error) => prop_assert!(false, "{}", error),
            }
            prop_assert!(live.keys() <= most);
            prop_assert_eq!(live.clock(), Some(latest));
        }
        prop_assert_eq!(live.sums().undecided, undecided);
    }
}

#[test]
fn nobody_is_let_go_before_it_is_full_again_by_the_logs_clock_and_a_minute() {
    // Full again 3 s after the first call, or 1 s after the second caller's.
    let mut live = Replay::new(bucket(3, 1)).live().keys_at_most(2);
    let mut at = |second: u64, key: &str, cost| {
        let line = call(TEN + second * SECOND, key, cost);
        let told = live.line(line.as_bytes()).map(|heard| heard.map(|heard| heard.decided.outcome));
        (told.ok().flatten(), live.keys(), live.sums().let_go)
    };
    let admitted = |remaining| Some(Outcome::Admitted { remaining });
    assert_eq!(at(0, "drained", 3), (admitted(0), 1, 0));
    assert_eq!(at(0, "nearly full", 1), (admitted(2), 2, 0));
    // Who is held is heard, however full the house.
    assert_eq!(at(0, "drained", 1), (Some(Outcome::Denied { retry_after_ns: SECOND }), 2, 0));
    assert_eq!(at(60, "new", 1), (None, 2, 0));
    assert_eq!(at(61, "new", 1), (admitted(2), 2, 1));
    assert_eq!(at(62, "another", 1), (None, 2, 1));
    // The first is full after three seconds, and sure to be a minute later.
    assert_eq!(at(63, "another", 0), (admitted(3), 2, 2));
}

#[test]
fn a_line_as_late_as_any_before_it_finds_its_bucket() {
    let mut live = Replay::new(bucket(1, 1)).live().keys_at_most(2);
    let mut at = |second: u64, key: &str| live.line(call(TEN + second * SECOND, key, 1).as_bytes()).is_ok();
    assert!(at(0, "late") && at(500, "early"));
    // 400 s late. From then on others may be so too.
    assert!(at(100, "late"));
    assert!(!at(500, "new"));
    assert!(at(501, "new"));
    assert!(!at(100, "late"));
}

#[test]
fn lines_may_have_their_breaks_or_not_and_too_long_ones_are_counted() {
    let mut live = Replay::new(window(9, 60)).live();
    for end in ["", "\n", "\r\n"] {
        let heard = live.line(format!("{{\"t_ns\":5,\"key\":\"a\"}}{end}").as_bytes()).unwrap().unwrap();
        assert_eq!((heard.decided.key, heard.at_ns), (&b"a"[..], 5));
    }
    let long = format!("{{\"t_ns\":5,\"key\":\"{}\"}}", "a".repeat(1 << 20));
    let Err(LiveError::Unreadable(error)) = live.line(long.as_bytes()) else { panic!("it is too long") };
    assert_eq!((error.column, &*error.expected), ((1 << 20) + 1, "a line of at most 1 MiB"));
    assert_eq!((live.sums().lines, live.sums().unreadable), (4, 1));
}

/// Users on the routes of an API: lines of others, of elsewhere and of nobody.
#[test]
fn callers_and_routes_are_those_of_a_replay() {
    let line = |user: &str, path: &str, second: u64| {
        access("192.0.2.1", second, "1").replace("- -", &format!("- {user}")).replace("GET /", &format!("GET {path}"))
    };
    let log: String =
        [("ann", "/api/a"), ("bob", "/api"), ("ann", "/apiary"), ("ann", "/api/b"), ("-", "/api"), ("-", "/")]
            .iter()
            .enumerate()
            .map(|(second, (user, path))| line(user, path, second as u64))
            .collect();
    let reading = Reading::new().identity("user".parse().unwrap()).scope(&Scope::process().routes(["/api"]));
    let replay = Replay::new(window(1, 60)).reading(reading);
    let (decisions, summary) = decide(&replay, &log);
    assert_eq!(decisions.iter().map(|decided| &*decided.key).collect::<Vec<_>>(), [&b"ann"[..], b"bob", b"ann"]);
    let mut live = replay.live();
    assert_eq!(hear(&mut live, log.as_bytes()), decisions);
    let sums = live.sums();
    assert_eq!((sums.outside, sums.unreadable, sums.denied), (summary.outside, summary.unreadable, summary.denied));
    assert_eq!((sums.lines, sums.outside, sums.unreadable, sums.denied), (6, 2, 1, 1));
}

#[test]
fn a_format_that_does_not_tell_what_is_asked_says_so_at_its_first_line() {
    let replay = Replay::new(window(1, 60)).reading(Reading::new().identity("tenant".parse().unwrap()));
    let mut live = replay.live();
    assert!(matches!(live.line(b"what?"), Err(LiveError::Unreadable(_))));
    let line = access("192.0.2.1", 0, "1");
    for _ in 0..2 {
        let Err(LiveError::Field(error)) = live.line(line.as_bytes()) else { panic!("there is no tenant") };
        assert!(error.to_string().starts_with("the combined format has no field 'tenant'"), "{error}");
    }
}

#[test]
fn what_was_refused_is_counted_for_each_caller() {
    let mut live = Replay::new(window(2, 60)).live();
    let heard: Vec<(u64, u64)> = [1, 1, 1, 5]
        .map(|cost| {
            live.line(call(TEN, "a", cost).as_bytes()).unwrap().map(|heard| (heard.lines, heard.refused)).unwrap()
        })
        .into();
    assert_eq!(heard, [(1, 0), (2, 0), (3, 1), (4, 2)]);
    assert_eq!(
        live.line(call(TEN, "b", 5).as_bytes()).unwrap().map(|heard| (heard.lines, heard.refused)),
        Some((1, 1))
    );
}

/// A wall clock of the test's own.
#[test]
fn a_line_ahead_of_both_clocks_is_counted_and_moves_neither() {
    const BOUND: u64 = 600 * SECOND;
    assert_eq!((u128::from(BOUND), Live::BELIEVED), (Live::AHEAD.as_nanos(), 8));
    let year = 365 * 86_400 * SECOND;
    let mut live = Replay::new(bucket(2, 1)).live();
    let at = |live: &mut Live, time: u64| live.line(call(time, "a", 1).as_bytes()).map(|heard| heard.unwrap().at_ns);
    let ahead = |time_ns: u64, by: u64| {
        move |told: Result<u64, LiveError>| {
            let Err(LiveError::Ahead { time_ns: told_time, by_ns, .. }) = told else { panic!("{told:?}") };
            assert_eq!((told_time, by_ns), (time_ns, by));
        }
    };
    live.set_wall_clock(TEN);
    // A log of long ago, however it jumps.
    assert_eq!(at(&mut live, 5), Ok(5));
    assert_eq!(at(&mut live, TEN - year), Ok(TEN - year));
    // As far ahead of the later of both clocks as may be, and a nanosecond more.
    ahead(TEN + BOUND + 1, BOUND + 1)(at(&mut live, TEN + BOUND + 1));
    assert_eq!((live.clock(), live.sums().ahead), (Some(TEN - year), 1));
    assert_eq!(at(&mut live, TEN + BOUND), Ok(TEN + BOUND));
    assert_eq!(at(&mut live, TEN + 2 * BOUND), Ok(TEN + 2 * BOUND));
    ahead(TEN + year, year - 2 * BOUND)(at(&mut live, TEN + year));
    // The same line a year later is none.
    live.set_wall_clock(TEN + year);
    assert_eq!(at(&mut live, TEN + year), Ok(TEN + year));
    let sums = live.sums();
    assert_eq!((sums.lines, sums.ahead, sums.admitted + sums.denied, sums.unreadable), (7, 2, 5, 0));
    // Where nobody says what time it is, every line is believed.
    let mut live = Replay::new(bucket(2, 1)).live();
    assert_eq!(at(&mut live, TEN + 100 * year), Ok(TEN + 100 * year));
}

#[test]
fn a_log_that_is_ahead_as_a_whole_is_believed_from_its_eighth_line_on() {
    let (mut live, hour) = (Replay::new(bucket(100, 1)).live(), 3600 * SECOND);
    live.set_wall_clock(TEN);
    let mut is_believed = |time: u64| live.line(call(time, "a", 1).as_bytes()).is_ok();
    for line in 0..7 {
        assert!(!is_believed(TEN + 2 * hour + line * SECOND), "{line}");
    }
    assert!(is_believed(TEN + 2 * hour + 7 * SECOND) && is_believed(TEN + 2 * hour));
    // Seven, and one that is not like them; or one of now between them.
    for line in 0..20 {
        assert!(!is_believed(TEN + (5 + line) * hour), "{line}");
    }
    for line in 0..20 {
        // One of now, every seventh time.
        assert!(line % 7 != 0 || is_believed(TEN));
        assert!(!is_believed(TEN + 9 * hour), "{line}");
    }
    assert_eq!(live.clock(), Some(TEN + 2 * hour + 7 * SECOND));
}
