//! A bucket a key: admissions of keys drawn uniformly from a crowd, on 1, 2 and 4 threads.
//!
//! ```text
//! cargo bench -p admittance-benches --features peers --bench keyed               # all of it, ten minutes
//! cargo bench -p admittance-benches --features peers --bench keyed -- u64-1M/1   # a million keys on one thread
//! ```
//!
//! A number is a thread's time for one key, as in `bucket`. A thousand keys are in the cache; of a million each is a miss. All
//! keys were met before, so what is measured is a key that has its bucket. Text keys are of sixteen characters.

// The cells are those of `bucket`: one clock loop, one check of what was admitted.
#[path = "../bucket/grid.rs"]
mod grid;

use std::time::Duration;

use admittance::{CoarseClock, TscClock};
use admittance_benches::contenders::crowd::{Batches, Crowd, FEW, MANY, Ours, OursText, Table};
#[cfg(feature = "peers")]
use admittance_benches::contenders::crowd::{GovernorKeyed, WordsInDashmap};
use admittance_benches::plan::Plan;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};

/// Keys that a caller has at hand at once: what a batch of messages may bring.
const BATCH: usize = 32;

fn numbers<const KEYS: u64>(criterion: &mut Criterion, name: &str) {
    grid::for_each_crew(criterion, name, |group, threads| {
        one::<Ours<TscClock>, KEYS>(group, threads);
        one::<Ours<CoarseClock>, KEYS>(group, threads);
        grid::cell::<Batches<Ours<TscClock>, KEYS, BATCH>>(group, threads, &Plan::STOCK);
        #[cfg(feature = "peers")]
        {
            one::<GovernorKeyed, KEYS>(group, threads);
            one::<WordsInDashmap, KEYS>(group, threads);
        }
    });
}

fn texts<const KEYS: u64>(criterion: &mut Criterion, name: &str) {
    grid::for_each_crew(criterion, name, |group, threads| {
        one::<OursText, KEYS>(group, threads);
        #[cfg(feature = "peers")]
        {
            one::<GovernorKeyed<[u8; 16]>, KEYS>(group, threads);
            one::<WordsInDashmap<[u8; 16]>, KEYS>(group, threads);
        }
    });
}

fn one<T: Table, const KEYS: u64>(group: &mut BenchmarkGroup<'_, WallTime>, threads: u32) {
    grid::cell::<Crowd<T, KEYS>>(group, threads, &Plan::STOCK);
}

fn bench(criterion: &mut Criterion) {
    numbers::<FEW>(criterion, "u64-1k");
    numbers::<MANY>(criterion, "u64-1M");
    texts::<FEW>(criterion, "text-1k");
    texts::<MANY>(criterion, "text-1M");
}

/// As `bucket`.
fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .without_plots()
}

criterion_group! {
    name = keyed;
    config = criterion();
    targets = bench
}
criterion_main!(keyed);
