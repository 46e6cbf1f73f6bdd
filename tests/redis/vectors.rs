//! Every case of `tests/vectors/bucket.jsonl` through the script.
//!
//! The script knows whole numbers and no unit: here it is told nanoseconds, so that what a microsecond cannot say can be said
//! and every answer must be the exact model's, in the cases that the core answers within a nanosecond too.

use std::collections::HashMap;

use serde::Deserialize;

use crate::support::Server;
use crate::support::script::{Scripts, wait};

#[derive(Deserialize)]
struct Case {
    name: String,
    capacity: u64,
    refill_tokens: u64,
    refill_per_ns: u64,
    calls: Vec<Call>,
    expect: Vec<Expected>,
}

#[derive(Deserialize)]
struct Call {
    t_ns: u64,
    key: String,
    cost: u64,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum Expected {
    Admitted { remaining: u64 },
    Denied { retry_after_ns: u64 },
    Never,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn every_vector_is_answered_to_the_nanosecond() {
    let server = Server::start();
    let mut scripts = Scripts::of(&server);
    let start = scripts.tomorrow();
    let cases = include_str!("../vectors/bucket.jsonl").lines().map(|line| serde_json::from_str::<Case>(line).unwrap());
    let (mut answered, mut rounded) = (0, 0);
    for (number, case) in cases.enumerate() {
        let divisor = gcd(case.refill_tokens, case.refill_per_ns);
        let (p, d) = (case.refill_tokens / divisor, case.refill_per_ns / divisor);
        let latest = case.calls.iter().map(|call| call.t_ns).max().unwrap_or(0);
        let full = case.capacity.checked_mul(d).filter(|full| full + p < 1 << 53);
        let (Some(full), true) = (full, start + latest < 1 << 52) else {
            rounded += 1;
            in_microseconds(&mut scripts, number, &case);
            continue;
        };
        let terms = [p, d, full];
        for (call, expected) in case.calls.iter().zip(&case.expect) {
            let key = format!("{number}:{}", call.key);
            let answer = if call.cost > case.capacity {
                // The limiter says so before anything is sent.
                Expected::Never
            } else {
                let (taken, answer) = scripts.spend_one(start + call.t_ns, &key, terms, call.cost);
                if taken {
                    Expected::Admitted { remaining: (full - answer.states[0].0) / d }
                } else {
                    Expected::Denied { retry_after_ns: wait(&answer, terms, call.cost) }
                }
            };
            assert_eq!(answer, *expected, "{} at {} of {}", case.name, call.t_ns, call.key);
            answered += 1;
        }
    }
    // 33 cases have capacities or rates that pass 2^53 in nanoseconds.
    assert_eq!((answered, rounded), (5_248, 33));
}

/// What nanoseconds cannot say in a script's numbers, microseconds can: instants are rounded down, and the answers are those of an
/// exact model that is asked at those instants.
fn in_microseconds(scripts: &mut Scripts, number: usize, case: &Case) {
    let start = scripts.tomorrow();
    let tokens = case.refill_tokens * 1_000;
    let divisor = gcd(tokens, case.refill_per_ns);
    let (p, d) = (tokens / divisor, case.refill_per_ns / divisor);
    let full = case.capacity * d;
    assert!(full + p < 1 << 53, "{}: the limiter would refuse it", case.name);
    // Ticks there are, and as of when.
    let mut model: HashMap<&str, (u128, u64)> = HashMap::new();
    for call in case.calls.iter().filter(|call| call.cost <= case.capacity) {
        let now = call.t_ns / 1_000;
        let (level, as_of) = model.entry(&call.key).or_insert((full.into(), now));
        *level = (*level + u128::from(now - *as_of) * u128::from(p)).min(full.into());
        *as_of = now;
        let price = u128::from(call.cost) * u128::from(d);
        let (taken, answer) =
            scripts.spend_one(start + now, &format!("{number}:{}", call.key), [p, d, full], call.cost);
        assert_eq!(taken, price <= *level, "{} at {now} us of {}", case.name, call.key);
        if taken {
            *level -= price;
        } else {
            let after = (price - *level).div_ceil(p.into());
            assert_eq!(u128::from(wait(&answer, [p, d, full], call.cost)), after, "{} at {now} us", case.name);
        }
        assert_eq!(u128::from(full - answer.states[0].0), *level, "{} at {now} us of {}", case.name, call.key);
    }
}
