//! A thread that waits for its tokens.

use core::time::Duration;
use std::thread;

use super::wait::{NO_DEADLINE, Turn, deadline_in};
use crate::bucket::TokenBucket;
use crate::clock::Clock;
use crate::decision::Decision;

impl<C: Clock> TokenBucket<C> {
    /// Blocks the thread until `n` tokens are spent. [`Decision::Never`] at once where `n` is above the capacity.
    ///
    /// Waiters go in the order in which they asked, up to one capacity of waiting cost; that many hold a promised instant,
    /// and nobody passes them. Callers beyond that ask again when there is room, in no particular order: take a capacity
    /// that holds everybody who may wait, or put a queue in front.
    ///
    /// The sleep is the system's and the time the bucket's clock's: a thread that wakes early looks at the clock and
    /// sleeps again. On a clock that stands still it never returns.
    ///
    /// ```
    /// use std::time::Duration;
    /// use admittance::{Budget, TokenBucket};
    /// let bucket = TokenBucket::new(Budget::new(1, 1, Duration::from_millis(2)).unwrap());
    /// for _ in 0..3 {
    ///     assert!(bucket.wait(1).is_admitted()); // at once, after 2 ms, after 4 ms
    /// }
    /// ```
    pub fn wait(&self, n: u64) -> Decision<()> {
        self.wait_until(n, NO_DEADLINE)
    }

    /// As [`wait`](Self::wait), no longer than `timeout`: decided before anything is spent, so a wait that cannot end in
    /// time returns **at once**. The denial names when it could have gone, and nothing is spent.
    pub fn wait_within(&self, n: u64, timeout: Duration) -> Decision<()> {
        self.wait_until(n, deadline_in(self.clock().now(), timeout))
    }

    /// As [`wait_within`](Self::wait_within), with the deadline as an instant of the bucket's clock in nanoseconds.
    pub fn wait_until(&self, n: u64, deadline: u64) -> Decision<()> {
        loop {
            match self.turn(n, deadline) {
                Turn::Now => return Decision::Admitted(()),
                Turn::Stop(decision) => return decision,
                Turn::Crowded(pause) => thread::sleep(pause),
                Turn::Go(reservation) => {
                    let mut wait = reservation.wait();
                    while !wait.is_zero() {
                        thread::sleep(wait);
                        wait = reservation.wait();
                    }
                    reservation.commit();
                    return Decision::Admitted(());
                }
            }
        }
    }
}
