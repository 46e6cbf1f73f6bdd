//! Several limits of one identity in one call: all or nothing.

use std::time::Duration;

use admittance::policy::{OnExhausted, OnStoreFailure, Policy, Sharing};
use admittance::redis::{SharedLimiter, Store};
use admittance::{Budget, Window};

use crate::support::{Account, Server, account, patient, policy};

fn burst_and_day() -> [Policy; 2] {
    let of = |builder: admittance::policy::PolicyBuilder| builder.build().unwrap();
    [
        of(policy("burst", Budget::per_hour(1).with_capacity(4), patient())),
        of(policy("day", Window::per_day(6), patient())),
    ]
}

#[tokio::test]
async fn what_one_denies_is_spent_from_none_and_the_answer_tells_which() {
    let server = Server::start();
    let limiter: SharedLimiter<Account> = SharedLimiter::all(burst_and_day(), server.store()).unwrap();
    let ann = account("ann");
    let first = limiter.check(&ann, 3).await;
    assert_eq!((first.decision().remaining(), first.limit()), (Some(1), 0));
    for _ in 0..5 {
        let denied = limiter.check(&ann, 2).await;
        assert!(denied.decision().is_denied());
        assert_eq!(denied.limit(), 0, "the burst has one, the day three");
        let wait = denied.retry_after().unwrap();
        assert!(wait > Duration::from_secs(3_590) && wait <= Duration::from_secs(3_600), "{wait:?}");
    }
    assert!(limiter.check(&ann, 1).await.is_admitted());
    let [_, day] = &limiter.keys_of(&ann)[..] else { panic!("two policies have two keys") };
    assert_eq!(server.get(day).as_deref(), Some("4"), "the denials were counted nowhere");
    assert!(limiter.check(&ann, 5).await.decision().is_never(), "more than the smaller of both holds");
}

#[tokio::test]
async fn all_keys_of_one_identity_have_one_hash_tag() {
    let server = Server::start();
    let limiter: SharedLimiter<Account> = SharedLimiter::all(burst_and_day(), server.store()).unwrap();
    let tag = |key: &String| key[key.find('{').unwrap()..=key.find('}').unwrap()].to_owned();
    let keys = limiter.keys_of(&account("ann"));
    assert_eq!(tag(&keys[0]), tag(&keys[1]));
    assert_ne!(tag(&keys[0]), tag(&limiter.keys_of(&account("bob"))[0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_at_once_are_admitted_by_both_or_neither() {
    let server = Server::start();
    for round in 0..50 {
        let name = account(&format!("caller {round}"));
        let limiters: Vec<SharedLimiter<Account>> =
            (0..8).map(|_| SharedLimiter::all(burst_and_day(), server.store()).unwrap()).collect();
        let callers: Vec<_> = limiters
            .iter()
            .map(|limiter| {
                let (limiter, name) = (limiter.clone(), name.clone());
                tokio::spawn(async move { limiter.check(&name, 1).await.is_admitted() })
            })
            .collect();
        let mut admitted = 0;
        for caller in callers {
            admitted += u32::from(caller.await.unwrap());
        }
        let [_, day] = &limiters[0].keys_of(&name)[..] else { panic!("two policies have two keys") };
        assert_eq!((admitted, server.get(day).as_deref()), (4, Some("4")));
    }
}

#[tokio::test]
async fn a_tier_is_a_rule_of_its_own_and_a_caller_who_changes_keeps_its_tokens() {
    let server = Server::start();
    let tiers = policy("tiers", Budget::per_hour(1).with_capacity(2), patient())
        .tier("pro", Budget::per_minute(1).with_capacity(100))
        .build()
        .unwrap();
    let limiter: SharedLimiter<Account> = SharedLimiter::new(tiers, server.store()).unwrap();
    let (pro, ann) = (limiter.tier("pro").unwrap(), account("ann"));
    assert_eq!(limiter.tier("gold"), None);
    assert!(limiter.check(&ann, 1).await.is_admitted());
    // One is left, and more come back at the new rate only.
    assert!(limiter.check_as(&ann, pro, 1).await.is_admitted());
    assert!(!limiter.check_as(&ann, pro, 1).await.is_admitted());
    let bob = account("bob");
    assert_eq!(limiter.check_as(&bob, pro, 10).await.decision().remaining(), Some(90));
    // At most what the smaller tier holds; and going to and fro mints nothing.
    assert_eq!(limiter.check(&bob, 2).await.decision().remaining(), Some(0));
    assert!(!limiter.check_as(&bob, pro, 1).await.is_admitted());
}

#[test]
fn policies_that_cannot_be_one_call_are_refused() {
    let store = || Store::open("redis://127.0.0.1:1/").unwrap();
    let refused = |policies: Vec<Policy>| SharedLimiter::<Account>::all(policies, store()).unwrap_err().to_string();
    let one = || policy("one", Budget::per_day(5), patient());
    let other = || policy("other", Budget::per_day(5), patient());
    assert_eq!(refused(vec![]), "there is no policy; say at least one");
    assert!(
        refused((0..9).map(|n| policy(&format!("n{n}"), Budget::per_day(5), patient()).build().unwrap()).collect())
            .contains("more than 8")
    );
    let twice = refused(vec![one().build().unwrap(), one().build().unwrap()]);
    assert!(twice.contains("policy 'one': name: two policies of this name"), "{twice}");
    let shadow = other().on_exhausted(OnExhausted::Shadow).build().unwrap();
    assert!(
        refused(vec![one().build().unwrap(), shadow]).contains("policy 'other': is decided in one call with 'one'")
    );
    let admits = policy("other", Budget::per_day(5), Sharing::new(OnStoreFailure::Admit)).build().unwrap();
    assert!(refused(vec![one().build().unwrap(), admits]).contains("must have its scope's sharing"));
    let tiers = |name: &str, tier: &str| {
        policy(name, Budget::per_day(5), patient()).tier(tier, Budget::per_day(9)).build().unwrap()
    };
    assert!(refused(vec![tiers("one", "pro"), tiers("other", "gold")]).contains("tiers"));
}
