//! One JSON line a line, in order, whatever is asked for beside it.

use std::fs;

use crate::program::{access, file, quiet, run};

const TRACE: &str = "\
{\"t_ns\":1000000000,\"key\":\"a\"}
{\"t_ns\":0,\"key\":\"a\",\"cost\":1}

not a line
{\"t_ns\":1500000000,\"key\":\"b \\\"quoted\\\" é\",\"cost\":4}
{\"t_ns\":1500000000,\"key\":\"a\",\"cost\":0,\"more\":[]}";

#[test]
fn decisions_are_as_documented_and_unreadable_lines_have_none() {
    let run = run(&["replay", "-", "--capacity", "1", "--refill", "1/2s", "--decisions", "-"], TRACE);
    assert_eq!(run.code, 0);
    assert_eq!(
        run.stdout,
        "{\"t_ns\":1000000000,\"key\":\"a\",\"cost\":1,\"outcome\":\"admitted\",\"remaining\":0}\n\
         {\"t_ns\":0,\"key\":\"a\",\"cost\":1,\"outcome\":\"denied\",\"retry_after_ns\":2000000000}\n\
         {\"t_ns\":1500000000,\"key\":\"b \\\"quoted\\\" é\",\"cost\":4,\"outcome\":\"never\"}\n\
         {\"t_ns\":1500000000,\"key\":\"a\",\"cost\":0,\"outcome\":\"admitted\",\"remaining\":0}\n"
    );
    assert!(run.stderr.contains("standard input:4:1: expected a JSON object"), "{}", run.stderr);
    assert!(run.stderr.contains("Token bucket for each key: capacity 1, refill 1 per 2s (exact)"), "{}", run.stderr);
}

#[test]
fn sorted_decisions_are_still_in_order_of_input() {
    let decisions = |sort: &[&str]| {
        let args = [&["replay", "-", "--capacity", "1", "--refill", "1/1s", "--decisions", "-"], sort].concat();
        run(&args, [5, 0, 1].map(|second| access("192.0.2.1", second, 1)).concat()).stdout
    };
    let line = |second: u64, outcome: &str| {
        let time = (1_431_856_800 + second) * 1_000_000_000;
        format!("{{\"t_ns\":{time},\"key\":\"192.0.2.1\",\"cost\":1,\"outcome\":{outcome}}}\n")
    };
    let (admitted, denied) = ("\"admitted\",\"remaining\":0", "\"denied\",\"retry_after_ns\":1000000000");
    assert_eq!(decisions(&[]), line(5, admitted) + &line(0, denied) + &line(1, denied));
    assert_eq!(decisions(&["--sort"]), line(5, admitted) + &line(0, admitted) + &line(1, admitted));
}

#[test]
fn the_output_is_the_same_for_any_number_of_threads() {
    let log = "examples/access.log";
    for rule in [
        &["--capacity", "5", "--refill", "1/2s"][..],
        &["--window", "4/10s"],
        &["--capacity", "3", "--refill", "333/1m", "--sort"],
    ] {
        let with = |threads: &str, more: &[&str]| {
            let args = [&["replay", log, "--threads", threads], rule, more].concat();
            let run = run(&args, "");
            (run.code, run.stdout, run.stderr)
        };
        for more in [&[][..], &["--json"], &["--decisions", "-"], &["--decisions", "-", "--json"]] {
            let one = with("1", more);
            assert_eq!(one.0, 0, "{}", one.2);
            for threads in ["2", "3", "8"] {
                assert_eq!(with(threads, more), one, "{threads} threads, {rule:?}, {more:?}");
            }
        }
    }
}

#[test]
fn decisions_go_to_a_file_and_the_summary_stays_on_standard_output() {
    let (log, to) = (file("to-file.log", access("192.0.2.1", 0, 7)), file("to-file.jsonl", ""));
    let summary =
        quiet(&["replay", &log, "--unit", "byte", "--capacity", "10", "--refill", "1/1s", "--decisions", &to], "");
    assert!(summary.contains("  bytes     7 admitted of 7\n"), "{summary}");
    assert_eq!(
        fs::read_to_string(to).unwrap(),
        "{\"t_ns\":1431856800000000000,\"key\":\"192.0.2.1\",\"cost\":7,\"outcome\":\"admitted\",\"remaining\":3}\n"
    );
}

#[test]
fn where_decisions_have_standard_output_the_summary_is_on_standard_error_alone() {
    let run = run(&["replay", "-", "--window", "1/1s", "--decisions", "-", "--json"], TRACE);
    let summary: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!((&summary["lines"], &summary["unreadable"], &summary["decided"]), (&5.into(), &1.into(), &4.into()));
    assert_eq!(run.stdout.lines().count(), 4);
    for line in run.stdout.lines() {
        let _: serde_json::Value = serde_json::from_str(line).unwrap();
    }
}

#[test]
fn a_log_is_never_overwritten_with_its_decisions() {
    let text = access("192.0.2.1", 0, 7);
    let log = file("precious.log", &text);
    let other_name = log.replace("/cli/", "/cli/../cli/");
    let run = run(&["replay", &log, "--window", "1/1s", "--decisions", &other_name], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("is one of the logs, and would be overwritten"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(log).unwrap(), text);
}
