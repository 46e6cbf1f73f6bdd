//! `replay`.

use std::path::{Path, PathBuf};

use admittance::Rule;
use admittance::policy::Policy;
use admittance::replay;
use clap::error::ErrorKind;

use super::{Limit, Reading, reading, usage_of};

const EXAMPLES: &str = "\
Examples:
  Five requests at once and one every two seconds, for each address:
    admittance replay access.log --capacity 5 --refill 1/2s
  A hundred in each minute of the clock, over two days of logs:
    admittance replay access.log.1.gz access.log --window 100/1m
  Ten megabytes a second, a second's worth at once, as JSON:
    admittance replay access.log --unit byte --capacity 10000000 --refill 10000000/1s --json
  Every decision of a trace, in order:
    admittance replay trace.jsonl --capacity 3 --refill 2/1s --decisions -
  What a file of policies says, before it is switched on:
    admittance replay access.log --policy limits.toml --name api
  A page to read and to send around:
    admittance replay access.log --capacity 20 --refill 5/1s --report report.html
  What would change from one policy to another:
    admittance replay access.log --policy now.toml --policy next.toml
  From a pipe:
    ssh web cat access.log | admittance replay - --window 100/1m

{reading}

Lines are decided as they come. One that is earlier than the latest line of its key is decided at that
latest time; --sort decides in order of time instead. Each key starts with a full budget. Lines that
cannot be read are counted, the first five are shown, and the rest go on.

Exit codes:
  0  done; lines that cannot be read, and denials, are no failure
  1  a log cannot be read, an output cannot be written, or --strict met a line that cannot be read
  2  the command line is wrong";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES.replace("{reading}", reading::EXAMPLES))]
pub(crate) struct Replay {
    #[command(flatten)]
    limit: Limit,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Decide in order of time, not of lines. Keeps all lines in memory.
    #[arg(long, help_heading = reading::HEADING)]
    sort: bool,

    /// Write a JSON line for each line that is decided, in order, to a file or to `-`; with `-` the summary goes to standard
    /// error.
    #[arg(long, value_name = "FILE", help_heading = TELLING)]
    pub(crate) decisions: Option<PathBuf>,

    /// The summary as one JSON object.
    #[arg(long, help_heading = TELLING)]
    pub(crate) json: bool,

    /// A page of HTML with charts and tables: when, who, for how long, and how much would have been enough. It stands alone.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["decisions", "store"], help_heading = TELLING)]
    pub(crate) report: Option<PathBuf>,

    /// In the report, the caller whose level is drawn; otherwise the one that was denied most.
    #[arg(long, value_name = "KEY", requires = "report", help_heading = TELLING)]
    pub(crate) key: Option<String>,

    /// Decide every line in a store too (`redis://host:port`), at the log's own instants and under keys of its own that are
    /// deleted again, and say whether the answers are the same.
    #[arg(long, value_name = "URL", conflicts_with_all = ["decisions", "sort"], help_heading = TELLING)]
    pub(crate) store: Option<String>,

    /// No progress bar. There is none anyway where standard error is no terminal.
    #[arg(long, help_heading = TELLING)]
    pub(crate) quiet: bool,
}

const TELLING: &str = "Telling";

/// A limit to try, and what it is called.
pub(crate) struct Trial {
    pub(crate) name: String,
    pub(crate) replay: replay::Replay,
}

impl Replay {
    /// The files of policies, which are read.
    pub(crate) fn policy_files(&self) -> &[PathBuf] {
        &self.limit.policy
    }

    /// The limits that were asked for, one at least. Ends the program where none was said, or one that cannot be.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let trial = |name: String, rule, reading| Trial {
            name,
            replay: replay::Replay::new(rule).reading(reading).sort(self.sort),
        };
        let policies = self.limit.policies("replay");
        if policies.is_empty() {
            return vec![trial("limit".into(), self.limit.rule("replay"), self.reading.reading("replay"))];
        }
        if policies.len() > 1 && (self.decisions.is_some() || self.store.is_some()) {
            let flag = if self.store.is_some() { "--store" } else { "--decisions" };
            let names = policies.iter().map(|(_, policy)| policy.name()).collect::<Vec<_>>().join(", ");
            let asks = format!(
                "{flag} is of one policy, and there are {}: which? Say --name POLICY, one of {names}",
                policies.len()
            );
            usage_of("replay", ErrorKind::MissingRequiredArgument, asks)
        }
        self.reading.names_of(&policies.iter().map(|(_, policy)| policy), "replay");
        let same_name = |name: &str| policies.iter().filter(|(_, policy)| policy.name() == name).count() > 1;
        policies
            .iter()
            .map(|(file, policy)| {
                let (rule, reading) = policy_of(&self.reading, file, policy, "replay");
                let name = policy.name();
                let name = if same_name(name) { format!("{name} of {}", file.display()) } else { name.into() };
                trial(name, rule, reading)
            })
            .collect()
    }
}

/// What the policy says, as far as a log can be asked about it. Ends the program where it cannot.
pub(super) fn policy_of(reading: &Reading, file: &Path, policy: &Policy, command: &str) -> (Rule, replay::Reading) {
    let cannot = |what: &str| -> ! {
        usage_of(
            command,
            ErrorKind::ValueValidation,
            format!("--policy {}: policy '{}': {what}", file.display(), policy.name()),
        )
    };
    if policy.tiers().len() > 1 {
        cannot("tiers: a log does not tell who is of which; try one rule at a time");
    }
    let reading = reading.reading_for(policy, command).unwrap_or_else(|what| cannot(&what));
    (policy.rule(), reading)
}
