//! Differential: a history of calls on any budget, against the exact bucket in big integers.

use std::time::Duration;

use admittance::Budget;

use super::input::Input;
use super::oracle::{HORIZON, Op, drive, nanos};

/// Calls in one history. More find nothing that fewer do not, and are slow.
const MOST_CALLS: usize = 64;

/// Refills and capacities that matter: familiar, prime, the fastest, the slowest, the edge of exactness.
const BUDGETS: [u64; 16] = [
    1_000_000_000,
    3_000_000_000,
    60_000_000_000,
    86_400_000_000_000,
    999_983,
    1_000_003,
    600_000_000,
    1_250_000_000,
    10_000_000_000,
    14_999_999_999,
    1_009_000,
    997,
    333,
    2_353_881_405_238_979_243,
    HORIZON,
    u64::MAX,
];

/// A budget, or `None` where the numbers make none. A field that is out of range takes its bound, which must build.
pub(crate) fn budget(input: &mut Input<'_>) -> Option<Budget> {
    let [capacity, tokens, nanos] = [(); 3].map(|()| input.number(&BUDGETS));
    let (mut capacity, mut tokens, duration) = (capacity?, tokens?, Duration::from_nanos(nanos?));
    loop {
        match Budget::new(capacity, tokens, duration) {
            Ok(budget) => return Some(budget),
            Err(error) => {
                let bound = error.bound()?;
                let field = if error.field() == "capacity" { &mut capacity } else { &mut tokens };
                assert!(bound < *field, "{error}: no smaller than what was given");
                *field = bound;
            }
        }
    }
}

/// Numbers that matter to a bucket: its edges, and the time of a token and of a whole filling.
pub(crate) fn table(budget: &Budget) -> [u64; 8] {
    let (capacity, tokens) = (budget.capacity(), u128::from(budget.refill_tokens()));
    let per = |n: u64| {
        let exact = (u128::from(n) * u128::from(nanos(budget.refill_duration()))).div_ceil(tokens);
        u64::try_from(exact).unwrap_or(u64::MAX)
    };
    [capacity, capacity.saturating_add(1), 2 * capacity, u64::MAX, per(1), per(capacity), per(capacity) / 2, HORIZON]
}

fn op(input: &mut Input<'_>, table: &[u64]) -> Option<Op> {
    let kind = input.byte()?;
    Some(match kind % 10 {
        0..=2 => Op::Acquire(input.number(table)?),
        3 => Op::Peek(input.number(table)?),
        4 => Op::Refund(input.number(table)?),
        5 => Op::Debit(input.number(table)?),
        6 => Op::Available,
        7 => Op::Advance(input.number(table)?),
        8 => Op::StepBack(input.number(table)?),
        _ => Op::Await(input.byte()?.cast_signed() % 3),
    })
}

/// The budget, the first instant, and calls.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let Some(budget) = budget(&mut input) else { return };
    let table = table(&budget);
    let Some(start) = input.number(&table) else { return };
    let ops: Vec<Op> = std::iter::from_fn(|| op(&mut input, &table)).take(MOST_CALLS).collect();
    if let Err(wrong) = drive(budget, start, &ops) {
        panic!("{wrong}\nstart: {start}, ops: {ops:?}");
    }
}
