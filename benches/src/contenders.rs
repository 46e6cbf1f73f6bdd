//! Everything that is measured, behind the one trait.

pub mod crowd;
mod floor;
#[cfg(feature = "peers")]
pub mod front;
mod hot;
#[cfg(feature = "peers")]
pub mod loopback;
mod ours;

#[cfg(feature = "peers")]
mod gcra;
#[cfg(feature = "peers")]
mod governor;
#[cfg(feature = "peers")]
mod leaky_bucket;
#[cfg(feature = "peers")]
mod ratelimit;

pub use floor::{ClockOnly, Floor, FloorClock, PlainQuanta};
pub use hot::{BothOf, Leased, TwoCalls, Waiting};
pub use ours::{Asked, BenchClock, Ours, StepClock};

#[cfg(feature = "peers")]
pub use self::{
    gcra::Gcra,
    governor::{Governor, GovernorUpkeep, GovernorWaiting},
    leaky_bucket::LeakyBucket,
    ratelimit::Ratelimit,
};

use crate::limiter::Visitor;
use admittance::{CoarseClock, ManualClock, TscClock};

/// How often the clocks that a thread keeps are brought up to date, ours and governor's.
#[cfg_attr(not(feature = "peers"), allow(dead_code, reason = "shared with governor's clock"))]
pub const TICK: std::time::Duration = std::time::Duration::from_millis(1);

/// Shows the visitor this crate on each of its clocks, then the peers.
pub fn visit(visitor: &mut impl Visitor) {
    visitor.visit::<Ours<TscClock>>();
    visitor.visit::<Ours<CoarseClock>>();
    visitor.visit::<Ours<ManualClock>>();
    visit_peers(visitor);
}

/// Shows the visitor the peers that are compiled in.
#[cfg_attr(not(feature = "peers"), allow(clippy::needless_pass_by_ref_mut, reason = "there is nobody to visit"))]
pub fn visit_peers(visitor: &mut impl Visitor) {
    #[cfg(not(feature = "peers"))]
    let _ = visitor;
    #[cfg(feature = "peers")]
    {
        visitor.visit::<Governor>();
        visitor.visit::<GovernorUpkeep>();
        visitor.visit::<Ratelimit>();
        visitor.visit::<LeakyBucket>();
        visitor.visit::<Gcra>();
    }
}
