//! Numbers and durations on the command line: which argument, which value, and what would be right.

use crate::program::{file, run};

#[test]
fn a_wrong_number_or_duration_is_told_with_its_argument_and_what_would_be_right() {
    let whole = ["-1", "+3", "1e3", "1.5", "0x10", "99999999999999999999", " 3", "three"];
    let durations = ["-1s", "+3s", "1e3s", "1.5s", "3", "3y", "213504d", "s", " 3s"];
    let rates = ["-1", "NaN", "inf", "one"];
    let replay = ["replay", "x", "--window", "1/1s"];
    let load = ["load", "--store", "redis://127.0.0.1:1", "--policy", "x"];
    let retry = ["retry", "--attempts", "5", "--deadline", "10s"];
    for (command, flag, values, too, said) in [
        (
            &replay[..2],
            "--capacity",
            &whole[..],
            &["0"][..],
            "it must be a whole number from 1 to 18446744073709551615, in digits alone, as in --capacity 5",
        ),
        (
            &replay,
            "--threads",
            &whole,
            &["0", "65536"],
            "it must be a whole number from 1 to 65535, in digits alone, as in 4",
        ),
        (
            &["watch", "--window", "1/1s"],
            "--callers",
            &whole,
            &["0", "4294967296"],
            "it must be a whole number from 1 to 4294967295",
        ),
        (&["fit", "x"], "--points", &whole, &["1", "1001"], "it must be a whole number from 2 to 1000"),
        (
            &["fit", "x"],
            "--over",
            &durations,
            &["0s", "0"],
            "it must be a whole number and a unit, from 1ns to 213503d, as in 1m (units: ns, us, ms, s, m, h, d)",
        ),
        (
            &["fit", "x"],
            "--refill",
            &["-1/1s", "+1/1s", "1e3/1s", "1/-1s"],
            &["0/1s", "1/0s"],
            "write TOKENS/DURATION, as in 2/1s",
        ),
        (&["fit", "x"], "--spare", &["-1%", "+1%", "1e1%", "0%", "101%"], &[], "%"),
        (
            &["gen"],
            "--lines",
            &whole,
            &["10x", "99999999999G"],
            "it must be a whole number from 0 to 18446744073709551615, as in 5000, 10k, 10M or 1G",
        ),
        (&["gen"], "--keys", &whole, &["0", "17M"], "it must be a whole number from 1 to 16M"),
        (&["gen"], "--seed", &whole, &[], "it must be a whole number from 0 to 18446744073709551615"),
        (&["gen"], "--zipf", &rates, &["11"], "it must be a number from 0 to 10"),
        (&["gen"], "--rate", &rates, &["0", "1e10"], "it must be a number from 0.000001 to 1000000000"),
        (&["gen"], "--diurnal", &rates, &["1.1"], "it must be a number from 0 to 1"),
        (&["gen"], "--late", &rates, &["1.1"], "it must be a number from 0 to 1"),
        (
            &["gen"],
            "--start",
            &["-1", "0", "now"],
            &["1969-01-01T00:00:00Z", "2600-01-01T00:00:00Z"],
            "2026-01-01T00:00:00Z",
        ),
        (&load, "--callers", &whole, &["0", "10001"], "it must be a whole number from 1 to 10000"),
        (&load, "--identities", &whole, &["0", "10000001"], "it must be a whole number from 1 to 10000000"),
        (&load, "--cost", &whole, &[], "it must be a whole number from 0 to 18446744073709551615"),
        (&load, "--seconds", &whole, &["0", "86401"], "it must be a whole number from 1 to 86400"),
        (
            &["retry", "--deadline", "10s"],
            "--attempts",
            &whole,
            &["0"],
            "it must be a whole number from 1 to 4294967295",
        ),
        (&retry, "--factor", &whole, &["0"], "it must be a whole number from 1 to 4294967295"),
        (
            &["retry", "--attempts", "5"],
            "--deadline",
            &durations,
            &[],
            "it must be a whole number and a unit, from 0s to 213503d, as in 250ms or 3s",
        ),
        (&retry, "--backoff", &durations, &[], "from 0s to 213503d, as in 250ms or 3s"),
        (&retry, "--ceiling", &durations, &[], "from 0s to 213503d, as in 250ms or 3s"),
        (&retry, "--spread", &durations, &[], "from 0s to 213503d, as in 250ms or 3s"),
        (&retry, "--longest-wait", &durations, &[], "from 0s to 213503d, as in 250ms or 3s"),
        (&retry, "--wall", &["-1", "0", "10:00"], &[], "is no time as in 2026-03-10T12:00:00Z"),
    ] {
        for value in values.iter().chain(too) {
            let args = [command, &[flag, value]].concat();
            let run = run(&args, "");
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
            assert!(run.stderr.contains(&format!("invalid value '{value}' for '{flag} <")), "{args:?}: {}", run.stderr);
            assert!(run.stderr.contains(said), "{args:?}: expected\n{said}\nin\n{}", run.stderr);
        }
        let empty = run(&[command, &[flag, ""]].concat(), "");
        assert_eq!(empty.code, 2, "{flag}: {}", empty.stderr);
        assert!(empty.stderr.contains(&format!("'{flag} <")), "{flag}: {}", empty.stderr);
    }
}

/// What is just within the bounds is taken.
#[test]
fn the_bounds_are_the_bounds() {
    for args in [
        &["gen", "--lines", "0", "--keys", "16M", "--seed", "18446744073709551615", "--zipf", "0", "--rate", "1e-6"][..],
        &["gen", "--lines", "0", "--rate", "1e9", "--diurnal", "+1", "--late", "0"],
        &["retry", "--attempts", "1", "--deadline", "213503d", "--backoff", "0s", "--spread", "0ns"],
    ] {
        let run = run(args, "");
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
    }
    let log = crate::program::access("a", 0, 1);
    for over in ["1ns", "213503d"] {
        let run = run(&["fit", "-", "--over", over], &log);
        assert_eq!(run.code, 0, "{over}: {}", run.stderr);
    }
}

#[test]
fn a_policy_that_a_file_does_not_have_is_named() {
    let policy = |name: &str| {
        format!(
            "[[policy]]\nname = \"{name}\"\nunit = \"request\"\nidentity = \"address\"\nscope = {{ store = \"process\" }}\n\
             rule = {{ window = \"1/1s\" }}\non_exhausted = \"deny\"\nmax_keys = 10\noverflow = \"deny\"\n"
        )
    };
    let path = file("zz.toml", format!("version = 1\n{}{}", policy("pages"), policy("seats")));
    let said = format!("--name zz: {path} has no policy of this name. Say --name POLICY, one of pages, seats");
    for args in [
        &["replay", "-", "--policy", &path, "--name", "zz"][..],
        &["watch", "--policy", &path, "--name", "zz"],
        &["load", "--store", "redis://127.0.0.1:1", "--policy", &path, "--name", "zz"],
    ] {
        let run = run(args, "");
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.stderr.contains(&said), "{args:?}: {}", run.stderr);
    }
    let which = run(&["load", "--store", "redis://127.0.0.1:1", "--policy", &path], "");
    assert!(
        which.stderr.contains(&format!("which policy of {path}? Say --name POLICY, one of pages, seats")),
        "{}",
        which.stderr
    );
}
