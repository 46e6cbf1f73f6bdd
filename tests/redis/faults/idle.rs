//! Connections that break while nobody asks.

use std::time::{Duration, Instant};

use admittance::Window;
use admittance::redis::DecidedBy;

use crate::support::{Server, account, limiter, patient};

/// Waits until the server was asked by somebody whether it is there, and what it answered has arrived.
async fn until_connected(server: &Server) {
    let begun = Instant::now();
    let clients = || redis::from_redis_value::<String>(server.run(&["CLIENT", "LIST"]).unwrap()).unwrap();
    while !clients().contains("cmd=ping") {
        assert!(begun.elapsed() < Duration::from_secs(20), "nobody connects");
        // The server tells nobody that somebody has come, nor the client that it has arrived.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    eprintln!("connected after {:?}", begun.elapsed());
    tokio::time::sleep(Duration::from_millis(500)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_restarted_while_nobody_asked_is_found_before_somebody_does() {
    let mut server = Server::start();
    let limiter = limiter(&server, Window::per_day(100), patient());
    let ann = account("ann");
    assert_eq!(*limiter.check(&ann, 1).await.decided_by(), DecidedBy::Store);
    server.kill();
    tokio::task::block_in_place(|| server.restart());
    until_connected(&server).await;
    let verdict = limiter.check(&ann, 1).await;
    assert_eq!(*verdict.decided_by(), DecidedBy::Store, "{verdict:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_was_cut_while_nobody_asked_is_made_anew_before_somebody_does() {
    let server = Server::start();
    let limiter = limiter(&server, Window::per_day(100), patient());
    let ann = account("ann");
    assert_eq!(*limiter.check(&ann, 1).await.decided_by(), DecidedBy::Store);
    server.run(&["CLIENT", "KILL", "TYPE", "normal"]).unwrap();
    until_connected(&server).await;
    assert_eq!(*limiter.check(&ann, 1).await.decided_by(), DecidedBy::Store);
}
