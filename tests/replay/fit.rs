//! The smallest budgets that spare a share: exactly the smallest, by replays on either side of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use admittance::policy::Scope;
use admittance::replay::{Fit, FitError, Fitted, Format, Input, Of, Outcome, Reading, Replay, Share, Unit};
use admittance::{Budget, Per, Resolution, Rule};
use proptest::prelude::*;

use crate::support::{SECOND, access, call, decide};

fn bytes(log: impl AsRef<[u8]>) -> [Input; 1] {
    [Input::Bytes(log.as_ref().into())]
}

fn per(text: &str) -> Per {
    text.parse().unwrap()
}

fn share(text: &str) -> Share {
    text.parse().unwrap()
}

fn fit(fit: &Fit, log: impl AsRef<[u8]>) -> Fitted {
    fit.run(&bytes(log)).expect("there is a line, and a budget")
}

/// The one capacity at a refill.
fn capacity(with: Fit, refill: &str, log: impl AsRef<[u8]>) -> u64 {
    let fitted = fit(&with.refills([per(refill)]), log);
    let [point] = &fitted.frontier[..] else { panic!("{fitted:?}") };
    point.budget.capacity()
}

/// Callers that a replay denies anything, and how many lines it decides of the others.
fn denied(replay: &Replay, log: &str) -> (BTreeSet<Vec<u8>>, u64) {
    let (decisions, _) = decide(replay, log);
    let denied: BTreeSet<Vec<u8>> = decisions
        .iter()
        .filter(|decided| !matches!(decided.outcome, Outcome::Admitted { .. }))
        .map(|decided| decided.key.clone())
        .collect();
    let spared = decisions.iter().filter(|decided| !denied.contains(&decided.key)).count() as u64;
    (denied, spared)
}

fn bucket(capacity: u64, refill: Per) -> Rule {
    Rule::TokenBucket(Budget::new(capacity, refill.tokens, refill.duration).unwrap())
}

#[test]
fn one_callers_capacity_is_its_largest_backlog_rounded_up() {
    for (refill, lines, expected) in [
        ("1/10ns", &[(100, 1), (100, 1), (100, 1)][..], 3),
        // Ties, and what is refilled meanwhile.
        ("1/10ns", &[(100, 1), (110, 1), (120, 1)], 1),
        ("1/10ns", &[(100, 1), (109, 1)], 2),
        ("1/10ns", &[(100, 1), (109, 1), (120, 1)], 2),
        ("3/10ns", &[(0, 1), (3, 1)], 2),
        ("3/10ns", &[(0, 1), (4, 1)], 1),
        ("1/10ns", &[(0, 5), (25, 5)], 8),
        // Idleness is not saved up.
        ("1/10ns", &[(0, 1), (1_000_000, 2), (1_000_000, 2)], 4),
        // A late line counts at the latest: three at 200, not two and one before.
        ("1/10ns", &[(100, 1), (200, 2), (50, 1)], 3),
        ("1/10ns", &[(200, 2), (190, 1), (195, 1), (210, 1)], 4),
        // Nothing costs nothing, and a bucket holds one at least.
        ("1/10ns", &[(0, 0), (0, 0)], 1),
        ("1/10ns", &[(0, 0), (0, 2), (0, 0)], 2),
        // At the ends of what there is.
        ("15/1ns", &[(0, 30), (1, 1), (u64::MAX, 31)], 31),
        ("1/36500d", &[(0, 1), (u64::MAX / 8, 1)], 2),
        ("1/36500d", &[(0, 1), (u64::MAX / 2, 1)], 1),
        ("1/1s", &[(0, 7), (u64::MAX, 7)], 7),
    ] {
        let log: String = lines.iter().map(|&(time, cost)| call(time, "a", cost)).collect();
        assert_eq!(capacity(Fit::new(), refill, &log), expected, "{refill} {lines:?}");
    }
}

#[test]
fn in_order_of_time_a_late_line_counts_at_its_own() {
    let log = [call(100, "a", 1), call(200, "a", 2), call(50, "a", 1)].concat();
    assert_eq!(capacity(Fit::new(), "1/10ns", &log), 3);
    assert_eq!(capacity(Fit::new().sort(true), "1/10ns", &log), 2);
}

#[test]
fn a_share_spares_as_many_as_it_says_and_no_more() {
    // Caller n needs n.
    let log = |callers: u64| -> String { (1..=callers).map(|number| call(0, &format!("k{number}"), number)).collect() };
    let of = |spare: &str, callers| capacity(Fit::new().spare(share(spare)), "1/1s", log(callers));
    assert_eq!(of("100%", 1000), 1000);
    assert_eq!(of("99.9%", 1000), 999);
    assert_eq!(of("99.9%", 999), 999);
    assert_eq!(of("99.9%", 1001), 1000);
    assert_eq!(of("0.1%", 1000), 1);
    assert_eq!(of("0.1%", 1001), 2);
    assert_eq!(of("50%", 1), 1);
    let fitted = fit(&Fit::new().spare(share("99%")).refills([per("1/1s")]), log(1000));
    let point = fitted.suggestion();
    assert_eq!((fitted.callers, fitted.to_spare, point.callers_denied), (1000, 990, 10));
    let named: Vec<_> = point.most_demanding.iter().map(|caller| (caller.key.as_slice(), caller.capacity)).collect();
    assert_eq!(named, [(&b"k1000"[..], 1000), (b"k999", 999), (b"k998", 998), (b"k997", 997), (b"k996", 996)]);
}

#[test]
fn a_share_of_requests_weighs_callers_by_theirs() {
    // One of ten requests that needs ten, and ten of one each at once that need one.
    let mut log = call(0, "busy", 1).repeat(10);
    (0..10).for_each(|number| log += &call(0, &format!("k{number}"), 1));
    let of = |with: Fit, spare: &str| capacity(with.spare(share(spare)), "1/1s", &log);
    assert_eq!((of(Fit::new(), "90%"), of(Fit::new(), "91%")), (1, 10));
    let requests = || Fit::new().of(Of::Requests);
    assert_eq!((of(requests(), "50%"), of(requests(), "50.1%"), of(requests(), "100%")), (1, 10, 10));
    let fitted = fit(&requests().spare(share("50%")).refills([per("1/1s")]), &log);
    assert_eq!((fitted.to_spare, fitted.suggestion().requests_spared), (10, 10));
    // Of the busy caller's, one was admitted too.
    assert_eq!((fitted.check.admitted, fitted.check.denied, fitted.check.callers_denied), (11, 9, 1));
}

#[test]
fn refills_are_chosen_from_the_data_and_each_slower_one_takes_more() {
    // Ten callers: bursts of twenty, each a second long, each twenty minutes.
    let mut log = String::new();
    for line in 0..2_000_u64 {
        let (caller, number) = (line % 10, line / 10);
        log += &call(number / 20 * 1200 * SECOND + number % 20 * (SECOND / 20), &caller.to_string(), 1);
    }
    let fitted = fit(&Fit::new(), &log);
    let told: Vec<(String, u64)> =
        fitted.frontier.iter().map(|point| (point.refill.to_string(), point.budget.capacity())).collect();
    assert!(told.len() > 4 && told.len() <= Fit::POINTS, "{told:?}");
    assert!(told.windows(2).all(|pair| pair[0].1 > pair[1].1), "{told:?}");
    // The slowest: next to everything at once. The fastest: as many as come at one instant.
    assert!(told[0].1 >= 180 && told.last().unwrap() == &("20/1s".into(), 1), "{told:?}");
    // At 50 an hour a burst is not refilled before the next one is there; at one a minute it is.
    assert!(told.contains(&("1/1m".into(), 20)), "{told:?}");
    // Twenty at once and one a minute let a caller do least in a minute.
    assert_eq!((fitted.suggestion().refill, fitted.suggestion().most_in(fitted.over)), (per("1/1m"), 21));
    let longer = fit(&Fit::new().over(Duration::from_secs(86_400)), &log);
    assert!(longer.suggested < fitted.suggested, "{longer:?}");
    // Fewer points: the ends stay, and what is suggested does.
    let few = fit(&Fit::new().points(3), &log);
    let ends = |fitted: &Fitted| (fitted.frontier[0].refill, fitted.frontier.last().unwrap().refill);
    assert_eq!((few.frontier.len(), ends(&few)), (3, ends(&fitted)));
    assert_eq!(few.suggestion().refill, fitted.suggestion().refill);
    for point in &fitted.frontier {
        assert_eq!((point.budget.resolution(), point.callers_denied), (Resolution::Exact, 0));
    }
}

#[test]
fn no_refill_is_chosen_of_which_the_log_says_nothing() {
    // Everybody comes once: no refill is needed, and the slowest is a token in the time of the log.
    for (seconds, refill) in
        [(0, "1/1s"), (4, "20/1m"), (89, "50/1h"), (3_599, "2/1h"), (3_600, "1/1h"), (900_000, "1/1d")]
    {
        let fitted = fit(&Fit::new(), [call(0, "a", 3), call(seconds * SECOND, "b", 3)].concat());
        let [point] = &fitted.frontier[..] else { panic!("{fitted:?}") };
        assert_eq!((point.refill, point.budget.capacity()), (per(refill), 3), "{seconds}");
    }
}

#[test]
fn a_frontier_that_is_nearly_flat_is_told_from_end_to_end() {
    // A hundred at once, and five a minute later: at a second's rate five less than at a day's.
    let mut log = call(0, "a", 100);
    (0..5).for_each(|number| log += &call((60 + number) * SECOND, "a", 1));
    log += &call(7_200 * SECOND, "a", 1);
    let fitted = fit(&Fit::new(), log);
    let ends = [&fitted.frontier[0], fitted.frontier.last().unwrap()].map(|point| point.budget.capacity());
    assert_eq!((fitted.frontier[0].refill, ends), (per("20/1d"), [105, 100]));
}

#[test]
fn where_a_slow_refill_has_no_budget_so_large_the_slowest_that_has_one_is_told() {
    // Two callers, an answer of twenty million bytes each: no refill is needed, and the slowest ones hold no such bucket.
    let log = [access("192.0.2.1", 0, "20000000"), access("192.0.2.2", 40_000, "20000000")].concat();
    let fitted = fit(&Fit::new().reading(Reading::new().unit(Unit::Byte)), log);
    let slowest = &fitted.frontier[0];
    let too_slow = |refill: &str| Budget::new(20_000_000, per(refill).tokens, per(refill).duration).is_err();
    assert_eq!((slowest.refill, too_slow("5/1h"), too_slow("10/1h")), (per("10/1h"), true, false), "{fitted:?}");
    assert_eq!((fitted.frontier.len(), slowest.budget.capacity(), fitted.refused.len()), (1, 20_000_000, 0));
}

#[test]
fn refills_that_are_asked_for_are_all_told_each_once_the_slowest_first() {
    let log = call(0, "a", 3);
    let fitted = fit(&Fit::new().points(2).refills(["2/1s", "1/1m", "60/1h", "1/1d"].map(per)), &log);
    let told: Vec<_> = fitted.frontier.iter().map(|point| point.refill.to_string()).collect();
    assert_eq!(told, ["1/1d", "1/1m", "2/1s"]);
    // All take the same: the slowest lets through least.
    assert_eq!(fitted.suggested, 0);
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let says = |fit: &Fit, log: &str| fit.run(&bytes(log)).unwrap_err().to_string();
    assert_eq!(says(&Fit::new(), "\n\n"), "the log is empty: there is nobody whom a limit could fit");
    let unread = says(&Fit::new(), "?\n?\n");
    assert!(
        unread.starts_with("none of the log's 2 lines can be read as combined, which they look most like\n"),
        "{unread}"
    );
    let elsewhere = Fit::new().reading(Reading::new().scope(&Scope::process().routes(["/api"])));
    assert_eq!(
        says(&elsewhere, &access("192.0.2.1", 0, "5")),
        "the log's lines are all of other routes (1 of them): there is nobody whom a limit could fit"
    );
    let fast = Fit::new().refills([per("1/1s"), per("16/1ns")]);
    assert!(says(&fast, &call(0, "a", 1)).starts_with("refill 16/1ns: refill tokens: 16"));
    // A caller that needs more than any bucket holds.
    let huge = [call(0, "a", u64::MAX), call(0, "a", u64::MAX)].concat();
    let why = says(&Fit::new(), &huge);
    assert!(
        why.starts_with(
            "no budget can spare so many at these refills; at 5000000000/1s: capacity: 18446744073709551615"
        ),
        "{why}"
    );
    // One refill of two cannot: a capacity of a million million at one a day is a wait of more than is told.
    let large = call(0, "a", 1_000_000_000_000);
    let fitted = fit(&Fit::new().refills([per("1/1d"), per("1000000/1s")]), &large);
    assert_eq!((fitted.frontier.len(), fitted.refused.len(), fitted.refused[0].refill), (1, 1, per("1/1d")));
    let strict = Fit::new().reading(Reading::new().strict(true).format(Format::Jsonl));
    assert!(matches!(strict.run(&bytes("?\n")), Err(FitError::Read(_))));
}

#[test]
fn an_access_log_is_fitted_by_requests_or_by_bytes() {
    let log: String = (0..6).map(|number| access("192.0.2.1", number, "500")).collect();
    assert_eq!(capacity(Fit::new(), "1/2s", &log), 4);
    assert_eq!(capacity(Fit::new().reading(Reading::new().unit(Unit::Byte)), "250/1s", &log), 1750);
}

/// Some calls of some callers, out of order now and then, in the same instant often.
fn calls() -> impl Strategy<Value = Vec<(u64, u8, u64)>> {
    prop::collection::vec((0..60_u64, 0..12_u8, 0..6_u64), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { 200 }))]

    #[test]
    fn the_capacity_spares_the_share_and_one_less_does_not(
        calls in calls(), tokens in 1..16_u64, nanos in 1..40_u64, start in 0..u64::MAX / 2, parts in 1..=1000_u64,
        requests: bool, sort: bool,
    ) {
        let refill = Per { tokens, duration: Duration::from_nanos(nanos) };
        // Whatever is exact.
        prop_assume!(Budget::new(700, tokens, refill.duration).is_ok_and(|budget| budget.resolution() == Resolution::Exact));
        let log: String = calls.iter().map(|&(time, key, cost)| call(start + time, &key.to_string(), cost)).collect();
        let spare = share(&format!("{}.{}%", parts / 10, parts % 10));
        let of = if requests { Of::Requests } else { Of::Callers };
        let fitted = fit(&Fit::new().refills([refill]).spare(spare).of(of).sort(sort), &log);
        let point = &fitted.frontier[0];
        let capacity = point.budget.capacity();
        let replay = |capacity| denied(&Replay::new(bucket(capacity, refill)).sort(sort), &log);
        let keys: BTreeMap<u8, u64> = calls.iter().fold(BTreeMap::new(), |mut keys, &(_, key, _)| {
            *keys.entry(key).or_default() += 1;
            keys
        });
        let is_enough = |(denied, lines): &(BTreeSet<Vec<u8>>, u64)| match of {
            Of::Callers => (keys.len() - denied.len()) as u64 * 1000 >= parts * keys.len() as u64,
            Of::Requests => lines * 1000 >= parts * calls.len() as u64,
        };
        let with = replay(capacity);
        prop_assert!(is_enough(&with), "{} denies {:?}", capacity, with);
        prop_assert_eq!((point.callers_denied, point.requests_spared), (with.0.len() as u64, with.1));
        prop_assert_eq!(fitted.check.callers_denied, with.0.len() as u64);
        prop_assert!(point.most_demanding.iter().all(|caller| with.0.contains(&caller.key)));
        if capacity > 1 {
            prop_assert!(!is_enough(&replay(capacity - 1)), "{} is one too many", capacity);
        }
        // What the most demanding one would have needed spares it, and one less does not.
        if let Some(most) = point.most_demanding.first() {
            prop_assert!(replay(most.capacity).0.is_empty());
            prop_assert!(replay(most.capacity - 1).0.contains(&most.key));
        }
    }

    #[test]
    fn what_is_checked_is_what_a_replay_decides(calls in calls(), sort: bool) {
        let log: String = calls.iter().map(|&(time, key, cost)| call(time * SECOND / 10, &key.to_string(), cost)).collect();
        let fitted = fit(&Fit::new().spare(share("60%")).sort(sort), &log);
        for (place, point) in fitted.frontier.iter().enumerate() {
            let replay = Replay::new(Rule::TokenBucket(point.budget)).sort(sort);
            let (denied, lines) = denied(&replay, &log);
            prop_assert_eq!((point.callers_denied, point.requests_spared), (denied.len() as u64, lines));
            if place == fitted.suggested {
                let summary = replay.run(&bytes(&log)).unwrap();
                let check = fitted.check;
                prop_assert_eq!((check.admitted, check.denied, check.never), (summary.admitted, summary.denied, summary.never));
            }
        }
    }
}
