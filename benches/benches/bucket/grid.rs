//! One cell of the grid: a limiter, a plan, a number of threads.

use std::num::NonZero;
use std::thread;
use std::time::Duration;

use admittance_benches::crew::{self, Lap, Race};
use admittance_benches::limiter::{Limiter, prepare};
use admittance_benches::plan::{Expect, Plan};
use admittance_benches::stats::Quartiles;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, measurement::WallTime};

/// Callers that share one bucket. Four on two cores wait for a core more than for the bucket, as they do in life.
const THREADS: [u32; 3] = [1, 2, 4];

/// Runs `each` for every number of threads, in a group of its own.
pub(crate) fn for_each_crew(
    criterion: &mut Criterion,
    name: &str,
    each: impl Fn(&mut BenchmarkGroup<'_, WallTime>, u32),
) {
    for threads in THREADS {
        let mut group = criterion.benchmark_group(format!("{name}/{threads}"));
        each(&mut group, threads);
        group.finish();
    }
}

/// Measures one limiter under one plan, and fails where the plan's outcome was not met.
pub(crate) fn cell<L: Limiter>(group: &mut BenchmarkGroup<'_, WallTime>, threads: u32, plan: &Plan) {
    let limiter = prepare::<L>(plan);
    let mut sum = Lap::default();
    let mut unevenness = Vec::new();
    let mut apart = 0_u32;
    group.bench_function(BenchmarkId::from_parameter(L::NAME), |bencher| {
        bencher.iter_custom(|calls| {
            let race = measure(&*limiter, threads, calls, plan);
            let total = race.total();
            sum = sum + total;
            unevenness.push(race.unevenness());
            apart += u32::from(!race.together);
            scaled(&total, calls)
        });
    });
    // Filtered out on the command line.
    if sum.calls == 0 {
        return;
    }
    plan.check(L::NAME, &sum);
    let typical = Quartiles::of(unevenness).median;
    let Lap { calls, .. } = sum;
    eprintln!("  {:.4} of {calls} calls admitted; slowest thread over fastest {typical:.2}", sum.share());
    if apart > 0 {
        eprintln!("  in {apart} races the threads took turns for some of the time");
    }
}

/// Criterion starts with a handful of calls. A race of those would be over before its last thread has started, and a
/// boundary is one only when the bucket's first filling is spent. Where there are cores enough, a race in which the threads
/// took turns is run again, a few times.
fn measure<L: Limiter>(limiter: &L, threads: u32, calls: u64, plan: &Plan) -> Race {
    let enough = if plan.expect == Expect::Some { 1 << 20 } else { 1 << 14 };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let mut attempts = if threads as usize <= cores { 5 } else { 1 };
    loop {
        let race = crew::run(limiter, threads, calls.max(enough));
        attempts -= 1;
        if race.together || attempts == 0 {
            return race;
        }
    }
}

/// What `calls` calls would have taken: a race ends with its fastest thread, and the others have done fewer.
#[allow(clippy::cast_precision_loss, reason = "counts here are far below 2⁵³")]
fn scaled(total: &Lap, calls: u64) -> Duration {
    Duration::from_secs_f64(total.nanos() * 1e-9 * calls as f64)
}
