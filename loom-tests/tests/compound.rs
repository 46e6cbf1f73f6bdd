//! Two callers over two limits: neither is over-admitted, and at the end nothing stays charged that was not admitted.
//!
//! Cost: two threads without a bound, then three with at most two preemptions; seconds.
#![cfg(admittance_loom)]

use std::time::Duration;

use admittance::{AllOf, Budget, Clock, FixedWindow, Limit, TokenBucket, Window};
use admittance_loom_tests::check;
use loom::sync::Arc;
use loom::thread;

struct Still;

impl Clock for Still {
    fn now(&self) -> u64 {
        0
    }
}

struct Limits {
    bucket: TokenBucket<Still>,
    window: FixedWindow<Still>,
}

impl Limits {
    fn new(bucket: u64, window: u64) -> Arc<Self> {
        let second = Duration::from_secs(1);
        Arc::new(Self {
            bucket: TokenBucket::with_clock(Budget::new(bucket, 1, second).unwrap(), Still),
            window: FixedWindow::with_clock(Window::new(window, second).unwrap(), Still),
        })
    }

    /// In one order or the other; the order in which they are charged must not matter.
    fn admit(&self, reversed: bool) -> u64 {
        let (bucket, window): (&(dyn Limit + Sync), &(dyn Limit + Sync)) = (&self.bucket, &self.window);
        let both = if reversed { AllOf::new([window, bucket]) } else { AllOf::new([bucket, window]) };
        u64::from(both.try_acquire(1).decision.is_admitted())
    }
}

#[test]
fn two_callers_over_two_limits() {
    check(None, 2, || {
        let limits = Limits::new(1, 1);
        let other = {
            let limits = Arc::clone(&limits);
            thread::spawn(move || limits.admit(true))
        };
        let here = limits.admit(false);
        let spent = (here, other.join().unwrap());
        let sum = spent.0 + spent.1;
        assert!(sum <= 1, "neither is over-admitted");
        assert_eq!((limits.bucket.available(), limits.window.available()), (1 - sum, 1 - sum), "nothing stays charged");
        spent
    });
}

#[test]
fn a_direct_caller_beats_one_of_two_limits() {
    check(Some(2), 2, || {
        let limits = Limits::new(2, 1);
        let both = {
            let limits = Arc::clone(&limits);
            thread::spawn(move || limits.admit(false))
        };
        let direct = u64::from(limits.window.try_acquire(1).is_admitted());
        let both = both.join().unwrap();
        assert_eq!(both + direct + limits.window.available(), 1, "the window's one token went once, or is there");
        assert_eq!(limits.bucket.available(), 2 - both, "what the window refused, the bucket has back");
        (both, direct)
    });
}
