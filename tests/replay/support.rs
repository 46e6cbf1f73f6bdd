//! What the tests have in common.

use std::time::Duration;

use admittance::Rule;
use admittance::replay::{Decided, Outcome, Reading, Replay, Summary, key};
use admittance::{Budget, Window};

pub(crate) const SECOND: u64 = 1_000_000_000;

/// `tokens` per second, `capacity` at once.
pub(crate) fn bucket(capacity: u64, tokens: u64) -> Rule {
    Rule::TokenBucket(Budget::new(capacity, tokens, Duration::from_secs(1)).expect("a plain budget"))
}

pub(crate) fn window(limit: u64, seconds: u64) -> Rule {
    Rule::FixedWindow(Window::new(limit, Duration::from_secs(seconds)).expect("a plain window"))
}

/// One decision, with a key of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) time: u64,
    pub(crate) key: Vec<u8>,
    pub(crate) cost: u64,
    pub(crate) outcome: Outcome,
}

impl From<Decided<'_>> for Owned {
    fn from(Decided { time, key, cost, outcome }: Decided<'_>) -> Self {
        Self { time, key: key.to_vec(), cost, outcome }
    }
}

/// Every decision of a log in memory, and the summary.
pub(crate) fn decide(replay: &Replay, log: impl AsRef<[u8]>) -> (Vec<Owned>, Summary) {
    let mut decisions = Vec::new();
    let summary = replay.run_bytes(log.as_ref(), |decided| decisions.push(decided.into()));
    (decisions, summary.expect("a replay in memory that is not strict cannot fail"))
}

/// The outcomes alone, in words: `+3` is admitted with 3 left, `-5` is denied for 5 ns, `x` is never.
pub(crate) fn outcomes(replay: &Replay, log: impl AsRef<[u8]>) -> String {
    let words: Vec<String> = decide(replay, log)
        .0
        .iter()
        .map(|decided| match decided.outcome {
            Outcome::Admitted { remaining } => format!("+{remaining}"),
            Outcome::Denied { retry_after_ns } => format!("-{retry_after_ns}"),
            Outcome::Never => "x".into(),
        })
        .collect();
    words.join(" ")
}

/// A key's parts as they are, but for bytes that are no text.
fn shown(key: &[u8]) -> String {
    key::parts(key).into_iter().map(String::from_utf8_lossy).collect::<Vec<_>>().join(" · ")
}

/// What is read of a log: each record's key as it is shown, seconds and nanoseconds after 10:00 of the day below, cost; and the
/// summary.
pub(crate) fn records(reading: Reading, log: impl AsRef<[u8]>) -> (Vec<(String, i128, u64)>, Summary) {
    let (decisions, summary) = decide(&Replay::new(bucket(1 << 32, 1)).reading(reading), log);
    let record = |decided: &Owned| (shown(&decided.key), i128::from(decided.time) - i128::from(TEN), decided.cost);
    (decisions.iter().map(record).collect(), summary)
}

/// The keys that are read, as they are shown, and what is said of lines that cannot be.
pub(crate) fn keys(reading: Reading, log: impl AsRef<[u8]>) -> (Vec<String>, Vec<String>) {
    let (records, summary) = records(reading, log);
    let said = summary.bad_lines.iter().map(ToString::to_string).collect();
    (records.into_iter().map(|(key, ..)| key).collect(), said)
}

/// A line of a trace.
pub(crate) fn call(time: u64, key: &str, cost: u64) -> String {
    format!("{{\"t_ns\":{time},\"key\":\"{key}\",\"cost\":{cost}}}\n")
}

/// A line of an access log at so many seconds after 10:00 of a day in 2015.
pub(crate) fn access(address: &str, seconds: u64, bytes: &str) -> String {
    let (hours, minutes, seconds) = (10 + seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!(
        "{address} - - [17/May/2015:{hours:02}:{minutes:02}:{seconds:02} +0000] \"GET / HTTP/1.1\" 200 {bytes} \"-\" \"curl\"\n"
    )
}

/// 10:00 of that day.
pub(crate) const TEN: u64 = 1_431_856_800 * SECOND;

/// A decision's key as text.
pub(crate) fn key_of(decided: &Decided<'_>) -> String {
    shown(decided.key)
}
