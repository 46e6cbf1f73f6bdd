//! A network that is slow, or loses what it is given.

use std::time::{Duration, Instant};

use admittance::redis::FailureKind;

use super::three::{DEADLINE, Three, nothing_was_sent_twice};
use crate::support::{Network, Proxy, Server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_takes_longer_than_the_deadline_keeps_nobody_past_it() {
    let server = Server::start();
    let proxy = Proxy::to(server.port()).await;
    let three = Three::ask(&proxy.url()).await;
    proxy.network(Network::Takes(DEADLINE * 2));
    three.are_told(FailureKind::Timeout).await;
    proxy.network(Network::Takes(Duration::ZERO));
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_swallows_everything_keeps_nobody_past_the_deadline() {
    let server = Server::start();
    let proxy = Proxy::to(server.port()).await;
    let three = Three::ask(&proxy.url()).await;
    proxy.network(Network::Swallows);
    three.are_told(FailureKind::Unreachable).await;
    proxy.network(Network::Takes(Duration::ZERO));
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}

/// All calls arrive and are executed, and no answer does: what was asked for counts, each call once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_whose_answers_are_lost_are_charged_once() {
    let server = Server::start();
    let proxy = Proxy::to(server.port()).await;
    let three = Three::ask(&proxy.url()).await;
    proxy.network(Network::SwallowsAnswers);
    three.are_told(FailureKind::Unreachable).await;
    for load in three.loads() {
        assert!(load.seen().of_kind(FailureKind::Timeout) > 0, "{:?}", load.seen().kinds);
    }
    proxy.network(Network::Takes(Duration::ZERO));
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_cuts_connections_at_once_is_not_stormed() {
    let server = Server::start();
    let proxy = Proxy::to(server.port()).await;
    let three = Three::ask(&proxy.url()).await;
    let (before, begun) = (proxy.accepted(), Instant::now());
    proxy.network(Network::Cuts);
    three.are_still_told(FailureKind::Unreachable).await;
    let (made, periods) = (proxy.accepted() - before, begun.elapsed().as_millis() / 50 + 1);
    assert!(u128::from(made) <= 3 * (periods + 1), "{made} connections in {:?}", begun.elapsed());
    proxy.network(Network::Takes(Duration::ZERO));
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}
