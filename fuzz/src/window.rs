//! Differential: a history of calls on any fixed window, against a table of what was spent in each.

use std::time::Duration;

use admittance::Window;

use super::input::Input;
use super::oracle::{HORIZON, WindowOp, drive_window, nanos};

/// Calls in one history.
const MOST_CALLS: usize = 64;

/// Limits and lengths that matter.
const WINDOWS: [u64; 8] =
    [1_000_000_000, 10_000_000_000, 60_000_000_000, 86_400_000_000_000, HORIZON / 2, HORIZON - 1, HORIZON, u64::MAX];

/// A window, or `None` where the numbers make none. A limit that is out of range becomes its bound, which must build.
pub(crate) fn window(input: &mut Input<'_>) -> Option<Window> {
    let (limit, length) = (input.number(&WINDOWS)?, Duration::from_nanos(input.number(&WINDOWS)?));
    match Window::new(limit, length) {
        Ok(window) => Some(window),
        Err(error) => Some(Window::new(error.bound()?, length).expect("the bound builds")),
    }
}

/// Numbers that matter to a window: its edges in tokens and in time.
pub(crate) fn table(window: &Window) -> [u64; 8] {
    let (limit, length) = (window.limit(), nanos(window.length()));
    [limit, limit.saturating_add(1), limit / 2, u64::MAX, length, length - 1, HORIZON / length * length, HORIZON]
}

fn op(input: &mut Input<'_>, table: &[u64]) -> Option<WindowOp> {
    let kind = input.byte()?;
    Some(match kind % 8 {
        0..=2 => WindowOp::Acquire(input.number(table)?),
        3 => WindowOp::Peek(input.number(table)?),
        4 => WindowOp::Available,
        5 => WindowOp::Advance(input.number(table)?),
        6 => WindowOp::StepBack(input.number(table)?),
        _ => WindowOp::Boundary(input.byte()?.cast_signed() % 3),
    })
}

/// The window, the first instant, and calls.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let Some(window) = window(&mut input) else { return };
    let table = table(&window);
    let Some(start) = input.number(&table) else { return };
    let ops: Vec<WindowOp> = std::iter::from_fn(|| op(&mut input, &table)).take(MOST_CALLS).collect();
    if let Err(wrong) = drive_window(window, start, &ops) {
        panic!("{wrong}\nstart: {start}, ops: {ops:?}");
    }
}
