//! Building planners, and what they say of themselves.

use std::time::Duration;

use admittance::ManualClock;
use admittance::retry::{Backoff, Random, Retry, SeededRandom, SystemRandom};

use crate::support::{get, plain, secs};

#[test]
fn what_cannot_be_names_its_field_and_value() {
    let clock = ManualClock::new();
    let first = Backoff::new(secs(2));
    for (builder, field, said) in [
        (plain(0, secs(1), &clock), "attempts", "attempts: must be at least 1, was 0"),
        (plain(1, Duration::ZERO, &clock), "deadline", "deadline: must be at least 1, was 0"),
        (
            plain(1, secs(1), &clock).backoff(first.factor(0)),
            "backoff factor",
            "backoff factor: must be at least 1, was 0",
        ),
        (
            plain(1, secs(1), &clock).backoff(first.ceiling(secs(1))),
            "backoff ceiling",
            "backoff ceiling: must be at least 2s, was 1s",
        ),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!((error.field(), error.to_string().as_str()), (field, said));
    }
}

#[test]
fn the_system_and_a_seed_are_sources_of_chance() {
    assert_ne!(SystemRandom.seed(), SystemRandom.seed());
    let (one, same, other) = (SeededRandom::new(1), SeededRandom::new(1), SeededRandom::new(2));
    let numbers = [one.seed(), one.seed()];
    assert_eq!(numbers, [same.seed(), same.seed()]);
    assert!(numbers[0] != numbers[1] && numbers[0] != other.seed());
    // As one builds it without a word.
    let retry = Retry::builder(3, secs(10)).build().unwrap();
    assert_eq!(retry.schedule(None).attempts().len(), 3);
}

#[test]
fn debugging_shows_no_secret() {
    let clock = ManualClock::new();
    let retry = plain(3, secs(10), &clock).build().unwrap();
    assert!(format!("{:?}", get(&retry)).contains("sent: 0"));
    assert!(format!("{retry:?} {:?}", retry.clone()).contains("attempts: 3"));
    let gate = admittance::retry::Gate::with_clock(5, secs(1), &clock).unwrap();
    gate.hold("ann", secs(3));
    assert_eq!(format!("{gate:?}"), "Gate { max_keys: 5, release: 1s, held: 1, .. }");
}
