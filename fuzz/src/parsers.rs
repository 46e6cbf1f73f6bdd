//! Any bytes as a log: the line readers, and the replay that decides what they read.

use std::collections::HashMap;
use std::time::Duration;

use admittance::Rule;
use admittance::replay::{
    Decided, Fields, Format, Identity, LineError, LogFormat, Outcome, Reading, Record, Replay, Unit, alb, combined,
    json, jsonl, key, nginx,
};
use admittance::{Budget, Window};
use num_bigint::BigInt;

use super::oracle::{Answer, Model, WindowModel, nanos};

/// Times further apart than this are not judged in windows: the oracle's end at the horizon, a replay's never do.
const SPAN: u64 = 1 << 59;

/// How gzip and zstd (and what it skips) begin, whatever the file is called.
fn is_compressed(log: &[u8]) -> bool {
    matches!(log, [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Bits of the first byte: 0 the format, 1 the unit, 2 and 3 the rule, 4 whether to stop at the line readers, which need no
/// threads, 5 whether it is one of the other formats, which one the second byte says. Then the log.
pub fn run(data: &[u8]) {
    let Some((&kind, log)) = data.split_first() else { return };
    // Any bytes as the name of a key: an error, or a key whose name is as good.
    if let Ok(named) = key::read(log) {
        assert_eq!(key::read(key::shown(&named).as_bytes()), Ok(named));
    }
    if kind & 32 != 0 {
        return others(kind, log);
    }
    let format = if kind & 1 == 0 { Format::Combined } else { Format::Jsonl };
    let unit = if kind & 2 == 0 { Unit::Request } else { Unit::Byte };
    let rule = match kind >> 2 & 3 {
        0 => Rule::TokenBucket(Budget::new(3, 2, Duration::from_secs(1)).expect("a plain budget")),
        // Takes 30 years to fill, and a log may be longer than a horizon.
        1 => Rule::TokenBucket(Budget::new(30, 1, Duration::from_secs(365 * 86_400)).expect("a slow budget")),
        2 => Rule::TokenBucket(Budget::new(1 << 48, 15, Duration::from_nanos(1)).expect("a fast budget")),
        _ => Rule::FixedWindow(Window::new(5, Duration::from_secs(10)).expect("a plain window")),
    };
    let records = read(log, &format, unit);
    let whole = Replay::new(rule).format(format).unit(unit);
    if is_compressed(log) {
        // Unzipped as it is read; the lines are not those of the bytes. It may be broken, and must not panic.
        let _ = whole.run_bytes(log, |_| {});
    } else if kind & 16 == 0 {
        replay(log, &whole, &rule, &records);
    }
}

/// Every line that is not blank, as the readers understand it.
fn read<'l>(log: &'l [u8], format: &Format, unit: Unit) -> Vec<Result<Record<'l>, LineError>> {
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
                _ => jsonl::read(line),
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
fn any_record(line: &[u8], record: &Record<'_>, format: &Format) {
    let (time, cost, key) = (record.time, record.cost, &*record.key);
    if *format == Format::Combined && !line.split(|&byte| byte == b' ').next().unwrap_or_default().contains(&b':') {
        // What has no colon is as it stands.
        assert!(!key.is_empty() && (line.starts_with(key) || key.starts_with(&[0xff])));
    }
    let mut text = Vec::new();
    let decided = Decided { time, key, cost, outcome: Outcome::Never };
    decided.write_json(&mut text).expect("memory takes every line");
    let again = jsonl::read(text.trim_ascii_end()).expect("what was written can be read");
    assert_eq!((again.time, again.cost), (time, cost));
    assert_eq!(&*again.key, String::from_utf8_lossy(key::parts(key)[0]).as_bytes());
    // What it is shown as is its name.
    assert_eq!(key::read(key::shown(key).as_bytes()).as_deref(), Ok(key));
}

/// The formats whose lines say more than who asked when. The second byte: 0 nginx, where a log format is the first line; 1 JSON,
/// where its fields are the first line, with spaces between them; 2 Caddy, 3 ALB, 4 combined with a pair of fields.
fn others(kind: u8, log: &[u8]) {
    let Some((&which, log)) = log.split_first() else { return };
    let unit = if kind & 2 == 0 { Unit::Request } else { Unit::Byte };
    let cut = log.iter().position(|&byte| byte == b'\n').unwrap_or(log.len());
    let (spec, rest) = (String::from_utf8_lossy(&log[..cut]), log.get(cut + 1..).unwrap_or_default());
    let mut reading = Reading::new().unit(unit);
    let (format, log) = match which % 5 {
        0 => match spec.parse::<LogFormat>() {
            Ok(format) => (Format::Nginx(format), rest),
            Err(error) => return assert!(!error.to_string().is_empty()),
        },
        1 => match Fields::new(spec.split(' ')) {
            Ok(fields) => (Format::Json(fields), rest),
            Err(error) => return assert!(!error.to_string().is_empty()),
        },
        2 => (Format::Caddy, log),
        3 => (Format::Alb, log),
        _ => {
            reading = reading.identity("agent,user".parse::<Identity>().expect("two names"));
            (Format::Combined, log)
        }
    };
    let reading = reading.format(format.clone());
    if reading.check().is_err() {
        return;
    }
    let lines = log.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    for line in lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace)) {
        let record = match &format {
            Format::Nginx(format) => nginx::Reader::new(format, unit).map(|mut reader| reader.read(line)),
            Format::Json(fields) => json::Reader::new(fields).map(|mut reader| reader.read(line)),
            Format::Caddy => json::Reader::for_caddy(unit).map(|mut reader| reader.read(line)),
            Format::Alb => alb::Reader::new(unit).map(|mut reader| reader.read(line)),
            _ => break,
        };
        match record {
            Err(_) => break,
            Ok(Ok(record)) => {
                let plain = !record.key.contains(&b':') && !record.key.starts_with(&[0xff]);
                let escaped = line.contains(&b'\\') || line.contains(&b':');
                // Text that is not escaped, and no address to be put in one form, is a piece of the line.
                assert!(!record.key.is_empty());
                assert!(!plain || escaped || line.windows(record.key.len()).any(|piece| piece == &*record.key));
            }
            Ok(Err(error)) => {
                assert!((1..=line.len() + 1).contains(&error.column), "{error}, of {} bytes", line.len());
                assert!(!error.expected.is_empty());
            }
        }
    }
    if kind & 16 == 0 && !is_compressed(log) {
        let rule = Rule::TokenBucket(Budget::new(3, 2, Duration::from_secs(1)).expect("a plain budget"));
        let mut decisions = 0;
        let replay = Replay::new(rule).reading(reading);
        let summary = replay.run_bytes(log, |decided| {
            decisions += 1;
            let parts = key::parts(decided.key);
            assert!(parts.len() == if which % 5 == 4 { 2 } else { 1 } && parts.iter().all(|part| !part.is_empty()));
        });
        let summary = summary.expect("it is not strict, and its format has been checked");
        assert_eq!(decisions + summary.unreadable, summary.lines);
    }
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
