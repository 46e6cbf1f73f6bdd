//! Every case of `tests/vectors/bucket.jsonl`, whose answers were computed by an exact rational model.
//!
//! Cases that are `exact` match to the nanosecond. The others are budgets beyond the exact range: their own decisions
//! are followed, and judged as the exact bucket with the same history would answer within one nanosecond.

use std::collections::HashMap;
use std::time::Duration;

use admittance::bucket::{Word, step};
use admittance::{Budget, ManualClock, Resolution, TokenBucket};
use serde::Deserialize;

mod oracle;

use oracle::{Answer, Follower, Verdict};

const CASES: &str = include_str!("vectors/bucket.jsonl");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    capacity: u64,
    refill_tokens: u64,
    refill_per_ns: u64,
    calls: Vec<Call>,
    expect: Vec<Expected>,
    exact: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    t_ns: u64,
    key: String,
    cost: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase", deny_unknown_fields)]
enum Expected {
    Admitted { remaining: u64 },
    Denied { retry_after_ns: u64 },
    Never,
}

impl From<Expected> for Answer {
    fn from(expected: Expected) -> Self {
        match expected {
            Expected::Admitted { remaining } => Self::Admitted(remaining),
            Expected::Denied { retry_after_ns } => Self::Denied(retry_after_ns),
            Expected::Never => Self::Never,
        }
    }
}

/// Reads one line. `Err` names the case, or the line where it has no name.
fn read(number: usize, line: &str) -> Result<Case, String> {
    let value: serde_json::Value = serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
    let name = value["name"].as_str().map_or_else(|| format!("line {number}"), str::to_owned);
    let case: Case = serde_json::from_value(value).map_err(|error| format!("{name}: {error}"))?;
    if case.calls.is_empty() || case.calls.len() != case.expect.len() {
        return Err(format!("{name}: {} calls and {} answers", case.calls.len(), case.expect.len()));
    }
    Ok(case)
}

fn all() -> Vec<Case> {
    let read =
        |(index, line)| read(index + 1, line).unwrap_or_else(|error| panic!("tests/vectors/bucket.jsonl: {error}"));
    CASES.lines().enumerate().map(read).collect()
}

impl Case {
    fn budget(&self) -> Budget {
        Budget::new(self.capacity, self.refill_tokens, Duration::from_nanos(self.refill_per_ns))
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Puts every call to `answer`, and each answer to `judge` with what the exact model expects.
    fn run(&self, mut answer: impl FnMut(&Call) -> Answer, mut judge: impl FnMut(&Call, Answer, Answer) -> Verdict) {
        for (index, (call, expected)) in self.calls.iter().zip(&self.expect).enumerate() {
            let got = answer(call);
            if let Err(wrong) = judge(call, got, (*expected).into()) {
                panic!("{}, call {index}: {wrong}", self.name);
            }
        }
    }

    /// Judges an implementation as the case asks.
    fn check(&self, answer: impl FnMut(&Call) -> Answer) {
        if self.exact {
            self.run(answer, same);
        } else {
            let budget = self.budget();
            let mut followers: HashMap<String, Follower> = HashMap::new();
            self.run(answer, |call, got, _| {
                let follower = followers.entry(call.key.clone()).or_insert_with(|| Follower::new(&budget));
                follower.acquired(call.cost, call.t_ns, got)
            });
        }
    }
}

fn same(call: &Call, got: Answer, expected: Answer) -> Verdict {
    if got == expected { Ok(()) } else { Err(format!("{call:?}: {got:?}, expected {expected:?}")) }
}

#[test]
fn every_case_matches_through_the_pure_step() {
    for case in all() {
        let budget = case.budget();
        let mut words: HashMap<String, Word> = HashMap::new();
        case.check(|call| {
            let word = words.entry(call.key.clone()).or_default();
            let step = step::acquire(*word, call.cost, call.t_ns, &budget);
            if let step::Step::Spend { next, .. } = step {
                *word = next;
            }
            step.decision().into()
        });
    }
}

#[test]
fn every_case_matches_through_the_bucket_and_its_clock() {
    for case in all() {
        let (budget, clock) = (case.budget(), ManualClock::new());
        let mut buckets: HashMap<String, TokenBucket<&ManualClock>> = HashMap::new();
        case.check(|call| {
            clock.set(call.t_ns);
            let bucket = buckets.entry(call.key.clone()).or_insert_with(|| TokenBucket::with_clock(budget, &clock));
            assert_eq!(bucket.peek(call.cost), bucket.peek(call.cost), "{}: a peek spends", case.name);
            let peeked = Answer::from(bucket.peek(call.cost));
            let answer = Answer::from(bucket.try_acquire(call.cost));
            assert_eq!(peeked, answer, "{}: a peek says otherwise", case.name);
            answer
        });
    }
}

/// The oracle that judges the scaled cases, and all of the property tests, is itself the model of the vectors.
#[test]
fn the_oracle_gives_the_answers_of_every_case() {
    for case in all() {
        let budget = case.budget();
        let mut followers: HashMap<String, Follower> = HashMap::new();
        case.run(
            |call| {
                let follower = followers.entry(call.key.clone()).or_insert_with(|| Follower::new(&budget));
                let answer = follower.exact_answer(call.cost, call.t_ns);
                follower.acquired(call.cost, call.t_ns, answer).expect("the oracle agrees with itself");
                answer
            },
            same,
        );
    }
}

/// A file that is cut short, or has lost one of its kinds, passes no test.
#[test]
fn all_cases_are_there_and_of_both_kinds() {
    let cases = all();
    assert_eq!(cases.len(), 175);
    assert_eq!(cases.iter().filter(|case| case.exact).count(), 132);
    assert!(
        cases.iter().any(|case| case.calls.iter().any(|call| call.key != case.calls[0].key)),
        "no case with two keys"
    );
    for case in cases {
        let exact = case.budget().resolution() == Resolution::Exact;
        assert_eq!(exact, case.exact, "{}: what the case calls exact, the budget does too", case.name);
    }
}

#[test]
fn a_malformed_case_is_refused_by_name() {
    let good = CASES.lines().next().expect("at least one case");
    assert!(read(1, good).is_ok());
    let name = "burst of three then one after half a second";
    let broken = [
        (good.replace("\"capacity\": 3", "\"capacity\": -3"), name, "-3"),
        (good.replace("\"capacity\"", "\"capacty\""), name, "capacty"),
        (good.replace("\"admitted\"", "\"allowed\""), name, "allowed"),
        (good.replacen("{\"outcome\": \"admitted\", \"remaining\": 2}, ", "", 1), name, "6 calls and 5 answers"),
        (good.replace("\"name\"", "\"nom\""), "line 7", "nom"),
        (good[..good.len() / 2].to_owned(), "line 7", "EOF"),
    ];
    for (line, where_, what) in broken {
        let error = read(7, &line).expect_err(&line);
        assert!(error.contains(where_) && error.contains(what), "{error}");
    }
}
