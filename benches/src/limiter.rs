//! The one adapter trait.

use crate::plan::Plan;

/// A limiter that can be asked for one token, however its own API spells that.
pub trait Limiter: Send + Sync + Sized {
    /// How reports call it.
    const NAME: &'static str;

    /// What one thread calls: the limiter itself, or a handle of the thread's own.
    type Caller<'l>: Caller
    where
        Self: 'l;

    /// A limiter that enforces the plan's budget, full.
    fn build(plan: &Plan) -> Self;

    /// A caller for the thread that asks.
    fn caller(&self) -> Self::Caller<'_>;
}

/// What a thread calls.
pub trait Caller {
    /// One decision about one token: whether it was admitted. Nothing else may happen here, and nothing less; always
    /// inlined, so that the adapter costs nothing and what the limiter's own calls cost is seen.
    fn admit(&self) -> bool;
}

/// Declares that every thread calls the limiter itself.
#[macro_export]
macro_rules! shared {
    () => {
        type Caller<'l>
            = &'l Self
        where
            Self: 'l;

        fn caller(&self) -> &Self {
            self
        }
    };
}

/// A limiter as the plan wants it at the start of a measurement.
#[must_use]
pub fn prepare<L: Limiter>(plan: &Plan) -> Box<L> {
    // On the heap, where limiters live in services, and never folded into the loop that measures it.
    let limiter = Box::new(L::build(plan));
    if plan.drained {
        let caller = limiter.caller();
        while caller.admit() {}
    }
    limiter
}

/// Does something for every contender that is compiled in: see [`visit`](crate::contenders::visit).
pub trait Visitor {
    /// Called once for each.
    fn visit<L: Limiter>(&mut self);
}
