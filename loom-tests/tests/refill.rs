//! Callers at different times: a refill that arrives while others spend, and clocks that differ.
//!
//! Cost: three callers without a bound; under a second.
#![cfg(admittance_loom)]

use std::time::Duration;

use admittance::{AtomicWord, Budget};
use admittance_loom_tests::mutant::{PlainStore, StaleLoad};
use admittance_loom_tests::{Limiter, check, refutes};
use loom::sync::Arc;
use loom::thread;

const SECOND: u64 = 1_000_000_000;

/// Each caller asks for one token at its own time. Returns who was admitted, and what is left at the latest time.
fn at_times<L: Limiter>(capacity: u64, times: &'static [u64]) -> (Vec<bool>, u64) {
    let budget = Budget::new(capacity, 1, Duration::from_secs(1)).unwrap();
    let bucket = Arc::new(L::default());
    let callers: Vec<_> = times[1..]
        .iter()
        .map(|&now| {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || bucket.try_acquire(1, now, &budget).is_admitted())
        })
        .collect();
    let mut admitted = vec![bucket.try_acquire(1, times[0], &budget).is_admitted()];
    admitted.extend(callers.into_iter().map(|caller| caller.join().unwrap()));
    // The upper digit: tokens handed out or overflown.
    let (tokens, _) = bucket.load().unpack(&budget);
    let count = admitted.iter().filter(|&&admitted| admitted).count() as u64;
    assert!(tokens >= count, "every token handed out is in the word");
    let latest = times.iter().copied().max().unwrap();
    (admitted, bucket.available(latest, &budget))
}

/// A bucket of one, two callers now and one a second later, when one token has come.
fn a_refill_races_spends<L: Limiter>() {
    check(None, 3, || {
        let (admitted, left) = at_times::<L>(1, &[0, 0, SECOND]);
        // Where the late caller is first, the bucket was full until then, and for clocks behind it there is nothing.
        assert!(!(admitted[0] && admitted[1]), "one at 0, not two");
        assert!(admitted[2], "the refill is there for whoever comes after it");
        assert_eq!(left, 0, "and it is spent");
        admitted
    });
}

/// A bucket of two, and clocks that differ by half a token's time.
fn clocks_differ<L: Limiter>() {
    check(None, 3, || {
        let (admitted, left) = at_times::<L>(2, &[SECOND / 2, 0, SECOND]);
        let count = admitted.iter().filter(|&&admitted| admitted).count() as u64;
        // Two to begin with, and one refilled between the earliest and the latest clock at most.
        assert!((2..=3).contains(&(count + left)), "a clock behind mints nothing and loses nothing");
        (admitted, left)
    });
}

#[test]
fn a_refill_is_spent_once() {
    a_refill_races_spends::<AtomicWord>();
}

#[test]
fn callers_whose_clocks_differ_mint_nothing() {
    clocks_differ::<AtomicWord>();
}

#[test]
fn a_plain_store_spends_a_refill_twice() {
    refutes("every token handed out", a_refill_races_spends::<PlainStore>);
    refutes("every token handed out", clocks_differ::<PlainStore>);
}

#[test]
fn a_stale_level_spends_a_refill_twice() {
    refutes("every token handed out", a_refill_races_spends::<StaleLoad>);
    refutes("every token handed out", clocks_differ::<StaleLoad>);
}
