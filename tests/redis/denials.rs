//! Denials that are remembered.

use std::time::Duration;

use admittance::Budget;
use admittance::redis::DecidedBy;

use crate::support::{Server, account, limiter, patient};

#[tokio::test]
async fn a_denial_is_remembered_for_whoever_it_still_holds_for_and_nobody_else() {
    let server = Server::start();
    let limiter = limiter(&server, Budget::per_hour(1).with_capacity(10), patient().remember_denials());
    let ann = account("ann");
    assert!(limiter.check(&ann, 8).await.is_admitted());
    let denied = limiter.check(&ann, 5).await;
    assert!(denied.decision().is_denied() && *denied.decided_by() == DecidedBy::Store);
    let calls = server.calls_of("evalsha");
    // For more than was asked for, the wait is longer; for less that is not there either, shorter.
    let mut waits = Vec::new();
    for cost in [3, 5, 10] {
        let denied = limiter.check(&ann, cost).await;
        assert!(*denied.decided_by() == DecidedBy::Memory, "{cost}");
        waits.push(denied.retry_after().unwrap().as_secs_f64() / 3_600.0);
    }
    for (wait, hours) in waits.iter().zip([1.0, 3.0, 8.0]) {
        assert!((hours - wait).abs() < 0.01, "{wait} and {hours}");
    }
    assert_eq!(server.calls_of("evalsha"), calls);
    // Who asks for what is there is admitted, and who asks for nothing hears of it.
    assert!(limiter.check(&ann, 2).await.is_admitted());
    assert_eq!(limiter.check(&ann, 0).await.decision().remaining(), Some(0));
    assert!(limiter.check(&account("bob"), 10).await.is_admitted());
}

#[tokio::test]
async fn it_is_forgotten_when_its_wait_is_over_and_the_store_admits_then() {
    let server = Server::start();
    let limiter = limiter(&server, Budget::per_second(1), patient().remember_denials());
    let ann = account("ann");
    assert!(limiter.check(&ann, 1).await.is_admitted());
    for _ in 0..3 {
        let told = limiter.check(&ann, 1).await;
        let again = limiter.check(&ann, 1).await;
        let (Some(wait), Some(left)) = (told.retry_after(), again.retry_after()) else { panic!("{told:?}, {again:?}") };
        assert!(*again.decided_by() == DecidedBy::Memory && left <= wait && wait <= Duration::from_secs(1));
        tokio::time::sleep(wait).await;
        let verdict = limiter.check(&ann, 1).await;
        assert!(verdict.is_admitted(), "{verdict:?} after {wait:?}");
    }
}

#[tokio::test]
async fn memory_is_bounded_and_who_finds_no_room_is_decided_all_the_same() {
    let server = Server::start();
    // One seat in each of 64 parts.
    let policy = crate::support::policy("few", Budget::per_hour(1), patient().remember_denials())
        .keys(64, admittance::Overflow::Deny)
        .build()
        .unwrap();
    let limiter: admittance::redis::SharedLimiter<crate::support::Account> =
        admittance::redis::SharedLimiter::new(policy, server.store()).unwrap();
    for number in 0..300 {
        let name = account(&number.to_string());
        assert!(limiter.check(&name, 1).await.is_admitted());
        assert!(!limiter.check(&name, 1).await.is_admitted());
        assert!(!limiter.check(&name, 1).await.is_admitted());
    }
    let seats = limiter.stats().seats;
    assert!((50..=64).contains(&seats), "{seats}");
}
