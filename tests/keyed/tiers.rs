//! Tiers, and rules that change.

use std::time::Duration;

use admittance::keyed::MAX_TIERS;
use admittance::{Budget, Keyed, ManualClock, Overflow, Window};

use crate::{a_second_each, table};

#[test]
fn a_key_that_changes_tier_keeps_its_tokens_at_most_the_new_capacity() {
    let clock = ManualClock::new();
    let callers: Keyed<str, _> = Keyed::builder(a_second_each(10), 100, Overflow::Deny)
        .tier(a_second_each(50))
        .tier(a_second_each(4))
        .build_with_clock(&clock)
        .unwrap();
    let [free, paid, tiny] = [0, 1, 2].map(|number| callers.tier(number).unwrap());
    assert_eq!(callers.check_as("ann", free, 3).remaining(), Some(7));
    assert_eq!(callers.check_as("ann", paid, 1).remaining(), Some(6));
    clock.advance(Duration::from_secs(20));
    assert_eq!(callers.available_as("ann", paid), 26);
    assert_eq!(callers.check_as("ann", tiny, 1).remaining(), Some(3));
    assert_eq!(callers.check_as("ann", paid, 3).remaining(), Some(0));
    assert!(callers.check_as("ann", free, 1).is_denied());
    // Nobody has seen bob: he is full wherever he comes in.
    assert_eq!(callers.check_as("bob", paid, 1).remaining(), Some(49));
}

#[test]
fn flapping_between_tiers_mints_nothing() {
    let clock = ManualClock::new();
    let callers: Keyed<u64, _> =
        Keyed::builder(Budget::new(10, 7, Duration::from_secs(3)).unwrap(), 100, Overflow::Deny)
            .tier(Budget::new(10, 999_983, Duration::from_secs(1_000_000)).unwrap())
            .build_with_clock(&clock)
            .unwrap();
    let tiers = [0, 1].map(|number| callers.tier(number).unwrap());
    let admitted = (0..1_000).filter(|round| callers.check_as(&1, tiers[round % 2], 1).is_admitted()).count();
    assert_eq!(admitted, 10);
}

#[test]
fn there_is_no_tier_past_the_last() {
    let clock = ManualClock::new();
    let callers = table(a_second_each(1), 1, Overflow::Deny, &clock);
    assert!(callers.tier(0).is_some());
    assert!(callers.tier(1).is_none());
    assert!(callers.tier(256).is_none());
}

#[test]
fn a_new_rule_is_not_applied_to_time_already_past() {
    let clock = ManualClock::new();
    let callers = table(Budget::per_second(100), 1_000, Overflow::Deny, &clock);
    let tier = callers.tier(0).unwrap();
    for key in 0..500 {
        assert!(callers.check(&key, 100).is_admitted());
    }
    clock.advance(Duration::from_millis(50));
    callers.set_tier_budget(tier, Budget::per_second(1_000)).unwrap();
    assert_eq!(callers.rule(tier), Budget::per_second(1_000).into());
    clock.advance(Duration::from_millis(50));
    for key in 0..500 {
        assert_eq!(callers.available(&key), 55, "5 at the old rate and 50 at the new");
    }
    assert_eq!(callers.available(&999), 1_000);
}

#[test]
fn rules_change_as_often_as_they_like() {
    let clock = ManualClock::new();
    let callers = table(a_second_each(1_000), 10, Overflow::Deny, &clock);
    let tier = callers.tier(0).unwrap();
    assert!(callers.check(&1, 1_000).is_admitted());
    for round in 1..=100 {
        // Ten tokens a change: nine and a half seconds at one a second would not do.
        clock.advance(Duration::from_secs(1));
        callers.set_tier_budget(tier, Budget::new(1_000, 1 + round % 7, Duration::from_secs(1)).unwrap()).unwrap();
    }
    // Round r's second was at the rate of round r - 1.
    let refilled: u64 = (0..100).map(|round| 1 + round % 7).sum();
    assert_eq!(callers.available(&1), refilled);
    callers.set_tier_budget(tier, a_second_each(50)).unwrap();
    assert_eq!(callers.available(&1), 50);
}

#[test]
fn only_the_tier_that_changes_changes() {
    let clock = ManualClock::new();
    let callers: Keyed<u64, _> = Keyed::builder(a_second_each(10), 100, Overflow::Deny)
        .tier(a_second_each(20))
        .build_with_clock(&clock)
        .unwrap();
    let [one, other] = [0, 1].map(|number| callers.tier(number).unwrap());
    assert!(callers.check_as(&1, one, 5).is_admitted());
    assert!(callers.check_as(&2, other, 5).is_admitted());
    callers.set_tier_budget(one, a_second_each(6)).unwrap();
    assert_eq!((callers.available_as(&1, one), callers.available_as(&2, other)), (5, 15));
    clock.advance(Duration::from_secs(100));
    assert_eq!((callers.available_as(&1, one), callers.available_as(&2, other)), (6, 20));
}

#[test]
fn windows_have_tiers_too_and_do_not_mix_with_buckets() {
    let clock = ManualClock::new();
    let callers: Keyed<u64, _> = Keyed::builder(Window::per_minute(3), 100, Overflow::Deny)
        .tier(Window::per_minute(5))
        .build_with_clock(&clock)
        .unwrap();
    let [one, other] = [0, 1].map(|number| callers.tier(number).unwrap());
    assert!(callers.check_as(&1, one, 2).is_admitted());
    assert_eq!(callers.check_as(&1, other, 1).remaining(), Some(2));
    assert!(callers.check_as(&1, one, 1).is_denied());

    let error = callers.set_tier_budget(one, a_second_each(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tier: 0 is a token bucket where the others are fixed windows; a table has one kind of rule"
    );
    let error =
        Keyed::<u64>::builder(a_second_each(1), 1, Overflow::Deny).tier(Window::per_minute(1)).build().unwrap_err();
    assert_eq!((error.field(), error.to_string().contains("1 is a fixed window")), ("tier", true));
}

#[test]
fn tiers_are_at_most_as_many_as_a_slot_can_tell() {
    let build = |tiers: usize| {
        let builder = Keyed::<u64>::builder(a_second_each(1), 1, Overflow::Deny);
        (1..tiers).fold(builder, |builder, number| builder.tier(a_second_each(1 + number as u64))).build()
    };
    let callers = build(MAX_TIERS).unwrap();
    let last = callers.tier(MAX_TIERS - 1).unwrap();
    assert_eq!(callers.check_as(&1, last, 1).remaining(), Some(MAX_TIERS as u64 - 1));
    assert_eq!(build(MAX_TIERS + 1).unwrap_err().to_string(), "tier: 129 tiers are more than 128");
}
