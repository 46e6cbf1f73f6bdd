//! `admittance load`, and `replay --store`, against a server of the test's own.

#[path = "../redis/support/server.rs"]
#[allow(dead_code, reason = "the tests of the library use all of it")]
mod server;
#[path = "../redis/support/tls.rs"]
#[allow(dead_code, reason = "the tests of the library use all of it")]
mod tls;

use serde_json::Value;

use crate::program::{access, command, file, quiet, run};
use server::Server;
use tls::{Authority, Secured};

const POLICIES: &str = r#"
version = 1

[[policy]]
name = "five"
unit = "request"
identity = "account"
scope = { store = "shared", on_store_failure = "deny", deadline = "10s" }
rule = { window = "5/1d" }
on_exhausted = "deny"
max_keys = 1000
overflow = "deny"

[[policy]]
name = "pairs"
unit = "request"
identity = ["tenant", "account"]
scope = { store = "shared", on_store_failure = "deny", deadline = "10s", lease = { most = 100, max_age = "1s" }, batch = 8 }
rule = { capacity = 1000, refill = "1/1d" }
on_exhausted = "deny"
max_keys = 1000
overflow = "deny"

[[policy]]
name = "here"
unit = "request"
identity = "account"
scope = { store = "process" }
rule = { window = "5/1d" }
on_exhausted = "deny"
max_keys = 1000
overflow = "deny"

[[policy]]
name = "odd"
unit = "request"
identity = ["session", "address"]
scope = { store = "shared", on_store_failure = "deny" }
rule = { window = "5/1d" }
on_exhausted = "deny"
max_keys = 1000
overflow = "deny"
"#;

#[test]
fn a_store_that_is_driven_admits_its_budget_and_says_so() {
    let server = Server::start();
    let policies = file("load.toml", POLICIES);
    let load = |name: &str, more: &[&str]| {
        let (url, mut args) =
            (server.url(), vec!["load", "--policy", &policies, "--name", name, "--seconds", "1", "--json"]);
        args.extend(["--store", &url]);
        args.extend(more);
        serde_json::from_str::<Value>(&quiet(&args, "")).unwrap()
    };
    let told = load("five", &["--separate"]);
    assert_eq!((&told["admitted"], &told["never"], &told["degraded"]), (&5.into(), &0.into(), &0.into()), "{told}");
    assert_eq!(told["calls"], told["calls_to_the_store"], "each is a call");
    assert!(
        told["denied"].as_u64() > Some(100) && told["latency"]["p99_ns"].as_u64() >= told["latency"]["p50_ns"].as_u64()
    );
    // Ten identities, a budget each; and a budget that was spent before stays so under the same beginning.
    let ten = ["--identities", "10", "--prefix", "ten"];
    assert_eq!(load("five", &ten)["admitted"], 50);
    assert_eq!(load("five", &ten)["admitted"], 0);
    let told = load("pairs", &["--callers", "4"]);
    assert_eq!(told["admitted"], 1_000);
    assert!(told["by_lease"].as_u64() > Some(500), "{told}");
    let in_words =
        quiet(&["load", "--policy", &policies, "--name", "five", "--seconds", "1", "--store", &server.url()], "");
    assert!(in_words.contains("admitted    5, 0 of them of leases"), "{in_words}");
}

#[test]
fn what_cannot_be_driven_is_said_and_why() {
    let policies = file("undriven.toml", POLICIES);
    let load = |name: &str, store: &str| run(&["load", "--policy", &policies, "--name", name, "--store", store], "");
    let refused = load("five", "redis://127.0.0.1:1/");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("--store: the store is not reachable"), "{}", refused.stderr);
    let refused = load("five", "http://x/");
    assert!(refused.code == 1 && refused.stderr.contains("--store: "), "{}", refused.stderr);
    let server = Server::start();
    let refused = load("here", &server.url());
    assert!(refused.stderr.contains("policy 'here': scope: store is process"), "{}", refused.stderr);
    let refused = load("odd", &server.url());
    assert!(refused.stderr.contains("no made-up identities of session and address"), "{}", refused.stderr);
    let refused = load("none", &server.url());
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("one of five, pairs, here, odd"), "{}", refused.stderr);
}

#[test]
fn a_store_with_tls_is_driven_by_who_trusts_it() {
    fn and<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [args, more].concat()
    }
    let (authority, other) = (Authority::new(), Authority::new());
    let secured = Secured::start_with(&authority, &["localhost", "127.0.0.1"], &["--tls-auth-clients", "yes"]);
    let me = authority.signs(&["limits"]);
    let (certificate, key) = (file("client.pem", &me.certificate), file("client-key.pem", &me.key));
    let (policies, url) = (file("tls.toml", POLICIES), format!("rediss://localhost:{}/", secured.port));
    let (own, other) = (authority.file(), other.file());
    let load = ["load", "--policy", &policies, "--name", "five", "--seconds", "1", "--json", "--store", &url];
    let shows = ["--client-cert", &certificate, "--client-key", &key];
    let trusts = and(&["--ca", &own], &shows);

    let told: Value = serde_json::from_str(&quiet(&and(&load, &trusts), "")).unwrap();
    assert_eq!((&told["admitted"], &told["degraded"]), (&5.into(), &0.into()), "{told}");
    // The system's authorities are what its environment says.
    let told = command(&and(&load, &shows)).env("SSL_CERT_FILE", &own).output().unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap_or_else(|_| panic!("{told:?}"));
    assert_eq!((&told["admitted"], &told["degraded"]), (&5.into(), &0.into()), "{told}");
    // A log, in the same store.
    let log = access("10.0.0.1", 1, 100) + &access("10.0.0.1", 2, 100);
    let replay = ["replay", "-", "--window", "1/30s", "--quiet", "--json", "--store", &url];
    let told: Value = serde_json::from_str(&quiet(&and(&replay, &trusts), log)).unwrap();
    assert_eq!((&told["store"]["admitted"], &told["store"]["differ"]), (&1.into(), &0.into()), "{told}");

    let no_tls = "--store: no TLS with the store";
    let (plain, pem) = (secured.server.url(), "--client-cert, --client-key: ");
    for (args, code, says) in [
        (and(&and(&load, &["--ca", &other]), &shows), 1, no_tls),
        (and(&load, &["--ca", &own]), 1, no_tls),
        (and(&load, &["--ca", "no such file"]), 1, "--ca no such file: "),
        (and(&load, &["--ca", &policies]), 1, "--ca: the authority: no certificate in PEM"),
        (and(&load, &["--ca", &own, "--client-cert", &policies, "--client-key", &key]), 1, pem),
        (and(&load, &["--ca", &own, "--client-cert", &certificate]), 2, "--client-key"),
        (and(&["replay", "-", "--window", "1/30s", "--ca"], &[&own]), 2, "--store"),
        (vec!["load", "--policy", &policies, "--name", "five", "--ca", &own, "--store", &plain], 1, "say rediss://"),
    ] {
        let run = run(&args, "");
        assert!(run.code == code && run.stderr.contains(says), "{args:?}: {run:?}");
    }
}

#[test]
fn a_log_is_decided_in_a_store_as_in_the_core() {
    let server = Server::start();
    let mut log = String::new();
    for second in 0..600_u64 {
        // Three addresses, one of them greedy, and every tenth line late.
        let late = if second % 10 == 9 { 7 } else { 0 };
        log += &access(&format!("10.0.0.{}", second % 3), second.saturating_sub(late), 100);
        log += &access("10.0.0.9", second, 100);
    }
    for limit in [["--capacity", "5", "--refill", "1/7s"].as_slice(), &["--window", "4/30s"]] {
        let url = server.url();
        let args = [&["replay", "-", "--json", "--quiet", "--store", &url], limit].concat();
        let told: Value = serde_json::from_str(&quiet(&args, &log)).unwrap();
        let store = &told["store"];
        assert_eq!((&store["differ"], &store["first_difference"]), (&0.into(), &Value::Null), "{told}");
        assert_eq!((&store["admitted"], &store["denied"]), (&told["admitted"], &told["denied"]));
        assert!(store["denied"].as_u64() > Some(100));
    }
    // What `ready` tried may still be there, and expires in seconds. Of the trials nothing is.
    let left = server.run(&["KEYS", "*trial*"]).unwrap();
    assert_eq!(left, redis::Value::Array(Vec::new()));
    let text = quiet(&["replay", "-", "--window", "4/30s", "--quiet", "--store", &server.url()], &log);
    assert!(text.contains("the same answer for every line"), "{text}");
}

#[test]
fn a_store_that_is_gone_ends_a_replay() {
    let log = access("10.0.0.1", 1, 1);
    let ended = run(&["replay", "-", "--window", "4/30s", "--store", "redis://127.0.0.1:1/"], &log);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("--store: the store is not reachable"), "{}", ended.stderr);
    let ended = run(&["replay", "-", "--window", "4/30s", "--store", "x", "--sort"], &log);
    assert_eq!(ended.code, 2);
}
