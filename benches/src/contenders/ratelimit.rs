//! ratelimit: a count of tokens and the time of the last refill, in two atomics.

use ratelimit::Ratelimiter;

use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;
use crate::shared;

/// ratelimit's limiter on its default clock, `std`'s.
#[derive(Debug)]
pub struct Ratelimit(Ratelimiter);

impl Limiter for Ratelimit {
    const NAME: &'static str = "ratelimit";

    shared!();

    fn build(plan: &Plan) -> Self {
        let capacity = plan.capacity.into();
        let limiter = Ratelimiter::builder(plan.tokens.into())
            .period(plan.per)
            .max_tokens(capacity)
            .initial_available(capacity)
            .build();
        Self(limiter.expect("a plan is a budget"))
    }
}

impl Caller for &Ratelimit {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.0.try_wait().is_ok()
    }
}
