//! A whole log decided, with a report and without.

use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use admittance::replay::{Input, Replay};
use admittance::{Budget, Rule};
use admittance_benches::stats::Quartiles;

use super::{Row, Target};
use crate::duel::{Effort, Outcome, Side};

/// Rounds enough: each is millions of lines.
const ROUNDS: u32 = 9;

/// Not a ratio. 1.5 million lines a second on two cores is what is wanted.
static LINES: Row = Row {
    key: "replay_lines_per_s_per_core",
    about: "lines of the log decided in a second, over the number of cores",
    target: Some(Target::AtLeast(750_000.0)),
    measure: |_| unreachable!("it is measured of a log that is named"),
};

static REPORT: Row = Row {
    key: "replay_report_vs_replay",
    about: "time of a replay that tells of each caller, over one that tells the sums",
    target: None,
    measure: |_| unreachable!("it is measured of a log that is named"),
};

/// Each round replays the log twice, in turn with and without a report.
///
/// # Panics
///
/// When the log cannot be read, or has no line.
pub(crate) fn measure(log: &Path, effort: Effort, mut add: impl FnMut(&'static Row, Outcome)) {
    let replay = Replay::new(Rule::TokenBucket(Budget::new(20, 5, Duration::from_secs(1)).expect("a plain budget")));
    let inputs = [Input::File(log.into())];
    let timed = |decide: &dyn Fn() -> u64| {
        let start = Instant::now();
        let lines = decide();
        assert!(lines > 0, "{}: no line", log.display());
        (start.elapsed().as_secs_f64(), lines)
    };
    let sums = || timed(&|| replay.run(&inputs).expect("the log can be read").lines);
    let told = || timed(&|| replay.report(&inputs).expect("the log can be read").summary.lines);
    // Once for the page cache.
    sums();
    let mut rounds = Vec::new();
    for round in 0..effort.rounds.min(ROUNDS) {
        eprintln!("{:<34} {}, round {}", LINES.key, LINES.about, round + 1);
        let pair = if round % 2 == 0 {
            let first = sums();
            (first, told())
        } else {
            let first = told();
            (sums(), first)
        };
        rounds.push(pair);
    }
    let cores = available_parallelism().map_or(1, NonZero::get);
    #[allow(clippy::cast_precision_loss, reason = "far below 2⁵³")]
    let nanos = |(seconds, lines): (f64, u64)| seconds * 1e9 / lines as f64;
    let side = |name, of: &mut dyn Iterator<Item = f64>| Side {
        name,
        threads: u32::try_from(cores).unwrap_or(u32::MAX),
        ns: Quartiles::of(of),
        unevenness: 1.0,
    };
    let sides = || {
        [
            side("sums", &mut rounds.iter().map(|(sums, _)| nanos(*sums))),
            side("report", &mut rounds.iter().map(|(_, told)| nanos(*told))),
        ]
    };
    #[allow(clippy::cast_precision_loss, reason = "few cores")]
    let a_core = |(seconds, lines): (f64, u64)| 1e9 / nanos((seconds, lines)) / cores as f64;
    let outcome = |ratio| Outcome { sides: sides(), ratio, rounds: rounds.len(), thrown_away: 0 };
    add(&LINES, outcome(Quartiles::of(rounds.iter().map(|(sums, _)| a_core(*sums)))));
    add(&REPORT, outcome(Quartiles::of(rounds.iter().map(|(sums, told)| nanos(*told) / nanos(*sums)))));
}
