//! What the models share: a clock that each thread sets for itself, tables of one and of four slots, keys by their place.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use admittance::{Budget, Clock, Decision, Keyed, Overflow};
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};
use siphasher::sip::SipHasher13;

const SEED: u128 = 7;

loom::thread_local! {
    // Loom's threads are one thread of the system: only loom can keep these apart.
    static NOW: Cell<u64> = Cell::new(0);
}

/// Tells each thread the instant that it has set: a thread whose instant is early has read its clock and was held up.
pub(crate) struct Own;

impl Clock for Own {
    fn now(&self) -> u64 {
        NOW.with(Cell::get)
    }
}

pub(crate) type Table = Keyed<u64, Own>;

/// Does `work` at the instant `now`.
pub(crate) fn at<T>(now: u64, work: impl FnOnce() -> T) -> T {
    let before = NOW.with(|clock| clock.replace(now));
    let done = work();
    NOW.with(|clock| clock.set(before));
    done
}

/// A thread that does `work` on the table, with its clock at `now`.
pub(crate) fn spawn<T: 'static>(
    table: &Arc<Table>,
    now: u64,
    work: impl FnOnce(&Table) -> T + 'static,
) -> JoinHandle<T> {
    let table = Arc::clone(table);
    thread::spawn(move || at(now, || work(&table)))
}

/// So many tokens at most, and one every so many nanoseconds.
pub(crate) fn budget(capacity: u64, every: u64) -> Budget {
    Budget::new(capacity, 1, Duration::from_nanos(every)).unwrap()
}

/// One slot, for all keys.
pub(crate) fn one_slot(tiers: &[Budget], overflow: Overflow) -> Arc<Table> {
    table(1, 1, tiers, overflow)
}

/// Four slots, of which a key has two.
pub(crate) fn four_slots(tiers: &[Budget]) -> Arc<Table> {
    table(2, 4, tiers, Overflow::Deny)
}

fn table(max_keys: usize, slots: usize, tiers: &[Budget], overflow: Overflow) -> Arc<Table> {
    let builder = Keyed::<u64>::builder(tiers[0], max_keys, overflow);
    let builder = tiers[1..].iter().fold(builder, |builder, tier| builder.tier(*tier));
    let table = builder.seed(SEED).build_with_clock(Own).unwrap();
    assert_eq!(table.stats().capacity, slots, "the models were made for tables of this size");
    Arc::new(table)
}

/// A key that has this lock of the two, and whose places in a table of four slots are these, the first one first.
///
/// As `Table::places` and `Owner::stripe` have it. Were that to change, models would meet other cases and see fewer outcomes
/// than they must.
pub(crate) fn key(lock: u64, places: [usize; 2]) -> u64 {
    (0..1_000_000)
        .find(|key: &u64| {
            let mut hasher = SipHasher13::new_with_keys(SEED as u64, 0);
            key.hash(&mut hasher);
            let hash = hasher.finish();
            let one = hash as usize & 3;
            hash >> 16 & 1 == lock && [one, one ^ ((hash >> 6) as usize | 1) & 3] == places
        })
        .expect("there are keys of every kind")
}

/// 1 where it is admitted.
#[allow(clippy::needless_pass_by_value, reason = "it reads better at the call")]
pub(crate) fn count<T>(decision: Decision<T>) -> u64 {
    u64::from(decision.is_admitted())
}
