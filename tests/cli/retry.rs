//! `admittance retry`: every case of `tests/vectors/retry_after.jsonl`, and previews.

use serde_json::{Value, json};

use crate::program::{command, file, quiet, run};

const CASES: &str = include_str!("../vectors/retry_after.jsonl");

fn expected() -> Vec<Value> {
    CASES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["expect"].clone()).collect()
}

#[test]
fn every_case_matches_through_the_command_line() {
    let told = quiet(&["retry", "--vectors", "tests/vectors/retry_after.jsonl"], "");
    assert_eq!(told, quiet(&["retry", "--vectors", "-"], CASES));
    let answers: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 61);
    for ((answer, expected), case) in answers.iter().zip(expected()).zip(CASES.lines()) {
        assert_eq!(*answer, expected, "{case}");
    }
    // To the byte: no float has been near it.
    assert!(told.contains("\n{\"wait_ns\":251629156799000000000}\n") && told.contains("\n{\"reject\":true}\n"));
    assert!(told.contains("\n{\"saturated\":true}\n"));
}

/// Each case once more, as headers of a preview.
#[test]
fn every_case_matches_as_headers() {
    for (line, expected) in CASES.lines().zip(expected()).step_by(3) {
        let case: Value = serde_json::from_str(line).unwrap();
        let mut args: Vec<String> =
            ["retry", "--json", "--deadline", "1d", "--attempts", "2", "--wall"].map(Into::into).into();
        args.push(case["wall"].as_str().unwrap().into());
        let lines = case["lines"].as_array().unwrap().iter().map(|line| ("retry-after", line));
        for (name, value) in lines.chain([("DATE", &case["date"]), ("Age", &case["age"])]) {
            if let Some(value) = value.as_str() {
                args.push(format!("--header={name}:{value}"));
            }
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let run = run(&args, "");
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        let told: Value = serde_json::from_str(&run.stdout).unwrap();
        if expected == json!({"reject": true}) {
            assert_eq!(told["signal"], Value::Null, "{line}");
            assert!(run.stderr.contains("as good as none"), "{}", run.stderr);
        } else {
            let mut signal = told["signal"].as_object().unwrap().clone();
            assert!(signal.remove("several").is_some());
            assert_eq!(Value::Object(signal), expected, "{line}");
        }
    }
}

const PREVIEW: [&str; 11] = [
    "retry",
    "--header",
    "Retry-After: 3",
    "--backoff",
    "1s",
    "--spread",
    "1s",
    "--deadline",
    "10s",
    "--attempts",
    "5",
];

#[test]
fn a_preview_is_a_table() {
    let told = quiet(&PREVIEW, "");
    let rows: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0].join(" "), "The server asks for 3s.");
    for (row, expected) in rows[2..].iter().zip([
        ["attempt", "earliest", "latest", "goes"],
        ["1", "0s", "0s", "always"],
        ["2", "3s", "4s", "always"],
        ["3", "6s", "8s", "always"],
        ["4", "9s", "13s", "perhaps:"],
        ["5", "12s", "22s", "never:"],
    ]) {
        assert_eq!(row[..4], expected, "{told}");
    }
    assert!(told.contains("At worst the waits take 10s together; the deadline of 10s may end it"), "{told}");
    assert!(told.lines().all(|line| line.len() <= 120), "{told}");
}

#[test]
fn a_preview_is_json() {
    let told: Value = serde_json::from_str(&quiet(&[&PREVIEW[..], &["--json"]].concat(), "")).unwrap();
    assert_eq!(told["signal"], json!({"wait_ns": 3_000_000_000_u64, "several": false}));
    let second = 1_000_000_000_u64;
    let row = |attempt: u64, earliest: u64, latest: u64, goes: &str| json!({"attempt": attempt, "earliest_ns": earliest * second, "latest_ns": latest * second, "goes": goes});
    assert_eq!(
        told["attempts"],
        json!([
            row(1, 0, 0, "always"),
            row(2, 3, 4, "always"),
            row(3, 6, 8, "always"),
            row(4, 9, 13, "perhaps"),
            row(5, 12, 22, "never")
        ])
    );
    assert_eq!((&told["worst_total_ns"], &told["deadline_ns"]), (&json!(10 * second), &json!(10 * second)));
    assert_eq!(told["ends"], "deadline");
}

#[test]
fn flags_shape_the_plan() {
    let spread = |spread: &'static str, flags: &[&'static str]| {
        let args = [
            &["retry", "--json", "--deadline", "100s", "--attempts", "4", "--backoff", "2s", "--spread", spread],
            flags,
        ]
        .concat();
        let told: Value = serde_json::from_str(&quiet(&args, "")).unwrap();
        let rows = told["attempts"].as_array().unwrap();
        let seconds =
            |field: &str| rows.iter().map(|row| row[field].as_u64().unwrap() / 1_000_000_000).collect::<Vec<_>>();
        (seconds("earliest_ns"), seconds("latest_ns"), told["ends"].as_str().unwrap().to_owned())
    };
    let latest = |flags: &[&'static str]| spread("0s", flags);
    let attempts = String::from("attempts");
    assert_eq!(latest(&[]), (vec![0; 4], vec![0, 2, 6, 14], attempts.clone()));
    assert_eq!(
        latest(&["--jitter", "none", "--factor", "3"]),
        (vec![0, 2, 8, 26], vec![0, 2, 8, 26], attempts.clone())
    );
    assert_eq!(
        latest(&["--jitter", "equal", "--ceiling", "4s"]),
        (vec![0, 1, 3, 5], vec![0, 2, 6, 10], attempts.clone())
    );
    assert_eq!(latest(&["--jitter", "decorrelated"]).1, [0, 6, 24, 78]);
    assert_eq!(spread("1s", &[]).1, [0, 3, 8, 17]);
    assert_eq!(latest(&["--longest-wait", "5s"]).2, "longest_wait");
    assert_eq!(latest(&["--header", "retry-after: +9", "--lenient", "plus-sign"]).0, [0, 9, 18, 27]);
}

#[test]
fn several_values_are_remarked() {
    let told = quiet(
        &["retry", "--header", "Retry-After: 3", "--header", "Retry-After: 120", "--deadline", "1h", "--attempts", "2"],
        "",
    );
    assert!(told.starts_with("The server asks for 120s; of several values the longest."), "{told}");
    let date =
        ["--header", "Retry-After: Tue, 10 Mar 2026 12:10:03 GMT", "--header", "Date: Tue, 10 Mar 2026 12:10:00 GMT"];
    let told = quiet(&[&["retry", "--deadline", "1h", "--attempts", "2"], &date[..]].concat(), "");
    assert!(told.starts_with("The server asks for 3s, by its own clock."), "{told}");
    let told = quiet(
        &[&["retry", "--deadline", "1h", "--attempts", "2", "--wall", "2026-03-10T12:10:01Z"], &date[..2]].concat(),
        "",
    );
    assert!(told.starts_with("The server asks for 2s, by the client's clock, because it sent no Date."), "{told}");
}

#[cfg(unix)]
#[test]
fn a_header_is_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let output = command(&["retry", "--deadline", "1h", "--attempts", "2", "--header"])
        .arg(OsStr::from_bytes(b"Retry-After: \xff3"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("as good as none"));
}

#[test]
fn a_wrong_command_line_says_what_would_be_right() {
    let plan = ["--deadline", "10s", "--attempts", "5"];
    for (args, said) in [
        (&["--attempts", "5"][..], "--deadline <DURATION>"),
        (&["--deadline", "10s"], "--attempts <N>"),
        (
            &["--deadline", "10", "--attempts", "5"],
            "it must be a whole number and a unit, from 0s to 213503d, as in 250ms or 3s (units: ns, us, ms, s, m, h, d)",
        ),
        (&["--deadline", "0s", "--attempts", "5"], "--deadline: must be at least 1, was 0"),
        (&["--deadline", "10s", "--attempts", "0"], "invalid value '0' for '--attempts <N>'"),
        (&[&plan[..], &["--backoff", "2s", "--ceiling", "1s"]].concat(), "--ceiling: must be at least 2s, was 1s"),
        (&[&plan[..], &["--backoff", "1.5s"]].concat(), "from 0s to 213503d, as in 250ms or 3s"),
        (&[&plan[..], &["--header", "3"]].concat(), "write as in 'Retry-After: 3'"),
        (&[&plan[..], &["--wall", "noon"]].concat(), "as in 2026-03-10T12:00:00Z"),
        (&[&plan[..], &["--vectors", "x"]].concat(), "cannot be used with"),
    ] {
        let run = run(&[&["retry"], args].concat(), "");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.contains(said), "{args:?}: expected\n{said}\nin\n{}", run.stderr);
    }
}

#[test]
fn a_file_that_cannot_be_read_says_where() {
    let path = file("retry-broken.jsonl", "{\"lines\": [\"3\"], \"age\": 5}\n\n{\"lines\": 3}\n");
    let told = run(&["retry", "--vectors", &path], "");
    assert_eq!((told.code, told.stdout.as_str()), (1, "{\"wait_ns\":3000000000}\n"));
    assert!(told.stderr.contains(&format!("{path}:3:")), "{}", told.stderr);
    assert!(run(&["retry", "--vectors", "/nowhere"], "").stderr.contains("/nowhere: "));
    let help = quiet(&["retry", "--help"], "");
    assert!(help.contains("Exit codes:") && help.lines().all(|line| line.chars().count() <= 110), "{help}");
}
