//! `admittance policy check`, and a replay of what a file says.

use crate::program::{access, file, quiet, run};

const LIMITS: &str = r#"version = 1

[[policy]]
name = "pages"
unit = "request"
identity = "address"
scope = { store = "process" }
rule = { capacity = 2, refill = "1/2s" }
on_exhausted = "deny"
max_keys = 1_000
overflow = "deny"

[[policy]]
name = "seats"
unit = "request"
identity = ["tenant", "account"]
scope = { store = "process" }
rule = { window = "5/10s" }
on_exhausted = "shadow"
max_keys = 1_000
overflow = "share"
"#;

#[test]
fn a_file_that_can_be_used_is_told_in_plain_words() {
    let path = file("limits.toml", LIMITS);
    let told = quiet(&["policy", "check", &path], "");
    assert_eq!(told, quiet(&["policy", "check", "-"], LIMITS));
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(
        lines[0],
        "pages: for each address, token bucket: 1 per 2s, capacity 2 (a token is one request). Holds on all routes of each \
         process for itself. After exhaustion: deny, with the wait. Up to 1000 at once; one more: deny."
    );
    assert!(lines[1].starts_with("seats: for each account of each tenant, fixed window: "), "{told}");
    assert_eq!(lines.len(), 2);
}

#[test]
fn a_file_is_told_as_json() {
    let told = quiet(&["policy", "check", "-", "--json"], LIMITS);
    let policies: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(policies[1]["identity"], serde_json::json!(["tenant", "account"]));
    assert_eq!(policies[0]["tiers"][0]["capacity"], 2);
    assert_eq!(policies[0]["memory_bytes"], 31_000);
}

#[test]
fn each_file_that_is_wrong_is_said_to_be_with_the_place() {
    let (good, bad) = (file("good.toml", LIMITS), file("bad.toml", LIMITS.replace("\"1/2s\"", "\"1/2\"")));
    let run = run(&["policy", "check", &bad, &good, "/nowhere.toml"], "");
    assert_eq!(run.code, 1);
    assert_eq!(run.stdout.lines().count(), 2, "the good one is told");
    let expected = format!("admittance: {bad}:8:33: duration: '2' has no unit; write TOKENS/DURATION");
    assert!(run.stderr.starts_with(&expected), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("\n8 | rule = { capacity = 2, refill = \"1/2\" }\n  |                                 ^^^^^\n"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("/nowhere.toml: ") && run.stderr.ends_with("2 files cannot be used\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_policy_is_replayed_as_its_rule_is() {
    let path = file("replayed.toml", LIMITS);
    let log: String = (0..20).map(|number| access("192.0.2.1", number / 2, 10) + "\n").collect();
    let by_policy = quiet(&["replay", "-", "--policy", &path, "--name", "pages", "--json"], &log);
    let by_flags = quiet(&["replay", "-", "--capacity", "2", "--refill", "1/2s", "--json"], &log);
    assert_eq!(by_policy, by_flags);
    assert!(by_policy.contains("\"denied\": 14"), "{by_policy}");
}

#[test]
fn what_a_log_cannot_tell_is_said() {
    let path = file("untold.toml", LIMITS);
    let one = |change: (&str, &str)| {
        let only = &LIMITS[..LIMITS.rfind("[[policy]]").unwrap()];
        assert!(only.contains(change.0));
        file(&format!("untold-{}.toml", change.1.len()), only.replace(change.0, change.1))
    };
    let routes = one(("store = \"process\"", "store = \"process\", routes = [\"/api\"]"));
    let unit = one(("\"request\"", "\"rows\""));
    for (args, code, said) in [
        (
            vec!["--policy", &path, "--decisions", "-"],
            2,
            "--decisions is of one policy, and there are 2: which? Say --name POLICY, one of pages, seats",
        ),
        (vec!["--policy", &path, "--name", "other"], 2, "Say --name POLICY, one of pages, seats"),
        (
            vec!["--policy", &path, "--name", "seats"],
            2,
            "policy 'seats': identity: which field of the log is the tenant? Say --identity tenant=FIELD, as in tenant=user",
        ),
        (vec!["--policy", &routes, "--format", "jsonl"], 2, "policy 'pages': scope: a trace has no routes"),
        (
            vec!["--policy", &routes, "--log-format", "$remote_addr $msec"],
            2,
            "the log format has no field 'path'; it has remote_addr, msec",
        ),
        (
            vec!["--policy", &path, "--name", "seats", "--identity", "user"],
            2,
            "which kind of identity is user? Say --identity KIND=user",
        ),
        (
            vec!["--policy", &path, "--name", "pages", "--identity", "account=user"],
            2,
            "--identity account=user: no policy names the account",
        ),
        (
            vec!["--policy", &path, "--name", "seats", "--identity", "account=user", "--identity", "account=agent"],
            2,
            "identity: which field of the log is the tenant?",
        ),
        (
            vec!["--policy", &unit],
            2,
            "policy 'pages': unit: an access log tells requests and bytes, and no rows; JSON lines do, with --field cost=PATH",
        ),
        (
            vec!["--policy", "-"],
            2,
            "--policy -: standard input is the log too, and is read once; name a file for the policy",
        ),
        (vec!["--policy", "/nowhere.toml"], 1, "/nowhere.toml: "),
        (vec!["--policy", &path, "--capacity", "5"], 2, "cannot be used with"),
        (vec!["--name", "pages", "--window", "1/1s"], 2, "--name says which policy of a file"),
    ] {
        let run = run(&[&["replay", "-"], &args[..]].concat(), "");
        assert_eq!(run.code, code, "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{args:?}: {}", run.stderr);
    }
    let trace = quiet(
        &["replay", "-", "--format", "jsonl", "--policy", &path, "--name", "seats", "--json"],
        "{\"t_ns\": 0, \"key\": \"t/ann\"}\n",
    );
    assert!(trace.contains("\"admitted\": 1"), "{trace}");
}

const TWO: &str = r#"version = 1

[[policy]]
name = "addresses"
unit = "request"
identity = "address"
scope = { store = "process" }
rule = { window = "5/10s" }
on_exhausted = "deny"
max_keys = 3
overflow = "share"

[[policy]]
name = "accounts"
unit = "request"
identity = "account"
scope = { store = "process" }
rule = { window = "5/10s" }
on_exhausted = "deny"
max_keys = 2
overflow = "deny"
"#;

/// A line without a user is no account's, and some address's all the same.
#[test]
fn lines_that_cannot_be_read_are_told_once_for_the_log_and_for_whom() {
    let two = file("told-once.toml", TWO);
    let accounts = file(
        "told-once-2.toml",
        TWO.replace("= \"address\"", "= \"account\"").replace("= 3", "= 9").replace("= 2", "= 9"),
    );
    let user = |name: &str| access("192.0.2.1", 0, 1).replace("- -", &format!("- {name}"));
    let bad = "?\n";
    let expected = "expected a space after the address, found the end of the line";
    let line = |number: u64| format!("admittance: standard input:{number}:2: {expected}\n");
    let lines = |numbers: std::ops::Range<u64>| numbers.map(line).collect::<Vec<_>>().concat();
    let nobody = "admittance: standard input:2:13: expected user, to tell whose line it is, found '-' (for accounts)\n";
    for (log, policies, said) in [
        // Both of them have it.
        (user("ann") + bad, &two, format!("admittance: standard input:2:2: {expected}\n")),
        (
            user("ann") + &bad.repeat(7),
            &accounts,
            format!("{}admittance: and 2 more lines that cannot be read\n", lines(2..7)),
        ),
        // One has it.
        (user("ann") + &user("-") + bad, &two, format!("{nobody}admittance: standard input:3:2: {expected}\n")),
        (
            user("ann") + &user("-") + &bad.repeat(5) + &user("-"),
            &two,
            format!(
                "{nobody}{}admittance: and 1 more line that cannot be read (for addresses)\nadmittance: and 2 more lines that cannot be read (for accounts)\n",
                lines(3..7)
            ),
        ),
    ] {
        let run = run(&["replay", "-", "--policy", policies, "--identity", "account=user"], &log);
        assert_eq!(run.code, 0, "{log}");
        assert_eq!(run.stderr, said, "{log}");
    }
    // Nobody of it has an account: that is for one of them, and an answer all the same. For all of them it is none.
    let log = user("-").repeat(2);
    let one = run(&["replay", "-", "--policy", &two, "--identity", "account=user"], &log);
    assert_eq!((one.code, one.stderr.lines().count()), (0, 2), "{}", one.stderr);
    let none = run(&["replay", "-", "--policy", &accounts, "--identity", "account=user"], &log);
    assert_eq!((none.code, none.stdout.as_str()), (1, ""));
    assert!(
        none.stderr.starts_with("admittance: none of the log's 2 lines can be read as combined\n"),
        "{}",
        none.stderr
    );
}

#[test]
fn room_that_a_limiter_would_not_have_is_remarked_and_only_then() {
    let two = file("room.toml", TWO);
    let log = |callers: u8| (0..callers).map(|caller| access(&format!("192.0.2.{caller}"), 0, 1)).collect::<String>();
    for args in [
        &["replay", "-", "--policy", &two, "--name", "addresses"][..],
        &["replay", "-", "--policy", &two, "--name", "addresses", "--json"],
    ] {
        assert_eq!(run(args, log(3)).stderr, "");
        let more = run(args, log(4));
        assert_eq!(
            (more.code, more.stderr.as_str()),
            (
                0,
                "admittance: addresses: the log has 4 callers, more than max_keys = 3, and each has a budget of its own here; the limiter has room for 3 whose budget is not full, and one more is a matter of overflow (share), which is not replayed\n"
            )
        );
    }
    // Of several, those that it concerns.
    let both = ["replay", "-", "--policy", &two, "--identity", "account=agent"];
    assert_eq!(run(&both, log(4)).stderr.lines().count(), 1);
    assert_eq!(run(&["replay", "-", "--window", "5/10s"], log(9)).stderr, "");
}

#[test]
fn policies_may_come_from_standard_input_where_the_log_does_not() {
    let log = file("policy-stdin.log", access("192.0.2.1", 0, 1));
    let told = quiet(&["replay", &log, "--policy", "-", "--name", "pages", "--json"], LIMITS);
    assert!(told.contains("\"admitted\": 1"), "{told}");
    let twice = run(&["replay", &log, "--policy", "-", "--policy", "-"], LIMITS);
    assert_eq!(twice.code, 2);
    assert!(twice.stderr.contains("--policy -: standard input is another --policy too"), "{}", twice.stderr);
    let watched = run(&["watch", "--policy", "-"], LIMITS);
    assert_eq!(watched.code, 2);
    assert!(watched.stderr.contains("--policy -: standard input is the log too"), "{}", watched.stderr);
}
