//! Logs of other formats, of other identities, on routes, and several as one.

use crate::program::{file, quiet, run};

const SEATS: &str = r#"version = 1

[[policy]]
name = "seats"
unit = "request"
identity = ["tenant", "account"]
scope = { store = "process", routes = ["/api"] }
rule = { window = "1/10s" }
on_exhausted = "deny"
max_keys = 1_000
overflow = "deny"

[[policy]]
name = "rows"
unit = "row"
identity = "account"
scope = { store = "process" }
rule = { window = "30/10s" }
on_exhausted = "deny"
max_keys = 1_000
overflow = "deny"
"#;

/// The keys and the outcomes of decisions, in order.
fn decisions(text: &str) -> Vec<(serde_json::Value, String)> {
    let decision = |line: &str| {
        let told: serde_json::Value = serde_json::from_str(line).unwrap();
        (told["key"].clone(), told["outcome"].as_str().unwrap().to_owned())
    };
    text.lines().map(decision).collect()
}

#[test]
fn a_log_format_of_nginx_is_read() {
    let log = "203.0.113.9|1431856800.250|GET /a HTTP/1.1\n203.0.113.9|1431856800.500|GET /b HTTP/1.1\n";
    let args = ["replay", "-", "--window", "1/10s", "--log-format", "$http_x_forwarded_for|$msec|$request"];
    let told = quiet(&[&args[..], &["--identity", "http_x_forwarded_for", "--json"]].concat(), log);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["format"], &told["denied"]), (&"nginx".into(), &1.into()));
    assert_eq!(told["identity"], serde_json::json!(["http_x_forwarded_for"]));
    assert_eq!(told["first_ns"], 1_431_856_800_250_000_000_u64);
}

#[test]
fn json_lines_are_read_by_their_fields() {
    let log = "{\"ts\":1431856800250,\"user\":{\"id\":7},\"rows\":20}\n{\"ts\":1431856800250.5,\"user\":{\"id\":\"7\"},\"rows\":11}\n";
    let fields = ["--field", "time=ts:ms", "--field", "key=user.id", "--field", "cost=rows"];
    let told = quiet(&[&["replay", "-", "--window", "30/10s", "--json"], &fields[..]].concat(), log);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["format"], &told["cost"], &told["denied"]), (&"json".into(), &31.into(), &1.into()));
    assert_eq!(told["last_ns"], 1_431_856_800_250_500_000_u64);
    // What it says is its key is whatever a policy is for, and its cost the policy's unit.
    let path = file("fields.toml", SEATS);
    let by_policy =
        quiet(&[&["replay", "-", "--policy", &path, "--name", "rows", "--json"], &fields[..]].concat(), log);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&by_policy).unwrap(), told);
}

#[test]
fn a_policy_of_pairs_on_routes_is_replayed_by_fields_of_the_log() {
    let line = |agent: &str, user: &str, path: &str| {
        format!("192.0.2.7 - {user} [17/May/2015:10:00:00 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"{agent}\"\n")
    };
    let log = line("a_b", "c", "/api/x")
        + &line("a", "b_c", "/api")
        + &line("a", "b_c", "/health")
        + &line("a", "b_c", "/api/y?z");
    let path = file("pairs.toml", SEATS);
    let args = [
        "replay",
        "-",
        "--policy",
        &path,
        "--name",
        "seats",
        "--identity",
        "account=user",
        "--identity",
        "tenant=agent",
    ];
    let told = quiet(&args, &log);
    assert!(told.contains("  a · b_c "), "{told}");
    let told = run(&[&args[..], &["--decisions", "-"]].concat(), &log);
    let pair = |tenant: &str, account: &str| serde_json::json!([tenant, account]);
    assert_eq!(
        decisions(&told.stdout),
        [
            (pair("a_b", "c"), "admitted".into()),
            (pair("a", "b_c"), "admitted".into()),
            (pair("a", "b_c"), "denied".into())
        ]
    );
    let json: serde_json::Value = serde_json::from_str(&quiet(&[&args[..], &["--json"]].concat(), &log)).unwrap();
    assert_eq!((&json["lines"], &json["outside"], &json["decided"]), (&4.into(), &1.into(), &3.into()));
}

#[test]
fn a_field_that_a_detected_format_does_not_have_is_said() {
    let log = "192.0.2.7 - - [17/May/2015:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n";
    let run = run(&["replay", "-", "--window", "1/1s", "--identity", "usre"], log);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert_eq!(
        run.stderr,
        "admittance: the combined format has no field 'usre'; it has address, user, path, referer and agent\n"
    );
}

#[test]
fn logs_of_several_servers_are_merged_by_time() {
    let log = |first: u64| {
        let line = |number: u64| format!("{{\"t_ns\":{},\"key\":\"{first}\"}}\n", first + 2 * number);
        (0..3).map(line).collect::<String>()
    };
    let (one, two) = (file("merge-one.jsonl", log(1)), file("merge-two.jsonl", log(0)));
    let args = ["replay", &one, &two, "--window", "9/1s", "--decisions", "-"];
    let keys = |args: &[&str]| {
        let told = run(args, "");
        assert_eq!(told.code, 0, "{}", told.stderr);
        decisions(&told.stdout).iter().map(|(key, _)| key.as_str().unwrap().to_owned()).collect::<String>()
    };
    assert_eq!(keys(&args), "111000");
    assert_eq!(keys(&[&args[..], &["--merge"]].concat()), "010101");
}
