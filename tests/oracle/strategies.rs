//! What the property tests draw from: budgets, costs, times and histories, weighted towards the awkward ones.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::env;
use std::time::Duration;

use admittance::Budget;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use super::oracle::{HORIZON, Op, nanos};

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const DAY: u64 = 86_400 * SECOND;
pub(crate) const YEAR: u64 = 365 * DAY;

/// This many cases, unless `PROPTEST_CASES` asks for another number. Failures are kept beside the test.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions"))),
        ..ProptestConfig::default()
    };
    if env::var_os("PROPTEST_CASES").is_some() { default } else { ProptestConfig { cases, ..default } }
}

/// A number of any size: every bit length is as likely as every other.
pub(crate) fn any_size() -> impl Strategy<Value = u64> {
    (0_u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift)
}

/// Refills: familiar ones, primes, powers of two and their neighbours, the fastest and the slowest.
fn refill() -> impl Strategy<Value = (u64, u64)> {
    let unit =
        prop::sample::select(vec![1, 3, 7, 1000, 1_009_000, SECOND, 3 * SECOND, 60 * SECOND, 3600 * SECOND, DAY]);
    let awkward = prop::sample::select(vec![
        (7, 3 * SECOND),
        (999_983, SECOND),
        (333, 60 * SECOND),
        (600_000_000, SECOND),
        (1_250_000_000, SECOND),
        (10_000_000_000, SECOND),
        (14_999_999_999, SECOND),
        (15, 1),
        (16, 3),
        (17, 7),
        (1, DAY),
        (1, YEAR),
        (1, 36 * YEAR),
        (u64::MAX, u64::MAX - 1),
        (u64::MAX - 1, u64::MAX),
        // Reduces to a fraction whose scaled rate is within 2⁻⁶¹ of a whole number: not exact for all that.
        (49, 2_353_881_405_238_979_243),
    ]);
    let near_power = (0_u32..40, -1_i64..=1, 0_u32..50, -1_i64..=1).prop_map(|(p, off_p, d, off_d)| {
        ((1_u64 << p).saturating_add_signed(off_p).max(1), (1_u64 << d).saturating_add_signed(off_d).max(1))
    });
    prop_oneof![
        3 => (1_u64..2000, unit.clone()),
        2 => (any_size().prop_map(|n| n.max(1)), unit),
        3 => awkward,
        1 => near_power,
        2 => (any_size().prop_map(|n| n.max(1)), any_size().prop_map(|n| n.max(1))),
    ]
}

/// Any budget that can be built. A capacity that is too large for its refill becomes the largest that fits.
pub(crate) fn budget() -> impl Strategy<Value = Budget> {
    let capacity = prop_oneof![
        3 => 1_u64..30,
        1 => Just(1),
        2 => any_size().prop_map(|n| n.clamp(1, 1 << 48)),
        1 => Just(1 << 48),
        1 => Just(u64::MAX),
    ];
    (capacity, refill()).prop_filter_map("no bucket can be that fast or that slow", |(capacity, (tokens, nanos))| {
        let duration = Duration::from_nanos(nanos);
        Budget::new(capacity, tokens, duration)
            .or_else(|error| Budget::new(error.bound().unwrap_or(0), tokens, duration))
            .ok()
    })
}

/// Costs up to the capacity, on its edge, and past it.
pub(crate) fn cost(capacity: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => Just(1),
        3 => any_size().prop_map(move |n| n % capacity + 1),
        2 => 1..=capacity,
        2 => Just(capacity),
        1 => Just(0),
        1 => Just(capacity.saturating_add(1)),
        1 => Just(u64::MAX),
    ]
}

/// Spans of time: single nanoseconds, about what one token or a whole bucket takes, and up to 30 years.
pub(crate) fn span(budget: &Budget) -> impl Strategy<Value = u64> + use<> {
    let per_token = u128::from(nanos(budget.refill_duration())) / u128::from(budget.refill_tokens());
    let token = u64::try_from(per_token).unwrap_or(u64::MAX).min(30 * YEAR);
    let fill = u64::try_from(per_token * u128::from(budget.capacity())).unwrap_or(u64::MAX).min(30 * YEAR);
    prop_oneof![
        3 => 1_u64..4,
        3 => token.saturating_sub(2)..=token.saturating_add(2),
        2 => fill.saturating_sub(2)..=fill.saturating_add(2),
        2 => 0..=token.saturating_mul(3),
        1 => 0..=fill,
        2 => any_size().prop_map(|n| n.min(30 * YEAR)),
    ]
}

/// Where a history begins: at the epoch, somewhere, or so late that the horizon comes into it.
pub(crate) fn start() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => Just(0),
        3 => any_size().prop_map(|n| n.min(30 * YEAR)),
        1 => (0_u64..20).prop_map(|before| HORIZON - before),
        1 => any_size().prop_map(|before| HORIZON.saturating_sub(before)),
        1 => any_size().prop_map(|after| HORIZON.saturating_add(after)),
    ]
}

/// A budget, a start and a history of calls.
pub(crate) fn history(calls: usize) -> impl Strategy<Value = (Budget, u64, Vec<Op>)> {
    budget().prop_flat_map(move |budget| {
        let cost = || cost(budget.capacity());
        let op = prop_oneof![
            8 => cost().prop_map(Op::Acquire),
            1 => cost().prop_map(Op::Peek),
            1 => Just(Op::Available),
            2 => cost().prop_map(Op::Refund),
            2 => cost().prop_map(Op::Debit),
            5 => span(&budget).prop_map(Op::Advance),
            2 => span(&budget).prop_map(Op::StepBack),
            3 => (-2_i8..=2).prop_map(Op::Await),
        ];
        (Just(budget), start(), prop::collection::vec(op, 1..calls))
    })
}
