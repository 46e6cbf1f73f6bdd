//! Newcomers: those who meet a key that has no bucket.

use admittance::Overflow;
use admittance_loom_tests::check;
use loom::sync::Arc;

use super::support::{Table, at, budget, count, four_slots, key, one_slot, spawn};

/// `callers` of one new key, for which there is one token less than they are.
fn meet(table: &Arc<Table>, callers: u64) -> Vec<u64> {
    let x = key(0, [0, 1]);
    let others: Vec<_> = (1..callers).map(|_| spawn(table, 0, move |table| count(table.check(&x, 1)))).collect();
    let mut admitted = vec![count(table.check(&x, 1))];
    admitted.extend(others.into_iter().map(|other| other.join().unwrap()));
    assert_eq!(admitted.iter().sum::<u64>(), callers - 1, "one bucket");
    assert_eq!((table.available(&x), table.stats().len), (0, 1), "in one slot");
    admitted
}

#[test]
fn two_callers_of_a_new_key_share_one_bucket() {
    // Without a bound: some hundreds.
    check(None, 2, || meet(&four_slots(&[budget(1, 10)]), 2));
    check(None, 2, || meet(&one_slot(&[budget(1, 10)], Overflow::Deny), 2));
}

#[test]
fn three_callers_of_a_new_key_share_one_bucket() {
    check(Some(2), 3, || meet(&four_slots(&[budget(2, 10)]), 3));
}

/// Both places of one key are the other's: they want the same free slot first.
#[test]
fn two_new_keys_get_two_slots() {
    check(None, 1, || {
        let table = four_slots(&[budget(2, 10)]);
        let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
        let other = spawn(&table, 0, move |table| count(table.check(&y, 1)));
        assert_eq!(count(table.check(&x, 1)), 1);
        assert_eq!(other.join().unwrap(), 1);
        assert_eq!([table.available(&x), table.available(&y)], [1, 1], "each is charged for itself");
        assert_eq!(table.stats().len, 2);
    });
}

/// Whoever comes second finds a bucket in use.
#[test]
fn two_new_keys_and_one_slot() {
    check(None, 2, || {
        let table = one_slot(&[budget(2, 10)], Overflow::Deny);
        let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
        let other = spawn(&table, 0, move |table| count(table.check(&y, 1)));
        let admitted = [count(table.check(&x, 1)), other.join().unwrap()];
        assert_eq!(admitted.iter().sum::<u64>(), 1, "one slot");
        assert_eq!([table.available(&x) + admitted[0], table.available(&y) + admitted[1]], [2, 2]);
        admitted
    });
}

/// The bucket was drained, and is spent from as it refills. It is never full, so the newcomer never gets its slot.
#[test]
fn a_drained_bucket_is_never_reclaimed() {
    check(Some(3), 2, || {
        let table = one_slot(&[budget(2, 10)], Overflow::Deny);
        let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
        assert!(table.check(&x, 2).is_admitted());
        let refilled = spawn(&table, 10, move |table| count(table.check(&x, 1)));
        let late = spawn(&table, 19, move |table| count(table.check(&x, 1)));
        let newcomer = spawn(&table, 19, move |table| count(table.check(&y, 1)));
        assert_eq!(newcomer.join().unwrap(), 0, "no room");
        let admitted = [refilled.join().unwrap(), late.join().unwrap()];
        assert_eq!(admitted.iter().sum::<u64>(), 1, "what was refilled");
        assert_eq!(at(19, || table.available(&x)), 0);
        assert_eq!(table.stats().reclaimed, 0);
        admitted
    });
}

/// A bucket that is full for a moment: either the newcomer has its slot by then, or its key spends again.
#[test]
fn a_bucket_full_for_a_moment_has_one_taker() {
    check(Some(3), 2, || {
        let table = one_slot(&[budget(2, 10)], Overflow::Deny);
        let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
        let permit = table.check(&x, 1).admitted().unwrap();
        let newcomer = spawn(&table, 0, move |table| count(table.check(&y, 2)));
        table.refund(&x, 1, &permit);
        let admitted = [count(table.check(&x, 2)), newcomer.join().unwrap()];
        assert_eq!(admitted.iter().sum::<u64>(), 1, "one slot");
        assert_eq!([table.available(&x), table.available(&y)], admitted.map(|admitted| 2 - 2 * admitted));
        admitted
    });
}
