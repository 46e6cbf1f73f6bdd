//! The scripts against the core's own steps, and at the edges of what they count.

use std::time::Duration;

use admittance::bucket::Word;
use admittance::bucket::step::{self, Step};
use admittance::{Budget, Decision, Resolution, Window, window};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::Server;
use crate::support::script::{Scripts, wait};

/// Tokens per microseconds, as the script takes them, and the same budget of the core's.
fn budget() -> impl Strategy<Value = ([u64; 3], Budget)> {
    (1_u64..2_000, 1_u64..15, 1_u64..3_000_000).prop_filter_map("exact in the core", |(capacity, tokens, micros)| {
        let budget = Budget::new(capacity, tokens, Duration::from_micros(micros)).ok()?;
        // Reduced, as the limiter reduces it.
        let divisor = (1..=tokens).rev().find(|by| tokens % by == 0 && micros % by == 0)?;
        let (p, d) = (tokens / divisor, micros / divisor);
        (budget.resolution() == Resolution::Exact).then_some(([p, d, capacity * d], budget))
    })
}

/// Steps in time and costs: some at once, some after about as long as a token takes, some after ages.
fn calls() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let after = prop_oneof![Just(0), 0_u64..2_000, 0_u64..3_000_000, 0_u64..3_000_000_000];
    prop::collection::vec((after, prop_oneof![0_u64..4, 0_u64..2_000]), 1..40)
}

fn config() -> Config {
    Config { cases: 150, failure_persistence: None, ..Config::default() }
}

#[test]
fn the_script_decides_as_the_core_does() {
    let server = Server::start();
    let scripts = std::cell::RefCell::new((Scripts::of(&server), 0_u64));
    let start = scripts.borrow_mut().0.tomorrow();
    let strategy = (budget(), calls());
    TestRunner::new(config())
        .run(&strategy, |((terms, budget), calls)| {
            let (scripts, number) = &mut *scripts.borrow_mut();
            *number += 1;
            let key = format!("bucket {number}");
            let (mut word, mut micros) = (Word::FULL, 0);
            for (after, cost) in calls {
                micros += after;
                let decision = match step::acquire(word, cost, micros * 1_000, &budget) {
                    Step::Spend { next, permit } => {
                        word = next;
                        Decision::Admitted(permit)
                    }
                    Step::Keep(decision) => decision,
                };
                if decision.is_never() {
                    continue;
                }
                let (taken, answer) = scripts.spend_one(start + micros, &key, terms, cost);
                prop_assert_eq!(taken, decision.is_admitted());
                match decision {
                    Decision::Admitted(permit) => {
                        prop_assert_eq!((terms[2] - answer.states[0].0) / terms[1], permit.remaining());
                    }
                    Decision::Denied(denial) => {
                        // The first microsecond that is not before it.
                        prop_assert_eq!(wait(&answer, terms, cost), denial.retry_after_nanos().div_ceil(1_000));
                    }
                    Decision::Never => {}
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_window_is_counted_as_the_core_does() {
    let server = Server::start();
    let scripts = std::cell::RefCell::new((Scripts::of(&server), 0_u64));
    let strategy = (1_u64..50, 1_u64..5_000, prop::collection::vec((0_u64..4_000_000, 0_u64..60), 1..40));
    let tomorrow = scripts.borrow_mut().0.tomorrow();
    TestRunner::new(config())
        .run(&strategy, |(limit, millis, calls)| {
            let (scripts, number) = &mut *scripts.borrow_mut();
            *number += 1;
            let (key, length) = (format!("window {number}"), millis * 1_000);
            let start = tomorrow.next_multiple_of(length);
            let core = Window::new(limit, Duration::from_millis(millis)).unwrap();
            let (mut word, mut micros) = (Word::FULL, 0);
            for (after, cost) in calls {
                micros += after;
                let decision = match window::step::acquire(word, cost, micros * 1_000, &core) {
                    Step::Spend { next, permit } => {
                        word = next;
                        Decision::Admitted(permit)
                    }
                    Step::Keep(decision) => decision,
                };
                if decision.is_never() {
                    continue;
                }
                let (taken, answer) = scripts.spend_one(start + micros, &key, [0, limit, length], cost);
                prop_assert_eq!(taken, decision.is_admitted(), "{:?}", answer);
                let (spent, ends) = answer.states[0];
                match decision {
                    Decision::Admitted(permit) => prop_assert_eq!(limit - spent, permit.remaining()),
                    Decision::Denied(denial) => {
                        prop_assert_eq!((ends - answer.now) * 1_000, denial.retry_after_nanos());
                    }
                    Decision::Never => {}
                }
            }
            Ok(())
        })
        .unwrap();
}

/// A change of budget, by a deployment or a tier, is the core's `carry`, wherever a script can count the parts of a token.
#[test]
fn another_budget_finds_the_tokens_that_were_in_hand() {
    let server = Server::start();
    let scripts = std::cell::RefCell::new((Scripts::of(&server), 0_u64));
    let start = scripts.borrow_mut().0.tomorrow();
    let change = (budget(), budget(), 0_u64..2_000, 0_u64..5_000_000);
    TestRunner::new(config())
        .run(&change, |((old, old_budget), (new, new_budget), cost, after)| {
            let (scripts, number) = &mut *scripts.borrow_mut();
            *number += 1;
            let key = format!("changed {number}");
            let cost = cost.min(old_budget.capacity());
            let Step::Spend { next, .. } = step::acquire(Word::FULL, cost, 0, &old_budget) else { return Ok(()) };
            scripts.spend_one(start, &key, old, cost);
            let answer = scripts.spend_one(start + after, &key, new, 0).1;
            let carried = step::carry(next, after * 1_000, &old_budget, &new_budget);
            let there = step::available(carried, after * 1_000, &new_budget);
            prop_assert_eq!((new[2] - answer.states[0].0) / new[1], there);
            // No whole token is there earlier than in the core, nor later by more than the part that a tick is.
            for cost in [there + 1, new_budget.capacity()] {
                if let Step::Keep(Decision::Denied(denial)) = step::acquire(carried, cost, after * 1_000, &new_budget) {
                    let told = wait(&answer, new, cost);
                    let core = denial.retry_after_nanos().div_ceil(1_000);
                    prop_assert!(told == core || told == core + 1, "{} and {}", told, core);
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_clock_that_steps_back_mints_nothing_and_stands_still() {
    let server = Server::start();
    let mut scripts = Scripts::of(&server);
    let start = scripts.tomorrow();
    let terms = [1, 1_000_000, 5_000_000];
    assert!(scripts.spend_one(start, "k", terms, 3).0);
    for back in [1, 1_000, 3_600_000_000] {
        let (_, answer) = scripts.spend_one(start - back, "k", terms, 0);
        assert_eq!(answer.states, [(3_000_000, start)]);
        assert_eq!(wait(&answer, terms, 3), back + 1_000_000, "until a second after the latest instant that was seen");
    }
    // What is there can be spent meanwhile, and comes back when the clock has caught up.
    assert!(scripts.spend_one(start - 5, "k", terms, 2).0);
    assert!(!scripts.spend_one(start + 999_999, "k", terms, 1).0);
    assert!(scripts.spend_one(start + 1_000_000, "k", terms, 1).0);
}

#[test]
fn numbers_up_to_the_last_that_is_exact() {
    let server = Server::start();
    let mut scripts = Scripts::of(&server);
    let start = scripts.tomorrow();
    // `full + p` is 2^53 - 1: the largest that a budget is built with.
    for d in [1, 3, 7, 999_999_937, 1 << 52] {
        let capacity = ((1_u64 << 53) - 2) / d;
        let terms = [1, d, capacity * d];
        let key = format!("large {d}");
        assert!(scripts.spend_one(start, &key, terms, capacity).0, "{d}");
        let (taken, answer) = scripts.spend_one(start, &key, terms, 1);
        assert_eq!((taken, answer.states[0].0), (false, capacity * d));
        assert_eq!(wait(&answer, terms, 1), d);
        assert!(!scripts.spend_one(start + d - 1, &key, terms, 1).0, "{d}");
        let (taken, answer) = scripts.spend_one(start + d, &key, terms, 1);
        assert!(taken, "{d}");
        assert_eq!(answer.states[0].0, capacity * d, "what came back was spent");
    }
}

#[test]
fn an_expiry_that_was_lost_is_put_back_even_by_a_denial() {
    let server = Server::start();
    let mut scripts = Scripts::of(&server);
    // On the server's own clock.
    let limits = [("bucket", [1, 1_000_000, 5_000_000]), ("window", [0, 5, 86_400_000_000])];
    for (key, terms) in limits {
        scripts.spend(None, &[(key, terms)], &[(5, 5)]).unwrap();
        let before = server.number(&["PTTL", key]);
        assert_eq!(server.number(&["PERSIST", key]), 1);
        let answer = scripts.spend(None, &[(key, terms)], &[(5, 5)]).unwrap();
        assert_eq!(answer.taken, [0]);
        let after = server.number(&["PTTL", key]);
        assert!(after > 0 && after <= before, "{key}: {before} and then {after}");
    }
}

#[test]
fn a_key_expires_when_its_bucket_is_full_and_not_before() {
    let server = Server::start();
    let mut scripts = Scripts::of(&server);
    let terms = [1, 700_001, 5 * 700_001];
    let answer = scripts.spend(None, &[("k", terms)], &[(3, 3)]).unwrap();
    let full_at = answer.now + 3 * 700_001;
    // Only a server of version 7 tells the instant.
    if let Ok(expires) = server.run(&["PEXPIRETIME", "k"]) {
        let expires: u64 = redis::from_redis_value(expires).unwrap();
        assert_eq!(expires, full_at.div_ceil(1_000));
    }
}

#[test]
fn what_is_no_state_of_ours_is_an_error_and_stays() {
    let server = Server::start();
    let mut scripts = Scripts::of(&server);
    for (value, terms) in
        [("a word", [1, 1, 5]), ("5", [1, 1, 5]), ("5 5 1 1 5", [0, 5, 1_000_000]), ("-1", [0, 5, 1_000_000])]
    {
        server.run(&["SET", "k", value]).unwrap();
        let error = scripts.spend(None, &[("k", terms)], &[(1, 1)]).unwrap_err();
        assert_eq!(error.code(), Some("ADMITTANCE"), "{error}");
        assert_eq!(server.get("k").as_deref(), Some(value));
    }
    server.run(&["DEL", "k"]).unwrap();
    server.run(&["LPUSH", "k", "x"]).unwrap();
    assert!(scripts.spend(None, &[("k", [1, 1, 5])], &[(1, 1)]).is_err());
}

#[test]
fn a_lease_is_given_back_once_in_time_and_to_its_own_window() {
    let server = Server::start();
    let mut scripts = Scripts::of(&server);
    let start = scripts.tomorrow();
    let bucket = ("b", [1, 1_000_000, 10_000_000]);
    let left = |scripts: &mut Scripts, now| {
        let (_, answer) = scripts.spend_one(now, bucket.0, bucket.1, 0);
        10 - answer.states[0].0 / 1_000_000
    };
    assert!(scripts.spend_one(start, bucket.0, bucket.1, 8).0);
    assert!(scripts.give_back(start, "lease 1", &[bucket], (3, start, start + 1_000)));
    assert_eq!(left(&mut scripts, start), 5);
    assert!(!scripts.give_back(start, "lease 1", &[bucket], (3, start, start + 1_000)), "a second time");
    assert!(!scripts.give_back(start + 1_001, "lease 2", &[bucket], (3, start, start + 1_000)), "too late");
    assert_eq!(left(&mut scripts, start), 5);
    // Never past full.
    assert!(scripts.give_back(start, "lease 3", &[bucket], (100, start, start + 1_000)));
    assert_eq!(left(&mut scripts, start), 10);

    let length = 1_000_000;
    let start = start.next_multiple_of(length);
    let window = ("w", [0, 10, length]);
    let spent = |scripts: &mut Scripts, now| scripts.spend_one(now, window.0, window.1, 0).1.states[0].0;
    assert!(scripts.spend_one(start, window.0, window.1, 8).0);
    assert!(scripts.give_back(start + 5, "lease 4", &[window], (3, start, start + 2 * length)));
    assert_eq!(spent(&mut scripts, start + 5), 5);
    assert!(scripts.spend_one(start + length, window.0, window.1, 8).0, "the next window");
    scripts.give_back(start + length, "lease 5", &[window], (3, start, start + 2 * length));
    assert_eq!(spent(&mut scripts, start + length), 8, "of the window before, nothing is given back to this one");
}

#[test]
fn requests_of_one_call_are_decided_in_order_each_on_all_limits() {
    let server = Server::start();
    let mut scripts = Scripts::of(&server);
    let start = scripts.tomorrow();
    let limits = [("b", [1, 1_000, 10_000]), ("w", [0, 7, 1_000_000_000])];
    // Three are there of seven when five are asked for, and a lease takes what is left.
    let answer = scripts.spend(Some(start), &limits, &[(4, 4), (5, 5), (2, 2), (1, 50)]).unwrap();
    assert_eq!(answer.taken, [4, 0, 2, 1]);
    assert_eq!((answer.states[0].0, answer.states[1].0), (7_000, 7));
    let answer = scripts.spend(Some(start), &limits, &[(1, 50), (0, 0)]).unwrap();
    assert_eq!(answer.taken, [0, 0], "the bucket has three, and the window none");
    assert_eq!(answer.states[0].0, 7_000, "what one limit denies is spent from none");
}
