//! A task that waits for its tokens, on tokio's timer.

use core::time::Duration;

use tokio::time::sleep;

use super::wait::{NO_DEADLINE, Turn, deadline_in};
use crate::bucket::TokenBucket;
use crate::clock::Clock;
use crate::decision::Decision;

/// A task waits as a thread does: the same order, the same promises. See [`TokenBucket::wait`].
impl<C: Clock> TokenBucket<C> {
    /// Waits until `n` tokens are spent. [`Decision::Never`] at once where `n` is above the capacity.
    ///
    /// tokio's timer ticks every millisecond and rounds up, so tasks whose instants fall into one tick are woken together.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before it is ready gives its tokens back, once. It loses its place.
    ///
    /// # Panics
    ///
    /// When it has to wait outside a tokio runtime with time enabled.
    pub async fn wait_async(&self, n: u64) -> Decision<()> {
        // Before the future of a wait is made: as a rule there is none.
        if self.try_acquire(n).is_admitted() {
            return Decision::Admitted(());
        }
        self.wait_async_until(n, NO_DEADLINE).await
    }

    /// As [`wait_async`](Self::wait_async), no longer than `timeout`: decided before anything is spent, so a wait that
    /// cannot end in time is ready **at once**. The denial names when it could have gone, and nothing is spent.
    pub async fn wait_async_within(&self, n: u64, timeout: Duration) -> Decision<()> {
        self.wait_async_until(n, deadline_in(self.clock().now(), timeout)).await
    }

    /// As [`wait_async_within`](Self::wait_async_within), with the deadline as an instant of the bucket's clock in
    /// nanoseconds.
    pub async fn wait_async_until(&self, n: u64, deadline: u64) -> Decision<()> {
        loop {
            match self.turn(n, deadline) {
                Turn::Now => return Decision::Admitted(()),
                Turn::Stop(decision) => return decision,
                Turn::Crowded(pause) => sleep(pause).await,
                Turn::Go(reservation) => {
                    // Dropped while it sleeps, the future drops the reservation, and that gives the tokens back.
                    let mut wait = reservation.wait();
                    while !wait.is_zero() {
                        sleep(wait).await;
                        wait = reservation.wait();
                    }
                    reservation.commit();
                    return Decision::Admitted(());
                }
            }
        }
    }
}
