//! What a planner was told, as numbers, and the one formula that they go into.

use super::backoff::Backoff;
use super::lenience::Lenience;
use super::plan::{Bound, Reason};

/// What holds for every call of a planner. Times are nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) attempts: u32,
    pub(super) deadline: u64,
    pub(super) backoff: Backoff,
    pub(super) spread: u64,
    pub(super) longest_wait: u64,
    pub(super) lenience: Lenience,
}

/// The waits of which the longest counts, and what is added to it. All from the same instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub(super) backoff: u64,
    pub(super) signal: u64,
    pub(super) gate: u64,
    pub(super) spread: u64,
}

impl Waits {
    /// The instant before which nothing may go, the instant to go, and which wait it was.
    pub(super) fn from(&self, now: u64) -> (u64, u64, Bound) {
        let wait = self.backoff.max(self.signal).max(self.gate);
        let bound = match wait {
            0 => Bound::Nothing,
            wait if wait == self.backoff => Bound::Backoff,
            wait if wait == self.signal => Bound::Signal,
            _ => Bound::Gate,
        };
        let boundary = now.saturating_add(wait);
        (boundary, boundary.saturating_add(self.spread), bound)
    }
}

impl Terms {
    /// Why a wait from `now` to `at` must not begin, if it must not.
    pub(super) fn refuses(&self, now: u64, at: u64, deadline: u64) -> Option<Reason> {
        if at - now > self.longest_wait {
            Some(Reason::WaitTooLong)
        } else if at >= deadline {
            Some(Reason::Deadline)
        } else {
            None
        }
    }
}
