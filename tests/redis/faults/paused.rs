//! A server that is there and does not answer.

use std::time::{Duration, Instant};

use admittance::redis::FailureKind;

use super::three::{DEADLINE, Three, nothing_was_sent_twice};
use crate::support::{Server, in_time};

/// For as long as it is held: by signals, as a machine that hangs.
struct Stopped<'s>(&'s Server);

impl<'s> Stopped<'s> {
    fn new(server: &'s Server) -> Self {
        server.signal("-STOP");
        Self(server)
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.signal("-CONT");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stands_still_keeps_nobody_past_the_deadline() {
    let server = Server::start();
    let three = Three::ask(&server.url()).await;
    let stopped = Stopped::new(&server);
    three.are_told(FailureKind::Unreachable).await;
    for load in three.loads() {
        // The first were not answered in time, and might be charged yet; then, after five in a row, it
        // counts as gone: no caller but those who were under way finds out by waiting.
        let late = load.seen().of_kind(FailureKind::Timeout);
        assert!((4..40).contains(&late), "{:?}", load.seen().kinds);
        // Who comes now waits for nothing: ten calls of each caller, and a millisecond's pause between two.
        let took = load.until_degraded(40).await;
        in_time(took, DEADLINE * 5);
    }
    drop(stopped);
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_lets_all_clients_wait_keeps_nobody_past_the_deadline() {
    waits("ALL").await;
}

/// It answers that it is there, so nobody can know that it does not decide but by asking: some callers wait for the deadline.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_lets_writes_wait_keeps_nobody_past_the_deadline() {
    waits("WRITE").await;
}

async fn waits(who: &str) {
    let server = Server::start();
    let three = Three::ask(&server.url()).await;
    let pause = Duration::from_millis(700);
    let begun = Instant::now();
    server.run(&["CLIENT", "PAUSE", &pause.as_millis().to_string(), who]).unwrap();
    three.are_told(FailureKind::Timeout).await;
    while begun.elapsed() < pause {
        // By whomever: the last to be decided here may be decided by the store already.
        let before = three.loads()[0].seen().asked();
        three.loads()[0].until("asked", |seen| seen.asked() > before).await;
    }
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}
