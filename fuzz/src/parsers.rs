//! Any bytes as a log: the line readers, and the replay that decides what they read.

use std::collections::HashMap;
use std::time::Duration;

use admittance::Rule;
use admittance::replay::{Decided, Format, LineError, Outcome, Record, Replay, Unit, combined, jsonl};
use admittance::{Budget, Window};
use num_bigint::BigInt;

use super::oracle::{Answer, Model, WindowModel, nanos};

/// Times further apart than this are not judged in windows: the oracle's end at the horizon, a replay's never do.
const SPAN: u64 = 1 << 59;

/// How gzip begins, whatever the file is called.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Bits of the first byte: 0 the format, 1 the unit, 2 and 3 the rule, 4 whether to stop at the line readers, which need no
/// threads. Then the log.
pub fn run(data: &[u8]) {
    let Some((&kind, log)) = data.split_first() else { return };
    let format = if kind & 1 == 0 { Format::Combined } else { Format::Jsonl };
    let unit = if kind & 2 == 0 { Unit::Request } else { Unit::Byte };
    let rule = match kind >> 2 & 3 {
        0 => Rule::TokenBucket(Budget::new(3, 2, Duration::from_secs(1)).expect("a plain budget")),
        // Takes 30 years to fill, and a log may be longer than a horizon.
        1 => Rule::TokenBucket(Budget::new(30, 1, Duration::from_secs(365 * 86_400)).expect("a slow budget")),
        2 => Rule::TokenBucket(Budget::new(1 << 48, 15, Duration::from_nanos(1)).expect("a fast budget")),
        _ => Rule::FixedWindow(Window::new(5, Duration::from_secs(10)).expect("a plain window")),
    };
    let records = read(log, format, unit);
    let whole = Replay::new(rule).format(format).unit(unit);
    if log.starts_with(&GZIP) {
        // Unzipped as it is read; the lines are not those of the bytes. It may be broken, and must not panic.
        let _ = whole.run_bytes(log, |_| {});
    } else if kind & 16 == 0 {
        replay(log, &whole, &rule, &records);
    }
}

/// Every line that is not blank, as the readers understand it.
fn read(log: &[u8], format: Format, unit: Unit) -> Vec<Result<Record<'_>, LineError>> {
    let mut reader = combined::Reader::new(unit);
    let lines = log.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
        .map(|line| {
            let record = match format {
                Format::Combined => {
                    let record = reader.read(line);
                    // What a reader remembers must not show.
                    assert_eq!(record, combined::Reader::new(unit).read(line));
                    record
                }
                Format::Jsonl => jsonl::read(line),
            };
            match &record {
                Ok(record) => any_record(line, record, format),
                Err(error) => {
                    assert!((1..=line.len() + 1).contains(&error.column), "{error}, of {} bytes", line.len());
                    assert!(!error.expected.is_empty());
                }
            }
            record
        })
        .collect()
}

/// What holds for every record: the key is in the line, and the record written as a trace is read as itself.
fn any_record(line: &[u8], record: &Record<'_>, format: Format) {
    let (time, cost, key) = (record.time, record.cost, &*record.key);
    if format == Format::Combined {
        assert!(!key.is_empty() && line.starts_with(key) && line[key.len()] == b' ');
    }
    let mut text = Vec::new();
    let decided = Decided { time, key, cost, outcome: Outcome::Never };
    decided.write_json(&mut text).expect("memory takes every line");
    let again = jsonl::read(text.trim_ascii_end()).expect("what was written can be read");
    assert_eq!((again.time, again.cost), (time, cost));
    assert_eq!(&*again.key, String::from_utf8_lossy(key).as_bytes());
}

/// One key's exact state.
struct Key {
    first: u64,
    latest: u64,
    bucket: Option<Model>,
    window: Option<WindowModel>,
}

/// The replay decides every record, in order, as the exact models do, and its sums are those of its decisions.
fn replay(log: &[u8], replay: &Replay, rule: &Rule, records: &[Result<Record<'_>, LineError>]) {
    let mut keys: HashMap<Vec<u8>, Key> = HashMap::new();
    let mut readable = records.iter().flatten();
    let (mut admitted, mut denied, mut never) = (0, 0, 0);
    let summary = replay.run_bytes(log, |decided| {
        let record = readable.next().expect("no more decisions than records");
        assert_eq!((decided.time, decided.key, decided.cost), (record.time, &*record.key, record.cost));
        match decided.outcome {
            Outcome::Admitted { .. } => admitted += 1,
            Outcome::Denied { .. } => denied += 1,
            Outcome::Never => never += 1,
        }
        keys.entry(decided.key.to_vec()).or_insert_with(|| Key::new(decided.time, rule)).judge(&decided);
    });
    let summary = summary.expect("a replay that is not strict stops for no line");
    assert!(readable.next().is_none(), "a record was not decided");
    assert_eq!((summary.admitted, summary.denied, summary.never), (admitted, denied, never));
    assert_eq!((summary.lines, summary.keys), (records.len() as u64, keys.len() as u64));
    assert_eq!(summary.unreadable, records.len() as u64 - admitted - denied - never);
}

impl Key {
    fn new(first: u64, rule: &Rule) -> Self {
        let (bucket, window) = match rule {
            Rule::TokenBucket(budget) => {
                let nanos = nanos(budget.refill_duration());
                (Some(Model::new(budget.capacity(), budget.refill_tokens(), nanos)), None)
            }
            Rule::FixedWindow(window) => (None, Some(WindowModel::new(window.limit(), nanos(window.length())))),
        };
        // Windows are aligned to 1970: told from the start of the first line's, they are aligned to 0.
        let first = if let Rule::FixedWindow(window) = rule { first - first % nanos(window.length()) } else { first };
        Self { first, latest: first, bucket, window }
    }

    /// A line that is earlier than its key's latest is decided at the latest.
    fn judge(&mut self, decided: &Decided<'_>) {
        self.latest = self.latest.max(decided.time);
        let now = self.latest - self.first;
        let got = match decided.outcome {
            Outcome::Admitted { remaining } => Answer::Admitted(remaining),
            Outcome::Denied { retry_after_ns } => Answer::Denied(retry_after_ns),
            Outcome::Never => Answer::Never,
        };
        if let Some(bucket) = &mut self.bucket {
            let exact = spend(bucket, decided.cost, now);
            // How far a wait is promised depends on where the replay has put the epoch.
            let far = matches!((got, exact), (Answer::Denied(u64::MAX), Answer::Denied(wait)) if wait > SPAN);
            assert!(got == exact || far, "{decided:?}: exactly {exact:?}, {now} ns after the key's first line");
        }
        if let Some(window) = self.window.as_mut().filter(|_| now < SPAN) {
            assert_eq!(window.acquire(decided.cost, now), got, "{decided:?}");
        }
    }
}

/// The exact answer at any time, horizon or not.
fn spend(bucket: &mut Model, n: u64, now: u64) -> Answer {
    let at = BigInt::from(now);
    let small = |number: BigInt| u64::try_from(number).unwrap_or(u64::MAX);
    if n > bucket.capacity() {
        Answer::Never
    } else if bucket.passes(n, &at) {
        let left = small(bucket.tokens_after(n, &at));
        bucket.spend(n, &at);
        Answer::Admitted(left)
    } else {
        Answer::Denied(small(bucket.first(n) - at))
    }
}
