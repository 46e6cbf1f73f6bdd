//! Callers of one identity who go together.

use std::time::Duration;

use admittance::policy::{OnStoreFailure, Sharing};
use admittance::redis::{DecidedBy, FailureKind, StoreFailure};
use admittance::{Budget, Window};

use crate::support::{Server, account, limiter, patient, some};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_callers_at_once_are_a_few_calls_and_exactly_decided() {
    let server = Server::start();
    let limiter = limiter(&server, Window::per_day(600), patient().batch(some(100)));
    let ann = account("ann");
    let callers: Vec<_> = (0..1_000)
        .map(|_| {
            let (limiter, ann) = (limiter.clone(), ann.clone());
            tokio::spawn(async move { limiter.check(&ann, 1).await })
        })
        .collect();
    let mut admitted = 0;
    for caller in callers {
        let verdict = caller.await.unwrap();
        assert!(*verdict.decided_by() == DecidedBy::Store, "{verdict:?}");
        admitted += u32::from(verdict.is_admitted());
    }
    assert_eq!(admitted, 600);
    assert_eq!(server.get(&limiter.keys_of(&ann)[0]).as_deref(), Some("600"));
    // As many as it takes while they come; once all are there, ten would do.
    let calls = limiter.stats().calls;
    assert!((10..500).contains(&calls), "1000 callers took {calls} calls");
}

#[tokio::test]
async fn costs_of_one_batch_are_decided_in_the_order_in_which_they_came() {
    let server = Server::start();
    let limiter = limiter(&server, Budget::per_day(10), patient().batch(some(100)));
    let ann = account("ann");
    let costs = [1, 4, 6, 5, 1];
    let verdicts = futures_of(&limiter, &ann, &costs).await;
    // Ten: 1 and 4 go, 6 does not, 5 does, and then there is none.
    assert_eq!(verdicts, [true, true, false, true, false]);
    assert_eq!(limiter.stats().calls, 1);
}

/// All at once, on one thread: joined in order.
async fn futures_of(
    limiter: &admittance::redis::SharedLimiter<crate::support::Account>,
    name: &crate::support::Account,
    costs: &[u64],
) -> Vec<bool> {
    let tasks: Vec<_> = costs
        .iter()
        .map(|&cost| {
            let (limiter, name) = (limiter.clone(), name.clone());
            tokio::spawn(async move { limiter.check(&name, cost).await.is_admitted() })
        })
        .collect();
    let mut verdicts = Vec::new();
    for task in tasks {
        verdicts.push(task.await.unwrap());
    }
    verdicts
}

#[tokio::test]
async fn who_gives_up_before_the_call_was_sent_is_not_charged() {
    let server = Server::start();
    let sharing = Sharing::new(OnStoreFailure::Deny).deadline(Duration::from_secs(1)).batch(some(10));
    let limiter = limiter(&server, Window::per_day(100), sharing);
    let ann = account("ann");
    assert!(limiter.check(&ann, 1).await.is_admitted());
    server.run(&["CLIENT", "PAUSE", "3000", "ALL"]).unwrap();
    let first = {
        let (limiter, ann) = (limiter.clone(), ann.clone());
        tokio::spawn(async move { limiter.check(&ann, 2).await })
    };
    // It is under way when the others come, and they give up before it.
    while limiter.stats().calls < 2 {
        tokio::task::yield_now().await;
    }
    for _ in 0..5 {
        let gave_up = tokio::time::timeout(Duration::from_millis(5), limiter.check(&ann, 10)).await;
        assert!(gave_up.is_err());
    }
    let verdict = first.await.unwrap();
    assert_eq!(verdict.degraded().map(StoreFailure::kind), Some(FailureKind::Timeout));
    server.run(&["CLIENT", "UNPAUSE"]).ok();
    // The first was sent, and nobody knows whether it was executed. The five were not.
    let spent = loop {
        // For nothing, so that what is not answered in time is not charged either.
        let verdict = limiter.check(&ann, 0).await;
        if verdict.degraded().is_none() {
            break 100 - verdict.decision().remaining().unwrap();
        }
        tokio::task::yield_now().await;
    };
    assert!(spent == 1 || spent == 3, "1, and perhaps 2: {spent}");
}
