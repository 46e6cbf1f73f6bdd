//! The retry budget.

use std::sync::Arc;

use admittance::retry::{Body, Gate, Outcome, Reason, Safety};
use admittance::{Budget, ManualClock, TokenBucket};

use crate::support::{GET, answer, get, plain, retry_at, s, secs, stops};

fn bucket(clock: &ManualClock) -> Arc<TokenBucket<&ManualClock>> {
    Arc::new(TokenBucket::with_clock(Budget::new(3, 1, secs(10)).unwrap(), clock))
}

#[test]
fn every_attempt_but_the_first_costs_a_token_that_all_callers_share() {
    let clock = ManualClock::new();
    let budget = bucket(&clock);
    let retry = plain(9, secs(100), &clock).budget(Arc::clone(&budget)).build().unwrap();
    for left in [2, 1, 0] {
        let mut call = get(&retry);
        let _ = retry_at(call.ready());
        assert_eq!(budget.available(), left + 1, "the first is free");
        let _ = retry_at(call.after(&answer(503, &["3"])));
        assert_eq!(budget.available(), left);
    }
    // The token comes before the signal would end, or after it.
    assert_eq!(stops(get(&retry).after(&answer(503, &["3"])), Reason::Budget), Some(s(10)));
    assert_eq!(stops(get(&retry).after(&answer(503, &["30"])), Reason::Budget), Some(s(30)));
    clock.set(s(10));
    let _ = retry_at(get(&retry).after(&answer(503, &["3"])));
}

#[test]
fn a_plan_that_stops_costs_nothing() {
    let clock = ManualClock::new();
    let budget = bucket(&clock);
    let gate = Arc::new(Gate::with_clock(8, secs(1), &clock).unwrap());
    let builder = || plain(2, secs(100), &clock).budget(Arc::clone(&budget)).gate(Arc::clone(&gate));
    let retry = builder().longest_wait(secs(50)).build().unwrap();
    for (outcome, reason) in [
        (answer(200, &[]), Reason::Answered),
        (answer(503, &["60"]), Reason::WaitTooLong),
        (answer(503, &["99999999999999999999"]), Reason::WaitTooLong),
    ] {
        let _ = stops(get(&retry).after(&outcome), reason);
    }
    let _ = stops(retry.start(Safety::NotSent, Body::Repeatable).after(&answer(503, &[])), Reason::NotReplayable);
    let _ = stops(retry.start(GET, Body::Once).after(&answer(503, &[])), Reason::BodySpent);
    let _ = stops(get(&builder().build().unwrap()).after(&answer(503, &["100"])), Reason::Deadline);
    assert_eq!((budget.available(), gate.held()), (3, 0));

    let mut call = get(&retry);
    let _ = retry_at(call.after(&answer(503, &["3"])));
    assert_eq!(budget.available(), 2);
    let _ = stops(call.after(&answer(503, &["3"])), Reason::Attempts);
    assert_eq!(budget.available(), 2);
    // Also not the budget's own refusal.
    let _ = budget.try_acquire(2);
    let before = budget.peek(1);
    let _ = stops(get(&retry).after(&Outcome::Lost), Reason::Budget);
    assert_eq!(budget.peek(1), before);
}

#[test]
fn an_attempt_that_the_gate_prevents_gives_its_token_back_once() {
    let clock = ManualClock::new();
    let budget = bucket(&clock);
    let gate = Arc::new(Gate::with_clock(8, secs(1), &clock).unwrap());
    let retry = plain(9, secs(100), &clock).budget(Arc::clone(&budget)).gate(Arc::clone(&gate)).build().unwrap();
    let mut calls = [get(&retry), get(&retry)];
    for call in &mut calls {
        let _ = retry_at(call.after(&answer(503, &["3"])));
    }
    assert_eq!(budget.available(), 1);
    gate.hold(&(), secs(200));
    for _ in 0..3 {
        let _ = stops(calls[0].ready(), Reason::Deadline);
        assert_eq!(budget.available(), 2);
    }
    // One that was sent does not.
    let _ = calls[1].after(&answer(200, &[]));
    let _ = stops(calls[1].ready(), Reason::Answered);
    assert_eq!(budget.available(), 2);
}
