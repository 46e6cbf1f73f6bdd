//! gcra: the algorithm on a plain value, to be shared behind a lock of the caller's.

use gcra::{GcraState, RateLimit};
use parking_lot::Mutex;

use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;
use crate::shared;

/// gcra's state behind a `parking_lot` mutex, on its clock, `std`'s.
#[derive(Debug)]
pub struct Gcra {
    state: Mutex<GcraState>,
    limit: RateLimit,
}

impl Limiter for Gcra {
    const NAME: &'static str = "gcra";

    shared!();

    fn build(plan: &Plan) -> Self {
        // Its burst is what a period refills: the period of a whole capacity.
        let limit = RateLimit::new(plan.capacity, plan.interval() * plan.capacity);
        Self { state: Mutex::new(GcraState::default()), limit }
    }
}

impl Caller for &Gcra {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.state.lock().check_and_modify(&self.limit, 1).is_ok()
    }
}
