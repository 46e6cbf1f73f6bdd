//! A server that is killed and comes back with nothing.

use admittance::redis::FailureKind;

use super::three::{Three, nothing_was_sent_twice};
use crate::support::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_killed_is_asked_again_when_it_is_back() {
    let mut server = Server::start();
    let three = Three::ask(&server.url()).await;
    server.kill();
    three.are_told(FailureKind::Unreachable).await;
    // The first of these were under way; the rest are not.
    three.are_still_told(FailureKind::Unreachable).await;
    for load in three.loads() {
        let failure = load.seen().last.unwrap();
        // There is no connection to send it over.
        assert!(!failure.may_have_been_charged(), "{failure:?}");
    }
    tokio::task::block_in_place(|| server.restart());
    three.are_back().await;
    three.stop().await;
    // What the server before had counted is gone: that is the store's to lose, and documented.
}

/// Over and over, so that it falls into every moment of a call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_in_the_middle_of_calls_is_sent_none_twice() {
    let mut server = Server::start();
    for _ in 0..5 {
        let three = Three::ask(&server.url()).await;
        server.kill();
        three.are_told(FailureKind::Unreachable).await;
        tokio::task::block_in_place(|| server.restart());
        three.are_back().await;
        let all = three.stop().await;
        // The new server's counts are of this round's later half.
        let late: Vec<_> = all
            .into_iter()
            .map(|(limiter, mut seen)| {
                seen.store_admitted = 0;
                (limiter, seen)
            })
            .collect();
        nothing_was_sent_twice(&server, &late);
    }
}
