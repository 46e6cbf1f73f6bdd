//! One test for each way in which a token bucket has gone wrong before, here or in a well-known one, named by it.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use admittance::bucket::{Word, step};
use admittance::{Budget, Clock, Decision, ManualClock, Resolution, TokenBucket, Window, budget::HORIZON, window};

const SECOND: u64 = 1_000_000_000;

fn budget(capacity: u64, tokens: u64, nanos: u64) -> Budget {
    Budget::new(capacity, tokens, Duration::from_nanos(nanos)).unwrap_or_else(|error| panic!("{error}"))
}

fn bucket(budget: Budget, clock: &ManualClock) -> TokenBucket<&ManualClock> {
    TokenBucket::with_clock(budget, clock)
}

fn wait(decision: Decision) -> u64 {
    let Decision::Denied(denial) = decision else { panic!("{decision:?} is no denial") };
    denial.retry_after_nanos()
}

/// How many of `calls` for one token pass at this instant.
fn admitted(bucket: &TokenBucket<impl Clock>, calls: usize) -> usize {
    (0..calls).filter(|_| bucket.try_acquire(1).is_admitted()).count()
}

/// A third of a second is no whole number of nanoseconds. Rounded down, the caller comes back and is denied again.
#[test]
fn a_wait_one_nanosecond_short_is_denied_again() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(1, 3, SECOND), &clock);
    assert!(bucket.try_acquire(1).is_admitted());
    assert_eq!(wait(bucket.try_acquire(1)), 333_333_334);
    clock.set(333_333_333);
    assert_eq!(wait(bucket.try_acquire(1)), 1);
    clock.set(333_333_334);
    assert!(bucket.try_acquire(1).is_admitted());
}

/// A whole number of nanoseconds per token turns 600 million a second (5/3 ns) into a billion, or into half of one.
#[test]
fn six_hundred_million_a_second_is_not_a_billion() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(600_000_000, 600_000_000, SECOND), &clock);
    assert!(bucket.try_acquire(600_000_000).is_admitted());
    for (now, there) in [(1, 0), (2, 1), (3, 1), (4, 2), (5, 3), (1000, 600), (SECOND, 600_000_000)] {
        clock.set(now);
        assert_eq!(bucket.available(), there, "after {now} ns");
    }
}

/// As above for slow refills: 7 per 3 s is not one in 428 571 428 ns, which gains a token in 38 days of them.
#[test]
fn a_whole_number_of_nanoseconds_per_token_drifts() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(8_000_000, 7, 3 * SECOND), &clock);
    assert!(bucket.try_acquire(8_000_000).is_admitted());
    clock.set(3 * SECOND * 1_000_000);
    assert_eq!(bucket.available(), 7_000_000);
    clock.set(3 * SECOND * 1_000_000 - 1);
    assert_eq!(bucket.available(), 6_999_999);
}

/// Cost times the time of a token, in 64 bits of nanoseconds or 53 of a float, is not always there.
#[test]
fn a_cost_that_overflows_a_narrow_product_is_admitted() {
    let clock = ManualClock::at(30 * 365 * 86_400 * SECOND);
    for budget in [budget(2, 1, 3600 * SECOND), budget(1 << 48, 250_000, SECOND), budget(1 << 48, 999_983, SECOND)] {
        let bucket = bucket(budget, &clock);
        assert_eq!(bucket.try_acquire(budget.capacity()).remaining(), Some(0), "{budget}");
        assert!(bucket.try_acquire(1).is_denied(), "{budget}");
    }
}

#[test]
fn a_cost_that_overflows_every_product_is_never() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(1 << 48, 10_000_000_000, SECOND), &clock);
    for cost in [(1 << 48) + 1, u64::MAX / 2, u64::MAX] {
        assert!(bucket.try_acquire(cost).is_never(), "{cost}");
    }
    assert_eq!(bucket.available(), 1 << 48);
}

/// Each answer is one of three to every question one can ask of it.
#[test]
fn a_denial_that_says_how_long_is_taken_for_an_admission() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(3, 1, SECOND), &clock);
    let is = |decision: Decision| (decision.is_admitted(), decision.is_denied(), decision.is_never());
    let tells = |decision: Decision| (decision.remaining(), decision.retry_after());
    let admitted = bucket.try_acquire(2);
    assert_eq!((is(admitted), tells(admitted)), ((true, false, false), (Some(1), None)));
    let denied = bucket.try_acquire(2);
    assert_eq!((is(denied), tells(denied)), ((false, true, false), (None, Some(Duration::from_secs(1)))));
    let never = bucket.try_acquire(4);
    assert_eq!((is(never), tells(never)), ((false, false, true), (None, None)));
    assert!(admitted != denied && denied != never);
    // Equal is what tells the same: two admissions or two denials are not.
    assert!(admitted != bucket.peek(1) && admitted == bucket.peek(0));
    assert!(denied != bucket.peek(3) && denied == bucket.peek(2));
    assert_eq!(
        format!("{admitted:?}, {denied:?}"),
        "Admitted(Permit { remaining: 1 }), Denied(Denial { retry_after: 1s })"
    );
    assert!(format!("{bucket:?}").starts_with("TokenBucket { budget: Budget { capacity: 3,"));
}

/// No wait helps a cost above the capacity, so none may be named.
#[test]
fn a_cost_above_the_capacity_is_told_to_come_back() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(3, 3, 2 * SECOND), &clock);
    assert_eq!(bucket.try_acquire(4), Decision::Never);
    assert_eq!(bucket.try_acquire(4).retry_after(), None);
    assert_eq!(bucket.try_acquire(3).remaining(), Some(0), "and nothing was spent");
}

/// Clamping what an idle spell brings to the capacity, and not the sum, lets the rest through on top.
#[test]
fn a_clamp_lets_seventeen_through_a_burst_of_ten() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(10, 1, SECOND), &clock);
    assert_eq!(admitted(&bucket, 3), 3);
    clock.set(8_900_000_000);
    assert_eq!(admitted(&bucket, 20), 10);
    clock.set(9_899_999_999);
    assert_eq!(admitted(&bucket, 20), 0, "the fraction above full went too");
    clock.set(9_900_000_000);
    assert_eq!(admitted(&bucket, 20), 1);
}

#[test]
fn a_denied_call_consumes() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(3, 1, SECOND), &clock);
    assert!(bucket.try_acquire(2).is_admitted());
    for _ in 0..100 {
        assert_eq!(wait(bucket.try_acquire(2)), SECOND);
    }
    assert!(bucket.try_acquire(1).is_admitted());
}

/// A bucket that moves its timestamp at every call and rounds what has come back since never refills when polled fast.
#[test]
fn elapsed_time_is_lost_when_polling_fast() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(1, 1, SECOND), &clock);
    assert!(bucket.try_acquire(1).is_admitted());
    let mut denials = 0;
    while bucket.try_acquire(1).is_denied() {
        denials += 1;
        assert!(denials < 1_000_000, "a token never comes back");
        let _ = (bucket.peek(1), bucket.available());
        bucket.debit(0);
        bucket.refund(0);
        clock.advance(Duration::from_nanos(1999));
    }
    assert_eq!(denials, SECOND.div_ceil(1999));
}

/// Spends that come late do not move the refill: time is counted from the grid of tokens, not from the last spend.
#[test]
fn the_fraction_of_a_token_is_lost_at_each_spend() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(3, 1, 10 * SECOND), &clock);
    assert!(bucket.try_acquire(3).is_admitted());
    clock.set(25 * SECOND);
    assert_eq!(bucket.try_acquire(1).remaining(), Some(1));
    clock.set(29 * SECOND);
    assert_eq!(wait(bucket.try_acquire(2)), SECOND);
    clock.set(30 * SECOND);
    assert_eq!(bucket.try_acquire(2).remaining(), Some(0));
}

/// Where a token is no whole number of ticks, a burst at an odd instant comes out one short, or one over.
#[test]
fn a_burst_at_an_odd_instant_is_one_short() {
    for now in [0, 1, 12_345, 987_654_321, HORIZON - 1, HORIZON] {
        let clock = ManualClock::at(now);
        for budget in [budget(20, 1_000_003, SECOND), budget(333, 333, 60 * SECOND), budget(20, 7, 3 * SECOND)] {
            let bucket = bucket(budget, &clock);
            assert_eq!(admitted(&bucket, 1000) as u64, budget.capacity(), "{budget} at {now}");
        }
    }
}

/// Spending at a later instant, the clock stepping back, and spending again: what lay between is not given twice.
#[test]
fn a_clock_that_steps_back_mints_tokens() {
    let clock = ManualClock::at(100 * SECOND);
    let bucket = bucket(budget(10, 1, SECOND), &clock);
    assert_eq!(admitted(&bucket, 20), 10);
    clock.set(50 * SECOND);
    assert_eq!(admitted(&bucket, 20), 0);
    assert_eq!(bucket.available(), 0);
    clock.set(103 * SECOND);
    assert_eq!(admitted(&bucket, 20), 3, "as if it had never stepped");
}

#[test]
fn a_clock_that_steps_back_blocks_for_longer_than_the_step() {
    let clock = ManualClock::at(100 * SECOND);
    let bucket = bucket(budget(10, 1, SECOND), &clock);
    assert_eq!(admitted(&bucket, 10), 10);
    clock.set(99 * SECOND);
    assert_eq!(wait(bucket.try_acquire(1)), 2 * SECOND, "the step, and the token's own second");
    // In a debit's case too: its bound is the clock's, so it cannot pile debt upon debt.
    assert_eq!(bucket.debit(1000), 9);
    clock.set(109 * SECOND);
    assert_eq!(wait(bucket.try_acquire(1)), SECOND);
}

/// A refund of two capacities was taken for one that fills any bucket. A bucket whose clock stepped back is further
/// down than that, and what was minted by the refund was given to whoever called before the clock had caught up.
#[test]
fn a_refund_behind_the_clock_fills_the_bucket() {
    let clock = ManualClock::at(10 * SECOND);
    let bucket = bucket(budget(2, 1, SECOND), &clock);
    assert_eq!(bucket.debit(4), 4);
    clock.set(5 * SECOND);
    bucket.refund(4);
    assert_eq!(bucket.available(), 0);
    assert_eq!(wait(bucket.try_acquire(1)), 4 * SECOND);
    clock.set(10 * SECOND);
    assert_eq!(admitted(&bucket, 9), 2);
}

#[test]
fn a_refund_past_full_is_kept_for_later() {
    let clock = ManualClock::at(5 * SECOND);
    let bucket = bucket(budget(10, 1, SECOND), &clock);
    for refund in [1, 10, 20, 21, u64::MAX] {
        bucket.refund(refund);
        assert_eq!(admitted(&bucket, 50), 10, "after a refund of {refund}");
        bucket.refund(10);
    }
}

/// Full is full at the caller's own clock: what a refund brings past that is not there for a clock that is behind.
#[test]
fn a_refund_past_full_is_given_to_a_clock_that_is_behind() {
    let clock = ManualClock::at(100 * SECOND);
    let bucket = bucket(budget(10, 1, SECOND), &clock);
    assert!(bucket.try_acquire(1).is_admitted());
    bucket.refund(20);
    clock.set(95 * SECOND);
    assert_eq!(admitted(&bucket, 20), 5);
    clock.set(100 * SECOND);
    assert_eq!(admitted(&bucket, 20), 5);
}

/// A word moved forward by a refund would take from callers whose clocks are behind, moved back it would give to them.
#[test]
fn a_refund_to_a_full_bucket_moves_it() {
    let budget = budget(10, 1, SECOND);
    for now in [0, SECOND, 100 * SECOND] {
        assert_eq!(step::refund(Word::FULL, 5, now, &budget), Word::FULL);
    }
    let (spent, _) = step::debit(Word::FULL, 10, 5 * SECOND, &budget);
    assert_eq!(step::refund(spent, 3, 50 * SECOND, &budget), spent);
}

#[test]
fn a_debit_without_a_bound_closes_the_bucket_for_ever() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(10, 1, SECOND), &clock);
    assert_eq!(bucket.debit(u64::MAX), 20);
    assert_eq!((bucket.debit(1), bucket.available()), (0, 0));
    assert_eq!(wait(bucket.try_acquire(10)), 20 * SECOND);
    clock.set(10 * SECOND);
    assert_eq!(bucket.available(), 0, "the debt is paid, and no more");
    clock.set(11 * SECOND);
    assert_eq!(bucket.available(), 1);
}

#[test]
fn a_cost_of_nothing_waits_for_a_bucket_in_debt() {
    let clock = ManualClock::new();
    let bucket = bucket(budget(10, 1, SECOND), &clock);
    bucket.debit(20);
    assert_eq!(bucket.try_acquire(0).remaining(), Some(0));
}

/// Wrapping timestamps meet their old values again: a bucket that was idle long enough looks freshly drained, or twice
/// full.
#[test]
fn an_idle_bucket_wraps_around() {
    let year = 365 * 86_400 * SECOND;
    for budget in [budget(10, 1, SECOND), budget(10, 999_983, SECOND), budget(10, 15, 1), budget(1, 1, 86_400 * SECOND)]
    {
        for idle in [1 << 32, 1 << 48, year, 30 * year, HORIZON - SECOND] {
            let clock = ManualClock::new();
            let bucket = bucket(budget, &clock);
            assert_eq!(admitted(&bucket, 20) as u64, budget.capacity());
            clock.set(idle.max(10 * 86_400 * SECOND));
            assert_eq!(admitted(&bucket, 20) as u64, budget.capacity(), "{budget} after {idle} ns");
        }
    }
}

/// Two variables that must agree let the first callers after an idle spell share a token, and so does a plain store for
/// the swap. One word and one swap cannot.
#[test]
fn the_first_callers_of_an_idle_bucket_share_a_token() {
    const CALLS: usize = 10_000;
    let clock = ManualClock::new();
    let bucket = bucket(budget(2 * CALLS as u64, 1000, SECOND), &clock);
    let start = Barrier::new(4);
    for round in 0..5 {
        clock.advance(Duration::from_secs(1000));
        let total: usize = thread::scope(|scope| {
            let call = || {
                start.wait();
                admitted(&bucket, CALLS)
            };
            let callers: Vec<_> = (0..4).map(|_| scope.spawn(call)).collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).sum()
        });
        assert_eq!(total, 2 * CALLS, "round {round}");
    }
}

/// Times beyond the horizon count as the horizon. Without that the product of time and rate wraps, and opens the bucket.
#[test]
fn times_counted_from_1970_wrap() {
    let clock = ManualClock::at(1_760_000_000 * SECOND);
    let bucket = bucket(Budget::per_second(10), &clock);
    assert_eq!(admitted(&bucket, 20), 10);
    clock.advance(Duration::from_secs(3600));
    assert_eq!(admitted(&bucket, 20), 0);
    assert_eq!(wait(bucket.try_acquire(1)), u64::MAX, "no wait helps");
    clock.set(u64::MAX);
    assert_eq!(admitted(&bucket, 20), 0);
}

/// A promise that ends past the horizon is none.
#[test]
fn a_wait_past_the_horizon_is_promised() {
    let clock = ManualClock::at(HORIZON - SECOND);
    let bucket = bucket(budget(2, 1, SECOND), &clock);
    assert_eq!(admitted(&bucket, 5), 2);
    assert_eq!(wait(bucket.try_acquire(1)), SECOND, "the last instant there is");
    assert_eq!(wait(bucket.try_acquire(2)), u64::MAX);
    clock.set(HORIZON);
    assert_eq!(admitted(&bucket, 5), 1);
}

/// A trace may be longer than a limiter lasts. An epoch that moves by more than the horizon moves by all of it.
#[test]
fn a_new_epoch_beyond_the_horizon_forgets_the_time_past_it() {
    let budget = budget(30, 1, 365 * 86_400 * SECOND);
    let (empty, _) = step::debit(Word::FULL, 30, 0, &budget);
    let (empty, charged) = step::debit(empty, 18, 1 << 59, &budget);
    assert_eq!((charged, step::available(empty, 1 << 59, &budget)), (18, 0));
    for (by, there) in [(1 << 59, 0), (HORIZON, 18), (1 << 61, 30), (1 << 63, 30), (u64::MAX, 30)] {
        assert_eq!(step::available(step::rebase(empty, by, &budget), 0, &budget), there, "moved by {by}");
    }
}

/// 49 tokens in 74 years and 214 days make a rate of 3 ticks a nanosecond, less a part in 10¹⁸: rounded to 60 bits it is
/// 3, and the budget was called exact. It is a nanosecond off after four and a half years.
#[test]
fn a_rate_that_rounds_to_a_whole_number_is_called_exact() {
    let almost = budget(21, 49, 2_353_881_405_238_979_243);
    let clock = ManualClock::new();
    let bucket = bucket(almost, &clock);
    assert!(bucket.try_acquire(21).is_admitted());
    let exact = (3 * 2_353_881_405_238_979_243_u128).div_ceil(49);
    let got = u128::from(wait(bucket.try_acquire(3)));
    assert!(got == exact || almost.resolution() == Resolution::WithinOneNanosecond, "{got}, exactly {exact}");
    assert!(got.abs_diff(exact) <= 1);
}

/// A hair below 16 tokens a nanosecond left no room for any capacity, and the error blamed the duration of a token.
#[test]
fn a_refill_that_is_too_fast_is_called_too_slow() {
    let duration = Duration::from_nanos(1 << 59);
    let error = Budget::new(1, (1 << 63) - 1, duration).unwrap_err();
    assert_eq!(error.field(), "refill tokens");
    assert!(Budget::new(1, error.bound().unwrap(), duration).is_ok());
}

/// The everyday constructors failed well below the bound that their documentation gave.
#[test]
fn the_fastest_refill_has_no_room_for_its_own_capacity() {
    assert_eq!(Budget::per_second(15 * SECOND).capacity(), 15 * SECOND);
    assert_eq!(Budget::per_day(86_400 * 15 * SECOND).capacity(), 86_400 * 15 * SECOND);
}

/// A word of a window with a higher limit, met by a lower one: the difference is not what is left.
#[test]
fn a_window_whose_limit_was_lowered_has_all_the_more_left() {
    let (high, low) = (Window::per_second(7), Window::per_second(5));
    let step::Step::Spend { next, .. } = window::step::acquire(Word::FULL, 7, 0, &high) else { panic!("7 of 7") };
    assert!(window::step::acquire(next, 1, 0, &low).decision().is_denied());
    assert_eq!(window::step::acquire(next, 0, 0, &low).decision().remaining(), Some(0));
    // And a window number that another length wrote ends nowhere, rather than in a wrapped product.
    let last = Word::from_bits(u64::MAX);
    assert_eq!(wait(window::step::acquire(last, 1, 0, &low).decision()), u64::MAX);
}

/// A refund to a key whose bucket was forgotten, by a clock from before that, was given to the bucket that newcomers share.
#[cfg(feature = "std")]
#[test]
fn a_late_refund_to_a_forgotten_key_is_given_to_strangers() {
    use admittance::{Keyed, Overflow};

    let clock = ManualClock::new();
    // One group of four slots: all keys may have all of them.
    let table = Keyed::<u64>::builder(budget(2, 1, 10), 1, Overflow::Share).build_with_clock(&clock).unwrap();
    let permit = table.check(&0, 1).admitted().unwrap();
    clock.set(100);
    for key in 0..4 {
        assert!(table.check(&(1 + key), 2).is_admitted());
    }
    clock.set(105);
    for key in 5..8 {
        assert_eq!(table.check(&key, 2).is_admitted(), key == 5, "drained: the shared bucket of whoever finds no room");
    }
    let before = table.stats();
    clock.set(95);
    table.refund(&0, 1, &permit);
    clock.set(105);
    assert!(table.check(&8, 1).is_denied());
    assert_eq!(table.stats().overflowed, before.overflowed + 1, "the refund asked for no room");
}

/// Past the horizon time stands still; a bucket that was full *then* was one in the deepest debt.
#[test]
fn who_comes_past_the_horizon_finds_a_bucket_in_debt() {
    let rule = admittance::Rule::from(Budget::per_second(10));
    for now in [HORIZON, HORIZON + 1, u64::MAX] {
        assert!(rule.is_full(rule.full(now), now));
        assert_eq!(rule.available(rule.full(now), now), 10);
    }
}
