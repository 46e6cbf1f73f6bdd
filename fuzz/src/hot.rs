//! Differential: reservations, leases, draining and changes of budget, against exact buckets in big integers.

use admittance::Resolution;

use super::bucket::{budget, table};
use super::input::Input;
use super::oracle::{HORIZON, HotOp, drive_hot};

/// Calls in one history.
const MOST_CALLS: usize = 64;

fn op(input: &mut Input<'_>, table: &[u64]) -> Option<HotOp> {
    let kind = input.byte()?;
    Some(match kind % 12 {
        0 => HotOp::Acquire(input.number(table)?),
        1 => HotOp::UpTo(input.number(table)?),
        2 | 3 => HotOp::Reserve(input.number(table)?),
        4 => HotOp::ReserveIn(input.number(table)?, input.number(table)?),
        5 => HotOp::Cancel(input.byte()?),
        6 => HotOp::Commit(input.byte()?),
        7 | 8 => HotOp::Lease(input.number(table)?),
        9 => HotOp::GiveBack,
        10 => HotOp::Change(input.byte()?),
        _ => HotOp::Advance(input.number(table)?),
    })
}

/// Up to three exact budgets, the first instant, the lease's size, and calls.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let mut budgets = Vec::new();
    for _ in 0..3 {
        let Some(budget) = budget(&mut input) else { break };
        if budget.resolution() == Resolution::Exact {
            budgets.push(budget);
        }
    }
    let Some(first) = budgets.first() else { return };
    let table = table(first);
    let (Some(start), Some(lease)) = (input.number(&table), input.number(&table)) else { return };
    let start = start % (HORIZON / 4);
    let ops: Vec<HotOp> = std::iter::from_fn(|| op(&mut input, &table)).take(MOST_CALLS).collect();
    if let Err(wrong) = drive_hot(&budgets, start, lease, &ops) {
        panic!("{wrong}\nbudgets: {budgets:?}, start: {start}, lease: {lease}, ops: {ops:?}");
    }
}
