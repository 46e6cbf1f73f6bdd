//! A budget changed in use: nothing is minted, nothing is lost, and nothing is retroactive.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use admittance::{Budget, ManualClock, TokenBucket};
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

fn drained(clock: &ManualClock, budget: Budget) -> TokenBucket<&ManualClock> {
    let bucket = TokenBucket::with_clock(budget, clock);
    assert!(bucket.try_acquire(budget.capacity()).is_admitted());
    bucket
}

#[test]
fn a_new_rate_is_not_applied_to_time_already_past() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, Budget::per_second(100));
    clock.advance(50 * MS);
    bucket.set_budget(Budget::per_second(1000));
    clock.advance(50 * MS);
    assert_eq!(bucket.available(), 55);
    bucket.set_budget(Budget::per_second(100));
    clock.advance(50 * MS);
    assert_eq!(bucket.available(), 60);
    assert_eq!(bucket.budget(), Budget::per_second(100));
}

#[test]
fn tokens_in_hand_carry_over_up_to_the_new_capacity() {
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Budget::per_second(100), &clock);
    bucket.set_budget(Budget::per_second(10));
    assert_eq!(bucket.available(), 10);
    bucket.set_budget(Budget::per_second(100));
    assert_eq!(bucket.available(), 10, "more room is not more tokens");
}

#[test]
fn debt_carries_over() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, Budget::per_second(100));
    assert_eq!(bucket.debit(30), 30);
    bucket.set_budget(Budget::per_second(10));
    assert_eq!(bucket.try_acquire(1).retry_after(), Some(Duration::from_millis(3100)));
    // 30 tokens of debt are more than the new capacity of 10: none of them is forgiven.
    bucket.refund(25);
    assert_eq!(bucket.try_acquire(1).retry_after(), Some(Duration::from_millis(600)));
}

#[test]
fn a_part_of_a_token_carries_over_between_awkward_rates() {
    let clock = ManualClock::new();
    // 7 per 3 s is exact, 999 983 a second is not.
    let bucket = drained(&clock, Budget::new(7, 7, Duration::from_secs(3)).unwrap());
    clock.advance(Duration::from_nanos(214_285_714)); // half a token
    bucket.set_budget(Budget::per_second(999_983));
    let wait = bucket.try_acquire(1).retry_after().unwrap();
    assert!(wait.abs_diff(Duration::from_nanos(500)) <= Duration::from_nanos(1), "{wait:?}");
    clock.advance(Duration::from_nanos(501));
    assert!(bucket.try_acquire(1).is_admitted());
    assert!(bucket.try_acquire(1).is_denied());
}

#[test]
fn a_reservation_made_before_a_change_is_given_back_after_it() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, Budget::per_second(10));
    let reservation = bucket.reserve(4).admitted().unwrap();
    bucket.set_budget(Budget::per_second(100));
    assert_eq!(bucket.try_acquire(1).retry_after(), Some(50 * MS));
    drop(reservation);
    assert_eq!(bucket.try_acquire(1).retry_after(), Some(10 * MS));
}

#[test]
fn any_number_of_changes_ends_at_the_same_level() {
    let clock = ManualClock::new();
    let bucket = drained(&clock, Budget::per_second(10));
    for _ in 0..500 {
        bucket.set_budget(Budget::per_second(20));
        clock.advance(MS);
        bucket.set_budget(Budget::per_second(10));
        clock.advance(MS);
    }
    // 0.5 s at 20 and 0.5 s at 10, of which 10 fit.
    assert_eq!(bucket.available(), 10);
    assert!(bucket.try_acquire(10).is_admitted());
    for _ in 0..100 {
        bucket.set_budget(Budget::per_second(20));
        clock.advance(MS);
        bucket.set_budget(Budget::per_second(10));
        clock.advance(MS);
    }
    assert_eq!(bucket.available(), 3, "0.1 s at 20 and 0.1 s at 10");
    assert_eq!(bucket.try_acquire(4).retry_after(), Some(100 * MS));
}

#[test]
fn changes_racing_spends_mint_nothing_and_lose_nothing() {
    let clock = ManualClock::new();
    // Never more than the smaller capacity in it, so that no change cuts anything off.
    let (small, large) = (Budget::per_second(20_000), Budget::new(40_000, 7, Duration::from_secs(3)).unwrap());
    let bucket = TokenBucket::with_clock(small, &clock);
    let (admitted, refunded, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                bucket.set_budget(large);
                bucket.set_budget(small);
            }
        });
        let spenders: Vec<_> = (0..3)
            .map(|number| {
                let (bucket, admitted, refunded) = (&bucket, &admitted, &refunded);
                scope.spawn(move || {
                    for turn in 0..4000 {
                        if bucket.try_acquire(2).is_admitted() {
                            admitted.fetch_add(2, Ordering::Relaxed);
                            if (turn + number) % 5 == 0 {
                                bucket.refund(1);
                                refunded.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        if turn % 16 == 0 {
                            thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        for spender in spenders {
            spender.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let spent = admitted.into_inner() - refunded.into_inner();
    assert_eq!(spent + bucket.available(), 20_000);
}

proptest! {
    /// Against a level kept in floating point, which is good to a billionth of a token here. Each change may drop a part of
    /// a token that the new budget cannot count, less than a nanosecond's worth; an answer is within one nanosecond.
    #[test]
    #[allow(clippy::cast_precision_loss, reason = "far below 2⁵³, and the tolerance is a billionth of a token")]
    fn a_history_of_changes_follows_the_exact_model(
        budgets in prop::collection::vec((1_u64..1000, 1_u64..2000, 1_000_u64..3_000_000_000), 2..6),
        steps in prop::collection::vec((0_u64..500_000_000, 0_u64..30, any::<Option<prop::sample::Index>>()), 1..40),
    ) {
        let budgets: Vec<_> = budgets
            .into_iter()
            .map(|(capacity, tokens, nanos)| Budget::new(capacity, tokens, Duration::from_nanos(nanos)))
            .collect::<Result<_, _>>()
            .unwrap();
        let rate = |budget: &Budget| budget.refill_tokens() as f64 / budget.refill_duration().as_nanos() as f64;
        let clock = ManualClock::new();
        let bucket = TokenBucket::with_clock(budgets[0], &clock);
        let mut budget = budgets[0];
        let (mut level, mut dropped) = (budget.capacity() as f64, 0.0);
        for (pause, cost, change) in steps {
            clock.advance(Duration::from_nanos(pause));
            level = (level + rate(&budget) * pause as f64).min(budget.capacity() as f64);
            if let Some(which) = change {
                let old = std::mem::replace(&mut budget, budgets[which.index(budgets.len())]);
                bucket.set_budget(budget);
                level = level.min(budget.capacity() as f64);
                dropped += rate(&old).max(rate(&budget));
            }
            let off = rate(&budget) + 1e-9;
            let decision = bucket.try_acquire(cost);
            if cost > budget.capacity() {
                prop_assert!(decision.is_never());
            } else if decision.is_admitted() {
                prop_assert!(level + off >= cost as f64, "admitted {cost} of {level}");
                level -= cost as f64;
            } else {
                prop_assert!(level - dropped - off < cost as f64, "denied {cost} of {level}, at most {dropped} dropped");
            }
        }
    }
}
