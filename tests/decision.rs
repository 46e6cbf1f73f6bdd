//! What a decision tells, and how it prints.

use std::time::Duration;

use admittance::{AtomicWord, Budget, Decision, FixedWindow, ManualClock, TokenBucket, Window};

fn bucket(clock: &ManualClock) -> TokenBucket<&ManualClock> {
    TokenBucket::with_clock(Budget::new(3, 2, Duration::from_secs(1)).unwrap(), clock)
}

#[test]
fn each_kind_of_decision_is_told_from_the_others() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    let (admitted, never) = (bucket.try_acquire(3), bucket.try_acquire(4));
    let denied = bucket.try_acquire(1);
    for (decision, kinds) in
        [(admitted, [true, false, false]), (denied, [false, true, false]), (never, [false, false, true])]
    {
        assert_eq!([decision.is_admitted(), decision.is_denied(), decision.is_never()], kinds, "{decision:?}");
    }
    assert_eq!((admitted.remaining(), denied.remaining(), never.remaining()), (Some(0), None, None));
    let half = Some(Duration::from_millis(500));
    assert_eq!((admitted.retry_after(), denied.retry_after(), never.retry_after()), (None, half, None));
}

#[test]
fn decisions_are_equal_when_they_tell_the_same() {
    let clock = ManualClock::new();
    let (one, other) = (bucket(&clock), TokenBucket::with_clock(Budget::per_second(3), &clock));
    assert_eq!(one.try_acquire(2), other.try_acquire(2), "one left, whatever the refill");
    assert_ne!(one.peek(1), other.peek(0), "none left, and one left");
    assert_ne!(one.peek(2), other.peek(2), "half a second, and a third of one");
    assert_eq!(one.peek(2), one.peek(2));
    assert_ne!(one.peek(2), Decision::Never);
}

#[test]
fn everything_prints_what_it_means() {
    let clock = ManualClock::new();
    let bucket = bucket(&clock);
    assert_eq!(format!("{:?}", bucket.try_acquire(1)), "Admitted(Permit { remaining: 2 })");
    assert_eq!(
        format!("{bucket:?}"),
        "TokenBucket { budget: Budget { capacity: 3, refill_tokens: 2, refill_duration: 1s, resolution: Exact }, \
         available: 2, .. }"
    );
    assert_eq!(format!("{:?}", bucket.try_acquire(3)), "Denied(Denial { retry_after: 500ms })");
    assert_eq!(format!("{}", bucket.budget()), "2 per 1s, capacity 3");

    let window = FixedWindow::with_clock(Window::new(5, Duration::from_secs(10)).unwrap(), &clock);
    assert!(window.try_acquire(2).is_admitted());
    assert_eq!(format!("{window:?}"), "FixedWindow { window: Window { limit: 5, length: 10s }, available: 3, .. }");
    assert_eq!(format!("{}", window.window()), "5 in each 10s");
    assert_eq!(format!("{:?}", AtomicWord::new()), "AtomicWord(0)");
}
