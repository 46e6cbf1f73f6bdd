//! How long a single call takes: its distribution, where the other benches have means.
//!
//! ```text
//! cargo bench -p admittance-benches --features peers --bench latency
//! ```
//!
//! Each call stands between two readings of the processor's counter. What is recorded includes one reading, which is
//! about as long as the call: the first line, `nothing`, is what an empty interval shows. Subtract it with care: a counter
//! is not a fence, and the processor overlaps what it may.
//!
//! A batch of calls goes into plain memory first and into the histogram after it, so that the histogram does not push the
//! limiter out of the caches. Percentiles are of all calls of all threads; the worst is printed as the worst. An interrupt
//! or a lost core is a call's latency too, and is in there.

use std::hint::black_box;
use std::sync::Barrier;
use std::{env, thread};

use admittance_benches::contenders;
use admittance_benches::limiter::{Caller, Limiter, Visitor, prepare};
use admittance_benches::machine::Machine;
use admittance_benches::plan::Plan;
use admittance_benches::{seat, shared};
use hdrhistogram::Histogram;
use quanta::Clock;

/// Calls between two visits to the histogram.
const BATCH: usize = 4096;

/// Batches of each thread.
const BATCHES: usize = 256;

fn main() {
    // `cargo test --benches` builds and starts this too, and wants no measurement.
    if !env::args().any(|argument| argument == "--bench") {
        return;
    }
    let Machine { cpu, rustc, commit, .. } = Machine::this();
    println!("{cpu}; {rustc}; commit {commit}; nanoseconds\n");
    for plan in [Plan::STOCK, Plan::DENY] {
        for threads in [1, 2] {
            println!("{}, threads: {threads}", plan.name);
            println!("{:<24}{:>8}{:>8}{:>8}{:>8}{:>10}{:>12}", "", "mean", "p50", "p99", "p99.9", "p99.99", "worst");
            let mut rows = Rows { plan: &plan, threads };
            rows.visit::<Nothing>();
            contenders::visit(&mut rows);
            println!();
        }
    }
}

struct Rows<'a> {
    plan: &'a Plan,
    threads: u32,
}

impl Visitor for Rows<'_> {
    fn visit<L: Limiter>(&mut self) {
        // Nothing admits for ever, and so cannot be drained.
        let limiter = if L::NAME == Nothing::NAME { Box::new(L::build(self.plan)) } else { prepare::<L>(self.plan) };
        let together = Barrier::new(self.threads as usize);
        let histogram = thread::scope(|scope| {
            let call = |index| {
                let (limiter, together) = (&*limiter, &together);
                scope.spawn(move || record(limiter, index, together))
            };
            let crew: Vec<_> = (0..self.threads).map(call).collect();
            let mut all = empty();
            for thread in crew {
                all.add(thread.join().expect("a caller panicked")).expect("the same bounds");
            }
            all
        });
        let at = |quantile| histogram.value_at_quantile(quantile);
        println!(
            "{:<24}{:>8.1}{:>8}{:>8}{:>8}{:>10}{:>12}",
            L::NAME,
            histogram.mean(),
            at(0.5),
            at(0.99),
            at(0.999),
            at(0.9999),
            histogram.max()
        );
    }
}

/// One thread's calls. The threads start each batch together, and the first and last quarter of it do not count, in which
/// one may be early or late.
fn record<L: Limiter>(limiter: &L, index: u32, together: &Barrier) -> Histogram<u64> {
    seat::take(index);
    let caller = limiter.caller();
    let clock = Clock::new();
    let mut batch = vec![0; BATCH];
    let mut histogram = empty();
    for _ in 0..BATCHES {
        together.wait();
        for slot in &mut batch {
            let start = clock.raw();
            black_box(black_box(&caller).admit());
            *slot = clock.raw().saturating_sub(start);
        }
        for &ticks in &batch[BATCH / 4..BATCH * 3 / 4] {
            histogram.saturating_record(clock.delta_as_nanos(0, ticks));
        }
    }
    histogram
}

/// From a nanosecond to a second, to three digits.
fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1_000_000_000, 3).expect("bounds that make sense")
}

/// The empty interval.
struct Nothing;

impl Limiter for Nothing {
    const NAME: &'static str = "nothing";

    shared!();

    fn build(_: &Plan) -> Self {
        Self
    }
}

impl Caller for &Nothing {
    #[inline(always)]
    fn admit(&self) -> bool {
        true
    }
}
