//! One cell of the grid: a limiter, a plan, a number of threads.

use std::time::Duration;

use admittance_benches::crew::{self, Lap, Race};
use admittance_benches::limiter::{Limiter, prepare};
use admittance_benches::plan::{Expect, Plan};
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
    let mut unevenness = 1.0_f64;
    let mut apart = 0_u32;
    group.bench_function(BenchmarkId::from_parameter(L::NAME), |bencher| {
        bencher.iter_custom(|calls| {
            let race = measure(&*limiter, threads, calls, plan);
            let total = race.total();
            sum = sum + total;
            unevenness = unevenness.max(race.unevenness());
            apart += u32::from(!race.together);
            scaled(&total, calls)
        });
    });
    // Filtered out on the command line.
    if sum.calls == 0 {
        return;
    }
    plan.check(L::NAME, &sum);
    eprintln!(
        "  {:.4} of {} calls admitted; at worst a thread took {unevenness:.2} times as long as another; races in which \
         the threads did not all run all the time: {apart}",
        sum.share(),
        sum.calls
    );
}

/// Criterion starts with a handful of calls. A race of those would be over before its last thread has started, and a
/// boundary is one only when the bucket's first filling is spent.
fn measure<L: Limiter>(limiter: &L, threads: u32, calls: u64, plan: &Plan) -> Race {
    let enough = if plan.expect == Expect::Some { 1 << 20 } else { 1 << 14 };
    crew::run(limiter, threads, calls.max(enough))
}

/// What `calls` calls would have taken: a race ends with its fastest thread, and the others have done fewer.
#[allow(clippy::cast_precision_loss, reason = "counts here are far below 2⁵³")]
fn scaled(total: &Lap, calls: u64) -> Duration {
    Duration::from_secs_f64(total.nanos() * 1e-9 * calls as f64)
}
