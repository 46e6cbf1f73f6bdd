//! A slot that changes hands under slow callers.
//!
//! Two tokens at most, one every ten nanoseconds. X spent one at 0 and so is full at 10; until then it keeps its slot. All
//! instants are 10 or before, so that at 10 nothing has been refilled since: what a key was admitted and what it has left
//! are two tokens together, whoever had the slot, and in whatever order.

use admittance::Overflow;
use admittance_loom_tests::check;
use loom::sync::Arc;

use super::support::{Table, at, budget, count, four_slots, key, one_slot, spawn};

/// Key 0 spends a token at 0.
fn used(table: Arc<Table>, x: u64) -> Arc<Table> {
    assert!(table.check(&x, 1).is_admitted());
    table
}

/// Who has no slot is full. `spent` is what each key was charged since.
fn conserved(table: &Table, keys: [u64; 2], spent: [u64; 2]) {
    let left = keys.map(|key| at(10, || table.available(&key)));
    assert_eq!([left[0] + spent[0], left[1] + spent[1]], [2, 2], "each key is charged for itself");
}

/// Spends a token and gives it back: for who finds it so, the bucket is full, and its word what it was before.
fn to_and_fro(table: &Table, key: u64) -> u64 {
    match table.check(&key, 1).admitted() {
        Some(permit) => {
            table.refund(&key, 1, &permit);
            1
        }
        None => 0,
    }
}

/// X's caller is late or on time when Y's takes the slot.
#[test]
fn a_slot_taken_under_its_key() {
    for slow in [5, 10] {
        check(Some(3), 2, move || {
            let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
            let table = used(one_slot(&[budget(2, 10)], Overflow::Deny), x);
            let taker = spawn(&table, 10, move |table| count(table.check(&y, 1)));
            let mine = at(slow, || count(table.check(&x, 1)));
            let spent = [mine, taker.join().unwrap()];
            conserved(&table, [x, y], spent);
            assert_eq!(spent.iter().sum::<u64>() + table.stats().overflowed, 2, "only overflow denies");
            spent
        });
    }
}

/// Y's bucket comes to have the very word that X's had.
#[test]
fn a_slot_taken_by_a_key_with_the_same_word() {
    check(Some(3), 2, || {
        let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
        let table = used(one_slot(&[budget(2, 10)], Overflow::Deny), x);
        let taker = spawn(&table, 10, move |table| to_and_fro(table, y));
        let mine = at(10, || count(table.check(&x, 1)));
        let taken = taker.join().unwrap();
        conserved(&table, [x, y], [mine, 0]);
        assert_eq!(mine + taken + table.stats().overflowed, 2, "only overflow denies");
        (mine, taken, table.stats().reclaimed)
    });
}

/// From X to Y and back to X, under a caller of X that is late or on time.
#[test]
fn a_slot_taken_and_taken_back() {
    for slow in [5, 10] {
        check(Some(2), 3, move || {
            let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
            let table = used(one_slot(&[budget(2, 10)], Overflow::Deny), x);
            let taker = spawn(&table, 10, move |table| to_and_fro(table, y));
            let back = spawn(&table, 10, move |table| count(table.check(&x, 1)));
            let mine = at(slow, || count(table.check(&x, 1)));
            let (taken, back) = (taker.join().unwrap(), back.join().unwrap());
            conserved(&table, [x, y], [mine + back, 0]);
            // At 5, X's late caller finds half a token where the other came first.
            let (denied, overflowed) = (3 - (mine + back + taken), table.stats().overflowed);
            assert!(denied == overflowed || slow == 5 && (mine, back, denied) == (0, 1, overflowed + 1));
            (mine, back, taken, table.stats().reclaimed)
        });
    }
}

/// From X to Y and back, under a caller that only looks, and who must see one token less than there were, or two.
#[test]
fn a_look_while_the_slot_is_taken_and_taken_back() {
    check(Some(2), 2, || {
        let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
        let table = used(one_slot(&[budget(2, 10)], Overflow::Deny), x);
        let taker = spawn(&table, 10, move |table| to_and_fro(table, y));
        let looker = spawn(&table, 10, move |table| table.available(&x));
        let back = at(10, || count(table.check(&x, 1)));
        let (_, seen) = (taker.join().unwrap(), looker.join().unwrap());
        assert!((2 - back..=2).contains(&seen), "{seen} of X's tokens seen");
        conserved(&table, [x, y], [back, 0]);
        (seen, back, table.stats().reclaimed)
    });
}

/// Whoever looks at every bucket sees X's or Y's as it was, or neither.
#[test]
fn a_look_at_every_bucket_while_a_slot_is_taken() {
    check(None, 3, || {
        let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
        let table = used(one_slot(&[budget(2, 10)], Overflow::Deny), x);
        let taker = spawn(&table, 10, move |table| count(table.check(&y, 1)));
        let looker = spawn(&table, 10, |table| {
            let mut seen = None;
            table.for_each(|bucket| seen = Some((bucket.available, bucket.full_in)));
            seen
        });
        assert_eq!(taker.join().unwrap(), 1);
        let seen = looker.join().unwrap();
        assert!([None, Some((2, 0)), Some((1, 10))].contains(&seen), "{seen:?}");
        seen
    });
}

/// Three callers of the key that takes the slot: one may come while it is being given.
#[test]
fn three_callers_of_the_key_that_takes() {
    check(Some(2), 3, || {
        let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
        let table = used(one_slot(&[budget(2, 10)], Overflow::Deny), x);
        let others = [(); 2].map(|()| spawn(&table, 10, move |table| count(table.check(&y, 1))));
        let mine = at(10, || count(table.check(&y, 1)));
        let others = others.map(|other| other.join().unwrap());
        let spent = mine + others.iter().sum::<u64>();
        conserved(&table, [x, y], [0, spent]);
        assert_eq!((spent, table.stats().overflowed), (2, 0), "both tokens, in the slot that was X's");
        (mine, others)
    });
}

/// X's late caller meets X anew, in X's other slot: it finds what X had at its instant, not more.
#[test]
fn a_late_caller_finds_no_more_than_before_the_slot_was_taken() {
    for (cost, admitted) in [(1, 1), (2, 0)] {
        check(Some(2), 2, move || {
            let [x, y, z] = [key(0, [0, 1]), key(1, [0, 3]), key(0, [3, 2])];
            let table = used(four_slots(&[budget(2, 10)]), x);
            // Y's other slot is in use: where there is a free one, nobody is forgotten.
            assert!(table.check(&z, 2).is_admitted());
            let taker = spawn(&table, 10, move |table| count(table.check(&y, 1)));
            // A thread of its own: of the model's, loom does not try a call that only reads after the others' writes.
            let late = spawn(&table, 5, move |table| (count(table.check(&x, cost)), table.stats().reclaimed));
            let taken = taker.join().unwrap();
            let (mine, reclaimed) = late.join().unwrap();
            assert_eq!(mine, admitted, "one and a half tokens at 5");
            assert_eq!(taken, table.stats().reclaimed, "Y has X's slot if X was full");
            conserved(&table, [x, y], [mine, taken]);
            reclaimed
        });
    }
}

/// Two keys want X's slot, under a caller of X. Who is denied is told to come back at once, or when whoever has it is full.
#[test]
fn one_of_two_takers_has_the_slot() {
    check(Some(2), 3, || {
        let [x, y, z] = [key(0, [0, 1]), key(1, [0, 1]), key(0, [0, 3])];
        let table = used(one_slot(&[budget(2, 10)], Overflow::Deny), x);
        let takers = [y, z].map(|key| {
            spawn(&table, 10, move |table| {
                let decision = table.check(&key, 1);
                let wait = decision.retry_after().map(|wait| wait.as_nanos());
                assert!([None, Some(1), Some(10)].contains(&wait), "told to come back after {wait:?}");
                count(decision)
            })
        });
        let mine = at(10, || count(table.check(&x, 1)));
        let taken = takers.map(|taker| taker.join().unwrap());
        conserved(&table, [x, y], [mine, taken[0]]);
        conserved(&table, [y, z], taken);
        assert_eq!(mine + taken[0] + taken[1], 1, "one slot");
        (mine, taken)
    });
}
