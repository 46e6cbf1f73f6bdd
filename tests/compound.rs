//! Several limits at once: all or nothing, with the longest wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use admittance::{AllOf, Budget, Decision, FixedWindow, Limit, ManualClock, Permit, TokenBucket, Window};

fn bucket(clock: &ManualClock, capacity: u64, per_second: u64) -> TokenBucket<&ManualClock> {
    TokenBucket::with_clock(Budget::new(capacity, per_second, Duration::from_secs(1)).unwrap(), clock)
}

#[test]
fn a_denial_by_any_charges_none_and_names_the_longest_wait() {
    let clock = ManualClock::new();
    let (fast, slow) = (bucket(&clock, 10, 10), bucket(&clock, 3, 1));
    let window = FixedWindow::with_clock(Window::new(100, Duration::from_secs(60)).unwrap(), &clock);
    let all = AllOf::new([&fast, &slow, &window]);

    assert!(all.try_acquire(3).decision.is_admitted());
    assert_eq!((fast.available(), slow.available(), window.available()), (7, 0, 97));
    assert!(fast.try_acquire(7).is_admitted());

    let answer = all.try_acquire(2);
    assert_eq!(
        answer.decision.retry_after(),
        Some(Duration::from_secs(2)),
        "the slow one's, not the fast one's 200 ms"
    );
    assert_eq!(answer.binding, 1);
    assert_eq!((fast.available(), slow.available(), window.available()), (0, 0, 97));

    clock.set(2_000_000_000 - 1);
    assert!(all.try_acquire(2).decision.is_denied());
    clock.set(2_000_000_000);
    assert!(all.try_acquire(2).decision.is_admitted(), "after the longest wait all pass");
}

#[test]
fn an_admission_names_the_limit_with_the_fewest_remaining() {
    let clock = ManualClock::new();
    let (wide, narrow) = (bucket(&clock, 10, 10), bucket(&clock, 3, 1));
    let answer = AllOf::new([&wide, &narrow]).try_acquire(1);
    assert_eq!((answer.decision.remaining(), answer.binding), (Some(2), 1));
    assert_eq!(AllOf::new([&wide, &narrow]).peek(1).decision.remaining(), Some(1));
    assert_eq!(narrow.available(), 2, "a peek spends nothing");
}

#[test]
fn one_that_is_too_small_makes_it_never() {
    let clock = ManualClock::new();
    let (wide, narrow) = (bucket(&clock, 10, 10), bucket(&clock, 3, 1));
    for limits in [[&wide, &narrow], [&narrow, &wide]] {
        let limits: [&(dyn Limit + Sync); 2] = [limits[0], limits[1]];
        let answer = AllOf::new(limits).try_acquire(4);
        assert!(answer.decision.is_never());
    }
    assert_eq!((wide.available(), narrow.available()), (10, 3));
}

#[test]
fn each_limit_may_have_a_cost_of_its_own() {
    let clock = ManualClock::new();
    let (requests, bytes) = (bucket(&clock, 10, 10), bucket(&clock, 1_000_000, 1_000_000));
    let both = AllOf::new([&requests, &bytes]);
    assert!(both.try_acquire_each([1, 800_000]).decision.is_admitted());
    let answer = both.try_acquire_each([1, 800_000]);
    assert_eq!((answer.decision.retry_after(), answer.binding), (Some(Duration::from_millis(600)), 1));
    assert_eq!((requests.available(), bytes.available()), (9, 200_000));
}

/// Says yes to a peek and then no: another caller has taken everything in between.
struct Beaten {
    asked: AtomicBool,
    inner: TokenBucket<ManualClock>,
}

impl Limit for Beaten {
    fn try_acquire(&self, n: u64) -> Decision {
        let _ = self.inner.try_acquire(self.inner.budget().capacity());
        self.asked.store(true, Ordering::Relaxed);
        self.inner.try_acquire(n)
    }

    fn peek(&self, n: u64) -> Decision {
        self.inner.peek(n)
    }

    fn give_back(&self, n: u64, _: &Permit) {
        self.inner.refund(n);
    }
}

#[test]
fn a_race_lost_after_the_peek_gives_back_what_was_charged() {
    let clock = ManualClock::new();
    let first = bucket(&clock, 10, 1);
    let window = FixedWindow::with_clock(Window::per_minute(10), &clock);
    let beaten = Beaten {
        asked: AtomicBool::new(false),
        inner: TokenBucket::with_clock(Budget::per_minute(6), ManualClock::new()),
    };
    let answer = AllOf::new([&first, &window, &beaten]).try_acquire(2);
    assert!(beaten.asked.load(Ordering::Relaxed));
    assert_eq!((answer.decision.retry_after(), answer.binding), (Some(Duration::from_secs(20)), 2));
    assert_eq!((first.available(), window.available()), (10, 10));
}

#[test]
fn a_window_that_is_over_takes_nothing_back() {
    let clock = ManualClock::new();
    let window = FixedWindow::with_clock(Window::new(5, Duration::from_secs(1)).unwrap(), &clock);
    let Decision::Admitted(old) = window.try_acquire(5) else { panic!() };
    clock.set(1_000_000_000);
    let Decision::Admitted(new) = window.try_acquire(5) else { panic!() };
    window.refund(5, &old);
    assert_eq!(window.available(), 0, "the new window does not gain by the old one's refund");
    window.refund(2, &new);
    assert_eq!(window.available(), 2);
    window.refund(9, &new);
    assert_eq!(window.available(), 5);
}

#[test]
fn racing_callers_never_over_admit_and_leave_nothing_charged() {
    let clock = ManualClock::new();
    let (a, b) = (bucket(&clock, 3000, 1), bucket(&clock, 2000, 1));
    let admitted: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let (a, b) = (&a, &b);
                scope.spawn(move || {
                    let (both, reversed) = (AllOf::new([a as &(dyn Limit + Sync), b]), AllOf::new([b as _, a]));
                    let all = if number % 2 == 0 { both } else { reversed };
                    (0..2000).filter(|_| all.try_acquire(1).decision.is_admitted()).count() as u64
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(admitted <= 2000);
    assert_eq!((a.available(), b.available()), (3000 - admitted, 2000 - admitted));
}
