//! Everything is admitted, and the count says so.

use admittance_benches::contenders::{self, Floor};
use admittance_benches::limiter::{Limiter, Visitor};
use admittance_benches::plan::Plan;
use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};

use crate::grid;

pub(crate) fn bench(criterion: &mut Criterion) {
    for plan in [Plan::STOCK, Plan::FULL] {
        grid::for_each_crew(criterion, plan.name, |group, threads| {
            // More than one thread makes its swap fail, and it does not try again.
            if threads == 1 {
                grid::cell::<Floor>(group, threads, &plan);
            }
            contenders::visit(&mut Cells { group, threads, plan: &plan });
        });
    }
}

struct Cells<'a, 'm> {
    group: &'a mut BenchmarkGroup<'m, WallTime>,
    threads: u32,
    plan: &'a Plan,
}

impl Visitor for Cells<'_, '_> {
    fn visit<L: Limiter>(&mut self) {
        grid::cell::<L>(self.group, self.threads, self.plan);
    }
}
