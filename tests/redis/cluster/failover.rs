//! A replica that takes the place of its master while callers ask.

use std::time::{Duration, Instant};

use admittance::Window;
use admittance::policy::{OnStoreFailure, Sharing};
use admittance::redis::FailureKind;

use crate::support::cluster::{accounts, until};
use crate::support::{Account, Cluster, Load, Server, in_time};

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
    in_time(back, Duration::from_secs(1));
    load.until("used up", |seen| seen.asked() > 2 * CAPACITY * 20).await;
    let seen = load.stop().await;
    eprintln!("back after {back:?}; {} calls, {:?} without the store", seen.asked(), seen.kinds);
    assert!(seen.admitted_of.iter().all(|admitted| *admitted <= CAPACITY), "{:?}", seen.admitted_of);
    seen.were_in_time(Sharing::DEADLINE);
}

/// What it admitted after the last that its replica heard of is forgotten, and can be admitted again: no more than that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_was_killed_is_followed_by_its_replica_which_forgets_no_more_than_it_had_not_heard() {
    let mut cluster = Cluster::start(true);
    let replica = replica(&cluster);
    let names = of_node(&cluster, 0, 20);
    let limiter = cluster.limiter(Window::per_day(CAPACITY), Sharing::new(OnStoreFailure::Deny));
    let load = Load::start(&limiter, 4, &names);
    load.until_store(400).await;
    let before = load.seen().store_admitted;
    let cut = Instant::now();
    tokio::task::block_in_place(|| cut_off_replica(&cluster.nodes[0]));
    load.until_store(300).await;
    let killed = Instant::now();
    cluster.nodes[0].kill();
    let unheard = load.seen().store_admitted - before;
    let cut = cut.elapsed();
    tokio::task::block_in_place(|| until("master", || is_master(&cluster.nodes[replica])));
    let took = killed.elapsed();
    tokio::task::block_in_place(|| cluster.until_agreed());
    let back = load.until_store(20).await;
    in_time(back, Duration::from_secs(1));
    load.until("used up", |seen| seen.store > 3 * CAPACITY * 20).await;
    let seen = load.stop().await;
    let over: u64 = seen.admitted_of.iter().map(|admitted| admitted.saturating_sub(CAPACITY)).sum();
    eprintln!(
        "failed over in {took:?}, back {back:?} after that; {} calls, {:?} without the store; \
         over-admitted {over} of {}, and {unheard} were admitted in {cut:?} without the replica",
        seen.asked(),
        seen.kinds,
        CAPACITY * 20
    );
    // And what four callers had been answered and not counted yet.
    assert!(over > 0 && over <= unheard + 4, "{over} of {unheard}: {:?}", seen.admitted_of);
    seen.were_in_time(Sharing::DEADLINE);
}

/// As a network does that fails first between the two: who is connected stays, and the replica does not come back.
fn cut_off_replica(master: &Server) {
    let mut connection = redis::Client::open(master.url()).unwrap().get_connection().unwrap();
    redis::cmd("CONFIG").arg(&["SET", "requirepass", "nobody knows"]).exec(&mut connection).unwrap();
    redis::cmd("CLIENT").arg(&["KILL", "TYPE", "replica"]).exec(&mut connection).unwrap();
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
    in_time(back, Duration::from_secs(1));
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
        in_time(back, Duration::from_secs(1));
        load.stop().await.were_in_time(Sharing::DEADLINE);
    }
}
