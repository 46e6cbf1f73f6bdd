//! A user who may not do what limiters do.

use admittance::redis::{FailureKind, Store};

use crate::support::Server;

const NEEDED: [&str; 11] =
    ["ping", "evalsha", "eval", "time", "get", "set", "incrby", "decrby", "pttl", "pexpireat", "~admittance:*"];

/// A server with a user who may do what is said in `NEEDED`, but for this one.
fn without(missing: &str) -> Server {
    let server = Server::start();
    let permits = NEEDED
        .iter()
        .filter(|needed| **needed != missing)
        .map(|needed| if needed.starts_with('~') { (*needed).to_owned() } else { format!("+{needed}") });
    let words: Vec<_> =
        ["ACL", "SETUSER", "ann", "on", ">secret"].map(str::to_owned).into_iter().chain(permits).collect();
    server.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    server
}

fn url(server: &Server, user: &str) -> String {
    server.url().replace("redis://", &format!("redis://{user}@"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_permitted_is_told_when_connecting_with_all_that_is_needed() {
    for missing in NEEDED {
        let server = without(missing);
        let failure = Store::connect(&url(&server, "ann:secret")).await.expect_err(missing);
        assert_eq!(failure.kind(), FailureKind::NotPermitted, "without {missing}: {failure}");
        let text = failure.to_string();
        for needed in NEEDED {
            let needed = if needed.starts_with('~') { needed.to_owned() } else { format!("+{needed}") };
            assert!(text.contains(&needed), "without {missing}: {text}");
        }
        assert!(!failure.may_have_been_charged(), "without {missing}");
        if missing == "eval" {
            eprintln!("{text}");
        }
    }
}

#[tokio::test]
async fn what_is_said_to_be_needed_is_enough() {
    let server = without("");
    let store = Store::connect(&url(&server, "ann:secret")).await.unwrap();
    store.ready().await.unwrap();
    // Again, with scripts that nobody knows.
    server.run(&["SCRIPT", "FLUSH"]).unwrap();
    store.ready().await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_told_and_is_not_about_commands() {
    let server = without("");
    for user in ["ann:wrong", "nobody:secret"] {
        let failure = Store::connect(&url(&server, user)).await.unwrap_err();
        assert_eq!(failure.kind(), FailureKind::NotPermitted, "{failure}");
        assert!(!failure.to_string().contains("+evalsha"), "{failure}");
    }
    server.run(&["CONFIG", "SET", "requirepass", "secret"]).unwrap();
    let failure = Store::connect(&server.url()).await.unwrap_err();
    assert_eq!(failure.kind(), FailureKind::NotPermitted, "{failure}");
    assert!(!failure.to_string().contains("+evalsha"), "{failure}");
}

#[tokio::test]
async fn a_store_of_another_prefix_needs_that() {
    let server = without("");
    let store = Store::open(&url(&server, "ann:secret")).unwrap().with_prefix("shop").unwrap();
    let failure = store.ready().await.unwrap_err();
    assert_eq!(failure.kind(), FailureKind::NotPermitted, "{failure}");
    assert!(failure.to_string().contains("~shop:*"), "{failure}");
}
