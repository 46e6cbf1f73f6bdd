//! leaky-bucket: a balance in an atomic, refilled under a lock at whole milliseconds. Made for async callers.

use leaky_bucket::RateLimiter;

use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;
use crate::shared;

/// leaky-bucket's limiter in its default, fair mode, which takes a lock for each call. The unfair mode is faster on one
/// thread and is no contender on two: it turns calls away while another thread is at the state, whatever is in the bucket.
#[derive(Debug)]
pub struct LeakyBucket(RateLimiter);

impl Limiter for LeakyBucket {
    const NAME: &'static str = "leaky-bucket";

    shared!();

    fn build(plan: &Plan) -> Self {
        let limiter = RateLimiter::builder()
            .max(plan.capacity as usize)
            .initial(plan.capacity as usize)
            .refill(plan.tokens as usize)
            .interval(plan.per)
            .fair(true)
            .build();
        Self(limiter)
    }
}

impl Caller for &LeakyBucket {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.0.try_acquire(1)
    }
}
