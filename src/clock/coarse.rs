//! A clock that a background thread keeps, so that a reading is one load.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use super::Clock;
use crate::sync::{AtomicU64, Ordering};

/// The shortest interval a ticker is started with; below it the thread would do nothing but tick.
const MIN_INTERVAL: Duration = Duration::from_micros(1);

/// Time as of the last tick of a background thread: a reading is one relaxed load.
///
/// # Lag
///
/// A reading is never ahead of real time and never steps back, so a limiter on this clock **never over-admits**: it
/// sees the tokens of a moment ago. It is behind by at most the interval plus however late the system wakes the thread
/// (under a millisecond on an idle Linux machine, without bound on an overloaded one; a stopped thread would stand
/// still, and limiters would deny once empty). Waits that a denial names are measured from the reading, so a caller who
/// waits that long finds its tokens up to one lag late.
///
/// Take an interval well below the time a token takes to refill, or a whole lag's worth of tokens arrives at once.
///
/// # Start and stop
///
/// [`CoarseClock::start`] starts one thread, named `admittance-tick`. Clones share it. Dropping the last clone wakes the
/// thread, which ends at once, and joins it.
///
/// ```
/// use std::time::Duration;
/// use admittance::{Budget, CoarseClock, TokenBucket};
///
/// # fn main() -> std::io::Result<()> {
/// let clock = CoarseClock::start(Duration::from_millis(1))?;
/// let reads = TokenBucket::with_clock(Budget::per_second(10_000), clock.clone());
/// let writes = TokenBucket::with_clock(Budget::per_second(100), clock);
/// assert!(reads.try_acquire(1).is_admitted() && writes.try_acquire(1).is_admitted());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CoarseClock {
    /// On a cache line of its own: the ticker's writes must not take away a line that callers read for another reason.
    nanos: Arc<CachePadded<AtomicU64>>,
    ticker: Arc<Ticker>,
}

impl CoarseClock {
    /// Starts a ticker whose epoch is now and which ticks every `interval`, 1 µs at least.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for a shorter interval, and whatever the system says when it has
    /// no thread to give.
    pub fn start(interval: Duration) -> io::Result<Self> {
        if interval < MIN_INTERVAL {
            let why =
                format!("interval: a coarse clock ticks every {MIN_INTERVAL:?} at the fastest, not every {interval:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let nanos = Arc::new(CachePadded::new(AtomicU64::new(0)));
        let (stop, stopped) = mpsc::channel::<()>();
        let shared = Arc::clone(&nanos);
        let epoch = Instant::now();
        let thread = thread::Builder::new().name("admittance-tick".into()).spawn(move || {
            // The wait for a tick and the wait for the end are one: dropping the sender ends both at once.
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                let now = u64::try_from(epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
                // Relaxed: the number is all there is. One writer, so readers see it rise only.
                shared.store(now, Ordering::Relaxed);
            }
        })?;
        let ticker = Arc::new(Ticker { interval, stop: Some(stop), thread: Some(thread) });
        Ok(Self { nanos, ticker })
    }

    /// How often the thread ticks.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.ticker.interval
    }
}

impl Clock for CoarseClock {
    #[inline]
    fn now(&self) -> u64 {
        // Relaxed: a late value is a lower level, which is what the lag promises; nothing is published with it.
        self.nanos.load(Ordering::Relaxed)
    }
}

/// The background thread, ended when the last clock that shares it is dropped.
#[derive(Debug)]
struct Ticker {
    interval: Duration,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread cannot panic, and a destructor could do nothing about it.
            let _ = thread.join();
        }
    }
}
