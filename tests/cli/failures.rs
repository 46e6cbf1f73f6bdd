//! Exit codes, and what is said where something is wrong with the world.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::program::{access, command, file, run};

#[test]
fn strict_stops_at_a_line_that_cannot_be_read_with_the_decisions_before_it() {
    let log = file("strict.log", format!("{}{}?\n{}", access("a", 0, 1), access("b", 0, 1), access("c", 0, 1)));
    let run = run(&["replay", &log, "--window", "1/1s", "--strict", "--decisions", "-"], "");
    assert_eq!(run.code, 1);
    assert_eq!(run.stdout.lines().count(), 2);
    let expected =
        format!("admittance: {log}:3:2: expected a space after the address, found the end of the line; stopped");
    assert!(run.stderr.starts_with(&expected), "{}", run.stderr);
}

#[test]
fn a_strict_run_over_good_lines_is_like_any_other() {
    let run = run(&["replay", "-", "--window", "1/1s", "--strict"], access("a", 0, 1));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn a_log_that_cannot_be_read_is_named() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    for log in ["no/such.log", folder] {
        let run = run(&["replay", log, "--window", "1/1s"], "");
        assert_eq!((run.code, run.stdout.as_str()), (1, ""));
        assert!(run.stderr.starts_with(&format!("admittance: {log}: ")), "{}", run.stderr);
    }
    let cut = file("cut.log.gz", [0x1f, 0x8b, 8, 0, 0]);
    let run = run(&["replay", &cut, "--window", "1/1s"], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with(&format!("admittance: {cut}: ")), "{}", run.stderr);
}

#[test]
fn decisions_that_cannot_be_written_are_a_failure_with_the_files_name() {
    let run = run(&["replay", "-", "--window", "1/1s", "--decisions", "no/such/folder.jsonl"], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with("admittance: --decisions no/such/folder.jsonl: "), "{}", run.stderr);
}

/// `admittance … | head -1`.
#[test]
fn whoever_stops_reading_hears_nothing_more() {
    let log = file("long.log", access("192.0.2.1", 0, 1).repeat(20_000));
    let mut child = command(&["replay", &log, "--window", "1/1s", "--decisions", "-"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"t_ns\":"), "{first}");
    let mut remarks = String::new();
    child.stderr.take().unwrap().read_to_string(&mut remarks).unwrap();
    assert_eq!(remarks, "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    for (args, out) in
        [(&["--decisions", "-"][..], "/dev/full"), (&["--decisions", "/dev/full"], "/dev/null"), (&[], "/dev/full")]
    {
        let out = std::fs::File::options().write(true).open(out).unwrap();
        let args = [&["replay", "examples/access.log", "--window", "1/1s"], args].concat();
        let output = command(&args).stdout(out).output().unwrap();
        let remarks = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {remarks}");
        assert!(remarks.contains("No space left on device"), "{args:?}: {remarks}");
    }
}
