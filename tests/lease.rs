//! Leases: nothing is admitted that was not debited, and nothing debited is lost.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use admittance::{Budget, Decision, Lease, ManualClock, TokenBucket};
use proptest::prelude::*;

fn bucket(clock: &ManualClock, capacity: u64, per_second: u64) -> TokenBucket<&ManualClock> {
    TokenBucket::with_clock(Budget::new(capacity, per_second, Duration::from_secs(1)).unwrap(), clock)
}

#[test]
fn one_take_serves_as_many_as_the_lease_is_large() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock, 100, 1);
    let lease = bucket.lease(10);
    assert_eq!(bucket.available(), 100, "a lease starts empty");
    for left in (0..10).rev() {
        assert_eq!(lease.try_acquire(1).remaining(), Some(left));
        assert_eq!(bucket.available(), 90);
    }
    assert_eq!(lease.try_acquire(1).remaining(), Some(9));
    assert_eq!(bucket.available(), 80);
}

#[test]
fn near_exhaustion_it_takes_what_there_is() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock, 13, 1);
    let lease = bucket.lease(10);
    let admitted = (0..20).filter(|_| lease.try_acquire(1).is_admitted()).count();
    assert_eq!(admitted, 13);
    assert_eq!(lease.try_acquire(1).retry_after(), Some(Duration::from_secs(1)));
}

#[test]
fn a_denied_call_leaves_what_is_in_hand_and_names_the_wait_for_the_rest() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock, 10, 1);
    let lease = bucket.lease(4);
    assert!(lease.try_acquire(1).is_admitted());
    assert!(bucket.try_acquire(6).is_admitted());
    assert_eq!(lease.try_acquire(7).retry_after(), Some(Duration::from_secs(4)), "three in hand, four missing");
    assert_eq!(lease.held(), 3);
    clock.advance(Duration::from_secs(4));
    assert_eq!(lease.try_acquire(7).remaining(), Some(0));
}

#[test]
fn a_cost_above_the_capacity_is_never() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock, 10, 1);
    let lease = bucket.lease(u64::MAX);
    assert!(lease.try_acquire(11).is_never());
    assert!(lease.try_acquire(u64::MAX).is_never());
    assert!(lease.try_acquire(10).is_admitted());
    assert!(lease.try_acquire(0).is_admitted());
}

#[test]
fn what_has_aged_goes_back_before_anything_is_spent() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock, 10, 1);
    let lease = bucket.lease(5).max_age(Duration::from_millis(100));
    assert!(lease.try_acquire(1).is_admitted());
    clock.advance(Duration::from_millis(100));
    assert_eq!(lease.try_acquire(1).remaining(), Some(3), "as old as they may be");
    clock.advance(Duration::from_millis(1));
    assert!(lease.try_acquire(9).is_denied(), "eight are left, wherever they are");
    assert_eq!(lease.try_acquire(8).remaining(), Some(0));
}

#[test]
fn it_gives_back_on_drop_and_when_told() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock, 10, 1);
    {
        let lease = bucket.lease(5);
        assert!(lease.try_acquire(2).is_admitted());
        lease.give_back();
        assert_eq!((lease.held(), bucket.available()), (0, 8));
        lease.give_back();
        assert_eq!(bucket.available(), 8, "once");
        assert!(lease.try_acquire(1).is_admitted());
    }
    assert_eq!(bucket.available(), 7);
}

#[test]
fn threads_with_leases_are_admitted_the_capacity_between_them() {
    static CLOCK: ManualClock = ManualClock::new();
    let budget = Budget::new(10_000, 1, Duration::from_secs(1)).unwrap();
    let bucket = Arc::new(TokenBucket::with_clock(budget, &CLOCK));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let lease = Lease::new(Arc::clone(&bucket), 64);
            thread::spawn(move || (0..5000).filter(|_| lease.try_acquire(1).is_admitted()).count())
        })
        .collect();
    let admitted: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    // A lease may hold the last tokens while another is denied; once all are dropped they are back.
    assert_eq!(admitted as u64 + bucket.available(), 10_000);
    assert!(admitted > 10_000 - 4 * 64);
}

proptest! {
    /// The bound of the module's page, in any window: capacity + refill · t + what was held when it began, whether or not
    /// tokens age.
    #[test]
    fn no_window_admits_more_than_the_bound(
        capacity in 1_u64..200,
        rate in 1_u64..1000,
        sizes in prop::collection::vec(1_u64..100, 1..4),
        age_ms in prop::option::of(1_u64..50),
        calls in prop::collection::vec((any::<prop::sample::Index>(), 1_u64..8, 0_u64..20_000_000), 1..200),
    ) {
        let clock = ManualClock::new();
        let bucket = bucket(&clock, capacity, rate);
        let leases: Vec<_> = sizes
            .iter()
            .map(|&size| match age_ms {
                Some(age) => bucket.lease(size).max_age(Duration::from_millis(age)),
                None => bucket.lease(size),
            })
            .collect();
        // Time, tokens admitted at it, tokens held by all leases just before it.
        let mut log = Vec::new();
        let mut now = 0;
        for (which, cost, pause) in calls {
            now += pause;
            clock.set(now);
            let held: u64 = leases.iter().map(Lease::held).sum();
            let admitted = leases[which.index(leases.len())].try_acquire(cost).is_admitted();
            log.push((now, if admitted { cost } else { 0 }, held));
        }
        let refill = |nanos: u64| (u128::from(rate) * u128::from(nanos)).div_ceil(1_000_000_000);
        for from in 0..log.len() {
            let mut sum = 0;
            for &(at, cost, _) in &log[from..] {
                sum += u128::from(cost);
                let (began, _, held) = log[from];
                let bound = u128::from(capacity) + refill(at - began) + u128::from(held);
                prop_assert!(sum <= bound, "{sum} in {} ns, bound {bound}", at - began);
            }
        }
        // Conservation: what was debited was admitted or comes back. Nobody else called, so the bucket ends as if each
        // admission had been made directly, at the latest at its own time.
        drop(leases);
        let admitted: u64 = log.iter().map(|&(_, cost, _)| cost).sum();
        let least = i128::from(capacity) - i128::from(admitted);
        prop_assert!(i128::from(bucket.available()) >= least);
    }

    #[test]
    fn at_one_instant_nothing_is_lost_and_nothing_made(
        capacity in 1_u64..500,
        sizes in prop::collection::vec(1_u64..100, 1..5),
        calls in prop::collection::vec((any::<prop::sample::Index>(), 1_u64..8, any::<bool>()), 1..200),
    ) {
        let clock = ManualClock::new();
        let bucket = bucket(&clock, capacity, 1);
        let leases: Vec<_> = sizes.iter().map(|&size| bucket.lease(size)).collect();
        let mut admitted = 0;
        for (which, cost, direct) in calls {
            let lease = &leases[which.index(leases.len())];
            let decision = if direct { bucket.try_acquire(cost) } else { lease.try_acquire(cost) };
            if let Decision::Admitted(_) = decision {
                admitted += cost;
            }
            let held: u64 = leases.iter().map(Lease::held).sum();
            prop_assert_eq!(admitted + held + bucket.available(), capacity);
        }
        drop(leases);
        prop_assert_eq!(admitted + bucket.available(), capacity);
    }
}
