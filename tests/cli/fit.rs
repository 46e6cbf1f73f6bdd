//! `admittance fit`, and that `replay` says the same.

use std::fs;

use serde_json::{Value, json};

use crate::program::{access, file, quiet, run};

/// Nineteen callers with three requests at once each minute, and one with thirty.
fn log() -> String {
    let mut log = String::new();
    for minute in 0..10 {
        for caller in 1..20 {
            log += &access(&format!("192.0.2.{caller}"), minute * 60, 10 * caller).repeat(3);
        }
        log += &access("192.0.2.99", minute * 60, 1).repeat(30);
    }
    log
}

fn fitted(args: &[&str], log: impl AsRef<[u8]>) -> Value {
    serde_json::from_str(&quiet(&[&["fit", "-", "--json"], args].concat(), log)).unwrap()
}

/// The next command asks of the same lines, read in the same way, as its answer was worked out from.
#[test]
fn the_next_command_reads_the_log_as_it_was_read() {
    let path = file("it's a log whose name is longer than forty-eight characters.log", log());
    let format = "$remote_addr - - [$time_local] \"$request\" $status $body_bytes_sent \"-\" \"$http_user_agent\"";
    let args = [
        "fit",
        "--refill",
        "1/1m",
        &path,
        "--sort",
        "--log-format",
        format,
        "--identity",
        "http_user_agent,remote_addr",
    ];
    let told = quiet(&args, "");
    let next = told.lines().last().unwrap().trim().strip_prefix("admittance ").unwrap();
    assert!(next.contains(" --identity http_user_agent,remote_addr --log-format '$remote_addr - - ["), "{next}");
    assert!(next.contains(" --sort --capacity "), "{next}");
    // As a shell has it.
    let program = env!("CARGO_BIN_EXE_admittance");
    let ran = std::process::Command::new("sh").args(["-c", &format!("'{program}' {next} --json")]).output().unwrap();
    let replayed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&replayed["lines"], &replayed["denied"]), (&870.into(), &0.into()), "{next}");
    assert_eq!(replayed["identity"], serde_json::json!(["http_user_agent", "remote_addr"]));
}

/// What a replay says of a capacity and a refill.
fn replayed(log: &str, capacity: u64, refill: &str, more: &[&str]) -> Value {
    let capacity = capacity.to_string();
    let args = [&["replay", "-", "--capacity", &capacity, "--refill", refill, "--json"], more].concat();
    serde_json::from_str(&quiet(&args, log)).unwrap()
}

#[test]
fn the_answer_is_a_table_with_a_suggestion_its_reason_and_the_next_command() {
    let path = file("fit me.log", log());
    let told = quiet(&["fit", &path, "--spare", "95%", "--refill", "1/1m,1/1s,3/1m"], "");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "Smallest token buckets for each address so that");
    assert_eq!(lines[1], "95% of 20 addresses, 19 of them, would never have been denied");
    for line in [
        "  lines     870",
        "  time      2015-05-17T10:00:00Z to 2015-05-17T10:09:00Z, 9m",
        "  addresses 20",
        "  refill    capacity  most in 1m  addresses denied  the most demanding of them",
        "  1 per 1m        21          22                 1  192.0.2.99 would take 291",
        "→ 3 per 1m         3           6                 1  192.0.2.99 would take 273",
        "  1 per 1s         3          63                 1  192.0.2.99 would take 30",
        "Suggested: capacity 3, refill 3 per 1m (exact)",
        "  of these, it lets one address do least in 1m: 6 requests",
        "  a replay with it denies 1 of 20 addresses, and 270 of 870 requests (31.0%)",
    ] {
        assert!(lines.contains(&line), "{line}\nis not in\n{told}");
    }
    assert_eq!(*lines.last().unwrap(), format!("  admittance replay '{path}' --capacity 3 --refill 3/1m"));
}

#[test]
fn the_answer_as_json_has_stable_names_and_numbers() {
    let told = fitted(&["--spare", "95%", "--refill", "3/1m", "--over", "1h", "--of", "requests"], log());
    let nanos = |minutes: u64| (1_431_856_800 + 60 * minutes) * 1_000_000_000;
    let point = json!({
        "refill": "3/1m",
        "refill_tokens": 3,
        "refill_ns": 60_000_000_000_u64,
        "capacity": 273,
        "resolution": "exact",
        "most_in_over": 453,
        "callers_denied": 0,
        "requests_spared": 870,
        "most_demanding": [],
    });
    assert_eq!(
        told,
        json!({
            "unit": "request",
            "format": "combined",
            "lines": 870,
            "unreadable": 0,
            "out_of_order": 0,
            "counted_late": 0,
            "callers": 20,
            "requests": 870,
            "cost": 870,
            "first_ns": nanos(0),
            "last_ns": nanos(9),
            "spare": "95%",
            "of": "requests",
            "to_spare": 827,
            "over_ns": 3_600_000_000_000_u64,
            "frontier": [point],
            "suggested": point,
            "check": {"callers_denied": 0, "admitted": 870, "denied": 0, "never": 0},
            "refused": [],
        })
    );
}

#[test]
fn a_replay_agrees_with_each_point_and_one_token_less_denies_too_many() {
    let flags = ["gen", "--lines", "20k", "--keys", "700", "--rate", "1", "--bursts", "--late", "0.1", "--seed", "3"];
    let log = quiet(&flags, "");
    for more in [&[][..], &["--sort"]] {
        let told = fitted(&[&["--spare", "98%", "--points", "5"], more].concat(), &log);
        let (callers, spare) = (told["callers"].as_u64().unwrap(), told["to_spare"].as_u64().unwrap());
        let points = told["frontier"].as_array().unwrap();
        assert_eq!(points.len(), 5, "{told}");
        for point in points {
            let (capacity, refill) = (point["capacity"].as_u64().unwrap(), point["refill"].as_str().unwrap());
            let with = replayed(&log, capacity, refill, more);
            assert_eq!(with["keys_denied"], point["callers_denied"], "{point}");
            assert!(callers - with["keys_denied"].as_u64().unwrap() >= spare);
            if point == &told["suggested"] {
                assert_eq!(
                    (&with["admitted"], &with["denied"], &with["never"]),
                    (&told["check"]["admitted"], &told["check"]["denied"], &told["check"]["never"])
                );
            }
            let less = replayed(&log, capacity - 1, refill, more);
            assert!(callers - less["keys_denied"].as_u64().unwrap() < spare, "{capacity} is one too many: {point}");
        }
    }
}

#[test]
fn the_policy_it_writes_can_be_used() {
    let log = log();
    for (name, flags, unit, capacity) in
        [("requests.toml", &["--unit", "request"][..], "request", 3), ("bytes.toml", &["--unit", "byte"], "byte", 570)]
    {
        let path = file(name, "");
        let told =
            fitted(&[&["--spare", "95%", "--refill", "3/1m,30/1m", "--policy-out", &path], flags].concat(), &log);
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("# Suggested by `admittance fit standard input`:\n# 870 requests of 20 addresses\n"),
            "{text}"
        );
        assert!(text.contains("# 95% of 20 addresses, 19 of them, would never have been denied.\n"), "{text}");
        let checked = quiet(&["policy", "check", &path, "--json"], "");
        let checked: Value = serde_json::from_str(&checked).unwrap();
        assert_eq!(
            (&checked["unit"], &checked["identity"], &checked["max_keys"]),
            (&unit.into(), &json!(["address"]), &1000.into())
        );
        let replayed: Value =
            serde_json::from_str(&quiet(&["replay", "-", "--policy", &path, "--json"], &log)).unwrap();
        assert_eq!(replayed["rule"]["capacity"], told["suggested"]["capacity"]);
        assert_eq!(replayed["keys_denied"], told["check"]["callers_denied"]);
        assert!(told["frontier"][0]["capacity"].as_u64().unwrap() >= capacity, "{told}");
    }
    // A trace, whose costs are not requests.
    let path = file("trace.toml", "");
    fitted(&["--policy-out", &path], "{\"t_ns\":0,\"key\":\"a\",\"cost\":7}\n");
    let checked: Value = serde_json::from_str(&quiet(&["policy", "check", &path, "--json"], "")).unwrap();
    assert_eq!((&checked["unit"], &checked["identity"]), (&"token".into(), &json!(["account"])));
}

#[test]
fn a_name_of_a_file_cannot_say_anything_in_the_policy() {
    let log = file("x\ninjected = true #.log", access("192.0.2.1", 0, 1));
    let path = file("named.toml", "");
    quiet(&["fit", &log, "--policy-out", &path], "");
    assert!(!fs::read_to_string(&path).unwrap().contains("\ninjected"));
    quiet(&["policy", "check", &path], "");
}

#[test]
fn the_plot_is_drawn_described_and_has_every_point() {
    let path = file("fit.svg", "");
    let told = fitted(&["--spare", "95%", "--plot", &path], log());
    let svg = fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(svg.contains("role=\"img\" aria-labelledby=\"title desc\"><title id=\"title\">Smallest capacity at each refill: 95% of 20 addresses"));
    let points = told["frontier"].as_array().unwrap();
    assert!(points.len() >= 3, "{told}");
    // A dot for each, a ring for one, and its refill beside it.
    assert_eq!(svg.matches("<circle").count(), points.len() + 1);
    for point in points {
        assert!(svg.contains(&format!("\n{}\n", point["capacity"])), "{point}");
    }
    assert!(svg.contains(&format!("suggested: {}\n", told["suggested"]["refill"].as_str().unwrap())));
    assert!(svg.contains(&format!("capacity {} (suggested)", told["suggested"]["capacity"])));
    // One point is a plot too.
    fitted(&["--refill", "1/1s", "--plot", &path], access("192.0.2.1", 0, 1));
    assert_eq!(fs::read_to_string(&path).unwrap().matches("<circle").count(), 2);
}

#[test]
fn late_lines_are_told_and_sorting_is_offered() {
    let log = [access("192.0.2.1", 5, 1), access("192.0.2.1", 1, 1), access("192.0.2.2", 7, 1)].concat();
    let told = quiet(&["fit", "-"], &log);
    let order =
        "  order     1 earlier than the line before, 1 counted at their address's latest time (not with --sort)\n";
    assert!(
        told.contains(order) && told.contains("  time      2015-05-17T10:00:01Z to 2015-05-17T10:00:07Z, 6s\n"),
        "{told}"
    );
    assert_eq!(fitted(&["--sort"], &log)["counted_late"], 0);
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let path = file("same.log", log());
    for (args, code, said) in [
        (&["fit", "-"][..], 1, "admittance: the log is empty: there is nobody whom a limit could fit\n"),
        (&["fit", "/nowhere.log"], 1, "admittance: /nowhere.log: "),
        (
            &["fit", &path, "--plot", &path],
            1,
            "same.log: is one of the logs, and would be overwritten; name another file\n",
        ),
        (&["fit", &path, "--policy-out", "/nowhere/x"], 1, "admittance: --policy-out /nowhere/x: "),
        (&["fit", &path, "--refill", "16/1ns"], 1, "admittance: --refill 16/1ns: refill tokens: 16"),
        (&["fit"], 2, "<LOG>..."),
        (
            &["fit", "x", "--spare", "99.9"],
            2,
            "there is no '%'; write a percentage above 0% and up to 100%, as in 99.9%",
        ),
        (&["fit", "x", "--spare", "0%"], 2, "that is nobody"),
        (&["fit", "x", "--spare", "101%"], 2, "that is more than all"),
        (&["fit", "x", "--refill", "1/1s,2"], 2, "there is no '/'"),
        (&["fit", "x", "--points", "1"], 2, "invalid value '1' for '--points <N>'"),
        (&["fit", "x", "--over", "1"], 2, "it must be a whole number and a unit, from 1ns to 213503d, as in 1m"),
        (&["fit", "x", "--of", "bytes"], 2, "[possible values: callers, requests]"),
    ] {
        let run = run(args, "");
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{args:?}");
        assert!(run.stderr.contains(said), "{args:?}: expected\n{said}\nin\n{}", run.stderr);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), log(), "the log was overwritten");
    let bad = run(&["fit", "-"], [&access("192.0.2.1", 0, 1), "?\n"].concat());
    assert_eq!(bad.code, 0);
    assert!(bad.stderr.starts_with("admittance: standard input:2:2: expected"), "{}", bad.stderr);
    assert!(bad.stdout.contains("  lines     2, 1 of them unreadable\n"), "{}", bad.stdout);
    let strict = run(&["fit", "-", "--strict"], "?\n");
    assert_eq!(strict.code, 1);
    assert!(strict.stderr.ends_with("; stopped, because of --strict\n"), "{}", strict.stderr);
    // Too slow for so much: left out, and said.
    let trace = "{\"t_ns\":0,\"key\":\"a\",\"cost\":1000000000000}\n";
    let some = run(&["fit", "-", "--refill", "1/1d,1000000/1s"], trace);
    assert_eq!(some.code, 0);
    assert!(
        some.stderr.starts_with("admittance: --refill 1/1d: left out: capacity: 1000000000000 "),
        "{}",
        some.stderr
    );
}

#[test]
fn help_has_examples_and_exit_codes() {
    for command in ["fit", "gen"] {
        let help = quiet(&[command, "--help"], "");
        for said in ["Examples:", "Exit codes:", "admittance replay "] {
            assert!(help.contains(said), "{said} is not in\n{help}");
        }
        assert!(help.lines().all(|line| line.chars().count() <= 105), "{help}");
    }
}
