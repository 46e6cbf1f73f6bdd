//! What one caller was told holds the others of its key.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use admittance::ManualClock;
use admittance::retry::{Body, Bound, Gate, Outcome, Reason, Retry};

use crate::support::{GET, Planner, answer, plain, retry_at, s, secs, stops};

/// A planner with a gate that releases over a second.
fn gated(clock: &ManualClock) -> Planner<'_> {
    let gate = Arc::new(Gate::with_clock(100, secs(1), clock).unwrap());
    plain(9, secs(100), clock).gate(gate).build().unwrap()
}

#[test]
fn a_429_holds_every_caller_of_its_key_and_no_other() {
    let clock = ManualClock::at(s(1));
    let retry = gated(&clock);
    let start = |key: &str| retry.start_as(key, GET, Body::Repeatable);
    let told = retry_at(start("ann").after(&answer(429, &["30"])));
    assert!(told.at() >= s(31));
    for _ in 0..50 {
        let held = retry_at(start("ann").ready());
        assert_eq!((held.attempt(), held.boundary(), held.bound()), (1, s(31), Bound::Gate));
        assert!((s(31)..=s(32)).contains(&held.at()), "{held:?}");
        assert_eq!(retry_at(start("bob").ready()).wait(), Duration::ZERO);
    }
    // One whose own answer says less waits for the gate.
    let next = retry_at(start("ann").after(&answer(503, &["2"])));
    assert_eq!((next.boundary(), next.bound()), (s(31), Bound::Gate));
    clock.set(s(31));
    assert_eq!(retry_at(start("ann").ready()).wait(), Duration::ZERO, "open again");
}

#[test]
fn a_gate_is_never_invented() {
    let clock = ManualClock::new();
    let retry = gated(&clock);
    for outcome in [
        answer(429, &[]),
        answer(429, &["+30"]),
        answer(429, &["0"]),
        answer(503, &["30"]),
        answer(302, &["30"]),
        answer(200, &["30"]),
        Outcome::Lost,
        Outcome::NotSent,
    ] {
        let _ = retry.start_as("ann", GET, Body::Repeatable).after(&outcome);
        assert_eq!(retry.gate().unwrap().held(), 0, "{outcome:?}");
        assert_eq!(retry_at(retry.start_as("ann", GET, Body::Repeatable).ready()).wait(), Duration::ZERO);
    }
}

#[test]
fn a_hold_only_grows() {
    let clock = ManualClock::new();
    let retry = gated(&clock);
    let gate = retry.gate().unwrap();
    for (seconds, held) in [("30", 30), ("5", 30), ("0", 30), ("40", 40)] {
        let _ = retry.start_as("ann", GET, Body::Repeatable).after(&answer(429, &[seconds]));
        assert_eq!(gate.wait("ann"), Some(secs(held)), "after {seconds}");
    }
    assert!(gate.open("ann"));
    assert!(!gate.open("ann"));
    assert_eq!(gate.wait("ann"), None);
}

#[test]
fn those_who_were_held_do_not_go_all_at_once() {
    let clock = ManualClock::new();
    let retry = gated(&clock);
    retry.gate().unwrap().hold("ann", secs(10));
    let mut calls: Vec<_> = (0..1000).map(|_| retry.start_as("ann", GET, Body::Repeatable)).collect();
    let instants: BTreeSet<_> = calls.iter_mut().map(|call| retry_at(call.ready()).at()).collect();
    assert!(instants.len() > 990, "{} instants", instants.len());
    let tenth = |number: u64| instants.range(s(10) + number * s(1) / 10..s(10) + (number + 1) * s(1) / 10).count();
    assert!((0..10).all(|number| (60..140).contains(&tenth(number))), "about as many in each tenth of the release");
    // Each keeps its place when it asks again, before and after the gate has opened.
    for now in [s(5), s(10), s(10) + 1] {
        clock.set(now);
        let again: BTreeSet<_> = calls.iter_mut().map(|call| retry_at(call.ready()).at()).collect();
        assert!(again == instants || again.iter().zip(&instants).all(|(again, first)| again == first || *again == now));
    }
}

#[test]
fn one_who_sleeps_is_held_as_well() {
    let clock = ManualClock::new();
    let retry = gated(&clock);
    let mut sleeper = retry.start_as("ann", GET, Body::Repeatable);
    let first = retry_at(sleeper.after(&answer(503, &["3"]))).at();
    clock.set(s(2));
    let _ = retry.start_as("ann", GET, Body::Repeatable).after(&answer(429, &["8"]));
    clock.set(first);
    let held = retry_at(sleeper.ready());
    assert_eq!((held.attempt(), held.boundary(), held.bound()), (2, s(10), Bound::Gate));
    clock.set(held.at());
    assert_eq!(retry_at(sleeper.ready()).wait(), Duration::ZERO);
}

#[test]
fn a_hold_past_the_deadline_stops_before_the_first_attempt() {
    let clock = ManualClock::new();
    let retry = gated(&clock);
    retry.gate().unwrap().hold("ann", secs(200));
    let mut call = retry.start_as("ann", GET, Body::Repeatable);
    let resume = stops(call.ready(), Reason::Deadline).unwrap();
    assert!((s(200)..=s(201)).contains(&resume));
    assert_eq!(call.sent(), 0);
}

/// The server's word is for all, also where the one who was told has no time left; a plan that stops adds nothing to it.
#[test]
fn a_plan_that_stops_leaves_the_gate_as_the_server_put_it() {
    let clock = ManualClock::new();
    let retry = gated(&clock);
    let gate = retry.gate().unwrap();
    assert!(retry.start_as("ann", GET, Body::Repeatable).after(&answer(429, &["200"])).stop().is_some());
    assert_eq!(gate.wait("ann"), Some(secs(200)));
    for outcome in [answer(503, &["300"]), answer(429, &[]), Outcome::Lost] {
        assert!(retry.start_as("ann", GET, Body::Once).after(&outcome).stop().is_some());
        assert_eq!((gate.wait("ann"), gate.held()), (Some(secs(200)), 1));
    }
}

#[test]
fn memory_is_bounded_and_the_longest_holds_stay() {
    let clock = ManualClock::new();
    let gate = Gate::with_clock(10, secs(1), &clock).unwrap();
    for key in 0..1000_u64 {
        gate.hold(&key, secs(1 + key * 7 % 1000));
    }
    assert_eq!((gate.held(), gate.forgotten()), (10, 990));
    let mut waits: Vec<_> = (0..1000_u64).filter_map(|key| gate.wait(&key)).collect();
    waits.sort();
    assert_eq!(waits, (991..=1000).map(secs).collect::<Vec<_>>());
    // Those that are over make room and are not counted.
    clock.set(s(1000));
    assert_eq!(gate.held(), 0);
    for key in 0..10_u64 {
        gate.hold(&key, secs(5));
    }
    assert_eq!((gate.held(), gate.forgotten()), (10, 990));
}

#[test]
fn planners_share_a_gate_across_threads() {
    let clock = ManualClock::new();
    let gate = Arc::new(Gate::with_clock(8, secs(1), &clock).unwrap());
    let short: Planner<'_> = plain(2, secs(5), &clock).gate(Arc::clone(&gate)).build().unwrap();
    let long: Planner<'_> = plain(2, secs(500), &clock).gate(Arc::clone(&gate)).build().unwrap();
    thread::scope(|scope| {
        for key in 0..4_u64 {
            let short = short.clone();
            scope.spawn(move || {
                for seconds in 1..=100_u64 {
                    let text = seconds.to_string();
                    let _ = short.start_as(&key, GET, Body::Repeatable).after(&answer(429, &[&text]));
                    assert!(short.gate().unwrap().wait(&key) >= Some(secs(seconds)));
                }
            });
        }
    });
    for key in 0..4_u64 {
        assert_eq!(retry_at(long.start_as(&key, GET, Body::Repeatable).ready()).boundary(), s(100));
    }
}

#[test]
fn a_gate_that_cannot_be_says_why() {
    let error = Gate::new(0, secs(1)).unwrap_err();
    assert_eq!((error.field(), error.to_string().as_str()), ("max_keys", "max_keys: must be at least 1, was 0"));
    assert_eq!(Gate::new(1, Duration::ZERO).unwrap_err().field(), "release");
    // Without a gate a key changes nothing.
    let clock = ManualClock::new();
    let retry: Retry<_, _> = plain(2, secs(5), &clock).build().unwrap();
    let _ = retry.start_as("ann", GET, Body::Repeatable).after(&answer(429, &["3"]));
    assert_eq!(retry_at(retry.start_as("ann", GET, Body::Repeatable).ready()).wait(), Duration::ZERO);
}
