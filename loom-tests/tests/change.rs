//! A budget that changes under its callers (`src/bucket/live.rs`).
//!
//! No interleaving of a change with spends, refunds or another change mints or loses a token.
//!
//! Seen to fail where `AtomicWord::take_away` loads and then stores, where an update does not look for a word that has moved,
//! and where a denial does not.
//!
//! Cost: at most three preemptions (`ADMITTANCE_LOOM_LONG` takes the bound away); seconds.
#![cfg(admittance_loom)]

use std::time::Duration;

use admittance::{Budget, Clock, TokenBucket};
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

fn budget(capacity: u64, tokens: u64) -> Budget {
    Budget::new(capacity, tokens, Duration::from_secs(3)).unwrap()
}

#[test]
fn two_spenders_and_a_change() {
    check(Some(3), 2, || {
        let bucket = Arc::new(TokenBucket::with_clock(budget(2, 1), Still));
        let spenders: Vec<_> = [1, 2]
            .into_iter()
            .map(|n| {
                let bucket = Arc::clone(&bucket);
                thread::spawn(move || if bucket.try_acquire(n).is_admitted() { n } else { 0 })
            })
            .collect();
        bucket.set_budget(budget(5, 7));
        let spent: u64 = spenders.into_iter().map(|spender| spender.join().unwrap()).sum();
        assert_eq!(spent + bucket.available(), 2);
        assert_eq!(bucket.budget(), budget(5, 7));
        assert!(spent > 0, "one of them finds tokens");
        spent
    });
}

#[test]
fn a_refund_and_a_change() {
    check(Some(3), 1, || {
        let bucket = Arc::new(TokenBucket::with_clock(budget(2, 1), Still));
        assert!(bucket.try_acquire(2).is_admitted());
        let other = {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || {
                bucket.refund(1);
                bucket.debit(2)
            })
        };
        bucket.set_budget(budget(4, 1));
        assert_eq!(other.join().unwrap(), 2);
        // One token of debt: refund two, and one is there.
        bucket.refund(2);
        assert_eq!(bucket.available(), 1);
    });
}

#[test]
fn two_changes_and_a_spender() {
    check(Some(3), 2, || {
        let bucket = Arc::new(TokenBucket::with_clock(budget(3, 1), Still));
        let changer = {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || bucket.set_budget(budget(4, 7)))
        };
        let spender = {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || if bucket.try_acquire(2).is_admitted() { 2 } else { 0 })
        };
        bucket.set_budget(budget(5, 2));
        changer.join().unwrap();
        let spent = spender.join().unwrap();
        assert_eq!((spent, bucket.available()), (2, 1));
        let ended = bucket.budget().capacity();
        assert!([4, 5].contains(&ended));
        ended
    });
}

#[test]
fn a_reservation_dropped_during_a_change() {
    check(Some(3), 1, || {
        let bucket = Arc::new(TokenBucket::with_clock(budget(2, 1), Still));
        let other = {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || drop(bucket.reserve(2).admitted().unwrap()))
        };
        bucket.set_budget(budget(3, 1));
        other.join().unwrap();
        assert_eq!(bucket.available(), 2);
    });
}
