//! A bucket across a restart.
#![cfg(feature = "serde")]

use std::time::{Duration, SystemTime};

use admittance::{Budget, ManualClock, Snapshot, TokenBucket};
use proptest::prelude::*;

fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

#[test]
fn a_restored_bucket_has_refilled_for_the_time_between_and_no_more() {
    let clock = ManualClock::at(123);
    let bucket = TokenBucket::with_clock(Budget::per_minute(60), &clock);
    assert!(bucket.try_acquire(60).is_admitted());
    let snapshot = bucket.snapshot_at(noon());
    for (after, level) in [(0, 0), (1, 1), (59, 59), (60, 60), (86_400, 60)] {
        let clock = ManualClock::at(999);
        let bucket = TokenBucket::restore_at(&snapshot, &clock, noon() + Duration::from_secs(after)).unwrap();
        assert_eq!(bucket.available(), level, "{after} s later");
    }
}

#[test]
fn a_wall_clock_that_stepped_back_refills_nothing() {
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Budget::per_minute(60), &clock);
    assert!(bucket.try_acquire(50).is_admitted());
    let snapshot = bucket.snapshot_at(noon());
    let back = TokenBucket::restore_at(&snapshot, &clock, noon() - Duration::from_secs(3600)).unwrap();
    assert_eq!(back.available(), 10);
}

#[test]
fn debt_survives_a_restart() {
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Budget::per_second(10), &clock);
    assert_eq!(bucket.debit(15), 15);
    let restored = TokenBucket::restore_at(&bucket.snapshot_at(noon()), &clock, noon()).unwrap();
    assert_eq!(restored.try_acquire(1).retry_after(), Some(Duration::from_millis(600)));
}

#[test]
fn the_written_form_is_stable_and_read_back() {
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Budget::new(5, 7, Duration::from_secs(3)).unwrap(), &clock);
    assert!(bucket.try_acquire(1).is_admitted());
    let text = serde_json::to_string(&bucket.snapshot_at(noon())).unwrap();
    assert_eq!(
        text,
        r#"{"capacity":5,"refill_tokens":7,"refill_nanos":3000000000,"taken_at_unix_nanos":1800000000000000000,"until_full_nanos":428571429}"#
    );
    let snapshot: Snapshot = serde_json::from_str(&text).unwrap();
    assert_eq!(snapshot, bucket.snapshot_at(noon()));
    assert!(serde_json::from_str::<Snapshot>(&text.replace("capacity", "size")).is_err());
}

#[test]
fn a_snapshot_that_nobody_wrote_is_an_error_and_not_a_bucket() {
    let text = r#"{"capacity":0,"refill_tokens":7,"refill_nanos":1,"taken_at_unix_nanos":0,"until_full_nanos":0}"#;
    let snapshot: Snapshot = serde_json::from_str(text).unwrap();
    let error = TokenBucket::restore_at(&snapshot, ManualClock::new(), noon()).unwrap_err();
    assert_eq!(error.field(), "capacity");
}

proptest! {
    #[test]
    fn a_restart_never_gives_more_and_at_most_a_nanosecond_less(
        capacity in 1_u64..10_000,
        tokens in 1_u64..10_000,
        nanos in 1_u64..10_000_000_000,
        spent in 0_u64..10_000,
        before in 0_u64..1_000_000_000_000,
        between in 0_u64..1_000_000_000_000,
        start in 0_u64..1_000_000_000,
    ) {
        let budget = Budget::new(capacity, tokens, Duration::from_nanos(nanos));
        prop_assume!(budget.is_ok());
        let clock = ManualClock::new();
        let bucket = TokenBucket::with_clock(budget.unwrap(), &clock);
        let _ = bucket.try_acquire(spent);
        clock.set(before);
        let snapshot = bucket.snapshot_at(noon());
        let other = ManualClock::at(start);
        let restored =
            TokenBucket::restore_at(&snapshot, &other, noon() + Duration::from_nanos(between)).unwrap();
        // Two nanoseconds where the budget is not exact: one for each of the two conversions.
        clock.set(before + between);
        let most = bucket.available();
        clock.set((before + between).saturating_sub(2));
        let least = bucket.available();
        prop_assert!((least..=most).contains(&restored.available()), "{least} {} {most}", restored.available());
    }

    #[test]
    fn any_fields_make_a_bucket_or_an_error(fields in any::<[u64; 5]>()) {
        let [capacity, tokens, nanos, taken, left] = fields;
        let text = format!(
            r#"{{"capacity":{capacity},"refill_tokens":{tokens},"refill_nanos":{nanos},"taken_at_unix_nanos":{taken},"until_full_nanos":{left}}}"#
        );
        let snapshot: Snapshot = serde_json::from_str(&text).unwrap();
        for now in [0, 1, u64::MAX] {
            if let Ok(bucket) = TokenBucket::restore_at(&snapshot, ManualClock::at(now), noon()) {
                prop_assert!(bucket.available() <= capacity);
            }
        }
    }
}
