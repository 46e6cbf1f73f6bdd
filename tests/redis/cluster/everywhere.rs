//! Keys in every part of a cluster.

use std::time::Duration;

use admittance::policy::IdentityKind;
use admittance::redis::{FailureKind, SharedLimiter, Store};
use admittance::{Budget, Rule, Window};

use crate::support::cluster::slot_of;
use crate::support::{Account, Cluster, account, patient, policy};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_work_in_every_part_of_a_cluster_and_several_limits_are_in_one_slot() {
    let cluster = Cluster::start(false);
    let store = cluster.store();
    store.ready().await.unwrap();
    for master in cluster.masters() {
        assert!(master.calls_of("eval") >= 1, "each node is asked whether it runs the scripts");
    }

    let limits = [Rule::from(Window::per_day(5)), Rule::from(Budget::per_day(1).with_capacity(7))];
    let policies = limits.into_iter().zip(["window", "bucket"]).map(|(rule, name)| {
        policy(name, rule, patient().lease(2, Duration::from_secs(60)))
            .identity([IdentityKind::Account])
            .build()
            .unwrap()
    });
    let limiter: SharedLimiter<Account> = SharedLimiter::all(policies, store).unwrap();
    let mut regions = std::collections::HashSet::new();
    for number in 0..300 {
        let name = account(&format!("account {number}"));
        let keys = limiter.keys_of(&name);
        let slot = slot_of(&keys[0]);
        assert!(keys.iter().all(|key| slot_of(key) == slot));
        regions.insert(slot / 1_024);
        let mut admitted = 0;
        for _ in 0..7 {
            let verdict = limiter.check(&name, 1).await;
            assert_eq!(verdict.degraded(), None);
            admitted += u32::from(verdict.is_admitted());
        }
        assert_eq!(admitted, 5, "{name:?}");
        assert_eq!(cluster.get(&keys[0]).as_deref(), Some("5"));
    }
    assert_eq!(regions.len(), 16, "keys are all over the slots");
    for master in cluster.masters() {
        let keys = master.number(&["DBSIZE"]);
        assert!((150..450).contains(&keys), "{keys} of 600 keys");
        assert!(master.calls_of("cluster|slots") <= 30, "the map is not read at every call");
    }
}

/// Who opens a cluster by one node as if it were alone is told so, and not every third time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_is_opened_as_one_server_says_what_to_do() {
    let cluster = Cluster::start(false);
    let store = Store::open(&cluster.nodes[0].url()).unwrap();
    let policy = policy("test", Window::per_day(5), patient()).build().unwrap();
    let limiter: SharedLimiter<Account> = SharedLimiter::new(policy, store).unwrap();
    let mut told = 0;
    for number in 0..30 {
        if let Some(failure) = limiter.check(&account(&format!("account {number}")), 1).await.degraded() {
            assert!(
                failure.kind() == FailureKind::NotReady && failure.detail().contains("Store::cluster"),
                "{failure}"
            );
            told += 1;
        }
    }
    assert!((10..30).contains(&told), "{told}");
}

/// A thousand first callers at once ask for the map once, not each for itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_callers_read_the_map_once() {
    let cluster = Cluster::start(false);
    let limiter = cluster.limiter(Window::per_day(5), patient());
    let before: u64 = cluster.masters().iter().map(|node| node.calls_of("cluster|slots")).sum();
    let callers: Vec<_> = (0..1_000)
        .map(|number| {
            let limiter = limiter.clone();
            tokio::spawn(async move { limiter.check(&account(&format!("account {number}")), 1).await })
        })
        .collect();
    for caller in callers {
        let verdict = caller.await.unwrap();
        assert_eq!(verdict.degraded(), None);
    }
    let after: u64 = cluster.masters().iter().map(|node| node.calls_of("cluster|slots")).sum();
    assert_eq!(after - before, 1);
}
