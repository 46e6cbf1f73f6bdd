//! The timed loop.
//!
//! Threads that contend start at one barrier, each keeps its own time, and all stop when the first has made its calls: a
//! thread left alone with the bucket would measure no contention. What they did until then is what counts.

use std::hint::black_box;
use std::ops::Add;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use crate::limiter::{Caller, Limiter};
use crate::seat;

/// Calls between two looks at whether the others are done.
const CHUNK: u64 = 64;

/// Calls before the clock starts: caches, branch predictor, page faults.
const WARM_UP: u64 = 4 * CHUNK;

/// Share of a measurement for which every thread must have been at it.
const TOGETHER: f64 = 0.95;

/// What one thread did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lap {
    /// Calls made.
    pub calls: u64,
    /// Calls admitted.
    pub admitted: u64,
    /// The thread's own time for them.
    pub elapsed: Duration,
}

impl Lap {
    /// Nanoseconds of a thread's time for one call.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "counts here are far below 2⁵³")]
    pub fn nanos(&self) -> f64 {
        self.elapsed.as_secs_f64() * 1e9 / self.calls as f64
    }

    /// Share of the calls that were admitted.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "counts here are far below 2⁵³")]
    pub fn share(&self) -> f64 {
        self.admitted as f64 / self.calls as f64
    }
}

impl Add for Lap {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            admitted: self.admitted + other.admitted,
            elapsed: self.elapsed + other.elapsed,
        }
    }
}

/// What the threads of one measurement did.
#[derive(Clone, Debug)]
pub struct Race {
    /// One lap a thread.
    pub laps: Vec<Lap>,
    /// Whether the threads really ran at the same time, each on a core, nearly all of the time. Where that is false
    /// they took turns, and what was measured is not contention.
    pub together: bool,
}

impl Race {
    /// All laps as one: calls and times of the threads added, so that [`Lap::nanos`] is a mean over calls.
    #[must_use]
    pub fn total(&self) -> Lap {
        self.laps.iter().copied().fold(Lap::default(), Add::add)
    }

    /// How much longer a call took on the slowest thread than on the fastest, as a factor; 1 for one thread.
    #[must_use]
    pub fn unevenness(&self) -> f64 {
        let (least, most) =
            self.laps.iter().map(Lap::nanos).fold((f64::MAX, 0.0), |(least, most), x| (x.min(least), x.max(most)));
        most / least
    }
}

/// Has `threads` callers share the limiter until the first of them has made `calls` calls.
///
/// # Panics
///
/// When the limiter does.
pub fn run<L: Limiter>(limiter: &L, threads: u32, calls: u64) -> Race {
    if threads == 1 {
        let caller = limiter.caller();
        decide(&caller, WARM_UP);
        let start = Instant::now();
        let admitted = decide(&caller, calls);
        return Race { laps: vec![Lap { calls, admitted, elapsed: start.elapsed() }], together: true };
    }
    let waiting = CachePadded::new(AtomicU32::new(threads));
    let done = CachePadded::new(AtomicBool::new(false));
    let caller = |index| {
        seat::take(index);
        let caller = limiter.caller();
        decide(&caller, WARM_UP);
        let seated = seat::time();
        meet(&waiting);
        let mut lap = Lap::default();
        let start = Instant::now();
        // Relaxed: a late look costs another chunk, which is counted.
        while lap.calls < calls && !done.load(Ordering::Relaxed) {
            let chunk = CHUNK.min(calls - lap.calls);
            lap.admitted += decide(&caller, chunk);
            lap.calls += chunk;
        }
        let end = Instant::now();
        // Relaxed: as above.
        done.store(true, Ordering::Relaxed);
        lap.elapsed = end - start;
        // The wait at the barrier is in it too; a thread that lost its core has less than its lap all the same.
        let on_core = seated.and_then(|then| seat::time()?.checked_sub(then)).unwrap_or(lap.elapsed);
        (lap, start, end, on_core)
    };
    let caller = &caller;
    let finished: Vec<_> = thread::scope(|scope| {
        let crew: Vec<_> = (0..threads).map(|index| scope.spawn(move || caller(index))).collect();
        crew.into_iter().map(|thread| thread.join().expect("a caller panicked")).collect()
    });
    let first = finished.iter().map(|&(_, start, ..)| start).min().expect("there are threads");
    let last = finished.iter().map(|&(_, _, end, _)| end).max().expect("there are threads");
    let enough = (last - first).mul_f64(TOGETHER);
    Race {
        together: finished.iter().all(|&(lap, .., on_core)| lap.elapsed >= enough && on_core >= enough),
        laps: finished.into_iter().map(|(lap, ..)| lap).filter(|lap| lap.calls > 0).collect(),
    }
}

/// A barrier that is left within nanoseconds: one that sleeps lets the first run alone while the rest wake up.
fn meet(waiting: &AtomicU32) {
    // Relaxed: it orders nothing but the moment, and laps travel back through `join`.
    waiting.fetch_sub(1, Ordering::Relaxed);
    let mut spins = 0_u32;
    while waiting.load(Ordering::Relaxed) > 0 {
        spins += 1;
        // With more threads than cores somebody must step aside for the last to arrive.
        if spins.is_multiple_of(256) {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// The loop itself: its own function, so that every contender gets the same one.
#[inline(never)]
fn decide<C: Caller>(caller: &C, calls: u64) -> u64 {
    let mut admitted = 0;
    for _ in 0..calls {
        // The box: each call meets a limiter it knows nothing of, as one request does, and reloads what it needs.
        admitted += u64::from(black_box(caller).admit());
    }
    admitted
}
