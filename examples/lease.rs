//! A packet loop: `cargo run --release --example lease`.
//!
//! Two threads each have a queue of packets, and share one budget of bytes. Asking the bucket for every packet would send
//! its cache line back and forth between them; with a lease each takes a few thousand bytes' worth at a time and
//! spends them with plain arithmetic. The sum is exact all the same: what a lease spends was debited first.

use std::thread;
use std::time::{Duration, Instant};

use admittance::{Budget, BudgetError, CoarseClock, Decision, TokenBucket};

const RUN: Duration = Duration::from_millis(300);
/// Ten gigabits a second, and ten milliseconds worth at once.
const BYTES_PER_SECOND: u64 = 1_250_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One load a reading. A tenth of a millisecond of lag is a hundredth of the burst.
    let clock = CoarseClock::start(Duration::from_micros(100))?;
    let bucket = TokenBucket::with_clock(line_rate()?, clock);

    let start = Instant::now();
    let sent: Vec<(u64, u64, u64)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|queue| {
                let bucket = &bucket;
                scope.spawn(move || {
                    // What is older than a millisecond goes back: an idle queue does not sit on what the other is denied.
                    let lease = bucket.lease(64 * 1500).max_age(Duration::from_millis(1));
                    let (mut packets, mut bytes, mut dropped) = (0_u64, 0, 0);
                    for sequence in queue.. {
                        // Packets of all sizes, the same every run.
                        let size = 64 + sequence * 7919 % 1437;
                        match lease.try_acquire(size) {
                            Decision::Admitted(_) => (packets, bytes) = (packets + 1, bytes + size),
                            // A router drops; it does not wait.
                            Decision::Denied(_) | Decision::Never => dropped += 1,
                        }
                        if sequence % 256 == 0 && start.elapsed() > RUN {
                            break;
                        }
                    }
                    (packets, bytes, dropped)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });

    for (queue, (packets, bytes, dropped)) in sent.iter().enumerate() {
        println!("queue {queue}: {packets} packets, {bytes} bytes sent, {dropped} dropped");
    }
    let bytes: u64 = sent.iter().map(|(_, bytes, _)| bytes).sum();
    let millis = u64::try_from(start.elapsed().as_millis())?;
    println!("{} Mbit/s; the budget is {}", bytes * 8 / millis / 1000, BYTES_PER_SECOND * 8 / 1_000_000);
    Ok(())
}

fn line_rate() -> Result<Budget, BudgetError> {
    Budget::new(BYTES_PER_SECOND / 100, BYTES_PER_SECOND, Duration::from_secs(1))
}
