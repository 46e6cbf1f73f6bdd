//! Leases on one bucket beside a direct caller: what was taken in bulk, spent and given back adds up.
//!
//! Cost: three threads, at most three preemptions (`ADMITTANCE_LOOM_LONG` takes the bound away); seconds.
#![cfg(admittance_loom)]

use std::time::Duration;

use admittance::{Budget, Clock, Lease, TokenBucket};
use admittance_loom_tests::check;
use loom::sync::Arc;
use loom::thread;

/// Time stands still: what a model admits is what was in the bucket.
struct Still;

impl Clock for Still {
    fn now(&self) -> u64 {
        0
    }
}

#[test]
fn two_leases_and_a_direct_caller_conserve_tokens() {
    check(Some(3), 3, || {
        let budget = Budget::new(4, 1, Duration::from_secs(1)).unwrap();
        let bucket = Arc::new(TokenBucket::with_clock(budget, Still));
        let leases: Vec<_> = [3, 2]
            .into_iter()
            .map(|size| {
                let lease = Lease::new(Arc::clone(&bucket), size);
                // Takes up to `size`, spends one, gives the rest back.
                thread::spawn(move || u64::from(lease.try_acquire(1).is_admitted()))
            })
            .collect();
        let direct = u64::from(bucket.try_acquire(1).is_admitted());
        let mut spent: Vec<u64> = leases.into_iter().map(|lease| lease.join().unwrap()).collect();
        spent.push(direct);
        assert_eq!(spent.iter().sum::<u64>() + bucket.available(), 4, "nothing is lost and nothing made");
        spent
    });
}
