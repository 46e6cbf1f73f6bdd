//! What the command line says of itself, and of one that is wrong.

use crate::program::{quiet, run};

#[test]
fn a_wrong_command_line_says_what_would_be_right() {
    for (args, said) in [
        (&[][..], "Usage: admittance <COMMAND>"),
        (&["replay"], "<LOG>..."),
        (
            &["replay", "x"],
            "what is the limit? Say --capacity TOKENS and --refill TOKENS/DURATION for a token bucket, or --window",
        ),
        (
            &["replay", "x", "--capacity", "5"],
            "how fast do tokens come back? Say --refill TOKENS/DURATION, as in --refill 2/1s",
        ),
        (&["replay", "x", "--refill", "1/2s"], "how many tokens at once? Say --capacity TOKENS, as in --capacity 5"),
        (
            &["replay", "x", "--window", "5/1s", "--capacity", "5"],
            "'--window <LIMIT/DURATION>' cannot be used with '--capacity <TOKENS>'",
        ),
        (&["replay", "x", "--window", "5/1s", "--refill", "5/1s"], "cannot be used with"),
        (
            &["replay", "x", "--capacity", "0", "--refill", "1/1s"],
            "a whole number from 1 to 18446744073709551615, in digits alone, as in --capacity 5",
        ),
        (&["replay", "x", "--capacity", "-3", "--refill", "1/1s"], "invalid value '-3' for '--capacity <TOKENS>'"),
        (&["replay", "x", "--capacity", "2.5", "--refill", "1/1s"], "invalid value '2.5' for '--capacity <TOKENS>'"),
        (&["replay", "x", "--capacity", "18446744073709551616", "--refill", "1/1s"], "a whole number from 1 to"),
        (
            &["replay", "x", "--capacity", "5", "--refill", "2"],
            "there is no '/'; write TOKENS/DURATION, as in 2/1s or 100/1m",
        ),
        (
            &["replay", "x", "--capacity", "5", "--refill", "-2/1s"],
            "tokens: '-2' is not a whole number; write TOKENS/DURATION",
        ),
        (&["replay", "x", "--capacity", "5", "--refill", "0/1s"], "tokens: must be at least 1"),
        (&["replay", "x", "--capacity", "5", "--refill", "2/1"], "duration: '1' has no unit; write TOKENS/DURATION"),
        (&["replay", "x", "--capacity", "5", "--refill", "2/1.5s"], "duration: '.5s' is not a unit"),
        (&["replay", "x", "--capacity", "5", "--refill", "2/1y"], "(units: ns, us, ms, s, m, h, d)"),
        (&["replay", "x", "--window", "5/0s"], "duration: must be at least 1"),
        // A budget that cannot be represented: which flag, and the bound.
        (&["replay", "x", "--capacity", "5", "--refill", "16/1ns"], "--refill: refill tokens:"),
        (
            &["replay", "x", "--capacity", "18446744073709551615", "--refill", "1/1s"],
            "--capacity: capacity: 18446744073709551615",
        ),
        (&["replay", "x", "--window", "18446744073709551615/1ns"], "--window: limit: 18446744073709551615"),
        (&["replay", "x", "--window", "1/36500d"], "--window: window: must be at most"),
        (&["replay", "x", "--window", "1/1s", "--threads", "0"], "invalid value '0' for '--threads <N>'"),
        (
            &["replay", "x", "--window", "1/1s", "--format", "csv"],
            "[possible values: auto, combined, nginx, json, jsonl, alb, caddy]",
        ),
        (&["replay", "x", "--window", "1/1s", "--unit", "word"], "[possible values: request, byte]"),
        (
            &["replay", "x", "--window", "1/1s", "--identity", "a,,b"],
            "a field has no name; write FIELD, or FIELD,FIELD",
        ),
        (
            &["replay", "x", "--window", "1/1s", "--format", "combined", "--identity", "usre"],
            "the combined format has no field 'usre'; it has address, user, path, referer and agent",
        ),
        (
            &["replay", "x", "--window", "1/1s", "--log-format", "$remote_addr [$time_local$request]"],
            "$time_local and $request have nothing between them, so where the first ends cannot be told\n  |\n1 | \
             $remote_addr [$time_local$request]\n  |               ^^^^^^^^^^^^^^^^^^^",
        ),
        (&["replay", "x", "--window", "1/1s", "--format", "nginx"], "which log_format? Say --log-format"),
        (
            &["replay", "x", "--window", "1/1s", "--format", "caddy", "--log-format", "$remote_addr $msec"],
            "--log-format is for --format nginx; leave one of the two out",
        ),
        (&["replay", "x", "--window", "1/1s", "--format", "json"], "which field is the time? Say time=PATH"),
        (&["replay", "x", "--window", "1/1s", "--field", "key=a"], "--field: which field is the time? Say time=PATH"),
        (
            &["replay", "x", "--window", "1/1s", "--field", "time=ts:m", "--field", "key=a"],
            "--field: 'm' is no unit of time; say s, ms, us, ns or rfc3339 (or \\: for a colon in a name)\n  |\n1 | time=ts:m\n  |         ^",
        ),
        (
            &["replay", "x", "--window", "1/1s", "--field", "time=ts", "--unit", "byte", "--field", "key=a"],
            "which field is the size in bytes? Say cost=PATH",
        ),
        (
            &["replay", "x", "--window", "1/1s", "--field", "time=ts", "--format", "jsonl"],
            "--field is for --format json",
        ),
        (&["replay", "x", "--window", "1/1s", "--field", "time=ts", "--log-format", "$a"], "cannot be used with"),
        (&["replay", "x", "--window", "1/1s", "--quite"], "--quiet"),
    ] {
        let run = run(args, "");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.contains(said), "{args:?}: expected\n{said}\nin\n{}", run.stderr);
    }
}

#[test]
fn help_says_what_it_is_for_with_examples_and_exit_codes() {
    let help = quiet(&["--help"], "");
    assert!(help.contains("admittance replay access.log --capacity 5 --refill 1/2s"), "{help}");
    let help = quiet(&["replay", "--help"], "");
    for said in [
        "Examples:",
        "Exit codes:",
        "--decisions <FILE>",
        "--strict",
        "--merge",
        "--log-format <FORMAT>",
        "--field <ROLE=PATH>",
        "--identity <FIELD[,FIELD]>",
        "--merge web1.log.zst web2.log.gz",
        "TOKENS/DURATION",
        "units: ns, us, ms, s, m, h, d",
    ] {
        assert!(help.contains(said), "{said} is not in\n{help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 102), "{help}");
}

#[test]
fn the_version_is_the_packages() {
    assert_eq!(quiet(&["--version"], ""), format!("admittance {}\n", env!("CARGO_PKG_VERSION")));
}
