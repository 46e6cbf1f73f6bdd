//! Every case of `tests/vectors/bucket.jsonl` through the command line.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use admittance::Budget;
use admittance::bucket::Word;
use admittance::bucket::step::{self, Step};
use admittance::replay::Outcome;
use serde::Deserialize;

use crate::program::{file, quiet, run};

const CASES: &str = include_str!("../vectors/bucket.jsonl");

#[derive(Deserialize)]
struct Case {
    name: String,
    capacity: u64,
    refill_tokens: u64,
    refill_per_ns: u64,
    calls: Vec<Call>,
    expect: Vec<Expected>,
    exact: bool,
}

#[derive(Deserialize)]
struct Call {
    t_ns: u64,
    key: String,
    cost: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum Expected {
    Admitted { remaining: u64 },
    Denied { retry_after_ns: u64 },
    Never,
}

impl From<Expected> for Outcome {
    fn from(expected: Expected) -> Self {
        match expected {
            Expected::Admitted { remaining } => Self::Admitted { remaining },
            Expected::Denied { retry_after_ns } => Self::Denied { retry_after_ns },
            Expected::Never => Self::Never,
        }
    }
}

fn cases() -> Vec<Case> {
    CASES.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

impl Case {
    fn trace(&self) -> String {
        let line =
            |call: &Call| format!("{}\n", serde_json::json!({"t_ns": call.t_ns, "key": call.key, "cost": call.cost}));
        self.calls.iter().map(line).collect()
    }

    /// What the case demands. Where its budget is not exact, that is what the pure step says of each key from its first line
    /// on; `tests/vectors.rs` holds the step itself against the exact model.
    fn outcomes(&self) -> Vec<Outcome> {
        if self.exact {
            return self.expect.iter().map(|&expected| expected.into()).collect();
        }
        let budget = Budget::new(self.capacity, self.refill_tokens, Duration::from_nanos(self.refill_per_ns)).unwrap();
        let mut keys: HashMap<String, (u64, Word)> = HashMap::new();
        let decide = |call: &Call| {
            let &mut (first, ref mut word) = keys.entry(call.key.clone()).or_insert((call.t_ns, Word::FULL));
            let step = step::acquire(*word, call.cost, call.t_ns - first, &budget);
            if let Step::Spend { next, .. } = step {
                *word = next;
            }
            step.decision().into()
        };
        self.calls.iter().map(decide).collect()
    }

    /// The decisions as the program must write them, byte for byte.
    fn decisions(&self) -> String {
        let mut text = String::new();
        for (call, outcome) in self.calls.iter().zip(self.outcomes()) {
            let Call { t_ns, key, cost } = call;
            write!(text, "{{\"t_ns\":{t_ns},\"key\":\"{key}\",\"cost\":{cost},\"outcome\":").unwrap();
            match outcome {
                Outcome::Admitted { remaining } => writeln!(text, "\"admitted\",\"remaining\":{remaining}}}"),
                Outcome::Denied { retry_after_ns } => {
                    writeln!(text, "\"denied\",\"retry_after_ns\":{retry_after_ns}}}")
                }
                Outcome::Never => writeln!(text, "\"never\"}}"),
            }
            .unwrap();
        }
        text
    }

    fn flags(&self) -> [String; 2] {
        [self.capacity.to_string(), format!("{}/{}ns", self.refill_tokens, self.refill_per_ns)]
    }
}

#[test]
fn every_case_matches_through_the_command_line() {
    let cases = cases();
    assert_eq!(cases.len(), 175);
    for case in cases {
        let [capacity, refill] = case.flags();
        let args = ["replay", "-", "--capacity", &capacity, "--refill", &refill, "--decisions", "-", "--threads", "2"];
        let run = run(&args, case.trace());
        assert_eq!(run.code, 0, "{}: {}", case.name, run.stderr);
        assert!(run.stdout == case.decisions(), "{}\n{}\nexpected\n{}", case.name, run.stdout, case.decisions());
        let resolution = if case.exact { "(exact)" } else { "(within a nanosecond of exact)" };
        assert!(run.stderr.contains(resolution), "{}: {}", case.name, run.stderr);
    }
}

#[test]
fn a_case_matches_from_files_in_any_order_of_reading() {
    for (number, case) in cases().iter().enumerate().filter(|(_, case)| case.calls.len() > 3).step_by(25) {
        let [capacity, refill] = case.flags();
        let trace = case.trace();
        let half = trace.match_indices('\n').nth(case.calls.len() / 2).unwrap().0 + 1;
        let (first, second) =
            (file(&format!("{number}-1.jsonl"), &trace[..half]), file(&format!("{number}-2.jsonl"), &trace[half..]));
        let to = file(&format!("{number}-decisions.jsonl"), "what was there before is gone");
        quiet(
            &["replay", &first, &second, "--capacity", &capacity, "--refill", &refill, "--decisions", &to, "--sort"],
            "",
        );
        assert_eq!(std::fs::read_to_string(to).unwrap(), case.decisions(), "{}", case.name);
    }
}
