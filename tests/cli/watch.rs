//! `watch` as lines of text, and its command line.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::program::{access, command, file, quiet, run};

#[test]
fn callers_that_are_limited_anew_are_told_and_the_sums_at_the_end() {
    let log: String = [("a", 0), ("b", 0), ("a", 1), ("a", 1), ("b", 70), ("a", 71), ("a", 71)]
        .map(|(key, at)| access(key, at, 1))
        .concat();
    for args in [&["watch", "--window", "1/1m"][..], &["watch", "-", "--plain", "--window", "1/1m"]] {
        assert_eq!(
            quiet(args, &log),
            "2015-05-17T10:00:01Z limited a: would pass in 59s\n\
             2015-05-17T10:01:11Z limited a: would pass in 49s\n\
             2015-05-17T10:01:11Z 7 lines: 4 admitted, 3 denied; 1 limited now of 2 callers; 0.3 lines/s\n"
        );
    }
    assert_eq!(
        quiet(&["watch", "--window", "1/1m"], ""),
        "no line yet 0 lines: 0 admitted, 0 denied; 0 limited now of 0 callers; 0.0 lines/s\n"
    );
}

#[test]
fn what_is_refused_unreadable_late_or_undecided_is_counted() {
    let log =
        [access("a", 9, 5), access("a", 8, 500), "what?\n\n".into(), access("b", 9, 1), access("\u{1b}[31m", 9, 501)]
            .concat();
    let told = quiet(&["watch", "--unit", "byte", "--capacity", "500", "--refill", "1/1h", "--callers", "2"], &log);
    assert_eq!(
        told,
        "2015-05-17T10:00:09Z limited a: would pass in 5h\n\
         2015-05-17T10:00:09Z 5 lines: 2 admitted, 1 denied, 1 unreadable, 1 undecided (too many callers), 1 late; \
         1 limited now of 2 callers; 1.5 lines/s\n"
    );
    let told = quiet(&["watch", "--unit", "byte", "--window", "500/1h"], access("\u{1b}[31m", 9, 501));
    assert!(
        told.starts_with("2015-05-17T10:00:09Z limited \\u{1b}[31m: its cost of 501 is never admitted\n"),
        "{told}"
    );
}

/// `tail -F` does not end.
#[test]
fn a_caller_is_told_before_the_log_ends() {
    let mut child = command(&["watch", "--window", "1/1h"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut log, mut told) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut read = || {
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        line
    };
    // The second line is not whole when it comes.
    let line = access("a", 0, 1);
    let (begun, ended) = line.split_at(30);
    log.write_all(format!("{line}{begun}").as_bytes()).unwrap();
    log.flush().unwrap();
    // By then the log's clock has run on for a second, more or less.
    let first = read();
    assert!(first.contains("Z 1 lines: 1 admitted, 0 denied; 0 limited now of 1 caller; "), "{first}");
    log.write_all(ended.as_bytes()).unwrap();
    log.flush().unwrap();
    assert_eq!(read(), "2015-05-17T10:00:00Z limited a: would pass in 1h\n");
    assert!(read().contains(" 2 lines: 1 admitted, 1 denied; 1 limited now of 1 caller; "));
    // Who reads no more, hears no more.
    drop(told);
    log.write_all(access("b", 1, 1).repeat(2).as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn strict_stops_at_the_line_that_cannot_be_read() {
    let log = format!("{}\n?\n{}", access("a", 0, 1), access("a", 0, 1));
    let run = run(&["watch", "--window", "1/1h", "--strict"], log);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    let expected = "admittance: standard input:3:2: expected a space after the address, found the end of the line; stopped, because of --strict\n";
    assert_eq!(run.stderr, expected);
}

#[test]
fn a_log_without_the_field_that_is_asked_for_ends_it() {
    let run = run(&["watch", "--window", "1/1h", "--identity", "tenant"], access("a", 0, 1));
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.starts_with("admittance: standard input: the combined format has no field 'tenant'"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_policy_is_watched_as_it_is_replayed() {
    let one = "\n[[policy]]\nname = \"api\"\nunit = \"request\"\nidentity = \"address\"\nscope = { store = \"process\" }\n\
        rule = { capacity = 1, refill = \"1/1h\" }\non_exhausted = \"deny\"\nmax_keys = 100\noverflow = \"deny\"\n";
    let policies = file("watched.toml", format!("version = 1\n{one}{}", one.replace("api", "other")));
    let log = access("a", 0, 1).repeat(2);
    let run_of = |name: &[&str]| run(&[&["watch", "--policy", &policies], name].concat(), &log);
    let chosen = run_of(&["--name", "api"]);
    assert!(chosen.stdout.starts_with("2015-05-17T10:00:00Z limited a: would pass in 1h\n"), "{chosen:?}");
    let both = run_of(&[]);
    assert_eq!(both.code, 2);
    assert!(both.stderr.contains("watch shows one of them. Say --name POLICY, one of api, other"), "{}", both.stderr);
}

#[test]
fn a_wrong_command_line_says_what_would_be_right() {
    for (args, said) in [
        (&["watch", "access.log", "--window", "1/1s"][..], "follow a file with tail -F FILE | admittance watch"),
        (&["watch"], "what is the limit? Say --capacity TOKENS"),
        (&["watch", "--window", "1/1s", "--threads", "2"], "on one thread"),
        (&["watch", "--window", "1/1s", "--callers", "0"], "invalid value '0' for '--callers <N>'"),
        (&["completions"], "<SHELL>"),
        (&["completions", "tcsh"], "[possible values: bash, elvish, fish, powershell, zsh]"),
    ] {
        let run = run(args, "");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.contains(said), "{args:?}: expected\n{said}\nin\n{}", run.stderr);
    }
}

/// One line of the year 2099 does not take the clock with it.
#[test]
fn a_line_ahead_of_its_time_moves_no_clock() {
    let ahead = access("a", 1, 1).replace("/2015:", "/2099:");
    let log = [access("a", 0, 1), ahead, access("a", 1, 1), access("a", 2, 1)].concat();
    assert_eq!(
        quiet(&["watch", "--window", "5/1m"], log),
        "2015-05-17T10:00:02Z 4 lines: 3 admitted, 0 denied, 1 ahead of their time; 0 limited now of 1 caller; 1.0 lines/s\n"
    );
}
