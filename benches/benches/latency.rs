//! How long a call takes: its distribution, where the other benches have means.
//!
//! ```text
//! cargo bench -p admittance-benches --features peers --bench latency
//! ```
//!
//! **Single calls**: each stands between two readings of the processor's counter. What is recorded includes one reading,
//! which is about as long as the call, and comes in steps of the counter, 10 ns on some processors: the first lines say
//! what a reading costs and how wide a step is, and `nothing` is what an empty interval shows. Good for the tail, too coarse
//! for the rest.
//!
//! **Runs of 32 calls**, timed as one and divided: a tenth of a nanosecond, but a slow call counts for a thirty-second.
//!
//! A batch of calls goes into plain memory first and into the histogram after it, so that the histogram does not push the
//! limiter out of the caches. Percentiles are of all threads together; the worst is printed as the worst. An interrupt or a
//! lost core is a call's latency too, and is in there.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;
use std::{env, thread};

use admittance_benches::contenders;
use admittance_benches::limiter::{Caller, Limiter, Visitor, prepare};
use admittance_benches::machine::Machine;
use admittance_benches::plan::Plan;
use admittance_benches::{seat, shared};
use hdrhistogram::Histogram;
use quanta::Clock;

/// Intervals between two visits to the histogram. The first and last quarter do not count, in which one thread may be
/// early or late.
const BATCH: usize = 4096;

/// Batches of each thread.
const BATCHES: usize = 128;

/// Calls timed as one.
const RUN: u32 = 32;

fn main() {
    // `cargo test --benches` builds and starts this too, and wants no measurement.
    if !env::args().any(|argument| argument == "--bench") {
        return;
    }
    let Machine { cpu, rustc, commit, .. } = Machine::this();
    println!("{cpu}; {rustc}; commit {commit}");
    describe_counter();
    for plan in [Plan::STOCK, Plan::DENY] {
        for threads in [1, 2] {
            println!("\n{}, threads: {threads}; nanoseconds", plan.name);
            println!("{:<22}{:^50}   runs of {RUN}, for one call", "", "single calls, a reading included");
            println!(
                "{:<22}{:>8}{:>8}{:>8}{:>10}{:>16}   {:>8}{:>8}{:>8}",
                "", "p50", "p99", "p99.9", "p99.99", "worst", "p50", "p99", "p99.9"
            );
            let mut rows = Rows { plan: &plan, threads };
            rows.visit::<Nothing>();
            contenders::visit(&mut rows);
        }
    }
}

/// What a reading costs, and the smallest step in which readings differ.
#[allow(clippy::cast_precision_loss, reason = "a count of readings")]
fn describe_counter() {
    const READINGS: u32 = 1_000_000;
    let clock = Clock::new();
    let start = Instant::now();
    let mut last = clock.raw();
    let mut step = u64::MAX;
    for _ in 0..READINGS {
        let now = clock.raw();
        if now > last {
            step = step.min(now - last);
        }
        last = now;
    }
    let cost = start.elapsed().as_secs_f64() * 1e9 / f64::from(READINGS);
    println!("a reading of the counter takes {cost:.1} ns; steps of {} ns", clock.delta_as_nanos(0, step));
}

struct Rows<'a> {
    plan: &'a Plan,
    threads: u32,
}

impl Visitor for Rows<'_> {
    fn visit<L: Limiter>(&mut self) {
        // Nothing admits for ever, and so cannot be drained.
        let limiter = if L::NAME == Nothing::NAME { Box::new(L::build(self.plan)) } else { prepare::<L>(self.plan) };
        let single = record(&*limiter, self.threads, 1);
        let runs = record(&*limiter, self.threads, RUN);
        let single = |quantile| single.value_at_quantile(quantile) / PER_NANO;
        let runs = |quantile| tenths(runs.value_at_quantile(quantile));
        println!(
            "{:<22}{:>8}{:>8}{:>8}{:>10}{:>16}   {:>8}{:>8}{:>8}",
            L::NAME,
            single(0.5),
            single(0.99),
            single(0.999),
            single(0.9999),
            single(1.0),
            runs(0.5),
            runs(0.99),
            runs(0.999)
        );
    }
}

/// What the histograms count in: picoseconds.
const PER_NANO: u64 = 1000;

/// Picoseconds as nanoseconds with one decimal.
fn tenths(picos: u64) -> String {
    format!("{}.{}", picos / PER_NANO, picos % PER_NANO * 10 / PER_NANO)
}

/// Times of one call in picoseconds, `calls` of them timed as one, by `threads` that start each batch together.
fn record<L: Limiter>(limiter: &L, threads: u32, calls: u32) -> Histogram<u64> {
    let together = Barrier::new(threads as usize);
    let caller = |index| {
        seat::take(index);
        let limiter = limiter.caller();
        let clock = Clock::new();
        let mut batch = vec![0; BATCH];
        let mut histogram = empty();
        for _ in 0..BATCHES {
            together.wait();
            for slot in &mut batch {
                let start = clock.raw();
                for _ in 0..calls {
                    black_box(black_box(&limiter).admit());
                }
                *slot = clock.raw().saturating_sub(start);
            }
            for &ticks in &batch[BATCH / 4..BATCH * 3 / 4] {
                histogram.saturating_record(clock.delta_as_nanos(0, ticks * PER_NANO) / u64::from(calls));
            }
        }
        histogram
    };
    thread::scope(|scope| {
        let caller = &caller;
        let crew: Vec<_> = (0..threads).map(|index| scope.spawn(move || caller(index))).collect();
        let mut all = empty();
        for thread in crew {
            all.add(thread.join().expect("a caller panicked")).expect("the same bounds");
        }
        all
    })
}

/// From a picosecond to a second, to three digits.
fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1_000_000_000 * PER_NANO, 3).expect("bounds that make sense")
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
