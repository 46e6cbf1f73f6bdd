//! One bucket shared by the worker threads of a service: `cargo run --example threads`.
//!
//! Four workers pull requests as fast as they can; together they are admitted at most the capacity at once and the
//! refill after that, and a denied worker knows how long to stay away.

use std::thread;
use std::time::Instant;

use admittance::{Budget, Decision, TokenBucket};

fn main() {
    // 200 each second, 20 at once.
    let bucket = TokenBucket::new(Budget::per_second(200).with_capacity(20));
    let start = Instant::now();

    let admitted: Vec<u32> = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut admitted = 0;
                    while start.elapsed().as_millis() < 500 {
                        match bucket.try_acquire(1) {
                            Decision::Admitted(_) => admitted += 1,
                            // The promised instant is exact: waking then finds a token, unless another worker was first.
                            Decision::Denied(denial) => thread::sleep(denial.retry_after()),
                            Decision::Never => unreachable!("one token fits in a bucket of twenty"),
                        }
                    }
                    admitted
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
    });

    let total: u32 = admitted.iter().sum();
    println!("{total} admitted in {:?}, by worker {admitted:?}", start.elapsed());
    println!("the bound is 20 at once and 200 a second: {:.0}", 20.0 + 200.0 * start.elapsed().as_secs_f64());
}
