//! A server with no memory left that evicts nothing.

use admittance::redis::FailureKind;

use super::three::{Three, nothing_was_sent_twice};
use crate::support::{Server, account};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_memory_says_so_and_charges_nothing() {
    let server = Server::start_with(&["--maxmemory-policy", "noeviction"]);
    let three = Three::ask(&server.url()).await;
    server.run(&["CONFIG", "SET", "maxmemory", "1"]).unwrap();
    three.are_told(FailureKind::OutOfMemory).await;
    let counted = |load: &crate::support::Load| server.get(&load.limiter.keys_of(&account("ann"))[0]);
    let before = three.loads().map(counted);
    for load in three.loads() {
        load.until_degraded(20).await;
        assert!(!load.seen().last.unwrap().may_have_been_charged());
    }
    assert_eq!(three.loads().map(counted), before);
    server.run(&["CONFIG", "SET", "maxmemory", "0"]).unwrap();
    three.are_back().await;
    nothing_was_sent_twice(&server, &three.stop().await);
}
