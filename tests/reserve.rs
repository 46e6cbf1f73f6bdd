//! Reservations: promised instants in order, and tokens given back exactly once.

use std::time::Duration;

use admittance::{Budget, Decision, ManualClock, Reservation, TokenBucket};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn drained(clock: &ManualClock, capacity: u64, per_second: u64) -> TokenBucket<&ManualClock> {
    let budget = Budget::new(capacity, per_second, Duration::from_secs(1)).unwrap();
    let bucket = TokenBucket::with_clock(budget, clock);
    assert!(bucket.try_acquire(capacity).is_admitted());
    bucket
}

fn reserved<C: admittance::Clock>(bucket: &TokenBucket<C>, n: u64) -> Reservation<'_, C> {
    bucket.reserve(n).admitted().expect("there is room to reserve")
}

#[test]
fn instants_are_promised_in_the_order_of_asking() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, 10, 10);
    let first = reserved(&bucket, 1);
    let large = reserved(&bucket, 6);
    let last = reserved(&bucket, 3);
    assert_eq!([first.at(), large.at(), last.at()], [SECOND / 10, 7 * SECOND / 10, SECOND]);
    // A whole capacity is promised: the next one is told when there is room, and that instant is exact.
    let denied = bucket.reserve(2).retry_after().unwrap();
    assert_eq!(denied, Duration::from_millis(200));
    clock.set(200_000_000 - 1);
    assert!(bucket.reserve(2).is_denied());
    clock.set(200_000_000);
    assert_eq!(reserved(&bucket, 2).at(), 12 * SECOND / 10);
    first.commit();
    large.commit();
    last.commit();
}

#[test]
fn a_reservation_within_the_level_may_go_at_once() {
    let clock = ManualClock::at(5);
    let bucket = TokenBucket::with_clock(Budget::per_second(10), &clock);
    let now = reserved(&bucket, 10);
    assert_eq!((now.at(), now.wait(), now.tokens()), (5, Duration::ZERO, 10));
    now.commit();
    assert_eq!(bucket.available(), 0);
}

#[test]
fn a_reservation_for_more_than_the_capacity_is_never() {
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Budget::per_second(10), &clock);
    assert!(bucket.reserve(11).is_never());
    assert!(bucket.reserve_until(u64::MAX, u64::MAX).is_never());
    assert_eq!(bucket.available(), 10);
}

#[test]
fn who_waits_goes_before_who_tries() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, 10, 10);
    let waiting = reserved(&bucket, 5);
    clock.set(waiting.at());
    assert!(bucket.try_acquire(1).is_denied(), "the refill up to now is the waiter's");
    waiting.commit();
    clock.advance(Duration::from_millis(100));
    assert!(bucket.try_acquire(1).is_admitted());
}

#[test]
fn a_deadline_is_decided_before_anything_is_spent() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, 10, 10);
    let late = bucket.reserve_until(5, SECOND / 2 - 1);
    let Decision::Denied(denial) = late else { panic!("{late:?}") };
    assert_eq!((denial.retry_at(), denial.retry_after()), (SECOND / 2, Duration::from_millis(500)));
    assert_eq!(reserved(&bucket, 1).at(), SECOND / 10, "nothing was spent by the refusal");
    let in_time = bucket.reserve_until(5, SECOND / 2).admitted().expect("the deadline itself is in time");
    assert_eq!(in_time.at(), SECOND / 2);
}

#[test]
fn a_deadline_in_the_past_is_now() {
    let clock = ManualClock::at(SECOND);
    let bucket = TokenBucket::with_clock(Budget::per_second(10), &clock);
    assert!(bucket.reserve_until(10, 0).is_admitted());
}

#[test]
fn a_deadline_beyond_the_debt_names_when_it_could_go() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, 10, 10);
    bucket.debit(10);
    // One more token is there at 1.1 s, though it cannot be reserved before 0.1 s.
    let Decision::Denied(denial) = bucket.reserve_until(1, 2 * SECOND) else { panic!() };
    assert_eq!(denial.retry_at(), 11 * SECOND / 10);
}

#[test]
fn cancelled_in_any_order_the_level_is_what_it_would_have_been() {
    // In order, in reverse, the middle one first: after all are back the bucket is as if nobody had asked.
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] {
        let clock = ManualClock::new();
        let bucket = drained(&clock, 10, 10);
        let mut all: Vec<_> = [2, 3, 4].into_iter().map(|n| Some(reserved(&bucket, n))).collect();
        clock.advance(Duration::from_millis(150));
        for place in order {
            all[place] = None;
        }
        assert_eq!(bucket.available(), 1, "{order:?}");
        assert_eq!(bucket.try_acquire(2).retry_after(), Some(Duration::from_millis(50)), "{order:?}");
    }
}

#[test]
fn a_middle_cancel_frees_just_its_own() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, 10, 10);
    let (first, middle, last) = (reserved(&bucket, 2), reserved(&bucket, 3), reserved(&bucket, 4));
    middle.cancel();
    assert_eq!((first.at(), last.at()), (SECOND / 5, 9 * SECOND / 10), "what was promised stays promised");
    assert_eq!(reserved(&bucket, 1).at(), 7 * SECOND / 10, "6 reserved and 1 more");
}

#[test]
fn a_committed_reservation_gives_nothing_back() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, 10, 10);
    reserved(&bucket, 4).commit();
    drop(reserved(&bucket, 4));
    assert_eq!(bucket.try_acquire(1).retry_after(), Some(Duration::from_millis(500)));
}

proptest! {
    #[test]
    fn any_order_of_cancels_and_commits_conserves_tokens(
        costs in prop::collection::vec(1_u64..=20, 1..20),
        fates in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 20),
        capacity in 20_u64..500,
        p in 1_u64..2000,
    ) {
        let clock = ManualClock::new();
        let budget = Budget::new(capacity, p, Duration::from_secs(1)).unwrap();
        let bucket = TokenBucket::with_clock(budget, &clock);
        let mut held: Vec<_> = costs.iter().filter_map(|&n| bucket.reserve(n).admitted()).collect();
        let mut committed = 0;
        for (which, commit) in fates {
            if held.is_empty() {
                break;
            }
            let one = held.swap_remove(which.index(held.len()));
            if commit {
                committed += one.tokens();
                one.commit();
            }
        }
        drop(held);
        // No time has passed: what is missing is what was committed.
        let level = i128::from(capacity) - i128::from(committed);
        if level >= 0 {
            prop_assert_eq!(i128::from(bucket.available()), level);
        } else {
            prop_assert_eq!(bucket.available(), 0);
            let owed = Duration::from_nanos(u64::try_from((1 - level) * 1_000_000_000).unwrap().div_ceil(p));
            let wait = bucket.try_acquire(1).retry_after().unwrap();
            prop_assert!(wait.abs_diff(owed) <= Duration::from_nanos(1), "{wait:?} {owed:?}");
        }
    }
}
