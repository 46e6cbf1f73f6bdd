//! Other keys, however many, give nobody a fresh bucket.

use std::time::Duration;

use admittance::{Budget, ManualClock, Overflow, Window};

use crate::{a_second_each, table};

const MAX_KEYS: usize = 1_000;

#[test]
fn a_drained_key_stays_drained_through_a_flood_of_ten_times_as_many_keys_as_there_is_room_for() {
    for overflow in [Overflow::Deny, Overflow::Admit, Overflow::Share] {
        let clock = ManualClock::new();
        let callers = table(a_second_each(3), MAX_KEYS, overflow, &clock);
        let drained: Vec<u64> = (0..50).collect();
        for key in &drained {
            assert!(callers.check(key, 3).is_admitted());
        }
        for key in 1_000_000..1_000_000 + 10 * MAX_KEYS as u64 {
            let _ = callers.check(&key, 3);
        }
        assert!(callers.stats().overflowed > 0, "the flood is larger than the table");
        for key in &drained {
            assert_eq!(callers.check(key, 1).retry_after(), Some(Duration::from_secs(1)), "{overflow:?}");
        }
    }
}

#[test]
fn a_flood_that_trickles_in_reclaims_only_what_is_full() {
    let clock = ManualClock::new();
    // Drained, a bucket takes an hour; the flood's buckets a second.
    let callers = table(Budget::new(3_600, 1, Duration::from_secs(1)).unwrap(), 16, Overflow::Deny, &clock);
    assert!(callers.check(&0, 3_600).is_admitted());
    let mut admitted = 0;
    for key in 1..=3_000 {
        clock.advance(Duration::from_secs(1));
        admitted += u32::from(callers.check(&key, 1).is_admitted());
    }
    assert_eq!(admitted, 3_000, "each finds the slot of one that has come to rest");
    assert!(callers.stats().reclaimed > 2_900);
    assert_eq!(callers.available(&0), 3_000);
}

#[test]
fn a_key_is_forgotten_when_it_is_full_and_not_a_nanosecond_before() {
    let clock = ManualClock::new();
    // One group of four slots.
    let callers = table(a_second_each(5), 2, Overflow::Deny, &clock);
    for key in 0..4 {
        assert!(callers.check(&key, 5).is_admitted());
    }
    clock.advance(Duration::from_nanos(4_999_999_999));
    assert_eq!(callers.check(&4, 1).retry_after(), Some(Duration::from_nanos(1)));
    clock.advance(Duration::from_nanos(1));
    assert!(callers.check(&4, 1).is_admitted());
    assert_eq!(callers.stats().reclaimed, 1);
}

#[test]
fn a_window_is_forgotten_when_it_is_over() {
    let clock = ManualClock::new();
    let callers = table(Window::per_minute(2), 2, Overflow::Deny, &clock);
    clock.advance(Duration::from_secs(59));
    for key in 0..4 {
        assert!(callers.check(&key, 1).is_admitted());
    }
    assert_eq!(callers.check(&4, 1).retry_after(), Some(Duration::from_secs(1)));
    clock.advance(Duration::from_secs(1));
    assert!(callers.check(&4, 2).is_admitted());
    assert!(callers.check(&4, 1).is_denied());
}

#[test]
fn a_key_that_is_always_at_rest_is_not_pushed_out_while_there_are_free_slots() {
    let clock = ManualClock::new();
    let callers = table(a_second_each(1), MAX_KEYS, Overflow::Deny, &clock);
    for _ in 0..5 {
        for key in 0..200 {
            clock.advance(Duration::from_secs(1));
            assert!(callers.check(&key, 1).is_admitted());
        }
    }
    assert_eq!((callers.len(), callers.stats().reclaimed), (200, 0));
}

/// The slot of a full bucket was given away and came back to the key: to a caller whose clock is behind, it is no fuller than
/// the bucket that it was.
#[test]
fn a_caller_behind_finds_no_more_in_a_bucket_that_was_forgotten() {
    let clock = ManualClock::new();
    let callers = table(a_second_each(5), 2, Overflow::Deny, &clock);
    for key in 0..4 {
        assert!(callers.check(&key, 5).is_admitted());
    }
    clock.set(5_000_000_000);
    for key in 4..8 {
        assert!(callers.check(&key, 1).is_admitted());
    }
    assert_eq!(callers.stats().reclaimed, 4);
    // Two seconds before all were full: there were three tokens then.
    clock.set(6_000_000_000);
    for key in 8..12 {
        assert!(callers.check(&key, 1).is_admitted());
    }
    clock.set(4_000_000_000);
    assert!(callers.available(&0) <= 4, "{}", callers.available(&0));
}
