//! Differential: calls on a small table of keys, against each key's own bucket.

use admittance::Overflow;

use super::bucket::{budget, table};
use super::input::Input;
use super::oracle::{HORIZON, KeyedOp, drive_keyed};

/// Calls in one history: more than elsewhere, because a table has to fill.
const MOST_CALLS: usize = 200;

fn op(input: &mut Input<'_>, table: &[u64]) -> Option<KeyedOp> {
    let kind = input.byte()?;
    Some(match kind % 12 {
        0..=3 => KeyedOp::Check(input.byte()?, input.number(table)?),
        4 => KeyedOp::CheckMany([input.byte()?, input.byte()?, input.byte()?, input.byte()?], input.number(table)?),
        5 => KeyedOp::Peek(input.byte()?, input.number(table)?),
        6 => KeyedOp::Available(input.byte()?),
        7 => KeyedOp::Refund(input.byte()?, input.number(table)?),
        8 => KeyedOp::Change(input.byte()?, input.byte()?),
        9 | 10 => KeyedOp::Advance(input.number(table)?),
        _ => KeyedOp::StepBack(input.number(table)?),
    })
}

/// `max_keys` (low four bits, and one more) and the overflow (the next two), three budgets, the first instant, and calls.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let Some(shape) = input.byte() else { return };
    let overflow = [Overflow::Deny, Overflow::Admit, Overflow::Share][usize::from(shape >> 4) % 3];
    let budgets: Vec<_> = (0..3).map_while(|_| budget(&mut input)).collect();
    let Some(first) = budgets.first() else { return };
    let table = table(first);
    let Some(start) = input.number(&table) else { return };
    let (max_keys, start) = (usize::from(shape % 16) + 1, start % (HORIZON / 4));
    let ops: Vec<KeyedOp> = std::iter::from_fn(|| op(&mut input, &table)).take(MOST_CALLS).collect();
    if let Err(wrong) = drive_keyed(&budgets, max_keys, overflow, start, &ops) {
        panic!("{wrong}\nbudgets: {budgets:?}, {max_keys} keys, {overflow:?}, start: {start}, ops: {ops:?}");
    }
}
