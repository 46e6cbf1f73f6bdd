//! What is told at the end, to people and to programs.

use serde_json::{Value, json};

use crate::program::{access, file, quiet, run};

#[test]
fn the_readmes_first_command_tells_who_would_have_been_denied() {
    let run = run(&["replay", "examples/access.log", "--capacity", "5", "--refill", "1/2s"], "");
    assert_eq!(run.code, 0);
    for line in [
        "Token bucket for each address: capacity 5, refill 1 per 2s (exact)",
        "  lines     523, 3 of them unreadable",
        "  time      2026-03-10T08:00:04Z to 2026-03-10T09:01:04Z, 1h 1m",
        "  order     33 earlier than the line before, 27 decided at their address's latest time",
        "  admitted  416   80.0%",
        "  keys      58 addresses, 3 of them denied",
        "  denied    104   20.0%",
        "  2001:db8:77::/64                 43           95   45.3%  ████████████████",
        "Denied over time, a column 1m",
    ] {
        assert!(run.stdout.lines().any(|found| found == line), "{line}\nis not in\n{}", run.stdout);
    }
    let remarks: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(remarks.len(), 3, "{}", run.stderr);
    assert!(remarks[0].starts_with("admittance: examples/access.log:88:16: expected [17/May/2015:10:05:03 +0000]"));
    assert!(remarks[2].starts_with("admittance: examples/access.log:403:17: expected a date like"));
}

#[test]
fn the_summary_as_json_has_stable_names_and_numbers() {
    let log = [
        access("192.0.2.1", 0, 100),
        access("192.0.2.1", 0, 200),
        access("192.0.2.1", 30, 101),
        access("192.0.2.2", 20, 501),
        "?\n".into(),
    ]
    .concat();
    let args = ["replay", "-", "--unit", "byte", "--capacity", "250", "--refill", "7/3s", "--json"];
    let run = run(&args, log);
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    let second = |second: u64| (1_431_856_800 + second) * 1_000_000_000;
    let bar = |at: u64, lines: u64, denied: u64, never: u64| json!({"from_ns": second(at), "length_ns": 500_000_000, "lines": lines, "denied": denied, "never": never});
    let timeline = summary["timeline"].as_array().unwrap();
    assert_eq!(timeline.len(), 61);
    assert_eq!((&timeline[0], &timeline[40], &timeline[60]), (&bar(0, 2, 1, 0), &bar(20, 1, 0, 1), &bar(30, 1, 0, 0)));
    let mut rest = summary.clone();
    rest["timeline"].take();
    assert_eq!(
        rest,
        json!({
            "rule": {
                "kind": "token_bucket",
                "capacity": 250,
                "refill_tokens": 7,
                "refill_ns": 3_000_000_000_u64,
                "resolution": "exact",
            },
            "unit": "byte",
            "format": "combined",
            "lines": 5,
            "unreadable": 1,
            "outside": 0,
            "identity": ["address"],
            "decided": 4,
            "admitted": 2,
            "denied": 1,
            "never": 1,
            "admitted_share": 0.5,
            "denied_share": 0.25,
            "never_share": 0.25,
            "cost": 902,
            "cost_admitted": 201,
            "largest_cost": 501,
            "first_ns": second(0),
            "last_ns": second(30),
            "out_of_order": 1,
            "decided_late": 0,
            "keys": 2,
            "keys_denied": 1,
            "keys_never": 1,
            "most_denied": [{"key": "192.0.2.1", "lines": 3, "denied": 1, "never": 0}],
            "timeline": null,
            "bad_lines": [{
                "input": "standard input",
                "line": 5,
                "column": 2,
                "expected": "a space after the address",
                "found": "",
            }],
        })
    );
    let window = quiet(&["replay", "-", "--window", "5/10s", "--json"], "");
    let window: Value = serde_json::from_str(&window).unwrap();
    let rule = json!({"kind": "fixed_window", "limit": 5, "window_ns": 10_000_000_000_u64, "resolution": "exact"});
    assert_eq!((&window["rule"], &window["first_ns"], &window["format"]), (&rule, &Value::Null, &Value::Null));
    assert_eq!((&window["denied_share"], &window["timeline"]), (&json!(0.0), &json!([])));
}

#[test]
fn what_never_passes_is_told_with_the_capacity_it_would_take() {
    let log = [access("192.0.2.1", 0, 900), access("192.0.2.1", 0, 1200), access("192.0.2.2", 0, 3)].concat();
    let summary = quiet(&["replay", "-", "--unit", "byte", "--window", "1000/1s"], log);
    assert!(
        summary.starts_with("Fixed window for each address: 1 000 in each 1s, aligned to 1970 UTC (exact)\n"),
        "{summary}"
    );
    let never = "  never     1   33.3%   of 1 address: more than the limit ever holds, up to 1 200\n";
    assert!(summary.contains(never) && summary.contains("  bytes     903 admitted of 2 103\n"), "{summary}");
    // Nobody was denied: there is nobody to name, and no chart.
    assert!(summary.contains("  keys      2 addresses, none of them denied\n"), "{summary}");
    assert!(summary.contains("  denied    0      0%\n") && !summary.contains("Denied"), "{summary}");
}

#[test]
fn an_empty_log_and_lines_that_cannot_be_read_are_told_too() {
    let nothing = quiet(&["replay", "-", "--window", "1/1s"], "");
    assert!(nothing.ends_with("  lines     0\n  decided   nothing\n"), "{nothing}");
    let log = "?\n".repeat(12) + &access("a", 0, 1);
    let run = run(&["replay", "-", "--window", "1/1s"], log);
    assert_eq!(run.code, 0);
    assert!(run.stdout.contains("  lines     13, 12 of them unreadable\n"), "{}", run.stdout);
    let remarks: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(remarks.len(), 6);
    assert!(
        remarks[4].starts_with("admittance: standard input:5:2: expected a space after the address"),
        "{remarks:?}"
    );
    assert_eq!(remarks[5], "admittance: and 7 more lines that cannot be read");
}

#[test]
fn a_unit_that_changes_nothing_is_remarked() {
    let run = run(&["replay", "-", "--unit", "byte", "--window", "9/1s"], "{\"t_ns\":0,\"key\":\"a\",\"cost\":3}");
    assert_eq!(run.stderr, "admittance: --unit byte changes nothing for a trace: each line says its own cost\n");
    assert!(run.stdout.contains("  tokens    3 admitted of 3\n"), "{}", run.stdout);
}

#[test]
fn a_key_cannot_speak_to_the_terminal() {
    let log = file("escape.log", [b"\x1b[2J\xff".as_slice(), access("", 0, 1).as_bytes()].concat().repeat(2));
    let summary = quiet(&["replay", &log, "--window", "1/1s"], "");
    assert!(summary.contains("  \\u{1b}[2J\\xff "), "{summary}");
}
