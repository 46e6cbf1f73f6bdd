//! More callers than tokens at one instant: exactly the capacity is admitted, in every interleaving.
//!
//! Cost: three callers without a bound, some hundred interleavings each; under a second.
#![cfg(admittance_loom)]

use std::time::Duration;

use admittance::bucket::Word;
use admittance::{AtomicWord, Budget};
use admittance_loom_tests::mutant::{PlainStore, StaleLoad};
use admittance_loom_tests::{Limiter, check, refutes};
use loom::sync::Arc;
use loom::thread;

/// `capacity` tokens, and callers that ask for `costs` at one instant. Returns which were admitted.
fn admitted<L: Limiter>(capacity: u64, costs: &[u64], now: u64) -> (Vec<bool>, Word) {
    let budget = Budget::new(capacity, 1, Duration::from_secs(1)).unwrap();
    let bucket = Arc::new(L::default());
    let others: Vec<_> = costs[1..]
        .iter()
        .map(|&cost| {
            let bucket = Arc::clone(&bucket);
            thread::spawn(move || bucket.try_acquire(cost, now, &budget).is_admitted())
        })
        .collect();
    let mut admitted = vec![bucket.try_acquire(costs[0], now, &budget).is_admitted()];
    admitted.extend(others.into_iter().map(|other| other.join().unwrap()));
    let spent: u64 = costs.iter().zip(&admitted).map(|(cost, admitted)| cost * u64::from(*admitted)).sum();
    assert_eq!(spent + bucket.available(now, &budget), capacity, "tokens are conserved");
    (admitted, bucket.load())
}

/// Two tokens, three callers.
fn two_for_three<L: Limiter>() {
    check(None, 3, || {
        let (admitted, word) = admitted::<L>(2, &[1, 1, 1], 5_000_000_000);
        assert_eq!(admitted.iter().filter(|&&admitted| admitted).count(), 2, "exactly the capacity is admitted");
        assert_eq!(word.bits(), 7_000_000_000, "the word says when it was last empty: now");
        admitted
    });
}

/// Three tokens, and costs of two, two and one: some two fit, never all, and who is denied found too little.
fn costs_above_one<L: Limiter>() {
    check(None, 2, || {
        let (admitted, _) = admitted::<L>(3, &[2, 2, 1], 0);
        let spent = 2 * u64::from(admitted[0]) + 2 * u64::from(admitted[1]) + u64::from(admitted[2]);
        assert!((2..=3).contains(&spent), "never more than the capacity, never less than fits");
        admitted
    });
}

/// One token, four threads with the model's own: the most loom has.
fn one_for_four<L: Limiter>(bound: Option<usize>) {
    check(bound, 4, || {
        let (admitted, _) = admitted::<L>(1, &[1, 1, 1, 1], 0);
        assert_eq!(admitted.iter().filter(|&&admitted| admitted).count(), 1, "exactly the capacity is admitted");
        admitted
    });
}

#[test]
fn exactly_the_capacity_is_admitted_at_one_instant() {
    two_for_three::<AtomicWord>();
}

#[test]
fn costs_above_one_never_overlap() {
    costs_above_one::<AtomicWord>();
}

#[test]
fn four_callers_share_one_token() {
    // Bounded: without it a minute, `ADMITTANCE_LOOM_LONG=1`.
    one_for_four::<AtomicWord>(Some(3));
}

#[test]
fn a_plain_store_admits_too_many() {
    refutes("tokens are conserved", two_for_three::<PlainStore>);
    refutes("tokens are conserved", costs_above_one::<PlainStore>);
    refutes("tokens are conserved", || one_for_four::<PlainStore>(Some(3)));
}

#[test]
fn a_stale_level_admits_too_many() {
    refutes("tokens are conserved", two_for_three::<StaleLoad>);
    refutes("tokens are conserved", costs_above_one::<StaleLoad>);
}
