//! Ratios from one run on one machine: what this crate's decisions cost, over what others' cost.
//!
//! ```text
//! cargo run --release -p admittance-benches --features peers --bin compare -- --json
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `duel` | two contenders in turn, A B B A ..., round after round, and the quartiles of the rounds' ratios |
//! | `resident` | memory instead of time |
//! | `rows` | the ratios there are, one file for each family |
//! | `report` | the JSON object and the table |

mod duel;
mod report;
mod resident;
mod rows;

use std::process::ExitCode;
use std::time::Instant;

use admittance_benches::machine::Machine;
use clap::Parser;

use crate::duel::Effort;
use crate::report::Report;
use crate::rows::ROWS;

/// Measures admittance against its peers and its floor, in turns, and prints ratios of medians.
#[derive(Debug, Parser)]
struct Options {
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
    /// Measure this ratio alone; may be given more than once.
    #[arg(long, value_name = "KEY")]
    only: Vec<String>,
    /// Rounds for each ratio; a round measures both sides once.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Calls for each measurement, per thread.
    #[arg(long, value_name = "N", default_value_t = 8192, value_parser = clap::value_parser!(u32).range(64..))]
    calls: u32,
    /// Measure shared budgets too, in this store, as in `redis://127.0.0.1:6379`: one that serves nobody else.
    #[cfg(feature = "store")]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Measure replays too, of this log: `admittance gen --lines 10M --output big.log` makes one.
    #[cfg(feature = "replay")]
    #[arg(long, value_name = "LOG")]
    replay: Option<std::path::PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(key) = options.only.iter().find(|key| ROWS.iter().all(|row| row.key != **key)) {
        let keys: Vec<_> = ROWS.iter().map(|row| row.key).collect();
        let hint = if cfg!(feature = "peers") { "" } else { " (those against peers want `--features peers`)" };
        eprintln!("--only: there is no ratio `{key}`{hint}; there is {}", keys.join(", "));
        return ExitCode::FAILURE;
    }
    let machine = Machine::this();
    if cfg!(debug_assertions) {
        eprintln!("note: built without `--release`; these numbers mean nothing");
    }
    let effort = Effort { rounds: options.rounds, calls: options.calls.into() };
    let start = Instant::now();
    let mut report = Report::new(machine, effort);
    for row in ROWS.iter().filter(|row| options.only.is_empty() || options.only.iter().any(|key| key == row.key)) {
        eprintln!("{:<34} {}", row.key, row.about);
        report.add(row, (row.measure)(effort));
    }
    #[cfg(feature = "store")]
    if let Some(url) = &options.store {
        rows::store::measure(url, effort, |row, outcome| report.add(row, outcome));
    }
    #[cfg(feature = "replay")]
    if let Some(log) = &options.replay {
        rows::replay::measure(log, effort, |row, outcome| report.add(row, outcome));
    }
    report.finish(start.elapsed());
    if options.json {
        println!("{}", format_args!("{:#}", report.json()));
    } else {
        println!("{report}");
    }
    ExitCode::SUCCESS
}
