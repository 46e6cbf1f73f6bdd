//! About half is admitted: the bucket refills half as fast as it is asked. The branch that decides is as hard to predict
//! as it gets. The share is reported; a limiter that refills in steps (a coarse clock, whole milliseconds) admits in runs.

use std::time::Duration;

use admittance::{CoarseClock, TscClock};
use admittance_benches::contenders::{self, Ours, StepClock};
use admittance_benches::crew;
use admittance_benches::limiter::{Limiter, Visitor, prepare};
use admittance_benches::plan::{Expect, Plan};
use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};

use crate::grid;

pub(crate) fn bench(criterion: &mut Criterion) {
    grid::for_each_crew(criterion, "boundary", |group, threads| {
        // A manual clock that stood still would have no boundary; this one is where it should be to the call.
        grid::cell::<Ours<StepClock>>(group, threads, &STEPPED);
        let mut cells = Cells { group, threads };
        cells.visit::<Ours<TscClock>>();
        cells.visit::<Ours<CoarseClock>>();
        contenders::visit_peers(&mut cells);
    });
}

/// One token for every two readings.
const STEPPED: Plan = Plan {
    name: "boundary",
    capacity: 1000,
    tokens: 1,
    per: Duration::from_nanos(2),
    drained: false,
    expect: Expect::Some,
};

struct Cells<'a, 'm> {
    group: &'a mut BenchmarkGroup<'m, WallTime>,
    threads: u32,
}

impl Visitor for Cells<'_, '_> {
    fn visit<L: Limiter>(&mut self) {
        let plan = Plan::boundary(pace::<L>(self.threads), self.threads);
        grid::cell::<L>(self.group, self.threads, &plan);
    }
}

/// A call's time when half is admitted, roughly: the mean of an admission's and a denial's.
fn pace<L: Limiter>(threads: u32) -> f64 {
    const CALLS: u64 = 200_000;
    let nanos = |plan| crew::run(&*prepare::<L>(plan), threads, CALLS).total().nanos();
    nanos(&Plan::STOCK).midpoint(nanos(&Plan::DENY))
}
