//! Many callers, one budget.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use admittance::redis::{DecidedBy, SharedLimiter};
use admittance::{Budget, Window};
use proptest::test_runner::{Config, TestRunner};
use tokio::sync::Barrier;

use crate::support::{Account, Server, account, limiter, patient};

/// Sixteen callers at once, each as a process of its own; how many were admitted and denied.
async fn sixteen(name: &str, limiters: &[SharedLimiter<Account>]) -> (u32, u32) {
    let barrier = Arc::new(Barrier::new(limiters.len()));
    let callers: Vec<_> = limiters
        .iter()
        .enumerate()
        .map(|(number, limiter)| {
            let (limiter, name, barrier) = (limiter.clone(), account(name), Arc::clone(&barrier));
            // Some later than others, and each time others: up to about the time of a call.
            let late = RandomState::new().hash_one(number) % 400;
            tokio::spawn(async move {
                barrier.wait().await;
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_micros(late) {
                    tokio::task::yield_now().await;
                }
                let verdict = limiter.check(&name, 1).await;
                assert_eq!(verdict.degraded(), None);
                assert!(*verdict.decided_by() == DecidedBy::Store);
                (verdict.is_admitted(), verdict.retry_after())
            })
        })
        .collect();
    let (mut admitted, mut denied) = (0, 0);
    for caller in callers {
        let (is_admitted, retry_after) = caller.await.unwrap();
        if is_admitted {
            admitted += 1;
        } else {
            denied += 1;
            assert!(retry_after.unwrap() > Duration::ZERO);
        }
    }
    (admitted, denied)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixteen_callers_and_a_window_of_five_five_are_admitted_and_eleven_denied() {
    let server = Server::start();
    // A window of a day ends once a day; this test takes seconds.
    let limiters: Vec<_> = (0..16).map(|_| limiter(&server, Window::per_day(5), patient())).collect();
    for round in 0..1_000 {
        let name = format!("caller {round}");
        assert_eq!(sixteen(&name, &limiters).await, (5, 11), "round {round}");
        if round % 100 == 0 {
            let [key] = &limiters[0].keys_of(&account(&name))[..] else { panic!("one policy has one key") };
            assert_eq!(server.get(key).as_deref(), Some("5"));
            let expires = server.number(&["PTTL", key]);
            assert!(expires > 0 && expires <= 86_400_000, "{expires}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixteen_callers_and_a_bucket_of_five_five_are_admitted_and_eleven_denied() {
    let server = Server::start();
    let budget = Budget::per_day(1).with_capacity(5);
    let limiters: Vec<_> = (0..16).map(|_| limiter(&server, budget, patient())).collect();
    for round in 0..200 {
        let name = format!("caller {round}");
        assert_eq!(sixteen(&name, &limiters).await, (5, 11), "round {round}");
        let [key] = &limiters[0].keys_of(&account(&name))[..] else { panic!("one policy has one key") };
        let expires = server.number(&["PTTL", key]);
        assert!((4 * 86_400_000..=5 * 86_400_000 + 1).contains(&expires), "full again in five days: {expires}");
    }
}

/// A denial's wait is the smallest after which the store admits: a microsecond before, it does not.
#[tokio::test]
async fn the_told_wait_is_the_stores() {
    let server = Server::start();
    let limiter = limiter(&server, Budget::per_second(1), patient());
    let ann = account("ann");
    let first = limiter.check(&ann, 1).await;
    assert!(first.is_admitted(), "{first:?}");
    for _ in 0..3 {
        let verdict = limiter.check(&ann, 1).await;
        let wait = verdict.retry_after().expect("a token takes a second");
        assert!(wait <= Duration::from_secs(1), "{wait:?}");
        tokio::time::sleep(wait).await;
        assert!(limiter.check(&ann, 1).await.is_admitted(), "after {wait:?}");
    }
}

#[tokio::test]
async fn a_cost_above_the_capacity_is_never_and_asks_nobody() {
    let server = Server::start();
    let limiter = limiter(&server, Budget::per_second(5), patient());
    let verdict = limiter.check(&account("ann"), 6).await;
    assert!(verdict.decision().is_never() && *verdict.decided_by() == DecidedBy::Capacity);
    assert_eq!((limiter.stats().calls, server.calls_of("evalsha") + server.calls_of("eval")), (0, 0));
}

#[tokio::test]
async fn a_denial_and_a_cost_of_nothing_write_nothing() {
    let server = Server::start();
    let limiter = limiter(&server, Budget::per_day(3), patient());
    let ann = account("ann");
    assert_eq!(limiter.check(&ann, 0).await.decision().remaining(), Some(3));
    assert_eq!(server.number(&["DBSIZE"]), 0);
    assert_eq!(limiter.check(&ann, 3).await.decision().remaining(), Some(0));
    let [key] = &limiter.keys_of(&ann)[..] else { panic!("one policy has one key") };
    let before = server.get(key);
    for _ in 0..20 {
        assert!(limiter.check(&ann, 2).await.decision().is_denied());
    }
    assert_eq!(server.get(key), before);
    assert_eq!(server.calls_of("set"), 1);
}

/// Budgets of any size under any number of callers: never more than the capacity of one instant.
#[test]
fn never_more_than_the_capacity() {
    let server = Server::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let round = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config { cases: 40, failure_persistence: None, ..Config::default() });
    runner
        .run(&(1_u64..50, 1_usize..20, 1_u64..4), |(capacity, callers, cost)| {
            round.set(round.get() + 1);
            let name = account(&format!("caller {}", round.get()));
            let limiters: Vec<_> =
                (0..2).map(|_| limiter(&server, Budget::per_day(1).with_capacity(capacity), patient())).collect();
            let admitted = runtime.block_on(async {
                let callers: Vec<_> = (0..callers * 4)
                    .map(|number| {
                        let (limiter, name) = (limiters[number % 2].clone(), name.clone());
                        tokio::spawn(async move { limiter.check(&name, cost).await.is_admitted() })
                    })
                    .collect();
                let mut admitted = 0;
                for caller in callers {
                    admitted += u64::from(caller.await.unwrap());
                }
                admitted
            });
            assert_eq!(admitted, (capacity / cost).min(callers as u64 * 4));
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn a_refund_gives_back_to_what_it_was_spent_of_once() {
    let server = Server::start();
    for sharing in [patient(), patient().lease(100, Duration::from_secs(60))] {
        let limiter = limiter(&server, Window::per_day(1_000), sharing);
        let name = account(&format!("{sharing:?}"));
        for _ in 0..3 {
            let verdict = limiter.check(&name, 5).await;
            assert!(verdict.is_admitted());
            limiter.refund(&name, 5, &verdict).await;
        }
        limiter.give_back_leases().await;
        assert_eq!(limiter.check(&name, 0).await.decision().remaining(), Some(1_000));
        let denied = limiter.check(&name, 1_001).await;
        limiter.refund(&name, 1_001, &denied).await;
        assert!(limiter.check(&name, 1_000).await.is_admitted() && !limiter.check(&name, 1).await.is_admitted());
    }
}
