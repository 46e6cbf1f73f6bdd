//! The bucket against a naive one in big integers: any budget, any costs, any times.
//!
//! `PROPTEST_CASES=100000 cargo test --release --test exactness` looks further than the everyday run.

mod oracle;
#[path = "oracle/strategies.rs"]
mod strategies;

use std::time::Duration;

use admittance::bucket::step::{self, Step};
use admittance::bucket::{AtomicWord, Word};
use admittance::{Budget, ManualClock, Resolution, TokenBucket};
use num_bigint::BigInt;
use oracle::{Answer, Follower, HORIZON, drive, nanos};
use proptest::prelude::*;
use strategies::{SECOND, YEAR, any_size, budget, cases, cost, history, span, start};

fn answer(word: Word, n: u64, now: u64, budget: &Budget) -> Answer {
    step::acquire(word, n, now, budget).decision().into()
}

/// Spends what must be there.
fn spend(word: Word, n: u64, now: u64, budget: &Budget) -> Word {
    match step::acquire(word, n, now, budget) {
        Step::Spend { next, .. } => next,
        Step::Keep(decision) => panic!("{n} at {now} of {budget:?}: {decision:?}"),
    }
}

/// A bucket in any state: what calls up to `now` left, and `now`.
fn state() -> impl Strategy<Value = (Budget, Word, u64)> {
    budget().prop_flat_map(|budget| {
        let calls = prop::collection::vec((cost(budget.capacity()), span(&budget), 0..4), 0..6);
        (Just(budget), start(), calls).prop_map(|(budget, start, calls)| {
            let (mut word, mut now) = (Word::FULL, start);
            for (n, by, kind) in calls {
                word = match (kind, step::acquire(word, n, now, &budget)) {
                    (0, _) => step::debit(word, n, now, &budget).0,
                    (1, _) => step::refund(word, n, now, &budget),
                    (_, Step::Spend { next, .. }) => next,
                    (_, Step::Keep(_)) => word,
                };
                now = now.saturating_add(by);
            }
            (budget, word, now)
        })
    })
}

proptest! {
    #![proptest_config(cases(1000))]

    /// Every answer of every layer, through spends, denials, refunds, debits, idle spells and clocks that step back.
    /// `drive` also holds every denial to its promise, and every call that spends nothing to writing nothing.
    #[test]
    fn any_history_is_the_one_of_the_exact_bucket((budget, start, ops) in history(40)) {
        prop_assert_eq!(drive(budget, start, &ops), Ok(()));
    }

    #[test]
    fn a_denial_is_denied_one_nanosecond_before_the_promised_instant_and_admitted_at_it(
        ((budget, word, now), n) in state().prop_flat_map(|state| (Just(state), 1..=state.0.capacity())),
    ) {
        if let Answer::Denied(wait) = answer(word, n, now, &budget) {
            prop_assert!(wait > 0);
            if wait == u64::MAX {
                prop_assert!(matches!(answer(word, n, HORIZON, &budget), Answer::Denied(_)));
            } else {
                prop_assert_eq!(answer(word, n, now + wait - 1, &budget), Answer::Denied(1));
                prop_assert!(matches!(answer(word, n, now + wait, &budget), Answer::Admitted(_)));
            }
        }
    }

    #[test]
    fn a_denied_call_leaves_every_later_answer_as_it_was(
        ((budget, word, now), n, later) in state().prop_flat_map(|state| {
            (Just(state), cost(state.0.capacity()), span(&state.0))
        }),
    ) {
        let clock = ManualClock::at(now);
        let asked = AtomicWord::new();
        // The word gets its state by the loop's own swap: the everyday type shows no word.
        let permit = step::acquire(Word::FULL, 0, 0, &budget);
        if let Step::Keep(admittance::Decision::Admitted(permit)) = permit {
            let _ = asked.apply(|_| Step::Spend { next: word, permit });
        }
        let decision = asked.try_acquire(n, now, &budget);
        if !decision.is_admitted() || n == 0 {
            prop_assert_eq!(asked.load(), word);
            let later = clock.advance(Duration::from_nanos(later));
            prop_assert_eq!(asked.available(later, &budget), step::available(word, later, &budget));
        }
    }

    /// Whatever the rate, the instant, and how the burst is cut.
    #[test]
    fn a_burst_from_full_is_the_capacity_exactly(
        budget in budget(), now in start(), cuts in prop::collection::vec(any_size(), 0..12),
    ) {
        let (mut word, mut left) = (Word::FULL, budget.capacity());
        for cut in cuts {
            let n = cut % (left + 1);
            left -= n;
            prop_assert_eq!(answer(word, n, now, &budget), Answer::Admitted(left));
            word = if n == 0 { word } else { spend(word, n, now, &budget) };
            prop_assert_eq!(step::available(word, now, &budget), left);
            if left < budget.capacity() {
                prop_assert!(matches!(answer(word, left + 1, now, &budget), Answer::Denied(_)));
            }
        }
        prop_assert_eq!(answer(word, left, now, &budget), Answer::Admitted(0));
        word = if left == 0 { word } else { spend(word, left, now, &budget) };
        prop_assert!(matches!(answer(word, 1, now, &budget), Answer::Denied(_)));
        prop_assert_eq!(answer(word, budget.capacity() + 1, now, &budget), Answer::Never);
    }

    #[test]
    fn a_refilled_bucket_bursts_to_its_capacity_again((budget, word, now) in state()) {
        if let Answer::Denied(wait @ ..HORIZON) = answer(word, budget.capacity(), now, &budget) {
            let word = spend(word, budget.capacity(), now + wait, &budget);
            prop_assert_eq!(step::available(word, now + wait, &budget), 0);
            prop_assert!(matches!(answer(word, 1, now + wait, &budget), Answer::Denied(_)));
        }
    }

    /// From 1 ns to 30 years: what has come back is what the exact bucket got back, and never more than a capacity.
    #[test]
    fn an_idle_spell_brings_back_what_the_refill_says(
        (budget, idle) in budget().prop_flat_map(|budget| (Just(budget), span(&budget))), now in 0..6 * YEAR,
    ) {
        let mut follower = Follower::new(&budget);
        let word = spend(Word::FULL, budget.capacity(), now, &budget);
        prop_assert_eq!(follower.acquired(budget.capacity(), now, Answer::Admitted(0)), Ok(()));
        let available = step::available(word, now + idle, &budget);
        prop_assert!(available <= budget.capacity());
        prop_assert_eq!(follower.available(now + idle, available), Ok(()));
    }

    #[test]
    fn a_refund_never_goes_past_full_and_undoes_a_spend(
        ((budget, word, now), n, m) in state().prop_flat_map(|state| {
            (Just(state), 1..=state.0.capacity(), any::<u64>())
        }),
    ) {
        let overfull = step::refund(word, m, now, &budget);
        prop_assert!(overfull <= word, "a refund takes nothing");
        prop_assert!(step::available(overfull, now, &budget) <= budget.capacity());
        let full = step::refund(word, u64::MAX, now, &budget);
        prop_assert_eq!(answer(full, budget.capacity(), now, &budget), Answer::Admitted(0));
        let empty = spend(full, budget.capacity(), now, &budget);
        prop_assert!(matches!(answer(empty, 1, now, &budget), Answer::Denied(_)), "a refund past full is kept");
        if let Step::Spend { next, .. } = step::acquire(word, n, now, &budget) {
            let back = step::refund(next, n, now, &budget);
            prop_assert_eq!(step::available(back, now, &budget), step::available(word, now, &budget));
        }
    }

    /// Debt is one capacity at most; what is charged is what goes; and the bound is reached, not only kept.
    #[test]
    fn a_debit_goes_one_capacity_into_debt_and_no_further((budget, word, now) in state(), n in any_size()) {
        let before = step::available(word, now, &budget);
        let (next, charged) = step::debit(word, n, now, &budget);
        prop_assert!(charged <= n && charged >= n.min(before));
        prop_assert_eq!(step::available(next, now, &budget), before - charged.min(before));
        let (deepest, rest) = step::debit(next, u64::MAX, now, &budget);
        prop_assert_eq!(step::debit(deepest, u64::MAX, now, &budget), (deepest, 0));
        let whole = u128::from(charged) + u128::from(rest);
        prop_assert!(whole <= 2 * u128::from(budget.capacity()));
        if before == budget.capacity() {
            prop_assert_eq!(whole, 2 * u128::from(budget.capacity()));
        }
        // Out of debt again when the refill has paid it, in exact terms `2 · capacity · d / p` nanoseconds at most.
        if let Answer::Denied(wait) = answer(deepest, budget.capacity(), now, &budget) {
            let fill = 2 * u128::from(budget.capacity()) * u128::from(nanos(budget.refill_duration()));
            let most = fill.div_ceil(u128::from(budget.refill_tokens())) + 1;
            prop_assert!(wait == u64::MAX || u128::from(wait) <= most, "{} > {}", wait, most);
        } else {
            prop_assert!(false, "a bucket in the deepest debt is not full");
        }
    }

    #[test]
    fn past_the_horizon_what_is_left_can_be_spent_and_nothing_comes_back((budget, word, _) in state(), late in any_size()) {
        let later = HORIZON.saturating_add(late);
        let left = step::available(word, HORIZON, &budget);
        prop_assert_eq!(step::available(word, later, &budget), left);
        let empty = if left == 0 { word } else { spend(word, left, later, &budget) };
        prop_assert_eq!(answer(empty, 1, later, &budget), Answer::Denied(u64::MAX));
        prop_assert_eq!(answer(empty, 1, u64::MAX, &budget), Answer::Denied(u64::MAX));
    }

    #[test]
    fn a_word_is_its_two_digits(budget in budget(), bits in any_size(), digits in (any_size(), any_size())) {
        let word = Word::from_bits(bits);
        let (tokens, timestamp) = word.unpack(&budget);
        prop_assert!(timestamp < budget.ticks_per_token());
        prop_assert_eq!(Word::pack(tokens, timestamp, &budget), Some(word));
        prop_assert_eq!(word.bits(), bits);
        // The other way round, and nothing packs that would not come back.
        let (tokens, timestamp) = digits;
        match Word::pack(tokens, timestamp, &budget) {
            Some(word) => prop_assert_eq!(word.unpack(&budget), digits),
            None => prop_assert!(
                timestamp >= budget.ticks_per_token()
                    || u128::from(tokens) * u128::from(budget.ticks_per_token()) + u128::from(timestamp)
                        > u128::from(u64::MAX)
            ),
        }
    }

    /// A reading of time in ticks, which the word of a spend shows, is off by less than a tick and a half, and a tick is
    /// half a nanosecond at most: from that the one nanosecond of a scaled budget follows. An exact one is off by nothing.
    #[test]
    fn a_reading_of_time_is_off_by_less_than_a_tick_and_a_half(budget in budget(), before in any_size()) {
        let now = HORIZON.saturating_sub(before);
        let (token, capacity) = (budget.ticks_per_token(), budget.capacity());
        let reading = spend(Word::FULL, capacity, now, &budget).bits() - capacity * token;
        // Twice the error, over the denominator of the refill.
        let (p, d) = (BigInt::from(budget.refill_tokens()), BigInt::from(nanos(budget.refill_duration())));
        let error = (BigInt::from(reading) * &d - BigInt::from(token) * &p * now) * 2;
        if budget.resolution() == Resolution::Exact {
            prop_assert_eq!(error, BigInt::ZERO);
        } else {
            prop_assert!(error > &d * -3 && error <= d, "twice the error: {error} / {d}");
            prop_assert!(p * token >= d * 2, "a nanosecond is fewer than two ticks");
        }
    }

    /// The digits mean what the page on the word says: whole tokens handed out since the epoch, where nothing refilled.
    #[test]
    fn the_upper_digit_counts_the_tokens_handed_out_at_the_epoch(
        (budget, n) in budget().prop_flat_map(|budget| (Just(budget), 1..=budget.capacity())),
    ) {
        let word = spend(Word::FULL, n, 0, &budget);
        prop_assert_eq!(word.unpack(&budget), (n, 0));
    }

    /// Exact for an exact budget; for the others later by a tick at most, which a nanosecond covers, and never earlier.
    #[test]
    fn a_new_epoch_changes_no_answer(
        ((budget, word, last), n, by, after) in state().prop_flat_map(|state| {
            (Just(state), cost(state.0.capacity()), span(&state.0), span(&state.0))
        }),
    ) {
        let by = last.saturating_add(by).min(HORIZON);
        // Past the horizon a new epoch opens the bucket again, which is what it is for.
        let now = by.saturating_add(after).min(HORIZON);
        let moved = step::rebase(word, by, &budget);
        let (old, new) = (answer(word, n, now, &budget), answer(moved, n, now - by, &budget));
        let (old_left, new_left) = (step::available(word, now, &budget), step::available(moved, now - by, &budget));
        if let (Answer::Denied(u64::MAX), Answer::Denied(wait)) = (old, new) {
            // Only the horizon moves.
            prop_assert!(wait > HORIZON - now);
        } else if budget.resolution() == Resolution::Exact {
            prop_assert_eq!((old, old_left), (new, new_left));
        } else {
            let when = |answer| match answer {
                Answer::Admitted(_) => 0,
                Answer::Denied(wait) => wait,
                Answer::Never => u64::MAX,
            };
            prop_assert!(when(old) == when(new) || when(old).checked_add(1) == Some(when(new)), "{old:?}, then {new:?}");
            prop_assert!(new_left <= old_left && old_left <= step::available(moved, now - by + 1, &budget));
        }
    }
}

/// Polls `calls` times, `every` nanoseconds apart, for one token; counts. The refill is slower than the polls and the
/// capacity 2 at least, so nothing overflows, and the exact bucket gives its k-th token after the burst at the first poll at or after `k · nanos / tokens`: each admission
/// is checked, and so is the total.
fn poll(budget: Budget, every: u64, calls: u64) {
    let (p, d) = (u128::from(budget.refill_tokens()), u128::from(nanos(budget.refill_duration())));
    assert!(u128::from(every) * p < d && budget.capacity() >= 2);
    let slack = u128::from(budget.resolution() == Resolution::WithinOneNanosecond);
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(budget, &clock);
    let mut admitted = 0_u64;
    for call in 0..calls {
        let now = u128::from(call * every);
        if bucket.try_acquire(1).is_admitted() {
            admitted += 1;
            let after_burst = u128::from(admitted.saturating_sub(budget.capacity()));
            assert!(after_burst * d <= (now + slack) * p, "token {admitted} of {budget:?} is early at {now}");
        } else {
            let next = u128::from(admitted + 1 - budget.capacity());
            assert!(next * d > now.saturating_sub(slack) * p, "token {} of {budget:?} is late at {now}", admitted + 1);
        }
        clock.advance(Duration::from_nanos(every));
    }
    let end = u128::from((calls - 1) * every);
    let exact = |at: u128| u128::from(budget.capacity()) + at * p / d;
    let span = exact(end - slack)..=exact(end + slack);
    assert!(span.contains(&admitted.into()), "{admitted} admitted of {budget:?}, exactly {span:?}");
}

#[test]
fn a_million_polls_at_seven_per_three_seconds_drift_by_nothing() {
    poll(Budget::new(3, 7, Duration::from_secs(3)).unwrap(), 1999, 1_000_000);
}

#[test]
fn a_million_polls_at_a_prime_rate_drift_by_nothing() {
    poll(Budget::new(2, 999_983, Duration::from_secs(1)).unwrap(), 499, 1_000_000);
    poll(Budget::new(40, 333, Duration::from_secs(60)).unwrap(), 1_000_003, 250_000);
}

/// As above, over weeks: the errors of a million separate spends would add up to far more than a nanosecond.
#[test]
fn a_million_spends_of_any_cost_drift_by_nothing() {
    for (tokens, per) in [(999_983, SECOND), (7, 3 * SECOND), (10_000_000_019, 7 * SECOND)] {
        // Twice what is ever asked for at once, so that the bucket never fills.
        let budget = Budget::new(2 * tokens, tokens, Duration::from_nanos(per)).unwrap();
        let slack = u128::from(budget.resolution() == Resolution::WithinOneNanosecond);
        let (p, d) = (u128::from(tokens), u128::from(per));
        let mut word = spend(Word::FULL, 2 * tokens, 0, &budget);
        let (mut now, mut spent) = (0, 0_u128);
        for call in 0..1_000_000_u64 {
            // To when so many tokens are due, half a second further on average.
            let n = (call * 7919) % tokens + 1;
            spent += u128::from(n);
            let Answer::Denied(wait) = answer(word, n, now, &budget) else { panic!("{n} were due early, at {now}") };
            now += wait;
            let exact = (spent * d).div_ceil(p);
            assert!(u128::from(now).abs_diff(exact) <= slack, "{spent} of {budget:?}: at {now}, exactly {exact}");
            word = spend(word, n, now, &budget);
        }
    }
}
