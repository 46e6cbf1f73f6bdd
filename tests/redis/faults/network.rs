//! A network that is slow, or loses what it is given.

use std::time::{Duration, Instant};

use admittance::Window;
use admittance::policy::{OnStoreFailure, Sharing};
use admittance::redis::{FailureKind, SharedLimiter, Store};
use tokio::time::sleep;

use super::three::{DEADLINE, Three, nothing_was_sent_twice};
use crate::support::cluster::until;
use crate::support::{Account, Load, Network, Proxy, Server, account, patient, policy};

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
    // Some were under way. (Not of each limiter: one that was not run meanwhile finds the server gone.)
    let lost = three.loads().map(|load| load.seen().of_kind(FailureKind::Timeout));
    assert!(lost.iter().sum::<u64>() > 0, "or this tests nothing");
    proxy.network(Network::Takes(Duration::ZERO));
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}

/// It was executed, and nobody heard: whoever sent it again, after its time, would charge it twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_not_answered_in_time_is_charged_once() {
    let server = Server::start();
    let proxy = Proxy::to(server.port()).await;
    let sharing = Sharing::new(OnStoreFailure::Deny).deadline(Duration::from_millis(200));
    let policy = policy("test", Window::per_day(1_000), sharing).build().unwrap();
    let limiter = SharedLimiter::<Account>::new(policy, Store::open(&proxy.url()).unwrap()).unwrap();
    let ann = account("ann");
    let [key] = &limiter.keys_of(&ann)[..] else { panic!("one policy has one key") };
    while limiter.check(&ann, 1).await.degraded().is_some() {
        sleep(Duration::from_millis(5)).await;
    }
    let before: u64 = server.get(key).unwrap().parse().unwrap();
    proxy.network(Network::SwallowsAnswers);
    // Not so many that the connection counts as broken: each of these is sent.
    for number in 1..5 {
        let verdict = limiter.check(&ann, 1).await;
        let failure = verdict.degraded().expect("nobody told the answer");
        assert!(failure.kind() == FailureKind::Timeout && failure.may_have_been_charged(), "{failure}");
        until("executed", || server.get(key) == Some((before + number).to_string()));
    }
}

/// It was executed, and then its connection broke: whoever sent it again, over the next, would charge it twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_answer_is_lost_with_its_connection_is_charged_once() {
    let server = Server::start();
    let proxy = Proxy::to(server.port()).await;
    let policy = policy("test", Window::per_day(1_000), patient()).build().unwrap();
    let limiter = SharedLimiter::<Account>::new(policy, Store::open(&proxy.url()).unwrap()).unwrap();
    let ann = account("ann");
    let [key] = &limiter.keys_of(&ann)[..] else { panic!("one policy has one key") };
    for round in 0..10 {
        while limiter.check(&ann, 1).await.degraded().is_some() {
            sleep(Duration::from_millis(5)).await;
        }
        let before: u64 = server.get(key).unwrap().parse().unwrap();
        let lost = proxy.swallowed();
        proxy.network(Network::SwallowsAnswers);
        let asked = tokio::spawn({
            let (limiter, ann) = (limiter.clone(), ann.clone());
            async move { limiter.check(&ann, 1).await }
        });
        until("executed", || server.get(key) == Some((before + 1).to_string()));
        until("lost", || proxy.swallowed() > lost);
        proxy.network(Network::Cuts);
        until("cut", || proxy.open() == 0);
        proxy.network(Network::Takes(Duration::ZERO));
        let verdict = asked.await.unwrap();
        let failure = verdict.degraded().expect("nobody told the answer");
        assert!(failure.kind() == FailureKind::Unreachable && failure.may_have_been_charged(), "{failure}");
        assert_eq!(server.get(key), Some((before + 1).to_string()), "round {round}");
    }
    let made = limiter.stats().calls;
    assert!(server.calls_of("evalsha") <= made, "{} of {made}", server.calls_of("evalsha"));
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

/// Two limiters over one connection, of which one is in more of a hurry than the network is fast: that is its own affair.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_in_a_hurry_does_not_break_the_connection_of_the_others() {
    let server = Server::start();
    let proxy = Proxy::to(server.port()).await;
    let store = Store::open(&proxy.url()).unwrap();
    let limiter = |name, sharing| {
        let policy = policy(name, Window::per_day(100_000), sharing).build().unwrap();
        SharedLimiter::<Account>::new(policy, store.clone()).unwrap()
    };
    let patient = limiter("patient", patient());
    let hasty = limiter("hasty", Sharing::new(OnStoreFailure::Deny).deadline(Duration::from_millis(2)));
    assert_eq!(patient.check(&account("ann"), 1).await.degraded(), None);
    proxy.network(Network::Takes(Duration::from_millis(20)));
    // Two, and not more: what those in a hurry send piles up in the proxy, and then it is the network that is slow.
    let (hasty, patient) = (Load::start(&hasty, 2, &[account("ann")]), Load::start(&patient, 1, &[account("ann")]));
    hasty.until_degraded(100).await;
    patient.until_store(5).await;
    let (hasty, patient) = (hasty.stop().await, patient.stop().await);
    assert_eq!(patient.degraded, 0, "{:?}", patient.last);
    assert_eq!((hasty.store, hasty.of_kind(FailureKind::Timeout)), (0, hasty.degraded), "{:?}", hasty.kinds);
}
