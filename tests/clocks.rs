//! The clocks themselves. Nothing here is timed: only what holds however slowly the machine runs is asserted.
#![cfg(feature = "std")]

use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use admittance::{Budget, Clock, CoarseClock, ManualClock, TokenBucket, TscClock};

const MILLI: Duration = Duration::from_millis(1);

// Limiters are shared between threads, so clocks must be: a loss of either does not compile.
const _: () = {
    const fn shared<T: Clock + Send + Sync + 'static>() {}
    shared::<ManualClock>();
    shared::<TscClock>();
    shared::<CoarseClock>();
    shared::<Arc<CoarseClock>>();
    shared::<&'static ManualClock>();
};

/// One coarse clock's test at a time: they count threads by name.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for what a running clock or another thread brings about. The minute is there so that a failure ends.
fn until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing came of waiting");
        thread::yield_now();
    }
}

#[test]
fn a_manual_clock_moves_when_it_is_told_and_not_otherwise() {
    let clock = ManualClock::new();
    assert_eq!((clock.now(), clock.now()), (0, 0));
    assert_eq!(clock.advance(Duration::from_secs(2)), 2_000_000_000);
    assert_eq!(clock.now(), 2_000_000_000);
    clock.set(5);
    assert_eq!(clock.now(), 5, "back");
    assert_eq!(ManualClock::at(7).now(), 7);
    assert_eq!(ManualClock::default().now(), 0);
}

#[test]
fn a_manual_clock_stops_at_the_end_of_time() {
    let clock = ManualClock::at(u64::MAX - 1);
    assert_eq!(clock.advance(Duration::from_nanos(5)), u64::MAX);
    assert_eq!(clock.advance(Duration::MAX), u64::MAX);
    clock.set(3);
    assert_eq!(clock.advance(Duration::MAX), u64::MAX, "a duration beyond 64 bits of nanoseconds");
}

#[test]
fn no_advance_is_lost_between_threads() {
    let clock = ManualClock::new();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10_000).for_each(|_| _ = clock.advance(Duration::from_nanos(3))));
        }
    });
    assert_eq!(clock.now(), 4 * 10_000 * 3);
}

#[test]
fn a_limiter_shares_a_clock_by_reference_and_by_arc() {
    let clock = Arc::new(ManualClock::new());
    let buckets = (
        TokenBucket::with_clock(Budget::per_second(1), &*clock),
        TokenBucket::with_clock(Budget::per_second(1), Arc::clone(&clock)),
    );
    assert!(buckets.0.try_acquire(1).is_admitted() && buckets.1.try_acquire(1).is_admitted());
    assert!(buckets.0.try_acquire(1).is_denied() && buckets.1.try_acquire(1).is_denied());
    clock.advance(Duration::from_secs(1));
    assert!(buckets.0.try_acquire(1).is_admitted() && buckets.1.try_acquire(1).is_admitted());
}

#[test]
fn the_precise_clock_starts_near_zero_never_steps_back_on_a_thread_and_advances() {
    let before = Instant::now();
    let clock = TscClock::new();
    let first = clock.now();
    // Calibration is off by parts per million; twice the time would be a wrong unit.
    assert!(u128::from(first) <= 2 * before.elapsed().as_nanos() + 1_000_000, "its epoch is when it was made: {first}");
    let mut last = first;
    for _ in 0..200_000 {
        let now = clock.now();
        assert!(now >= last, "{now} after {last}");
        last = now;
    }
    until(|| clock.now() > first + 1_000_000);
}

#[test]
fn the_precise_clock_counts_nanoseconds() {
    let clock = TscClock::new();
    let (outer, start) = (Instant::now(), clock.now());
    let inner = Instant::now();
    until(|| inner.elapsed() >= Duration::from_millis(20));
    let least = inner.elapsed().as_nanos();
    let measured = u128::from(clock.now() - start);
    let most = outer.elapsed().as_nanos();
    // The reading began and ended inside these; a tenth is far more than calibration errs, far less than a wrong unit.
    assert!(measured >= least - least / 10 && measured <= most + most / 10, "{least} <= {measured} <= {most}");
}

#[test]
fn clones_of_the_precise_clock_have_one_epoch() {
    let clock = TscClock::new();
    until(|| clock.now() > 5_000_000);
    let clone = clock.clone();
    let (a, b, c) = (clock.now(), clone.now(), clock.now());
    assert!(a <= b && b <= c, "{a} <= {b} <= {c}");
}

#[test]
fn the_coarse_clock_is_never_ahead_of_real_time_and_never_steps_back() {
    let _alone = alone();
    let before = Instant::now();
    let clock = CoarseClock::start(Duration::from_micros(50)).unwrap();
    let (mut last, mut ticks) = (0, 0);
    while ticks < 20 {
        let now = clock.now();
        let real = before.elapsed().as_nanos();
        assert!(u128::from(now) <= real, "{now} is ahead of {real}");
        assert!(now >= last, "{now} after {last}");
        ticks += u32::from(now > last);
        last = now;
        thread::yield_now();
    }
}

#[test]
fn the_coarse_clock_stands_at_its_epoch_until_the_first_tick() {
    let _alone = alone();
    // An interval that never ends: also, such a clock stops when it is dropped.
    let clock = CoarseClock::start(Duration::MAX).unwrap();
    assert_eq!((clock.now(), clock.interval()), (0, Duration::MAX));
}

#[test]
fn clones_share_one_ticker() {
    let _alone = alone();
    let clock = CoarseClock::start(MILLI).unwrap();
    let clone = clock.clone();
    assert_eq!(clone.interval(), MILLI);
    drop(clock);
    let now = clone.now();
    until(|| clone.now() > now);
}

/// The name is cut to 15 bytes by the kernel, and is 15 long.
#[cfg(target_os = "linux")]
fn tickers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("comm")).ok();
    tasks.filter_map(name).filter(|name| name.trim_end() == "admittance-tick").count()
}

#[cfg(target_os = "linux")]
#[test]
fn the_ticker_is_one_thread_and_gone_after_the_last_clone_is_dropped() {
    let _alone = alone();
    assert_eq!(tickers(), 0);
    let clock = CoarseClock::start(MILLI).unwrap();
    // The thread names itself when it runs; a tick is proof that it has.
    until(|| clock.now() > 0);
    let clones: Vec<_> = (0..10).map(|_| clock.clone()).collect();
    assert_eq!(tickers(), 1);
    drop(clock);
    drop(clones.into_iter().take(9));
    // A joined thread may stand in /proc for a moment longer.
    until(|| tickers() == 0);
    for _ in 0..50 {
        // A long interval does not hold up the end.
        drop(CoarseClock::start(Duration::from_secs(3600)).unwrap());
    }
    until(|| tickers() == 0);
}

#[test]
fn an_interval_below_a_microsecond_is_refused_with_field_value_and_bound() {
    let _alone = alone();
    for (interval, shown) in [(Duration::ZERO, "0ns"), (Duration::from_nanos(999), "999ns")] {
        let error = CoarseClock::start(interval).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            error.to_string(),
            format!("interval: a coarse clock ticks every 1µs at the fastest, not every {shown}")
        );
    }
    assert!(CoarseClock::start(Duration::from_micros(1)).is_ok(), "the bound itself");
}

#[test]
fn a_bucket_on_a_lagging_clock_gives_no_more_than_one_on_a_precise_clock() {
    let _alone = alone();
    let before = Instant::now();
    let clock = CoarseClock::start(Duration::from_micros(100)).unwrap();
    let bucket = TokenBucket::with_clock(Budget::per_second(100_000).with_capacity(10), clock);
    let mut admitted = 0_u128;
    until(|| {
        admitted += u128::from(bucket.try_acquire(1).is_admitted());
        // More than the burst: the clock refills it.
        admitted > 100
    });
    // 100 000 a second is one in 10 µs.
    let most = 10 + before.elapsed().as_nanos() / 10_000;
    assert!(admitted <= most, "{admitted} > {most}");
}
