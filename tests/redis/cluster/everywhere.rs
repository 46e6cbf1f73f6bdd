//! Keys in every part of a cluster.

use std::net::TcpListener;
use std::time::Duration;

use admittance::policy::IdentityKind;
use admittance::redis::{FailureKind, SharedLimiter, Store};
use admittance::{Budget, Rule, Window};

use crate::support::cluster::slot_of;
use crate::support::{Account, Cluster, account, patient, policy};

/// In one cluster, which takes longer to make than all of these.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_stays_as_it_is() {
    let cluster = Cluster::start(false);
    the_first_callers_read_the_map_once(&cluster).await;
    one_that_is_opened_as_one_server_says_what_to_do(&cluster).await;
    a_seed_that_does_not_answer_keeps_nobody_from_the_others(&cluster).await;
    scripts_work_in_every_part_and_several_limits_are_in_one_slot(&cluster).await;
}

async fn scripts_work_in_every_part_and_several_limits_are_in_one_slot(cluster: &Cluster) {
    for words in [&["FLUSHALL"][..], &["SCRIPT", "FLUSH"], &["CONFIG", "RESETSTAT"]] {
        cluster.masters().iter().for_each(|master| drop(master.run(words).unwrap()));
    }
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
    }
    assert!(cluster.maps_told() <= 10, "the map is not read at every call");
}

/// Who opens a cluster by one node as if it were alone is told so, and not every third time.
async fn one_that_is_opened_as_one_server_says_what_to_do(cluster: &Cluster) {
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
async fn the_first_callers_read_the_map_once(cluster: &Cluster) {
    let limiter = cluster.limiter(Window::per_day(5), patient());
    let before = cluster.maps_told();
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
    assert_eq!(cluster.maps_told() - before, 1);
}

async fn a_seed_that_does_not_answer_keeps_nobody_from_the_others(cluster: &Cluster) {
    // Accepts connections by the system's grace, and says nothing. Seeds are asked in the order of their names.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let deaf = format!("redis://{}", listener.local_addr().unwrap());
    let real = format!("redis://localhost:{}", cluster.nodes[1].port());
    let policy = policy("test", Window::per_day(5), patient().deadline(Duration::from_millis(400))).build().unwrap();
    let store = Store::cluster([deaf, real]).unwrap();
    let limiter: SharedLimiter<Account> = SharedLimiter::new(policy, store).unwrap();
    let verdict = limiter.check(&account("ann"), 1).await;
    assert_eq!(verdict.degraded(), None);
}
