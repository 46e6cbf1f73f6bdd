//! `replay`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use admittance::Rule;
use admittance::policy::Policy;
use admittance::replay;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::ErrorKind;

use super::{Limit, Reading, Trust, number, reading, usage_of};
use crate::output::Output;

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

Lines are decided as they come. One that is earlier than the latest line of its key is decided at
that latest time; --sort decides in order of time instead. Each key starts with a full budget. Lines
that cannot be read are counted, the first five are shown, and the rest go on; where none can be
read, that is an error. Every key has a budget here: a policy's max_keys and overflow are not
replayed, and where the log has more callers than max_keys, that is remarked.

Exit codes:
  0  done; denials, and some lines that cannot be read, are no failure
  1  a log cannot be read, or no line of it; an output cannot be written; or --strict met a line that
     cannot be read
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

    /// Write a JSON line for each line that is decided, in order, to a file. `-` is standard output; the summary then goes to
    /// standard error.
    #[arg(long, value_name = "FILE", value_parser = Output::parser(), help_heading = TELLING)]
    pub(crate) decisions: Option<Output>,

    /// The summary as one JSON object.
    #[arg(long, help_heading = TELLING)]
    pub(crate) json: bool,

    /// A page of HTML with charts and tables: when, who, for how long, and how much would have been enough. It stands alone.
    /// `-` is standard output; the summary then goes to standard error.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = Output::parser(),
        conflicts_with_all = ["decisions", "store"],
        help_heading = TELLING
    )]
    pub(crate) report: Option<Output>,

    /// In the report, the caller whose level is drawn; otherwise the one that was denied most. As the summary, the page and the
    /// JSON's "named" write it: ' · ' between the parts of several fields, "" for an empty part, \xff for a byte that is not
    /// UTF-8, \\ for a backslash, \u{b7} for a · in a part.
    #[arg(
        long,
        value_name = "KEY",
        requires = "report",
        value_parser = OsStringValueParser::new().try_map(Key::read),
        allow_hyphen_values = true,
        help_heading = TELLING
    )]
    pub(crate) key: Option<Key>,

    /// How many callers each list of a comparison of policies names, of those denied most: a number, or `all`. The JSON says how
    /// many it leaves off.
    #[arg(
        long,
        value_name = "N|all",
        default_value = "10",
        value_parser = Top::read,
        allow_hyphen_values = true,
        help_heading = TELLING
    )]
    pub(crate) top: Top,

    /// Decide every line in a store too (`redis://host:port`, or `rediss://` over TLS), at the log's own instants and under keys of its own that are
    /// deleted again, and say whether the answers are the same.
    #[arg(long, value_name = "URL", conflicts_with_all = ["decisions", "sort"], help_heading = TELLING)]
    pub(crate) store: Option<String>,

    #[command(flatten)]
    pub(crate) trust: Trust,

    /// No progress bar. There is none anyway where standard error is no terminal.
    #[arg(long, help_heading = TELLING)]
    pub(crate) quiet: bool,
}

const TELLING: &str = "Telling";

/// How many callers a list names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Top(pub(crate) usize);

impl Top {
    fn read(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(usize::MAX));
        }
        let read = number::whole::<usize>(0..=u64::MAX, "50");
        read(text).map(Self).map_err(|error| format!("{error}; or all"))
    }
}

/// A caller's key, as bytes.
#[derive(Clone, Debug)]
pub(crate) struct Key(pub(crate) Vec<u8>);

impl Key {
    fn read(text: OsString) -> Result<Self, replay::SpecError> {
        replay::key::read(&text.into_encoded_bytes()).map(Self)
    }
}

/// A limit to try, and what it is called.
pub(crate) struct Trial {
    pub(crate) name: String,
    pub(crate) replay: replay::Replay,
    /// Where it is one's.
    pub(crate) policy: Option<Policy>,
}

impl Replay {
    /// What is written, and by which flag.
    pub(crate) fn outputs(&self) -> [(&'static str, Option<&Output>); 2] {
        [("--decisions", self.decisions.as_ref()), ("--report", self.report.as_ref())]
    }

    /// The files of policies, which are read.
    pub(crate) fn policy_files(&self) -> &[PathBuf] {
        &self.limit.policy
    }

    /// The limits that were asked for, one at least. Ends the program where none was said, or one that cannot be.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let trial = |name: String, rule, reading, policy: Option<&Policy>| Trial {
            name,
            replay: replay::Replay::new(rule).reading(reading).sort(self.sort),
            policy: policy.cloned(),
        };
        let policies = self.limit.policies(&self.reading.inputs(), "replay");
        if policies.is_empty() {
            return vec![trial("limit".into(), self.limit.rule("replay"), self.reading.reading("replay"), None)];
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
                trial(name, rule, reading, Some(policy))
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
