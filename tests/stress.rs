//! Real threads on one word: what loom cannot show (spurious failures, the processor's own reordering, many threads).
//!
//! `ci/miri` runs this under Miri, which makes the weak compare-and-swap fail at random, and `ci/tsan` under ThreadSanitizer.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use admittance::{AtomicWord, Budget, FixedWindow, ManualClock, TokenBucket, Window};

const THREADS: u64 = 4;

/// Miri is a thousand times slower.
const ROUNDS: u64 = if cfg!(miri) { 20 } else { 5_000 };

/// Starts all threads at once, and adds up what they return.
fn together(work: impl Fn(u64) -> u64 + Sync) -> u64 {
    let start = Barrier::new(usize::try_from(THREADS).unwrap());
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let (start, work) = (&start, &work);
                scope.spawn(move || {
                    start.wait();
                    work(number)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn a_burst_at_one_instant_is_the_capacity_exactly() {
    let capacity = ROUNDS * THREADS / 2;
    for budget in [
        Budget::new(capacity, 1, Duration::from_secs(1)).unwrap(),
        Budget::new(capacity, 999_983, Duration::from_secs(1)).unwrap(),
    ] {
        let word = AtomicWord::new();
        let now = 987_654_321;
        let admitted =
            together(|_| (0..ROUNDS).filter(|_| word.try_acquire(1, now, &budget).is_admitted()).count() as u64);
        assert_eq!(admitted, capacity);
        assert!(word.try_acquire(1, now, &budget).is_denied());
    }
}

#[test]
fn spends_refunds_and_debits_of_any_order_add_up() {
    // Room for all, so that nothing is cut off: at one instant the upper digit of the word is the sum.
    let budget = Budget::new(ROUNDS * THREADS * 4, 1, Duration::from_secs(1)).unwrap();
    let word = AtomicWord::new();
    let sum = together(|number| {
        let mut sum = 0;
        for round in 0..ROUNDS {
            let cost = 1 + (round + number) % 3;
            if word.try_acquire(cost, 0, &budget).is_admitted() {
                sum += cost;
                match round % 4 {
                    0 => {
                        word.refund(cost, 0, &budget);
                        sum -= cost;
                    }
                    1 => sum += word.debit(1, 0, &budget),
                    _ => {}
                }
            }
        }
        sum
    });
    assert_eq!(word.load().unpack(&budget), (sum, 0));
}

#[test]
fn a_denied_call_writes_nothing_whoever_else_is_denied() {
    let budget = Budget::per_day(1);
    let word = AtomicWord::new();
    assert!(word.try_acquire(1, 0, &budget).is_admitted());
    let before = word.load();
    let admitted = together(|_| (0..ROUNDS).filter(|_| word.try_acquire(1, 5, &budget).is_admitted()).count() as u64);
    assert_eq!((admitted, word.load()), (0, before));
}

#[test]
fn while_time_passes_all_that_was_refilled_is_admitted_once() {
    // One thread moves time, the others spend until it is done. Time waits for a bucket that has room for all that the
    // next nanosecond refills, so nothing is lost at the brim whoever runs when, and the sum is exact: 7 tokens in 3 ns.
    let capacity = 10;
    let clock = ManualClock::new();
    let bucket = TokenBucket::with_clock(Budget::new(capacity, 7, Duration::from_nanos(3)).unwrap(), &clock);
    assert!(bucket.try_acquire(capacity).is_admitted());
    let done = AtomicBool::new(false);
    let admitted = together(|number| {
        if number == 0 {
            for _ in 0..ROUNDS {
                while bucket.available() + 3 > capacity {
                    thread::yield_now();
                }
                clock.advance(Duration::from_nanos(1));
            }
            // Relaxed: only tells the others to stop; what they admitted is read when they are joined.
            done.store(true, Ordering::Relaxed);
            return 0;
        }
        let mut admitted = 0;
        while !done.load(Ordering::Relaxed) {
            if bucket.try_acquire(1).is_admitted() {
                admitted += 1;
            } else {
                // On one core, whoever moves time would wait for as long as this thread's slice lasts.
                thread::yield_now();
            }
        }
        admitted
    });
    assert_eq!(admitted + bucket.available(), ROUNDS * 7 / 3);
}

#[test]
fn callers_whose_clocks_differ_are_admitted_no_more_than_at_the_latest() {
    let budget = Budget::new(100, 1, Duration::from_nanos(10)).unwrap();
    let word = AtomicWord::new();
    let latest = AtomicU64::new(0);
    let admitted = together(|number| {
        let mut admitted = 0;
        for round in 0..ROUNDS {
            // Each thread's clock is behind by something of its own.
            let now = (round * 5).saturating_sub(number * 333);
            if word.try_acquire(1, now, &budget).is_admitted() {
                admitted += 1;
                // Relaxed: read once all threads have been joined.
                latest.fetch_max(now, Ordering::Relaxed);
            }
        }
        admitted
    });
    let bound = 100 + latest.into_inner() / 10;
    assert!(admitted <= bound, "{admitted} of {bound}");
    assert!(admitted > 0);
}

#[test]
fn a_window_admits_its_limit_and_starts_anew_at_once() {
    let clock = ManualClock::new();
    let limit = 50;
    let limiter = FixedWindow::with_clock(Window::new(limit, Duration::from_micros(1)).unwrap(), &clock);
    let windows = if cfg!(miri) { 3 } else { 200 };
    for window in 0..windows {
        clock.set(window * 1000 + window % 1000);
        let admitted = together(|_| (0..limit).filter(|_| limiter.try_acquire(1).is_admitted()).count() as u64);
        assert_eq!(admitted, limit, "window {window}");
        assert_eq!(limiter.available(), 0);
    }
}
