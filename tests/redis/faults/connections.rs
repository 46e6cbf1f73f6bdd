//! Connections that are cut while calls are under way.

use admittance::redis::FailureKind;

use super::three::{Three, nothing_was_sent_twice};
use crate::support::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_killed_under_load_are_made_anew_and_no_call_is_sent_twice() {
    let server = Server::start();
    let three = Three::ask(&server.url()).await;
    for _ in 0..20 {
        tokio::task::block_in_place(|| server.run(&["CLIENT", "KILL", "TYPE", "normal"])).unwrap();
        three.are_back().await;
    }
    let all = three.stop().await;
    nothing_was_sent_twice(&server, &all);
    for (_, seen) in &all {
        let told = seen.of_kind(FailureKind::Unreachable) + seen.of_kind(FailureKind::Timeout);
        assert!(told > 0 && told == seen.degraded, "{:?}", seen.kinds);
    }
}
