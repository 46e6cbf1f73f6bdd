//! Another tier, other terms.

use admittance::Overflow;
use admittance_loom_tests::check;
use loom::sync::Arc;

use super::support::{Table, at, budget, count, four_slots, key, one_slot, spawn};

/// A table of one slot and these tiers, and key 0, which has spent `spent` in the first of them at 0.
fn used(tiers: &[admittance::Budget], spent: u64) -> (Arc<Table>, u64) {
    let table = one_slot(tiers, Overflow::Deny);
    let x = key(0, [0, 1]);
    assert!(table.check(&x, spent).is_admitted());
    (table, x)
}

#[test]
fn two_callers_who_disagree_about_the_tier() {
    check(None, 2, || {
        let (table, x) = used(&[budget(3, 10), budget(5, 7)], 2);
        let [free, paid] = [0, 1].map(|number| table.tier(number).unwrap());
        let other = spawn(&table, 0, move |table| count(table.check_as(&x, paid, 1)));
        let admitted = [count(table.check_as(&x, free, 1)), other.join().unwrap()];
        assert_eq!(admitted.iter().sum::<u64>(), 1, "one token");
        assert_eq!([paid, free].map(|tier| table.available_as(&x, tier)), [0, 0]);
        admitted
    });
}

#[test]
fn a_change_of_tier_under_two_spenders() {
    check(Some(2), 3, || {
        let (table, x) = used(&[budget(4, 10), budget(6, 7)], 2);
        let [free, paid] = [0, 1].map(|number| table.tier(number).unwrap());
        let others = [free, paid].map(|tier| spawn(&table, 0, move |table| count(table.check_as(&x, tier, 1))));
        let mine = count(table.check_as(&x, free, 1));
        let others = others.map(|other| other.join().unwrap());
        assert_eq!(mine + others[0] + others[1], 2, "two tokens");
        assert_eq!(table.available_as(&x, paid), 0);
        (mine, others)
    });
}

#[test]
fn a_change_of_rule_and_two_spenders() {
    // Two preemptions: minutes.
    check(Some(1), 2, || {
        let (table, x) = used(&[budget(4, 10)], 2);
        let tier = table.tier(0).unwrap();
        let others = [1, 2].map(|cost| spawn(&table, 0, move |table| cost * count(table.check(&x, cost))));
        table.set_tier_budget(tier, budget(6, 7)).unwrap();
        let spent = others.map(|other| other.join().unwrap());
        assert_eq!(spent.iter().sum::<u64>() + table.available(&x), 2, "tokens are conserved");
        spent
    });
}

/// The change holds from 10 on. X was drained at 0, so it has two tokens at 10 (one every 5 until then), and three at 20.
#[test]
fn a_rule_is_not_applied_to_time_already_past() {
    check(Some(3), 1, || {
        let (table, x) = used(&[budget(4, 5)], 4);
        let tier = table.tier(0).unwrap();
        let late = spawn(&table, 20, move |table| count(table.check(&x, 1)));
        at(10, || table.set_tier_budget(tier, budget(4, 10))).unwrap();
        assert_eq!(late.join().unwrap(), 1);
        assert_eq!(at(20, || table.available(&x)), 2);
    });
}

/// Drained at 0 and carried at once, a bucket has the same word in all terms; but a token is worth more time in the last.
#[test]
fn a_spend_in_old_terms_never_meets_a_bucket_in_new_ones() {
    for between in [None, Some(budget(3, 7))] {
        check(Some(3), 2, move || {
            let (table, x) = used(&[budget(2, 5)], 2);
            let tier = table.tier(0).unwrap();
            let late = spawn(&table, 5, move |table| count(table.check(&x, 1)));
            for rule in between.into_iter().chain([budget(1, 10)]) {
                table.set_tier_budget(tier, rule).unwrap();
            }
            let admitted = late.join().unwrap();
            assert!(admitted + at(15, || table.available(&x)) <= 1, "one and a half tokens by 15");
            admitted
        });
    }
}

/// A newcomer in old terms has their full bucket carried over; in new terms it has the new full one.
#[test]
fn a_change_of_rule_and_a_newcomer() {
    check(None, 2, || {
        let table = one_slot(&[budget(2, 10)], Overflow::Deny);
        let x = key(0, [0, 1]);
        let tier = table.tier(0).unwrap();
        let newcomer = spawn(&table, 0, move |table| table.check(&x, 1).remaining());
        table.set_tier_budget(tier, budget(4, 7)).unwrap();
        let left = newcomer.join().unwrap();
        assert!([Some(1), Some(3)].contains(&left), "{left:?}");
        assert_eq!(Some(table.available(&x)), left);
        left
    });
}

/// After two changes the one bit in the owner word is as it was at first.
#[test]
fn two_changes_of_rule_and_a_newcomer() {
    check(Some(3), 3, || {
        let table = one_slot(&[budget(2, 10)], Overflow::Deny);
        let x = key(0, [0, 1]);
        let tier = table.tier(0).unwrap();
        let newcomer = spawn(&table, 0, move |table| table.check(&x, 1).remaining());
        table.set_tier_budget(tier, budget(4, 7)).unwrap();
        table.set_tier_budget(tier, budget(6, 3)).unwrap();
        let left = newcomer.join().unwrap();
        assert!([Some(1), Some(3), Some(5)].contains(&left), "{left:?}");
        assert_eq!(Some(table.available(&x)), left);
        left
    });
}

#[test]
fn two_changes_of_rule_and_a_slow_caller() {
    check(Some(3), 1, || {
        let (table, x) = used(&[budget(4, 10)], 2);
        let tier = table.tier(0).unwrap();
        let slow = spawn(&table, 0, move |table| table.check(&x, 1).remaining());
        table.set_tier_budget(tier, budget(6, 7)).unwrap();
        table.set_tier_budget(tier, budget(5, 3)).unwrap();
        assert_eq!(slow.join().unwrap(), Some(1));
        assert_eq!(table.available(&x), 1, "tokens are conserved");
    });
}

#[test]
fn two_changes_by_two_changers_and_a_slow_caller() {
    check(Some(2), 2, || {
        let (table, x) = used(&[budget(4, 10)], 2);
        let tier = table.tier(0).unwrap();
        let slow = spawn(&table, 0, move |table| count(table.check(&x, 2)));
        let changer = spawn(&table, 0, move |table| table.set_tier_budget(tier, budget(6, 7)));
        table.set_tier_budget(tier, budget(5, 3)).unwrap();
        changer.join().unwrap().unwrap();
        assert_eq!(slow.join().unwrap(), 1);
        assert_eq!(table.available(&x), 0, "tokens are conserved");
        table.rule(tier).capacity()
    });
}

/// X is full at 10 in the old terms. Y has its slot first, or is denied, and told to come back at once or after `wait`: when
/// X is full in the new terms.
fn change_while_taken(
    outcomes: usize,
    capacity: u64,
    wait: Option<u64>,
    right: impl Fn(Option<u64>, [u64; 2]) + Send + Sync + 'static,
) {
    check(Some(3), outcomes, move || {
        let (table, x) = used(&[budget(2, 10)], 1);
        let y = key(1, [0, 1]);
        let tier = table.tier(0).unwrap();
        let taker = spawn(&table, 10, move |table| {
            let decision = table.check(&y, 1);
            (decision.remaining(), decision.retry_after().map(|wait| wait.as_nanos() as u64))
        });
        at(10, || table.set_tier_budget(tier, budget(capacity, 7))).unwrap();
        let (left, told) = taker.join().unwrap();
        assert!([None, Some(1), wait].contains(&told), "told to come back after {told:?}");
        right(left, at(10, || [x, y].map(|key| table.available(&key))));
        (left, told)
    });
}

/// X has two of four tokens in the new terms, and so keeps its slot in them.
#[test]
fn a_change_to_a_larger_rule_while_a_slot_is_taken() {
    change_while_taken(3, 4, Some(14), |left, available| match left {
        None => assert_eq!(available, [2, 4], "X has its bucket, Y none"),
        _ => assert_eq!((left, available), (Some(1), [4, 1]), "Y has the one that was full in old terms"),
    });
}

/// X is full in the new terms as well. Y spends of two tokens or of one.
#[test]
fn a_change_to_a_smaller_rule_while_a_slot_is_taken() {
    change_while_taken(3, 1, None, |left, available| match left {
        None => assert_eq!(available, [1, 1], "X has its bucket, Y none"),
        Some(left) => assert_eq!((left < 2, available), (true, [1, left]), "Y has its own"),
    });
}

/// Both tiers change while a key moves from one to the other: three tokens in hand, whatever comes first.
#[test]
fn a_change_of_rule_while_a_key_changes_its_tier() {
    check(Some(3), 1, || {
        let (table, x) = used(&[budget(4, 10), budget(6, 7)], 1);
        let [free, paid] = [0, 1].map(|number| table.tier(number).unwrap());
        let mover = spawn(&table, 0, move |table| table.check_as(&x, paid, 1).remaining());
        table.set_tier_budget(free, budget(5, 3)).unwrap();
        table.set_tier_budget(paid, budget(7, 2)).unwrap();
        assert_eq!(mover.join().unwrap(), Some(2));
        assert_eq!(table.available_as(&x, paid), 2, "tokens are conserved");
        assert_eq!(table.available_as(&x, free), 2, "tokens are conserved");
    });
}

/// Newcomers without room share two tokens, whose rule changes.
#[test]
fn a_change_of_rule_and_a_shared_bucket() {
    check(Some(3), 2, || {
        let table = one_slot(&[budget(2, 10)], Overflow::Share);
        let [x, y, z] = [key(0, [0, 1]), key(1, [0, 1]), key(0, [0, 3])];
        assert!(table.check(&x, 1).is_admitted());
        let tier = table.tier(0).unwrap();
        let other = spawn(&table, 0, move |table| table.check(&y, 1).remaining());
        table.set_tier_budget(tier, budget(4, 7)).unwrap();
        let mut left = [table.check(&z, 1).remaining(), other.join().unwrap()];
        assert!(table.check(&y, 1).is_denied());
        assert_eq!(table.available(&x), 1, "X has its own");
        let seen = left;
        left.sort_unstable();
        assert_eq!(left, [Some(0), Some(1)], "two tokens");
        seen
    });
}

/// It is in the terms of the second change as well, though nobody asks for it between the two.
#[test]
fn two_changes_of_rule_and_a_shared_bucket() {
    check(Some(2), 1, || {
        let table = one_slot(&[budget(2, 10)], Overflow::Share);
        let [x, y, z] = [key(0, [0, 1]), key(1, [0, 1]), key(0, [0, 3])];
        assert!(table.check(&x, 1).is_admitted() && table.check(&y, 1).is_admitted());
        let tier = table.tier(0).unwrap();
        let slow = spawn(&table, 0, move |table| table.check(&z, 1).remaining());
        table.set_tier_budget(tier, budget(4, 7)).unwrap();
        table.set_tier_budget(tier, budget(6, 3)).unwrap();
        assert_eq!(slow.join().unwrap(), Some(0), "Y had one of two tokens");
        assert!(table.check(&y, 1).is_denied());
        assert_eq!(table.available(&x), 1, "X has its own");
    });
}

/// Newcomers of two locks, one in old terms, one in new: each in a slot of its own.
#[test]
fn a_change_of_rule_and_two_newcomers() {
    check(Some(2), 3, || {
        let table = four_slots(&[budget(2, 10)]);
        let [x, y] = [key(0, [0, 1]), key(1, [0, 1])];
        let tier = table.tier(0).unwrap();
        let newcomers = [x, y].map(|key| spawn(&table, 0, move |table| table.check(&key, 1).remaining()));
        table.set_tier_budget(tier, budget(4, 7)).unwrap();
        let left = newcomers.map(|newcomer| newcomer.join().unwrap());
        assert_eq!([x, y].map(|key| Some(table.available(&key))), left);
        left
    });
}
