//! `admittance gen`.

use std::collections::HashMap;

use serde_json::Value;

use crate::program::{quiet, run};

/// The addresses of a log's lines, and how often each.
fn callers(log: &str) -> HashMap<&str, u64> {
    log.lines().fold(HashMap::new(), |mut callers, line| {
        *callers.entry(line.split(' ').next().unwrap()).or_default() += 1;
        callers
    })
}

/// What `replay` says of it, under a limit that admits everything.
fn replayed(log: &str) -> Value {
    serde_json::from_str(&quiet(&["replay", "-", "--window", "1000000/1s", "--json"], log)).unwrap()
}

/// The 64-bit FNV-1a hash.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_same_flags_write_the_same_bytes_and_another_seed_another_log() {
    for (format, known) in [("combined", 9_433_844_709_362_162_794), ("jsonl", 8_609_742_599_821_513_627)] {
        let log = |seed| {
            let flags = ["gen", "--lines", "20k", "--keys", "3k", "--bursts", "--zipf", "1.1", "--diurnal", "1"];
            quiet(&[&flags[..], &["--seed", seed, "--format", format]].concat(), "")
        };
        let first = log("7");
        assert!(first == log("7") && first != log("8"));
        // On every machine. Where this changes on purpose, it is to be said in the changelog.
        assert_eq!(fingerprint(&first), known, "{format}");
    }
}

#[test]
fn every_line_is_read_and_there_are_as_many_as_were_asked_for() {
    for format in ["combined", "jsonl"] {
        let log = quiet(&["gen", "--lines", "30k", "--keys", "2k", "--bursts", "--format", format], "");
        let told = replayed(&log);
        assert_eq!((&told["lines"], &told["unreadable"], &told["format"]), (&30_000.into(), &0.into(), &format.into()));
        let keys = told["keys"].as_u64().unwrap();
        assert!((1_500..=2_000).contains(&keys), "{keys}");
        // Late lines are some, and few: a hundredth or so.
        let backwards = told["out_of_order"].as_u64().unwrap();
        assert!((100..1_500).contains(&backwards), "{backwards}");
    }
    let even = quiet(&["gen", "--lines", "30k", "--late", "0", "--bursts", "--format", "jsonl"], "");
    assert_eq!(replayed(&even)["out_of_order"], 0);
    assert_eq!(quiet(&["gen", "--lines", "0"], ""), "");
}

#[test]
fn the_first_caller_has_the_share_that_zipf_says_bursts_or_not() {
    let harmonic: f64 = (1..=500).map(|rank| 1.0 / f64::from(rank)).sum();
    for flags in [&[][..], &["--bursts"]] {
        let flags = [&["gen", "--lines", "100k", "--keys", "500", "--zipf", "1"], flags].concat();
        let log = quiet(&flags, "");
        let most = *callers(&log).values().max().unwrap();
        #[allow(clippy::cast_precision_loss)]
        let off = (most as f64 - 100_000.0 / harmonic).abs();
        // Six standard deviations of a count; where the first comes in bursts they are eight times as wide.
        assert!(off < 6.0 * (100_000.0 / harmonic).sqrt(), "{flags:?}: {off} of {most}");
    }
    let log = quiet(&["gen", "--lines", "100k", "--keys", "500", "--zipf", "0"], "");
    assert!(callers(&log).values().all(|lines| (110..300).contains(lines)), "a caller's share is not its share");
}

#[test]
fn the_day_is_seen_in_the_rate_and_the_mean_is_what_was_said() {
    let flags = ["gen", "--lines", "172800", "--rate", "1", "--diurnal", "0.8", "--late", "0", "--format", "jsonl"];
    let log = quiet(&flags, "");
    let mut hours = [0_u64; 24];
    let mut last = 0;
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        last = line["t_ns"].as_u64().unwrap();
        hours[(last / 3_600_000_000_000 % 24) as usize] += 1;
    }
    // Two days of a line a second in the mean: 3600 an hour and day, from a fifth of it to nine fifths.
    assert!((1_300..1_600).contains(&hours[4]) && (12_600..13_300).contains(&hours[16]), "{hours:?}");
    let seconds = last / 1_000_000_000 - 1_767_225_600;
    assert!((171_000..174_600).contains(&seconds), "{seconds}");
}

#[test]
fn bursts_are_bursts() {
    // How many lines of one caller come within a second of its line before.
    let close = |flags: &[&str]| {
        let flags =
            [&["gen", "--lines", "20k", "--rate", "5", "--keys", "400", "--late", "0", "--format", "jsonl"], flags]
                .concat();
        let (log, mut latest) = (quiet(&flags, ""), HashMap::new());
        let near = log.lines().filter(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let time = line["t_ns"].as_u64().unwrap();
            latest.insert(line["key"].to_string(), time).is_some_and(|before| time - before < 1_000_000_000)
        });
        near.count()
    };
    let (with, without) = (close(&["--zipf", "0", "--bursts"]), close(&["--zipf", "0"]));
    assert!((700..2_000).contains(&with) && without < 400, "{with} and {without}");
}

#[test]
fn what_cannot_be_is_said() {
    for (flags, said) in [
        (
            &["--lines", "10x"][..],
            "it must be a whole number from 0 to 18446744073709551615, as in 5000, 10k, 10M or 1G",
        ),
        (
            &["--lines", "99999999999G"],
            "it must be a whole number from 0 to 18446744073709551615, as in 5000, 10k, 10M or 1G",
        ),
        (&["--lines", "M"], "a whole number"),
        (&["--keys", "0"], "it must be a whole number from 1 to 16M, as in 5000 or 10k"),
        (&["--keys", "17M"], "it must be a whole number from 1 to 16M, as in 5000 or 10k"),
        (&["--rate", "0"], "it must be a number from 0.000001 to 1000000000"),
        (&["--zipf", "NaN"], "it must be a number from 0 to 10"),
        (&["--diurnal", "1.5"], "it must be a number from 0 to 1"),
        (&["--start", "yesterday"], "write 2026-01-01T00:00:00Z"),
        (&["--start", "2600-01-01T00:00:00Z"], "from 1970 to 2500"),
    ] {
        let run = run(&[&["gen"], flags].concat(), "");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{flags:?}");
        assert!(run.stderr.contains(said), "{flags:?}: {}", run.stderr);
    }
    let late = run(&["gen", "--start", "2499-12-31T23:59:00Z", "--rate", "1", "--lines", "1k"], "");
    assert_eq!(late.code, 1);
    assert!(late.stderr.contains("past the year 2500"), "{}", late.stderr);
    assert!(late.stdout.lines().count() < 200 && late.stdout.lines().all(|line| line.contains("/2499:23:59:")));
    let nowhere = run(&["gen", "--lines", "1", "-o", "/nowhere/log"], "");
    assert_eq!(nowhere.code, 1);
    assert!(nowhere.stderr.starts_with("admittance: /nowhere/log: "), "{}", nowhere.stderr);
}
