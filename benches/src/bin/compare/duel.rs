//! Two contenders in turn.
//!
//! A machine's speed drifts and neighbours come and go. Measured in turn within a millisecond, both sides meet the same
//! weather, and the ratio of a round is one observation; the median of many is the answer. Which side goes first
//! alternates.

use admittance_benches::crew::{self, Race};
use admittance_benches::limiter::{Limiter, prepare};
use admittance_benches::plan::Plan;
use admittance_benches::stats::Quartiles;
use serde::Serialize;

/// Rounds that may be thrown away, for each that is wanted.
const PATIENCE: u32 = 2;

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
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The side whose number is above the line, and the one below it.
    pub(crate) sides: [Side; 2],
    /// Of the rounds' ratios.
    pub(crate) ratio: Quartiles,
    /// Rounds that count.
    pub(crate) rounds: usize,
    /// Rounds thrown away because threads had only taken turns, on a core that others wanted too.
    pub(crate) thrown_away: u32,
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
/// When a call was decided otherwise than the plan says, or threads never ran at the same time.
pub(crate) fn duel<A: Limiter, B: Limiter>(of: Of, plan: &Plan, [on_a, on_b]: [u32; 2], effort: Effort) -> Outcome {
    let mut rounds = Vec::new();
    let mut thrown_away = 0;
    while rounds.len() < effort.rounds as usize && thrown_away <= PATIENCE * effort.rounds {
        let (a, b) = if (rounds.len() + thrown_away as usize).is_multiple_of(2) {
            let a = measure::<A>(plan, on_a, effort.calls);
            (a, measure::<B>(plan, on_b, effort.calls))
        } else {
            let b = measure::<B>(plan, on_b, effort.calls);
            (measure::<A>(plan, on_a, effort.calls), b)
        };
        if a.together && b.together {
            rounds.push((a, b));
        } else {
            thrown_away += 1;
        }
    }
    assert!(
        !rounds.is_empty(),
        "{on_a} and {on_b} threads never ran at the same time: too few cores, or too busy ones"
    );
    let ratio = Quartiles::of(rounds.iter().map(|(a, b)| {
        let time = a.total().nanos() / b.total().nanos();
        match of {
            Of::Time => time,
            Of::Nanos => a.total().nanos(),
            Of::Throughput => f64::from(on_a) / f64::from(on_b) / time,
        }
    }));
    let sides = [side::<A>(on_a, rounds.iter().map(|(a, _)| a)), side::<B>(on_b, rounds.iter().map(|(_, b)| b))];
    Outcome { sides, ratio, rounds: rounds.len(), thrown_away }
}

/// One measurement, on a limiter of its own.
fn measure<L: Limiter>(plan: &Plan, threads: u32, calls: u64) -> Race {
    let limiter = prepare::<L>(plan);
    let race = crew::run(&*limiter, threads, calls);
    plan.check(L::NAME, &race.total());
    race
}

fn side<'a, L: Limiter>(threads: u32, races: impl Iterator<Item = &'a Race> + Clone) -> Side {
    Side {
        name: L::NAME,
        threads,
        ns: Quartiles::of(races.clone().map(|race| race.total().nanos())),
        unevenness: Quartiles::of(races.map(Race::unevenness)).median,
    }
}
