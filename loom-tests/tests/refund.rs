//! Refunds and debits racing spends.
//!
//! A refund brings the very bits back that a spender loaded before (ABA): the word alone is the state, so its swap is right
//! all the same, and these models would show it if it were not.
//!
//! Cost: three threads, at most three preemptions (`ADMITTANCE_LOOM_LONG` takes the bound away: minutes); seconds.
#![cfg(admittance_loom)]

use std::time::Duration;

use admittance::{AtomicWord, Budget};
use admittance_loom_tests::mutant::{PlainStore, StaleLoad, StoredUpdate};
use admittance_loom_tests::{Limiter, check, refutes};
use loom::sync::Arc;
use loom::thread;

fn budget(capacity: u64) -> Budget {
    Budget::new(capacity, 1, Duration::from_secs(1)).unwrap()
}

/// One thread spends and gives back, and so restores the bits; two others spend.
fn a_refund_restores_the_bits<L: Limiter>() {
    check(Some(3), 3, || {
        let budget = budget(3);
        let bucket = Arc::new(L::default());
        let before = bucket.load();
        let spenders: Vec<_> = (0..2)
            .map(|_| {
                let bucket = Arc::clone(&bucket);
                thread::spawn(move || bucket.try_acquire(1, 0, &budget).is_admitted())
            })
            .collect();
        let lent = bucket.try_acquire(2, 0, &budget).is_admitted();
        if lent {
            bucket.refund(2, 0, &budget);
        }
        let admitted: Vec<_> = spenders.into_iter().map(|spender| spender.join().unwrap()).collect();
        let spent = admitted.iter().filter(|&&admitted| admitted).count() as u64;
        assert_eq!(spent + bucket.available(0, &budget), 3, "what was given back is there, once");
        assert!(spent > 0 || bucket.load() == before, "nobody spent: the very same bits");
        (lent, admitted)
    });
}

/// Two refunds race a spend: each counts, and the bucket is never more than full.
fn refunds_add_up<L: Limiter>() {
    check(Some(3), 2, || {
        let budget = budget(3);
        let bucket = Arc::new(L::default());
        assert!(bucket.try_acquire(3, 0, &budget).is_admitted());
        let spender = {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || u64::from(bucket.try_acquire(1, 0, &budget).is_admitted()))
        };
        let refunder = {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || bucket.refund(1, 0, &budget))
        };
        bucket.refund(1, 0, &budget);
        refunder.join().unwrap();
        let spent = spender.join().unwrap();
        assert_eq!(spent + bucket.available(0, &budget), 2, "two were given back");
        spent
    });
}

/// A debit of two races two spends of one: what is charged and what is spent add up, into debt.
fn a_debit_races_spends<L: Limiter>() {
    check(Some(3), 3, || {
        let budget = budget(2);
        let bucket = Arc::new(L::default());
        let spenders: Vec<_> = (0..2)
            .map(|_| {
                let bucket = Arc::clone(&bucket);
                thread::spawn(move || u64::from(bucket.try_acquire(1, 0, &budget).is_admitted()))
            })
            .collect();
        let charged = bucket.debit(3, 0, &budget);
        let spent: Vec<u64> = spenders.into_iter().map(|spender| spender.join().unwrap()).collect();
        assert_eq!(charged + spent.iter().sum::<u64>(), bucket.load().bits() / 1_000_000_000, "the word is the sum");
        assert!(bucket.load().bits() <= 4_000_000_000, "at most one capacity of debt");
        (charged, spent)
    });
}

#[test]
fn a_refund_racing_spends_is_there_once() {
    a_refund_restores_the_bits::<AtomicWord>();
    refunds_add_up::<AtomicWord>();
}

#[test]
fn a_debit_racing_spends_is_charged_once() {
    a_debit_races_spends::<AtomicWord>();
}

#[test]
fn a_plain_store_loses_a_refund_or_a_debit() {
    refutes("once", a_refund_restores_the_bits::<PlainStore>);
    refutes("two were given back", refunds_add_up::<PlainStore>);
    refutes("the word is the sum", a_debit_races_spends::<PlainStore>);
}

#[test]
fn a_stale_level_loses_a_refund_or_a_debit() {
    refutes("once", a_refund_restores_the_bits::<StaleLoad>);
    refutes("two were given back", refunds_add_up::<StaleLoad>);
    refutes("the word is the sum", a_debit_races_spends::<StaleLoad>);
}

#[test]
fn a_refund_or_debit_by_plain_store_is_found_too() {
    refutes("once", a_refund_restores_the_bits::<StoredUpdate>);
    refutes("two were given back", refunds_add_up::<StoredUpdate>);
    refutes("the word is the sum", a_debit_races_spends::<StoredUpdate>);
}
