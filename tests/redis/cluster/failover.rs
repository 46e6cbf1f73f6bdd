//! A replica that takes the place of its master while callers ask.

use std::time::{Duration, Instant};

use admittance::Window;
use admittance::policy::{OnStoreFailure, Sharing};
use admittance::redis::FailureKind;

use crate::support::cluster::{accounts, until};
use crate::support::{Account, Cluster, Load, Server};

const CAPACITY: u64 = 200;

/// Accounts whose keys a node serves.
fn of_node(cluster: &Cluster, node: usize, count: usize) -> Vec<Account> {
    let slots = cluster.slots();
    accounts(move |slot| slots[usize::from(slot)] == node).take(count).collect()
}

fn is_master(node: &Server) -> bool {
    let info: String = redis::from_redis_value(node.run(&["INFO", "replication"]).unwrap()).unwrap();
    info.contains("role:master")
}

/// The replica of the first master.
fn replica(cluster: &Cluster) -> usize {
    let port = format!("master_port:{}\r", cluster.nodes[0].port());
    let is_its = |node: &Server| {
        let info: String = redis::from_redis_value(node.run(&["INFO", "replication"]).unwrap()).unwrap();
        info.contains(&port)
    };
    (3..6).find(|node| is_its(&cluster.nodes[*node])).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_that_was_asked_for_loses_nothing() {
    let cluster = Cluster::start(true);
    let replica = replica(&cluster);
    let names = of_node(&cluster, 0, 20);
    let limiter = cluster.limiter(Window::per_day(CAPACITY), Sharing::new(OnStoreFailure::Deny));
    let load = Load::start(&limiter, 4, &names);
    load.until_store(200).await;
    cluster.nodes[replica].run(&["CLUSTER", "FAILOVER"]).unwrap();
    tokio::task::block_in_place(|| until("master", || is_master(&cluster.nodes[replica])));
    let back = load.until_store(20).await;
    assert!(back < Duration::from_secs(1), "{back:?}");
    load.until("used up", |seen| seen.asked() > 2 * CAPACITY * 20).await;
    let seen = load.stop().await;
    eprintln!("back after {back:?}; {} calls, {:?} without the store", seen.asked(), seen.kinds);
    assert!(seen.admitted_of.iter().all(|admitted| *admitted <= CAPACITY), "{:?}", seen.admitted_of);
    seen.were_in_time(Sharing::DEADLINE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_was_killed_is_followed_by_its_replica() {
    let mut cluster = Cluster::start(true);
    let replica = replica(&cluster);
    let names = of_node(&cluster, 0, 20);
    let limiter = cluster.limiter(Window::per_day(CAPACITY), Sharing::new(OnStoreFailure::Deny));
    let load = Load::start(&limiter, 4, &names);
    load.until_store(400).await;
    let killed = Instant::now();
    cluster.nodes[0].kill();
    tokio::task::block_in_place(|| until("master", || is_master(&cluster.nodes[replica])));
    let took = killed.elapsed();
    tokio::task::block_in_place(|| cluster.until_agreed());
    let back = load.until_store(20).await;
    assert!(back < Duration::from_secs(1), "{back:?}");
    load.until("used up", |seen| seen.store > 2 * CAPACITY * 20).await;
    let seen = load.stop().await;
    let over: u64 = seen.admitted_of.iter().map(|admitted| admitted.saturating_sub(CAPACITY)).sum();
    eprintln!(
        "failed over in {took:?}, back {back:?} after that; {} calls, {:?} without the store; over-admitted {over} of {}",
        seen.asked(),
        seen.kinds,
        CAPACITY * 20
    );
    // What the replica had not heard of yet: a few milliseconds' calls, and never more than were under way and before it.
    assert!(over <= 100, "{over}: {:?}", seen.admitted_of);
    seen.were_in_time(Sharing::DEADLINE);
}

/// A master that stands still answers nobody, and says nothing of who serves its slots: the others do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_stands_still_keeps_nobody_from_finding_its_replica() {
    let cluster = Cluster::start(true);
    let replica = replica(&cluster);
    let names = of_node(&cluster, 0, 20);
    let limiter = cluster.limiter(Window::per_day(CAPACITY * 100), Sharing::new(OnStoreFailure::Deny));
    let load = Load::start(&limiter, 4, &names);
    load.until_store(100).await;
    cluster.nodes[0].signal("-STOP");
    tokio::task::block_in_place(|| until("master", || is_master(&cluster.nodes[replica])));
    let back = load.until_store(20).await;
    cluster.nodes[0].signal("-CONT");
    assert!(back < Duration::from_secs(1), "{back:?}");
    let seen = load.stop().await;
    eprintln!("back after {back:?}; {} calls, {:?} without the store", seen.asked(), seen.kinds);
    seen.were_in_time(Sharing::DEADLINE);
}

/// Nobody takes its place: what it served is not decided, and is again when it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_without_a_replica_is_asked_again_when_it_is_back() {
    let mut cluster = Cluster::start(false);
    let limiter = cluster.limiter(Window::per_day(CAPACITY), Sharing::new(OnStoreFailure::Deny));
    let loads = [0, 1].map(|node| Load::start(&limiter, 2, &of_node(&cluster, node, 3)));
    for load in &loads {
        load.until_store(20).await;
    }
    cluster.nodes[0].kill();
    // The others notice, and serve nobody then: a cluster is whole or closed.
    loads[0].until("gone", |seen| seen.of_kind(FailureKind::Unreachable) > 100).await;
    loads[1].until("closed", |seen| seen.of_kind(FailureKind::NotReady) > 100).await;
    tokio::task::block_in_place(|| {
        cluster.nodes[0].restart();
        cluster.until_agreed();
    });
    for load in loads {
        let back = load.until_store(20).await;
        assert!(back < Duration::from_secs(1), "{back:?}");
        load.stop().await.were_in_time(Sharing::DEADLINE);
    }
}
