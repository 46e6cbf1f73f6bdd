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
