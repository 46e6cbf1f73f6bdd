//! A server that has become a replica, as after a failover.

use admittance::redis::FailureKind;

use super::three::{Three, nothing_was_sent_twice};
use crate::support::{Proxy, Server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_becomes_a_replica_and_a_master_again_decides_again() {
    let (server, other) = (Server::start(), Server::start());
    let three = Three::ask(&server.url()).await;
    // Of one that has nothing to say: what is here stays.
    tokio::task::block_in_place(|| other.run(&["CONFIG", "SET", "requirepass", "nobody knows"])).unwrap();
    let connections = || server.number_of("total_connections_received");
    let before = connections();
    let begun = std::time::Instant::now();
    server.run(&["REPLICAOF", "127.0.0.1", &other.port().to_string()]).unwrap();
    three.are_still_told(FailureKind::ReadOnly).await;
    // Another may be behind the name by now, so it is connected to again; but not at every call.
    let (made, periods) = (connections() - before, begun.elapsed().as_millis() / 50 + 1);
    assert!(u128::from(made) <= 3 * (periods + 1) + 3, "{made} connections in {:?}", begun.elapsed());
    server.run(&["REPLICAOF", "NO", "ONE"]).unwrap();
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}

/// A name that leads to another server from now on: who stays on the old connection would be told that it is read-only for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_failover_the_new_master_is_found_behind_the_old_name() {
    let (old, new) = (Server::start(), Server::start());
    let proxy = Proxy::to(old.port()).await;
    let three = Three::ask(&proxy.url()).await;
    tokio::task::block_in_place(|| {
        proxy.leads_to(new.port());
        old.run(&["REPLICAOF", "127.0.0.1", &new.port().to_string()]).unwrap();
    });
    three.are_back().await;
    let all = three.stop().await;
    assert!(all.iter().all(|(_, seen)| seen.of_kind(FailureKind::ReadOnly) > 0));
    assert!(new.calls_of("evalsha") >= 60, "{}", new.calls_of("evalsha"));
}
