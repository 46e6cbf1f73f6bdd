//! Waiting, apart from how one sleeps.

use core::time::Duration;

use super::Reservation;
use crate::bucket::TokenBucket;
use crate::budget::HORIZON;
use crate::clock::Clock;
use crate::decision::Decision;

/// What a waiter does next.
pub(super) enum Turn<'b, C: Clock> {
    /// Nobody is waiting and the tokens are spent: go.
    Now,
    /// Sleep until the promised instant, and go.
    Go(Reservation<'b, C>),
    /// A whole capacity is waiting already: sleep this long, and ask again.
    Crowded(Duration),
    /// There is nothing to wait for.
    Stop(Decision<()>),
}

impl<C: Clock> TokenBucket<C> {
    /// Takes a place among those who wait, or says why not. Decided before anything is spent or slept.
    #[inline]
    pub(super) fn turn(&self, n: u64, deadline: u64) -> Turn<'_, C> {
        // Where there is a level there is no debt, and so nobody to pass. It spares the promise, which costs a division.
        if self.try_acquire(n).is_admitted() { Turn::Now } else { self.turn_in_debt(n, deadline) }
    }

    fn turn_in_debt(&self, n: u64, deadline: u64) -> Turn<'_, C> {
        // No bucket promises anything past the horizon.
        let deadline = deadline.min(HORIZON);
        let there = match self.reserve_until(n, deadline) {
            Decision::Admitted(reservation) => return Turn::Go(reservation),
            Decision::Never => return Turn::Stop(Decision::Never),
            Decision::Denied(there) => there,
        };
        if there.retry_at() > deadline {
            return Turn::Stop(Decision::Denied(there));
        }
        // In time, but more debt than may be taken now. Whoever gives back in between makes the pause too long, not wrong.
        Turn::Crowded(self.peek_reserve(n).retry_after().unwrap_or_default())
    }
}

/// The deadline of a wait that has none: the last instant at which a bucket promises anything.
pub(super) const NO_DEADLINE: u64 = HORIZON;

/// `timeout` from `now`, in nanoseconds of the same clock.
pub(super) fn deadline_in(now: u64, timeout: Duration) -> u64 {
    now.saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX))
}
