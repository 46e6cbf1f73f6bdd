//! governor: GCRA on a theoretical arrival time in whole nanoseconds.

use std::num::NonZeroU32;
use std::sync::OnceLock;

use governor::clock::{QuantaClock, QuantaUpkeepClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter, clock};

use super::TICK;
use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;
use crate::shared;

type Direct<C> = RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<<C as clock::Clock>::Instant>>;

/// governor's direct limiter on its default clock.
#[derive(Debug)]
pub struct Governor(Direct<QuantaClock>);

/// governor's direct limiter on the clock that a thread keeps.
#[derive(Debug)]
pub struct GovernorUpkeep(Direct<QuantaUpkeepClock>);

impl Limiter for Governor {
    const NAME: &'static str = "governor";

    shared!();

    fn build(plan: &Plan) -> Self {
        Self(RateLimiter::direct(quota(plan)))
    }
}

impl Caller for &Governor {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.0.check().is_ok()
    }
}

impl Limiter for GovernorUpkeep {
    const NAME: &'static str = "governor, upkeep";

    shared!();

    fn build(plan: &Plan) -> Self {
        // quanta allows one upkeep thread a process.
        static TICKING: OnceLock<QuantaUpkeepClock> = OnceLock::new();
        let clock = TICKING.get_or_init(|| QuantaUpkeepClock::from_interval(TICK).expect("a thread to keep time"));
        Self(RateLimiter::direct_with_clock(quota(plan), clock.clone()))
    }
}

impl Caller for &GovernorUpkeep {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.0.check().is_ok()
    }
}

pub(super) fn quota(plan: &Plan) -> Quota {
    let burst = NonZeroU32::new(plan.capacity).expect("a plan has a capacity");
    Quota::with_period(plan.interval()).expect("a plan's tokens take time").allow_burst(burst)
}

/// governor's direct limiter, waited for by callers that need not.
#[derive(Debug)]
pub struct GovernorWaiting(Direct<QuantaClock>);

impl Limiter for GovernorWaiting {
    const NAME: &'static str = "governor, until_ready";

    shared!();

    fn build(plan: &Plan) -> Self {
        Self(RateLimiter::direct(quota(plan)))
    }
}

impl Caller for &GovernorWaiting {
    #[inline(always)]
    fn admit(&self) -> bool {
        super::hot::ready(self.0.until_ready()).is_some()
    }
}
