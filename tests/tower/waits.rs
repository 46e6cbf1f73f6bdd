//! Requests that wait for their tokens.

use std::sync::Arc;
use std::time::Duration;

use admittance::identity::Account;
use admittance::policy::{IdentityKind, OnExhausted};
use admittance::tower::{RateLimitLayer, from_extension};
use admittance::{Budget, Clock, Limiter};
use tokio::time::Instant;

use crate::support::{Front, policy, request};

/// The time of the test's runtime, which moves on when everybody waits.
struct RuntimesTime(Instant);

impl Clock for RuntimesTime {
    fn now(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_as_long_as_the_policy_says_and_no_longer() {
    let waits = policy("waits", IdentityKind::Account, Budget::per_second(2).with_capacity(1))
        .on_exhausted(OnExhausted::WaitUpTo(Duration::from_millis(700)))
        .build()
        .unwrap();
    let limiter: Limiter<Account, _> = Limiter::with_clock(waits, RuntimesTime(Instant::now())).unwrap();
    let layer = RateLimitLayer::new(Arc::new(limiter), from_extension::<Account>()).unwrap();
    let begun = Instant::now();
    let mut front = Front::of(&layer);
    assert_eq!((front.status(request("/", Some("ann"), None)).await, begun.elapsed()), (200, Duration::ZERO));
    assert_eq!(front.status(request("/", Some("ann"), None)).await, 200);
    let waited = begun.elapsed();
    assert!((500..=502).contains(&waited.as_millis()), "{waited:?}");

    // Three at once: one is next, and for the others half a second is not enough, as they find out then.
    let three: Vec<_> = (0..3)
        .map(|_| {
            let mut front = Front::of(&layer);
            tokio::spawn(async move { (front.status(request("/", Some("ann"), None)).await, begun.elapsed()) })
        })
        .collect();
    let mut statuses = Vec::new();
    for one in three {
        let (status, at) = one.await.unwrap();
        assert!(at < Duration::from_millis(1_250), "no wait that cannot end in time is begun: {at:?}");
        statuses.push(status);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 429, 429]);
}
