//! This crate, on each of its clocks.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use admittance::{Budget, Clock, CoarseClock, Decision, ManualClock, TokenBucket, TscClock};

use super::TICK;
use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;
use crate::shared;

/// A clock that a contender can be made with.
pub trait BenchClock: Clock + Send + Sync {
    /// How reports call the limiter on it.
    const NAME: &'static str;

    /// How reports call it where the caller of a denial asks for the wait.
    const ASKED: &'static str = "admittance, asked for the wait";

    /// One of it.
    fn make() -> Self;
}

impl BenchClock for TscClock {
    const NAME: &'static str = "admittance";

    fn make() -> Self {
        Self::new()
    }
}

impl BenchClock for CoarseClock {
    const NAME: &'static str = "admittance, coarse";
    const ASKED: &'static str = "admittance, coarse, asked for the wait";

    fn make() -> Self {
        // One thread for all, as a service has it.
        static TICKING: OnceLock<CoarseClock> = OnceLock::new();
        TICKING.get_or_init(|| Self::start(TICK).expect("a thread to keep time")).clone()
    }
}

/// Stands still: what is left is the decision and the compare-and-swap.
impl BenchClock for ManualClock {
    const NAME: &'static str = "admittance, no clock";

    fn make() -> Self {
        Self::new()
    }
}

/// One nanosecond passes at each reading, so that a boundary is the same in every run. It costs a read-modify-write of
/// its own.
#[derive(Debug, Default)]
pub struct StepClock(AtomicU64);

impl Clock for StepClock {
    #[inline]
    fn now(&self) -> u64 {
        // Relaxed: a count and nothing else.
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl BenchClock for StepClock {
    const NAME: &'static str = "admittance, stepped clock";

    fn make() -> Self {
        Self::default()
    }
}

/// A [`TokenBucket`], asked the everyday way.
#[derive(Debug)]
pub struct Ours<C: Clock>(TokenBucket<C>);

impl<C: BenchClock> Limiter for Ours<C> {
    const NAME: &'static str = C::NAME;

    shared!();

    fn build(plan: &Plan) -> Self {
        Self(bucket(plan))
    }
}

impl<C: BenchClock> Caller for &Ours<C> {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.0.try_acquire(1).is_admitted()
    }
}

/// A [`TokenBucket`] whose callers ask a denial for its wait, which is computed only then.
#[derive(Debug)]
pub struct Asked<C: Clock>(TokenBucket<C>);

impl<C: BenchClock> Limiter for Asked<C> {
    const NAME: &'static str = C::ASKED;

    shared!();

    fn build(plan: &Plan) -> Self {
        Self(bucket(plan))
    }
}

impl<C: BenchClock> Caller for &Asked<C> {
    #[inline(always)]
    fn admit(&self) -> bool {
        match self.0.try_acquire(1) {
            Decision::Denied(denial) => {
                black_box(denial.retry_after_nanos());
                false
            }
            decision => decision.is_admitted(),
        }
    }
}

pub(super) fn bucket<C: BenchClock>(plan: &Plan) -> TokenBucket<C> {
    let budget = Budget::new(plan.capacity.into(), plan.tokens.into(), plan.per).expect("a plan is a budget");
    TokenBucket::with_clock(budget, C::make())
}
