//! What else callers see.

use std::time::Duration;

use admittance::{Decision, Keyed, ManualClock, Overflow, Window};

use crate::{a_second_each, table};

#[test]
fn keys_are_asked_about_in_the_form_that_requests_carry() {
    let clock = ManualClock::new();
    let by_text: Keyed<str, _> =
        Keyed::builder(a_second_each(1), 100, Overflow::Deny).build_with_clock(&clock).unwrap();
    assert!(by_text.check("ann", 1).is_admitted());
    assert!(by_text.check(&String::from("ann"), 1).is_denied());
    let by_bytes: Keyed<[u8], _> =
        Keyed::builder(a_second_each(1), 100, Overflow::Deny).build_with_clock(&clock).unwrap();
    assert!(by_bytes.check(b"ann", 1).is_admitted());
    assert!(by_bytes.check(&Vec::from(*b"ann"), 1).is_denied());
    let by_pair: Keyed<(&str, &str), _> =
        Keyed::builder(a_second_each(1), 100, Overflow::Deny).build_with_clock(&clock).unwrap();
    assert!(by_pair.check(&("a_b", "c"), 1).is_admitted());
    assert!(by_pair.check(&("a", "b_c"), 1).is_admitted());
}

#[test]
fn a_refund_comes_back_to_its_key_and_never_past_the_capacity() {
    let clock = ManualClock::new();
    let callers = table(a_second_each(5), 100, Overflow::Deny, &clock);
    let Decision::Admitted(permit) = callers.check(&1, 4) else { panic!("a full bucket") };
    callers.refund(&1, 3, &permit);
    assert_eq!((callers.available(&1), callers.available(&2)), (4, 5));
    callers.refund(&1, u64::MAX, &permit);
    callers.refund(&2, 5, &permit);
    assert_eq!((callers.available(&1), callers.available(&2), callers.len()), (5, 5, 1));
}

#[test]
fn a_refund_of_a_window_that_is_over_is_nothing() {
    let clock = ManualClock::new();
    let callers = table(Window::per_minute(5), 100, Overflow::Deny, &clock);
    let Decision::Admitted(permit) = callers.check(&1, 4) else { panic!("a window with nothing spent") };
    clock.advance(Duration::from_secs(60));
    assert!(callers.check(&1, 5).is_admitted());
    callers.refund(&1, 4, &permit);
    assert_eq!(callers.available(&1), 0);
}

#[test]
fn many_at_once_are_as_many_one_by_one() {
    let clock = ManualClock::new();
    let (one_by_one, at_once) =
        (table(a_second_each(3), 50, Overflow::Deny, &clock), table(a_second_each(3), 50, Overflow::Deny, &clock));
    // Some keys often, some batches empty, some of one more than are asked for ahead; more keys than there is room for.
    for (round, count) in [0, 1, 31, 32, 33, 64, 500, 7].into_iter().enumerate() {
        let keys: Vec<u64> = (0..count).map(|number| number * number % 190 + round as u64).collect();
        let expected: Vec<_> = keys.iter().map(|key| one_by_one.check(key, 1 + key % 2)).collect();
        let mut told = Vec::new();
        at_once.check_many(keys.iter().map(|key| (key, 1 + key % 2)), |decision| told.push(decision));
        assert_eq!(told, expected, "{count} at once");
        clock.advance(Duration::from_millis(700));
    }
    assert!(at_once.stats().overflowed > 0 && at_once.stats() == one_by_one.stats());
}

#[test]
fn two_tables_do_not_place_keys_alike() {
    // Which of a few newcomers is turned away by a full table depends on the seed, unless somebody says the seed.
    let turned_away = |seed: Option<u128>| {
        let builder = Keyed::<u64>::builder(a_second_each(1), 64, Overflow::Deny);
        let callers = match seed {
            Some(seed) => builder.seed(seed),
            None => builder,
        }
        .build_with_clock(ManualClock::new())
        .unwrap();
        (0..200).filter(|key| callers.check(key, 1).is_denied()).collect::<Vec<u64>>()
    };
    assert_eq!(turned_away(Some(1)), turned_away(Some(1)));
    assert_ne!(turned_away(Some(1)), turned_away(Some(1 << 64 | 1)));
    assert_ne!(turned_away(None), turned_away(None));
}

#[test]
fn what_cannot_be_built_is_said() {
    for max_keys in [0, 1 << 32, usize::MAX] {
        let error = Keyed::<u64>::builder(a_second_each(1), max_keys, Overflow::Deny).build().unwrap_err();
        assert_eq!(error.field(), "max_keys");
        assert!(error.to_string().starts_with(&format!("max_keys: {max_keys} is not from 1 to 4294967295")), "{error}");
    }
}

#[test]
fn debug_tells_neither_keys_nor_the_seed() {
    let clock = ManualClock::new();
    let callers = table(a_second_each(1), 4, Overflow::Deny, &clock);
    let text = format!("{callers:?}");
    assert!(text.starts_with("Keyed { max_keys: 4, stats: Stats {") && !text.contains("seed"), "{text}");
}
