//! What a table of a million keys takes of the machine's memory.

use admittance_benches::contenders::crowd::Table;
use admittance_benches::plan::Plan;
use admittance_benches::stats::Quartiles;

use crate::duel::{Outcome, Side};

/// Builds each side's table anew, fills it, and looks at what the process has more than before.
pub(crate) fn compare<A: Table, B: Table>(keys: u64) -> Outcome {
    let [a, b] = [taken::<A>(keys), taken::<B>(keys)];
    let of = |bytes| Quartiles { q1: bytes, median: bytes, q3: bytes };
    let side = |name, bytes| Side { name, threads: 1, ns: of(bytes), unevenness: 1.0 };
    Outcome { sides: [side(A::NAME, a), side(B::NAME, b)], ratio: of(a), rounds: 1, thrown_away: 0 }
}

#[allow(clippy::cast_precision_loss, reason = "far below 2⁵³")]
fn taken<T: Table>(keys: u64) -> f64 {
    let before = resident();
    let table = T::build(&Plan::STOCK, keys);
    for key in 0..keys {
        table.admit(key);
    }
    let after = resident();
    drop(table);
    (after - before) as f64 / keys as f64
}

/// Bytes of this process that are in memory, by the kernel's own count.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells a process about itself");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its resident memory among that");
    let kilobytes: u64 = line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).expect("in kilobytes");
    kilobytes * 1024
}
