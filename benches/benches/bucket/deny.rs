//! Nothing is admitted, and the count says so.

use admittance::{CoarseClock, TscClock};
use admittance_benches::contenders::{self, Asked};
use admittance_benches::limiter::{Limiter, Visitor};
use admittance_benches::plan::Plan;
use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};

use crate::grid;

pub(crate) fn bench(criterion: &mut Criterion) {
    grid::for_each_crew(criterion, Plan::DENY.name, |group, threads| {
        let mut cells = Cells { group, threads };
        contenders::visit(&mut cells);
        // And what it costs to be told how long to wait.
        cells.visit::<Asked<TscClock>>();
        cells.visit::<Asked<CoarseClock>>();
    });
}

struct Cells<'a, 'm> {
    group: &'a mut BenchmarkGroup<'m, WallTime>,
    threads: u32,
}

impl Visitor for Cells<'_, '_> {
    fn visit<L: Limiter>(&mut self) {
        grid::cell::<L>(self.group, self.threads, &Plan::DENY);
    }
}
