//! What is decided: order, late lines, windows, bytes, and time that outlives a limiter.

use admittance::Rule;
use admittance::replay::{Format, Outcome, Replay, Unit};
use admittance::{Budget, Resolution};

use crate::support::{SECOND, TEN, access, bucket, call, decide, outcomes, window};

/// Half a second, in which a token comes back at two a second.
const HALF: u64 = SECOND / 2;

#[test]
fn each_key_has_its_own_full_bucket_from_its_own_first_line() {
    let replay = Replay::new(bucket(2, 2));
    let log: String = [("a", 0), ("a", 0), ("a", 0), ("b", HALF), ("a", HALF), ("a", HALF), ("b", HALF), ("b", HALF)]
        .map(|(key, time)| call(TEN + time, key, 1))
        .concat();
    assert_eq!(outcomes(&replay, log), "+1 +0 -500000000 +1 +0 -500000000 +0 -500000000");
}

#[test]
fn a_line_from_before_its_keys_latest_is_decided_at_the_latest() {
    let replay = Replay::new(bucket(1, 1));
    // The second line is earlier than the first one: the log does not begin with its first moment.
    let log = [10, 0, 11, 10, 12].map(|second| call(second * SECOND, "a", 1)).concat();
    assert_eq!(outcomes(&replay, &log), "+0 -1000000000 +0 -1000000000 +0");
    let (decisions, summary) = decide(&replay, &log);
    assert_eq!(decisions[1].time, 0, "the time that is told is the line's own");
    assert_eq!((summary.out_of_order, summary.decided_late), (2, 2));
    assert_eq!(summary.span, Some((0, 12 * SECOND)));

    // Late for the log but not for its key: decided at its own time.
    let log = [call(10 * SECOND, "a", 1), call(0, "b", 1), call(SECOND, "b", 1)].concat();
    let (_, summary) = decide(&replay, &log);
    assert_eq!((summary.admitted, summary.out_of_order, summary.decided_late), (3, 1, 0));
}

#[test]
fn sorted_lines_are_decided_in_order_of_time_and_told_in_order_of_input() {
    let replay = Replay::new(bucket(1, 1)).sort(true);
    let log = [2, 0, 1, 1, 0].map(|second| call(second * SECOND, "a", 1)).concat();
    assert_eq!(outcomes(&replay, &log), "+0 +0 +0 -1000000000 -1000000000");
    let (decisions, summary) = decide(&replay, &log);
    assert_eq!(decisions.iter().map(|decided| decided.time / SECOND).collect::<Vec<_>>(), [2, 0, 1, 1, 0]);
    assert_eq!((summary.out_of_order, summary.decided_late), (2, 0));
}

#[test]
fn windows_begin_at_multiples_of_their_length_since_1970() {
    let replay = Replay::new(window(2, 10));
    let log = [8, 9, 9, 10, 19, 20].map(|second| access("192.0.2.1", second, "5")).concat();
    assert_eq!(outcomes(&replay, log), "+1 +0 -1000000000 +1 +0 +1");
    // 7 s do not divide a minute: the window that holds 10:00:00 began three seconds before.
    let replay = Replay::new(window(1, 7));
    assert_eq!(TEN / SECOND % 7, 3);
    let log = [0, 3, 4].map(|second| access("192.0.2.1", second, "5")).concat();
    assert_eq!(outcomes(&replay, log), "+0 -1000000000 +0");
}

#[test]
fn bytes_are_the_cost_where_bytes_are_counted() {
    let log = [access("a", 0, "600"), access("a", 0, "-"), access("a", 0, "600"), access("a", 0, "1001")].concat();
    let replay = Replay::new(bucket(1000, 100)).unit(Unit::Byte);
    assert_eq!(outcomes(&replay, &log), "+400 +400 -2000000000 x");
    let (decisions, summary) = decide(&replay, &log);
    assert_eq!(decisions.iter().map(|decided| decided.cost).collect::<Vec<_>>(), [600, 0, 600, 1001]);
    assert_eq!((summary.cost, summary.cost_admitted, summary.largest_cost), (2201, 600, 1001));
    assert_eq!((summary.admitted, summary.denied, summary.never), (2, 1, 1));
    assert_eq!(outcomes(&Replay::new(bucket(2, 1)), &log), "+1 +0 -1000000000 -1000000000");
}

#[test]
fn the_cost_of_a_trace_is_its_own_whatever_the_unit() {
    let log = [call(0, "a", 3), call(0, "a", 2)].concat();
    for unit in [Unit::Request, Unit::Byte] {
        assert_eq!(outcomes(&Replay::new(bucket(5, 1)).unit(unit), &log), "+2 +0");
    }
}

#[test]
fn costs_of_a_whole_log_add_up_beyond_64_bits() {
    let log = call(0, "a", u64::MAX).repeat(3);
    let (_, summary) = decide(&Replay::new(bucket(5, 1)), log);
    assert_eq!((summary.never, summary.cost, summary.cost_admitted), (3, 3 * u128::from(u64::MAX), 0));
}

#[test]
fn a_log_may_span_all_the_time_there_is() {
    let day = 86_400 * SECOND;
    let budget = Budget::new(1, 1, std::time::Duration::from_nanos(day)).unwrap();
    assert_eq!(budget.resolution(), Resolution::Exact);
    let replay = Replay::new(Rule::TokenBucket(budget));
    let last = u64::MAX / day * day;
    // Each day's first nanosecond, and the one before it, some centuries apart.
    let log: String = (0..=50)
        .flat_map(|part| [last / 50 / day * part * day, (last / 50 / day * part + 1) * day - 1])
        .map(|time| call(time, "a", 1))
        .collect();
    let (decisions, summary) = decide(&replay, log);
    for pair in decisions.chunks(2) {
        assert_eq!(pair[0].outcome, Outcome::Admitted { remaining: 0 }, "{pair:?}");
        assert_eq!(pair[1].outcome, Outcome::Denied { retry_after_ns: 1 }, "{pair:?}");
    }
    assert_eq!((summary.admitted, summary.denied), (51, 51));
}

#[test]
fn a_window_survives_a_jump_over_centuries() {
    let replay = Replay::new(window(1, 10));
    let log =
        [0, 5, 10, 18_446_744_063, 18_446_744_069, 18_446_744_070].map(|second| call(second * SECOND, "a", 1)).concat();
    assert_eq!(outcomes(&replay, log), "+0 -5000000000 +0 +0 -1000000000 +0");
}

#[test]
fn the_first_readable_line_says_the_format_and_the_others_keep_it() {
    let rule = bucket(1, 1);
    let (trace, log) = (call(0, "a", 1), access("a", 0, "1"));
    for (text, format, decided) in [
        (format!("{trace}{log}"), Some(Format::Jsonl), 1),
        (format!("{log}{trace}{log}"), Some(Format::Combined), 2),
        (format!("# exported\n{{\"t_ns\":-1}}\n{trace}"), Some(Format::Jsonl), 1),
        (format!("{{\"broken\n{log}"), Some(Format::Combined), 1),
        ("neither\n".into(), None, 0),
        (String::new(), None, 0),
    ] {
        let (decisions, summary) = decide(&Replay::new(rule), &text);
        assert_eq!((summary.format, decisions.len()), (format, decided), "{text}");
    }
    let (decisions, summary) = decide(&Replay::new(rule).format(Format::Jsonl), format!("{log}{trace}"));
    assert_eq!((decisions.len(), summary.unreadable), (1, 1));
}
