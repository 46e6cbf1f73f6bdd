//! Real threads on one table: slots that change hands, rules that change, clocks that lag; what each key was admitted is
//! counted, and compared with what its own exact bucket had.
//!
//! `ci/miri` and `ci/tsan` run this as well.

use std::cell::Cell;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use admittance::{Budget, Clock, Keyed, ManualClock, Overflow};

/// Miri is a thousand times slower.
const ROUNDS: u64 = if cfg!(miri) { 3 } else { 300 };

/// Calls of a thread on each key, in each round.
const CALLS: u64 = if cfg!(miri) { 12 } else { 60 };

/// Tokens at most: half of what two threads ask for.
const CAPACITY: u64 = CALLS;

/// Refill: one token in as many nanoseconds.
const EVERY: u64 = 100;

/// How late a slow thread comes.
const LAG: u64 = 150;

thread_local! {
    static BEHIND: Cell<u64> = const { Cell::new(0) };
}

/// One clock, which slow threads read early.
struct Lagging(ManualClock);

impl Clock for Lagging {
    fn now(&self) -> u64 {
        self.0.now() - BEHIND.get()
    }
}

fn budget(capacity: u64, every: u64) -> Budget {
    Budget::new(capacity, 1, Duration::from_nanos(every)).unwrap()
}

/// Starts all threads at once, and tells what each returned.
fn together<T: Send, const THREADS: usize>(work: impl Fn(usize) -> T + Sync) -> [T; THREADS] {
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        let (start, work) = (&start, &work);
        let threads: [_; THREADS] = std::array::from_fn(|number| {
            scope.spawn(move || {
                start.wait();
                work(number)
            })
        });
        threads.map(|thread| thread.join().unwrap())
    })
}

fn hammer(table: &Keyed<u64, impl Clock>, keys: &[u64], calls: u64) -> Vec<u64> {
    let mut admitted = vec![0; keys.len()];
    for _ in 0..calls {
        for (key, admitted) in keys.iter().zip(&mut admitted) {
            *admitted += u64::from(table.check(key, 1).is_admitted());
        }
    }
    admitted
}

#[test]
fn at_one_instant_new_keys_are_admitted_their_capacity_exactly() {
    for round in 0..ROUNDS {
        // Sixteen slots, all of which each key may have: there is room for twelve.
        let clock = ManualClock::at(round);
        let table = Keyed::builder(budget(5, 10), 8, Overflow::Deny).build_with_clock(&clock).unwrap();
        let keys: Vec<u64> = (0..6).map(|key| round * 100 + key).collect();
        let admitted: [Vec<u64>; 4] = together(|_| hammer(&table, &keys, 2));
        for (place, key) in keys.iter().enumerate() {
            let sum: u64 = admitted.iter().map(|admitted| admitted[place]).sum();
            assert_eq!((sum, table.available(key)), (5, 0), "key {key}, round {round}");
        }
        assert_eq!(table.stats().len, keys.len(), "one slot a key");
    }
}

/// Eight slots, which every key may have. In each round two threads drain two keys that were at rest, one of the threads
/// with a late clock; another moves time; and a fourth meets newcomers, each of which is full again at once, so that slots
/// change hands all the time. Drained keys hold their slots for about two rounds.
#[test]
fn while_slots_change_hands_each_key_is_admitted_what_its_own_bucket_had() {
    let moves = 40;
    let table = Keyed::builder(budget(CAPACITY, EVERY), 4, Overflow::Deny)
        .seed(3)
        .build_with_clock(Lagging(ManualClock::at(1_000_000)))
        .unwrap();
    let clock = &table.clock().0;
    let newcomers = 100..150;
    for round in 0..ROUNDS {
        // The same two come back after four rounds, and are full then.
        let keys = [round % 4 * 2, round % 4 * 2 + 1];
        let start = clock.now();
        let admitted: [Vec<u64>; 4] = together(|thread| match thread {
            0 => {
                for _ in 0..moves {
                    clock.advance(Duration::from_nanos(10));
                    thread::yield_now();
                }
                vec![0, 0]
            }
            1 => {
                for call in 0..CALLS {
                    let key = newcomers.start + (call * 7 + round) % 50;
                    if let Some(permit) = table.check(&key, 1).admitted() {
                        table.refund(&key, 1, &permit);
                    }
                }
                vec![0, 0]
            }
            slow => {
                BEHIND.set(if slow == 3 { LAG } else { 0 });
                hammer(&table, &keys, CALLS)
            }
        });
        let refilled = (clock.now() - start + LAG) / EVERY;
        for (place, key) in keys.iter().enumerate() {
            let sum: u64 = admitted.iter().map(|admitted| admitted[place]).sum();
            let had = sum + table.available(key);
            assert!((CAPACITY..=CAPACITY + refilled).contains(&had), "key {key}, round {round}: {had}");
        }
        for key in newcomers.clone() {
            assert_eq!(table.available(&key), CAPACITY, "newcomer {key}, round {round}: charged for somebody else");
        }
        // A third of what a bucket takes to fill, and some more.
        clock.advance(Duration::from_nanos(CAPACITY * EVERY / 3 + 2 * LAG));
    }
    let stats = table.stats();
    assert!(stats.reclaimed > ROUNDS, "slots change hands: {stats:?}");
}

/// Time stands still, and every key has 400 tokens, fewer than any of its rules allows: whatever tier its callers say,
/// and whatever rules the tiers have, it is admitted those.
#[test]
fn tokens_are_conserved_while_tiers_and_rules_change() {
    let rules = [budget(1000, 10), budget(2000, 7), budget(1500, 3)];
    let clock = ManualClock::at(77);
    let table = Keyed::builder(rules[0], 64, Overflow::Deny).tier(rules[1]).build_with_clock(&clock).unwrap();
    let tiers = [0, 1].map(|number| table.tier(number).unwrap());
    let keys = [1, 2, 3, 4_u64];
    for key in &keys {
        assert!(table.check(key, 600).is_admitted());
    }
    let calls = if cfg!(miri) { 10 } else { 400 };
    let admitted: [[u64; 4]; 4] = together(|thread| {
        let mut admitted = [0; 4];
        for call in 0..calls {
            if thread == 0 {
                table.set_tier_budget(tiers[call % 2], rules[call / 2 % 3]).unwrap();
                continue;
            }
            for (key, admitted) in keys.iter().zip(&mut admitted) {
                // Two of the threads agree, and the third does not.
                let tier = tiers[usize::from(thread == 3 && call % 8 > 3)];
                *admitted += u64::from(table.check_as(key, tier, 1).is_admitted());
            }
        }
        admitted
    });
    for (place, key) in keys.iter().enumerate() {
        let sum: u64 = admitted.iter().map(|admitted| admitted[place]).sum();
        assert_eq!(sum + table.available(key), 400, "key {key}");
    }
}

/// As before, while time passes: never more than at the faster of two refills.
#[test]
fn while_rules_change_no_more_is_admitted_than_at_the_faster_refill() {
    let rules = [budget(1_000_000, 10), budget(2_000_000, 7)];
    let table = Keyed::builder(rules[0], 64, Overflow::Deny).build_with_clock(Lagging(ManualClock::at(LAG))).unwrap();
    let (clock, tier) = (&table.clock().0, table.tier(0).unwrap());
    let keys = [1, 2, 3, 4_u64];
    for key in &keys {
        assert!(table.check(key, 1_000_000).is_admitted());
    }
    let admitted: [Vec<u64>; 4] = together(|thread| match thread {
        0 => {
            for change in 1..=10 * ROUNDS {
                clock.advance(Duration::from_nanos(5));
                if change % 4 == 0 {
                    table.set_tier_budget(tier, rules[usize::from(change % 8 == 4)]).unwrap();
                }
            }
            vec![0; 4]
        }
        slow => {
            BEHIND.set(if slow == 3 { LAG } else { 0 });
            hammer(&table, &keys, 10 * ROUNDS)
        }
    });
    let refilled = (clock.now() - LAG) / 7;
    for (place, key) in keys.iter().enumerate() {
        let sum: u64 = admitted.iter().map(|admitted| admitted[place]).sum();
        let had = sum + table.available(key);
        assert!(had <= refilled, "key {key}: {had} of {refilled}");
        assert!(had > 0, "key {key} had some");
    }
}
