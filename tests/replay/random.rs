//! Any bytes, and any trace against a replay that is too simple to be wrong.

use std::collections::HashMap;
use std::time::Duration;

use admittance::Budget;
use admittance::Rule;
use admittance::bucket::Word;
use admittance::bucket::step::{self, Step};
use admittance::policy::Scope;
use admittance::replay::{Fields, Format, Input, Outcome, Reading, Replay, Unit, combined, jsonl};
use proptest::prelude::*;

use crate::support::{SECOND, bucket, call, decide, window};

/// Pieces of logs, so that random lines get past the first check.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        prop::sample::select(vec![
            "192.0.2.1",
            " ",
            " - ",
            "[",
            "]",
            "\"",
            "\\",
            "\n",
            "\r\n",
            "[17/May/2015:10:05:03 +0000] \"",
            "17/May/2015:10:05:03 +0000",
            "[31/Dec/9999:23:59:60 -2359] \"",
            "\" 200 5",
            "\" 200 18446744073709551616",
            "-",
            "{",
            "}",
            "{\"t_ns\":",
            "\"key\":\"",
            ",",
            "\"cost\":",
            "18446744073709551615",
            "-1",
            "1e400",
            "\\ud800",
            "null",
            "[[[[",
            "{\"ts\":1.5,\"request\":{\"remote_ip\":\"",
            "\"},\"size\":",
            "\"uri\":\"/a",
            "h2 2018-07-02T22:23:00.186641Z e ",
            "[::1]:80 ",
            "t:1 0 0 0 200 200 1 2 \"GET https://h/a",
            "GET /a?b HTTP/1.1",
            "1431857103.25",
            "::ffff:",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..40).prop_map(|pieces| pieces.concat())
}

/// One call of a trace: times of a few seconds in any order, three keys.
fn calls() -> impl Strategy<Value = Vec<(u64, usize, u64)>> {
    prop::collection::vec((0..4 * SECOND, 0..3_usize, 0..5_u64), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { 200 }))]

    #[test]
    fn no_bytes_are_too_odd(bytes in bytes()) {
        for unit in [Unit::Request, Unit::Byte] {
            if let Err(error) = combined::Reader::new(unit).read(&bytes) {
                prop_assert!((1..=bytes.len() + 1).contains(&error.column), "{}", error);
            }
            let fields = Fields::new(["time=ts", "key=request.remote_ip", "cost=size", "route=request.uri"]).unwrap();
            let nginx = "$remote_addr - $remote_user [$time_local] \"$request\" $status $bytes_sent".parse().unwrap();
            for format in [Format::Combined, Format::Jsonl, Format::Nginx(nginx), Format::Json(fields), Format::Alb, Format::Caddy] {
                let reading = Reading::new().format(format.clone()).unit(unit);
                let scope = Scope::process().routes(if format == Format::Jsonl { &[][..] } else { &["/a"] }.iter().copied());
                for reading in [reading.clone(), reading.merge(true).scope(&scope)] {
                    let inputs = [Input::Bytes(bytes.clone().into()), Input::Bytes(bytes.clone().into())];
                    let mut decided = 0;
                    let summary = Replay::new(bucket(3, 2)).reading(reading).run_with(&inputs, |_| {
                        decided += 1;
                        Ok(())
                    });
                    // What happens to begin as something compressed does may be none.
                    let Ok(summary) = summary else { continue };
                    prop_assert_eq!(decided + summary.unreadable + summary.outside, summary.lines, "{}", format);
                    prop_assert!(summary.bad_lines.iter().all(|bad| bad.error.column <= bytes.len() + 1));
                }
            }
        }
        if let Err(error) = jsonl::read(&bytes) {
            prop_assert!((1..=bytes.len() + 1).contains(&error.column), "{}", error);
        }
    }

    #[test]
    fn a_bucket_trace_is_decided_as_one_key_after_the_other(
        calls in calls(), capacity in 1..6_u64, tokens in 1..1000_u64, nanos in 1..2 * SECOND, start in 0..u64::MAX - 4 * SECOND,
    ) {
        let Ok(budget) = Budget::new(capacity, tokens, Duration::from_nanos(nanos)) else { return Ok(()) };
        let log: String = calls.iter().map(|&(time, key, cost)| call(start + time, &key.to_string(), cost)).collect();
        let mut keys: HashMap<usize, (u64, u64, Word)> = HashMap::new();
        let expected: Vec<Outcome> = calls
            .iter()
            .map(|&(time, key, cost)| {
                let (first, latest, word) = keys.entry(key).or_insert((time, time, Word::FULL));
                *latest = time.max(*latest);
                let step = step::acquire(*word, cost, *latest - *first, &budget);
                if let Step::Spend { next, .. } = step {
                    *word = next;
                }
                step.decision().into()
            })
            .collect();
        let got: Vec<Outcome> = decide(&Replay::new(Rule::TokenBucket(budget)), log).0.iter().map(|decided| decided.outcome).collect();
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn a_window_trace_is_counted_window_by_window(calls in calls(), limit in 1..6_u64, start in 0..17_000_000_000_u64) {
        let log: String =
            calls.iter().map(|&(time, key, cost)| call(start * SECOND + time, &key.to_string(), cost)).collect();
        let mut spent: HashMap<(usize, u64), u64> = HashMap::new();
        let mut latest: HashMap<usize, u64> = HashMap::new();
        let expected: Vec<Outcome> = calls
            .iter()
            .map(|&(time, key, cost)| {
                let now = latest.entry(key).or_default();
                *now = (start * SECOND + time).max(*now);
                let spent = spent.entry((key, *now / SECOND)).or_default();
                if cost > limit {
                    Outcome::Never
                } else if *spent + cost <= limit {
                    *spent += cost;
                    Outcome::Admitted { remaining: limit - *spent }
                } else {
                    Outcome::Denied { retry_after_ns: SECOND - *now % SECOND }
                }
            })
            .collect();
        let got: Vec<Outcome> = decide(&Replay::new(window(limit, 1)), log).0.iter().map(|decided| decided.outcome).collect();
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn sorting_decides_as_if_the_log_had_been_sorted(calls in calls()) {
        let line = |&(time, key, cost): &(u64, usize, u64)| call(time, &key.to_string(), cost);
        let mut order: Vec<usize> = (0..calls.len()).collect();
        order.sort_by_key(|&place| calls[place].0);
        let sorted: String = order.iter().map(|&place| line(&calls[place])).collect();
        let in_time = decide(&Replay::new(bucket(4, 3)), sorted).0;
        let (by_sort, summary) = decide(&Replay::new(bucket(4, 3)).sort(true), calls.iter().map(line).collect::<String>());
        prop_assert_eq!(summary.decided_late, 0);
        for (decided, place) in in_time.iter().zip(order) {
            prop_assert_eq!(decided, &by_sort[place]);
        }
    }
}
