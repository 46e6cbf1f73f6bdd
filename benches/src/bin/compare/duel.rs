//! Two contenders in turn.
//!
//! A machine's speed drifts and neighbours come and go. Measured in turn within a millisecond, both sides meet the same
//! weather, and the ratio of a round is one observation; the median of many is the answer. Which side goes first
//! alternates.

use admittance_benches::crew;
use admittance_benches::limiter::{Limiter, prepare};
use admittance_benches::plan::Plan;
use admittance_benches::stats::Quartiles;
use serde::Serialize;

/// Attempts at one measurement before the machine is declared unfit.
const PATIENCE: u32 = 1000;

/// How long to measure.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Effort {
    /// Rounds for each ratio.
    pub(crate) rounds: u32,
    /// Calls of each thread in a round.
    pub(crate) calls: u64,
}

/// One side of a duel.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Side {
    /// Who it is.
    pub(crate) name: &'static str,
    /// How many share the limiter.
    pub(crate) threads: u32,
    /// Nanoseconds of a thread's time for one call.
    pub(crate) ns: Quartiles,
    /// Over rounds, the median of how much longer a call took on the slowest thread than on the fastest.
    pub(crate) unevenness: f64,
    /// Measurements thrown away because the threads had not run at the same time.
    pub(crate) repeated: u32,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The side whose number is above the line, and the one below it.
    pub(crate) sides: [Side; 2],
    /// Of the rounds' ratios.
    pub(crate) ratio: Quartiles,
}

/// What a ratio is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    /// A call's time: less is better.
    Time,
    /// All threads' calls per time: more is better.
    Throughput,
    /// The first side's time itself, in nanoseconds: not a ratio.
    Nanos,
}

/// `A`'s number over `B`'s, each on its own number of threads.
///
/// # Panics
///
/// When a call was decided otherwise than the plan says.
pub(crate) fn duel<A: Limiter, B: Limiter>(
    of: Of,
    plan: &Plan,
    [threads_a, threads_b]: [u32; 2],
    effort: Effort,
) -> Outcome {
    let mut a = Tally::default();
    let mut b = Tally::default();
    for round in 0..effort.rounds {
        if round % 2 == 0 {
            a.measure::<A>(plan, threads_a, effort.calls);
            b.measure::<B>(plan, threads_b, effort.calls);
        } else {
            b.measure::<B>(plan, threads_b, effort.calls);
            a.measure::<A>(plan, threads_a, effort.calls);
        }
    }
    let ratio = Quartiles::of(a.nanos.iter().zip(&b.nanos).map(|(a, b)| match of {
        Of::Time => a / b,
        Of::Nanos => *a,
        Of::Throughput => (f64::from(threads_a) / a) / (f64::from(threads_b) / b),
    }));
    Outcome { sides: [a.side::<A>(threads_a), b.side::<B>(threads_b)], ratio }
}

#[derive(Default)]
struct Tally {
    nanos: Vec<f64>,
    unevenness: Vec<f64>,
    repeated: u32,
}

impl Tally {
    /// One measurement, on a limiter of its own. Threads that only took turns say nothing and are sent off again.
    fn measure<L: Limiter>(&mut self, plan: &Plan, threads: u32, calls: u64) {
        for _ in 0..PATIENCE {
            let limiter = prepare::<L>(plan);
            let race = crew::run(&*limiter, threads, calls);
            let total = race.total();
            plan.check(L::NAME, &total);
            if race.together {
                self.nanos.push(total.nanos());
                self.unevenness.push(race.unevenness());
                return;
            }
            self.repeated += 1;
        }
        panic!("{threads} threads never ran at the same time in {PATIENCE} attempts: too few cores, or too busy ones");
    }

    fn side<L: Limiter>(self, threads: u32) -> Side {
        let unevenness = Quartiles::of(self.unevenness).median;
        Side { name: L::NAME, threads, ns: Quartiles::of(self.nanos), unevenness, repeated: self.repeated }
    }
}
