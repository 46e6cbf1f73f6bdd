//! A newcomer that finds no room.

use std::time::Duration;

use admittance::{ManualClock, Overflow};

use crate::{a_second_each, table};

/// A table of one group, all of it in use.
macro_rules! crowded {
    ($overflow:expr, $clock:ident, $callers:ident) => {
        let $clock = ManualClock::new();
        let $callers = table(a_second_each(10), 1, $overflow, &$clock);
        for key in 0..4 {
            // Full again after 2, 3, 4 and 5 seconds.
            assert!($callers.check(&key, 2 + key).is_admitted());
        }
        assert_eq!($callers.stats().overflowed, 0);
    };
}

#[test]
fn denied_names_the_instant_at_which_there_is_room() {
    crowded!(Overflow::Deny, clock, callers);
    assert_eq!(callers.check(&9, 1).retry_after(), Some(Duration::from_secs(2)));
    clock.advance(Duration::from_millis(1_999));
    assert_eq!(callers.check(&9, 1).retry_after(), Some(Duration::from_millis(1)));
    assert_eq!(callers.stats().overflowed, 2);
    clock.advance(Duration::from_millis(1));
    assert_eq!(callers.check(&9, 1).remaining(), Some(9));
    assert_eq!(callers.stats().overflowed, 2);
}

#[test]
fn admitted_is_charged_to_nobody_and_counted() {
    crowded!(Overflow::Admit, clock, callers);
    for round in 1..=20 {
        assert_eq!(callers.check(&9, 10).remaining(), Some(0));
        assert_eq!(callers.stats().overflowed, round);
    }
    assert!(callers.check(&9, 11).is_never());
    let known: Vec<u64> = (0..4).map(|key| callers.available(&key)).collect();
    assert_eq!(known, [8, 7, 6, 5]);
    let _ = clock;
}

#[test]
fn shared_is_one_bucket_for_all_who_find_no_room() {
    crowded!(Overflow::Share, clock, callers);
    assert_eq!(callers.check(&9, 6).remaining(), Some(4));
    assert_eq!(callers.check(&10, 4).remaining(), Some(0));
    assert_eq!(callers.check(&11, 1).retry_after(), Some(Duration::from_secs(1)));
    clock.advance(Duration::from_secs(1));
    assert!(callers.check(&12, 1).is_admitted());
    assert!(callers.check(&9, 1).is_denied());
    callers.set_tier_budget(callers.tier(0).unwrap(), a_second_each(20)).unwrap();
    clock.advance(Duration::from_millis(500));
    assert_eq!(callers.check(&9, 1).retry_after(), Some(Duration::from_millis(500)));
}

#[test]
fn what_spends_nothing_needs_no_room() {
    crowded!(Overflow::Deny, clock, callers);
    assert!(callers.check(&9, 0).is_admitted());
    assert!(callers.check(&9, 11).is_never());
    assert!(callers.peek(&9, 10).is_admitted());
    assert_eq!(callers.available(&9), 10);
    assert_eq!((callers.len(), callers.stats().overflowed), (4, 0));
    let _ = clock;
}
