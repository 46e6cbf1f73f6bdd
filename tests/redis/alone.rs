//! What is decided where there is no store at all.

use std::time::Duration;

use admittance::policy::{OnStoreFailure, Sharing};
use admittance::redis::{FailureKind, SharedLimiter, Store, StoreFailure};
use admittance::{Budget, Window};

use crate::support::{Account, account, policy, some};

fn nowhere() -> Store {
    Store::open("redis://127.0.0.1:1/").unwrap()
}

#[tokio::test]
async fn a_share_of_several_limits_is_all_or_nothing_too() {
    let sharing = Sharing::new(OnStoreFailure::Local { one_in: some(2) });
    let of = |name: &str, rule: admittance::Rule| policy(name, rule, sharing).build().unwrap();
    let burst = of("burst", Budget::per_day(1).with_capacity(8).into());
    let fast = of("fast", Budget::new(4, 4, Duration::from_millis(600)).unwrap().into());
    let limiter: SharedLimiter<Account> = SharedLimiter::all([burst, fast], nowhere()).unwrap();
    let ann = account("ann");
    let first = limiter.check(&ann, 2).await;
    assert!(first.is_admitted() && first.degraded().is_some(), "{first:?}");
    // What the second denies is given back to the first.
    let mut denied = 0;
    let last = loop {
        let verdict = limiter.check(&ann, 2).await;
        if verdict.is_admitted() {
            break verdict;
        }
        assert_eq!(verdict.limit(), 1);
        denied += 1;
    };
    assert!(denied > 3, "{denied} denials by the second, and the first had but two more");
    assert_eq!(last.decision().remaining(), Some(0));
    let never_again = limiter.check(&ann, 1).await;
    assert!(!never_again.is_admitted(), "four were this process's share of the first");
}

#[tokio::test]
async fn deny_denies_admit_admits_and_shadow_goes_on() {
    use admittance::policy::OnExhausted;
    let of = |on_store_failure, on_exhausted| {
        let policy = policy("alone", Window::per_day(5), Sharing::new(on_store_failure)).on_exhausted(on_exhausted);
        SharedLimiter::<Account>::new(policy.build().unwrap(), nowhere()).unwrap()
    };
    let ann = account("ann");
    for (on_store_failure, on_exhausted, admits) in [
        (OnStoreFailure::Deny, OnExhausted::Deny, false),
        (OnStoreFailure::Admit, OnExhausted::Deny, true),
        (OnStoreFailure::Deny, OnExhausted::Shadow, true),
    ] {
        let limiter = of(on_store_failure, on_exhausted);
        for _ in 0..20 {
            let verdict = limiter.check(&ann, 1).await;
            assert_eq!(verdict.is_admitted(), admits);
            assert_eq!(verdict.degraded().map(StoreFailure::kind), Some(FailureKind::Unreachable));
        }
        assert_eq!(limiter.stats().degraded, 20);
        assert!(limiter.check(&ann, 6).await.decision().is_never(), "no store is needed to know");
    }
}

#[tokio::test]
async fn a_wait_in_a_policy_is_waited_and_one_that_is_too_long_is_not_begun() {
    use admittance::policy::OnExhausted;
    let server = crate::support::Server::start();
    let waits = OnExhausted::WaitUpTo(Duration::from_secs(5));
    let policy =
        policy("waits", Budget::per_second(10).with_capacity(1), crate::support::patient()).on_exhausted(waits);
    let limiter: SharedLimiter<Account> = SharedLimiter::new(policy.build().unwrap(), server.store()).unwrap();
    let ann = account("ann");
    let begun = std::time::Instant::now();
    for _ in 0..3 {
        assert!(limiter.wait(&ann, 1).await.is_admitted());
    }
    assert!(begun.elapsed() >= Duration::from_millis(199), "{:?}", begun.elapsed());
    let slow = Budget::per_minute(1);
    let policy = crate::support::policy("slow", slow, crate::support::patient()).on_exhausted(waits);
    let limiter: SharedLimiter<Account> = SharedLimiter::new(policy.build().unwrap(), server.store()).unwrap();
    assert!(limiter.wait(&ann, 1).await.is_admitted());
    let begun = std::time::Instant::now();
    let denied = limiter.wait(&ann, 1).await;
    assert!(denied.retry_after() > Some(Duration::from_secs(50)) && begun.elapsed() < Duration::from_secs(4));
}
