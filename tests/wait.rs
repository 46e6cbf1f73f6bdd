//! Waiting: threads and tasks go in the order in which they asked, and a wait that cannot end in time does not begin.
#![cfg(feature = "tokio")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use admittance::{Budget, Clock, ManualClock, TokenBucket, TscClock};
use tokio::time::Instant;

/// tokio's own clock, which stands still and jumps under `start_paused`.
struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap()
    }
}

fn bucket(capacity: u64, per_second: u64) -> Arc<TokenBucket<TokioClock>> {
    let budget = Budget::new(capacity, per_second, Duration::from_secs(1)).unwrap();
    Arc::new(TokenBucket::with_clock(budget, TokioClock(Instant::now())))
}

#[tokio::test(start_paused = true)]
async fn a_thousand_tasks_go_in_the_order_they_asked() {
    let bucket = bucket(1000, 500);
    assert!(bucket.try_acquire(1000).is_admitted());
    let start = Instant::now();
    let order = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..1000)
        .map(|number| {
            let (bucket, order) = (Arc::clone(&bucket), Arc::clone(&order));
            tokio::spawn(async move {
                assert!(bucket.wait_async(1).await.is_admitted());
                order.lock().unwrap().push((number, start.elapsed()));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let order = order.lock().unwrap();
    for (place, &(number, at)) in order.iter().enumerate() {
        assert_eq!(place, number);
        assert_eq!(at, Duration::from_millis(2) * (u32::try_from(number).unwrap() + 1));
    }
}

#[tokio::test(start_paused = true)]
async fn small_costs_do_not_starve_a_large_one() {
    let bucket = bucket(100, 100);
    assert!(bucket.try_acquire(100).is_admitted());
    let start = Instant::now();
    let large = tokio::spawn({
        let bucket = Arc::clone(&bucket);
        async move {
            assert!(bucket.wait_async(50).await.is_admitted());
            start.elapsed()
        }
    });
    tokio::task::yield_now().await;
    let small: Vec<_> = (0..50)
        .map(|_| {
            let bucket = Arc::clone(&bucket);
            tokio::spawn(async move {
                assert!(bucket.wait_async(1).await.is_admitted());
                start.elapsed()
            })
        })
        .collect();
    let large = large.await.unwrap();
    assert_eq!(large, Duration::from_millis(500));
    for task in small {
        assert!(task.await.unwrap() > large);
    }
}

#[tokio::test(start_paused = true)]
async fn more_waiters_than_a_capacity_all_go_and_none_too_early() {
    let bucket = bucket(3, 10);
    assert!(bucket.try_acquire(3).is_admitted());
    let start = Instant::now();
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let bucket = Arc::clone(&bucket);
            tokio::spawn(async move {
                assert!(bucket.wait_async(1).await.is_admitted());
                start.elapsed()
            })
        })
        .collect();
    let mut went = Vec::new();
    for task in tasks {
        went.push(task.await.unwrap());
    }
    went.sort();
    for (tokens, at) in went.into_iter().enumerate() {
        let earliest = Duration::from_millis(100) * (u32::try_from(tokens).unwrap() + 1);
        assert!(at >= earliest, "token {tokens} went at {at:?}");
        // tokio wakes up to a millisecond late, and a late waiter may have to ask a few times.
        assert!(at <= earliest + Duration::from_millis(100), "token {tokens} went at {at:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_cannot_end_in_time_stops_at_once_and_spends_nothing() {
    let bucket = bucket(10, 10);
    assert!(bucket.try_acquire(10).is_admitted());
    let start = Instant::now();
    let late = bucket.wait_async_within(5, Duration::from_millis(499)).await;
    assert_eq!(late.retry_after(), Some(Duration::from_millis(500)));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(bucket.wait_async_until(11, u64::MAX).await.is_never());
    assert!(bucket.wait_async_within(5, Duration::from_millis(500)).await.is_admitted());
    assert_eq!(start.elapsed(), Duration::from_millis(500));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_wait_gives_its_tokens_back_once() {
    let bucket = bucket(10, 10);
    assert!(bucket.try_acquire(10).is_admitted());
    let abandoned = tokio::time::timeout(Duration::from_millis(200), bucket.wait_async(10)).await;
    assert!(abandoned.is_err());
    assert_eq!(bucket.available(), 2);
    assert_eq!(bucket.try_acquire(3).retry_after(), Some(Duration::from_millis(100)));
}

#[test]
fn threads_wait_for_real_and_never_go_early() {
    let budget = Budget::new(1, 1, Duration::from_millis(2)).unwrap();
    let bucket = TokenBucket::with_clock(budget, TscClock::new());
    let first = bucket.clock().now();
    let went: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    assert!(bucket.wait(1).is_admitted());
                    bucket.clock().now()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut went = went;
    went.sort_unstable();
    for (tokens, at) in (0_u64..).zip(went) {
        assert!(at >= first + tokens * 2_000_000, "token {tokens} went {} ns after the first call", at - first);
    }
}

#[test]
fn a_thread_that_cannot_wait_long_enough_does_not_sleep() {
    // On a clock that stands still a sleep would never end.
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Budget::per_second(1), &clock);
    assert!(bucket.wait(1).is_admitted());
    assert_eq!(bucket.wait_within(1, Duration::from_millis(999)).retry_after(), Some(Duration::from_secs(1)));
    assert_eq!(bucket.wait_until(1, 0).retry_after(), Some(Duration::from_secs(1)));
    assert!(bucket.wait_within(2, Duration::MAX).is_never());
    clock.set(1_000_000_000);
    assert!(bucket.wait_until(1, 1_000_000_000).is_admitted(), "the refusals spent nothing");
}
