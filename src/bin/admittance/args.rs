//! What can be said on the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use admittance::policy::{IdentityKind, Policy as SaidPolicy, Unit as PolicyUnit};
use admittance::replay::{Format, Input, Unit};
use admittance::{Budget, BudgetError, Window};
use admittance::{Per, Rule};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum, error::ErrorKind};

use crate::{complain, policy, retry};

/// Rate limits, tried before they are switched on.
#[derive(Debug, Parser)]
#[command(name = "admittance", version, max_term_width = 100, after_help = FIRST_STEPS)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide every line of an access log or a trace, and say who would have been denied.
    Replay(Replay),
    /// Drive a shared store with a policy, and say what it admitted and how fast it answered.
    Load(Load),
    /// Say when a client's attempts would go, by what a server's Retry-After asks for.
    Retry(Box<retry::Args>),
    /// Look at files of policies.
    #[command(arg_required_else_help = true)]
    Policy {
        #[command(subcommand)]
        what: Policy,
    },
}

/// What to drive a store with.
#[derive(Debug, clap::Args)]
#[command(after_help = LOAD_EXAMPLES)]
pub(crate) struct Load {
    /// The store, as in `redis://127.0.0.1:6379`. Say it for several nodes to open a cluster.
    #[arg(long, required = true, value_name = "URL")]
    pub(crate) store: Vec<String>,

    /// A file of policies in TOML.
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,

    /// Which of the file's policies, where there are several.
    #[arg(long, value_name = "POLICY")]
    name: Option<String>,

    /// Callers at once.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) callers: u32,

    /// Identities they call as, in turn.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) identities: u32,

    /// Tokens that each call costs.
    #[arg(long, value_name = "TOKENS", default_value_t = 1)]
    pub(crate) cost: u64,

    /// How long.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) seconds: u32,

    /// A client and connection for each caller, as so many processes have. Otherwise they share one.
    #[arg(long)]
    pub(crate) separate: bool,

    /// What all keys begin with; one of this run's own, whose budgets are full, where it is not said.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) prefix: Option<String>,

    /// As one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

const LOAD_EXAMPLES: &str = "\
Examples:
  Sixteen callers of one identity for five seconds:
    admittance load --store redis://127.0.0.1:6379 --policy limits.toml --name api
  As sixteen processes, on a cluster, for a thousand identities:
    admittance load --store redis://10.0.0.1:7000 --store redis://10.0.0.2:7000 --policy limits.toml \\
      --separate --identities 1000

The policy must be of a shared scope. Every call is timed, those that the store did not decide too.

Exit codes:
  0  done, whatever was denied
  1  the store cannot be opened, or the policy not be used
  2  the command line is wrong";

impl Load {
    /// The policy. Ends the program where it is not there.
    pub(crate) fn policy(&self) -> SaidPolicy {
        chosen(&self.policy, self.name.as_deref(), "load")
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Say what each policy says in plain words; or what is missing or wrong, and where.
    Check(Check),
}

#[derive(Debug, clap::Args)]
#[command(after_help = CHECK_CODES)]
pub(crate) struct Check {
    /// Files of policies in TOML. `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<OsString>,

    /// A JSON object a policy and line.
    #[arg(long)]
    pub(crate) json: bool,
}

const CHECK_CODES: &str = "\
Exit codes:
  0  every file can be used
  1  a file cannot be read, or something in it is missing or wrong
  2  the command line is wrong";

const FIRST_STEPS: &str = "\
Try a limit of five requests at once and one every two seconds on a log:
  admittance replay access.log --capacity 5 --refill 1/2s
See when a client may try again:
  admittance retry --header 'Retry-After: 3' --deadline 10s --attempts 5

`admittance replay --help` has all flags, more examples and the exit codes.";

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
  From a pipe:
    ssh web cat access.log | admittance replay - --window 100/1m

Lines are decided as they come. One that is earlier than the latest line of its key is decided at that
latest time; --sort decides in order of time instead. Each key starts with a full budget. Lines that
cannot be read are counted, the first five are shown, and the rest go on.

Exit codes:
  0  done; lines that cannot be read, and denials, are no failure
  1  a log cannot be read, an output cannot be written, or --strict met a line that cannot be read
  2  the command line is wrong";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line are")]
pub(crate) struct Replay {
    /// Logs, read one after the other as one; gzip is seen. `-` is standard input.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<OsString>,

    /// Token bucket: tokens it holds at most, the largest burst.
    #[arg(long, value_name = "TOKENS", value_parser = tokens, allow_hyphen_values = true, help_heading = LIMIT)]
    capacity: Option<u64>,

    /// Token bucket: how fast tokens come back, as in 2/1s (units: ns, us, ms, s, m, h, d).
    #[arg(long, value_name = "TOKENS/DURATION", allow_hyphen_values = true, help_heading = LIMIT)]
    refill: Option<Per>,

    /// Fixed window, instead of a bucket: so many in each window, as in 5/10s. Windows begin at whole multiples of their
    /// length since 1970.
    #[arg(
        long,
        value_name = "LIMIT/DURATION",
        allow_hyphen_values = true,
        conflicts_with_all = ["capacity", "refill"],
        help_heading = LIMIT
    )]
    window: Option<Per>,

    /// A policy instead: its rule, its identity and its unit, from a file of TOML.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["capacity", "refill", "window", "identity", "unit"], help_heading = LIMIT)]
    policy: Option<PathBuf>,

    /// Which of the file's policies, where there are several.
    #[arg(long, value_name = "POLICY", help_heading = LIMIT)]
    name: Option<String>,

    /// Whose lines share one budget. A trace says itself, by its `key`.
    #[arg(long, value_enum, default_value_t, help_heading = LIMIT)]
    identity: Identity,

    /// What a line of an access log costs. A trace says itself, by its `cost`.
    #[arg(long, value_enum, default_value_t, help_heading = LIMIT)]
    unit: UnitArg,

    /// How the logs are written.
    #[arg(long, value_enum, default_value_t, help_heading = READING)]
    format: FormatArg,

    /// Decide in order of time, not of lines. Keeps all lines in memory.
    #[arg(long, help_heading = READING)]
    sort: bool,

    /// Stop at the first line that cannot be read.
    #[arg(long, help_heading = READING)]
    strict: bool,

    /// Threads to decide with; all cores by default. The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = READING)]
    pub(crate) threads: Option<u16>,

    /// Write a JSON line for each line that is decided, in order, to a file or to `-`; with `-` the summary goes to standard
    /// error.
    #[arg(long, value_name = "FILE", help_heading = TELLING)]
    pub(crate) decisions: Option<PathBuf>,

    /// The summary as one JSON object.
    #[arg(long, help_heading = TELLING)]
    pub(crate) json: bool,

    /// Decide every line in a store too (`redis://host:port`), at the log's own instants and under keys of its own that are
    /// deleted again, and say whether the answers are the same.
    #[arg(long, value_name = "URL", conflicts_with_all = ["decisions", "sort"], help_heading = TELLING)]
    pub(crate) store: Option<String>,

    /// No progress bar. There is none anyway where standard error is no terminal.
    #[arg(long, help_heading = TELLING)]
    pub(crate) quiet: bool,
}

const LIMIT: &str = "The limit: --capacity and --refill, or --window, or --policy";
const READING: &str = "Reading";
const TELLING: &str = "Telling";

fn tokens(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(tokens) if tokens > 0 => Ok(tokens),
        _ => Err(format!("it must be a whole number from 1 to {}, as in --capacity 5", u64::MAX)),
    }
}

/// Whose requests share one budget.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Identity {
    /// The client's address: a log's first field.
    #[default]
    Address,
}

/// What a line of an access log costs.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum UnitArg {
    /// Each costs 1.
    #[default]
    Request,
    /// Each costs its response's size; `-` is 0.
    Byte,
}

/// How the logs are written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum FormatArg {
    /// Told from the first line that can be read.
    #[default]
    Auto,
    /// Apache's and nginx's common and combined formats.
    Combined,
    /// A JSON object a line, with `t_ns`, `key` and `cost`.
    Jsonl,
}

impl Replay {
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.logs.iter().map(|log| Input::from_arg(log)).collect()
    }

    /// The replay that was asked for. Ends the program where no limit was said, or one that cannot be.
    pub(crate) fn replay(&self) -> admittance::replay::Replay {
        let (rule, unit) = if let Some(file) = &self.policy {
            self.policy_of(file)
        } else {
            if self.name.is_some() {
                missing("--name says which policy of a file; say --policy FILE too");
            }
            let Identity::Address = self.identity;
            let unit = match self.unit {
                UnitArg::Request => Unit::Request,
                UnitArg::Byte => Unit::Byte,
            };
            (self.rule(), unit)
        };
        let replay = admittance::replay::Replay::new(rule).unit(unit).sort(self.sort).strict(self.strict);
        match self.format {
            FormatArg::Auto => replay,
            FormatArg::Combined => replay.format(Format::Combined),
            FormatArg::Jsonl => replay.format(Format::Jsonl),
        }
    }

    /// What the policy says, as far as a log can be asked about it. Ends the program where it cannot.
    fn policy_of(&self, file: &Path) -> (Rule, Unit) {
        let policy = &chosen(file, self.name.as_deref(), "replay");
        let cannot = |what: &str| -> ! {
            usage(
                ErrorKind::ValueValidation,
                format!("--policy {}: policy '{}': {what}", file.display(), policy.name()),
            )
        };
        // A trace's keys are whatever it says; an access log has addresses.
        let is_trace = matches!(self.format, FormatArg::Jsonl);
        if !is_trace && policy.identity() != [IdentityKind::Address] {
            cannot(
                "identity: an access log tells addresses alone; say --format jsonl for a trace, whose key is what you say",
            );
        }
        if !policy.scope().prefixes().is_empty() {
            cannot("scope: routes cannot be told from a log yet; take them out to try it on all lines");
        }
        if policy.tiers().len() > 1 {
            cannot("tiers: a log does not tell who is of which; try one rule at a time");
        }
        let unit = match policy.unit() {
            PolicyUnit::Request => Unit::Request,
            PolicyUnit::Byte => Unit::Byte,
            PolicyUnit::Named(_) if is_trace => Unit::Request,
            PolicyUnit::Named(name) => cannot(&format!("unit: an access log tells requests and bytes, and no {name}")),
        };
        (policy.rule(), unit)
    }

    fn rule(&self) -> Rule {
        match (self.capacity, self.refill, self.window) {
            (_, _, Some(Per { tokens, duration })) => Rule::FixedWindow(
                Window::new(tokens, duration).unwrap_or_else(|error| out_of_range("--window", &error)),
            ),
            (Some(capacity), Some(Per { tokens, duration }), None) => {
                let flag = |error: BudgetError| if error.field() == "capacity" { "--capacity" } else { "--refill" };
                Rule::TokenBucket(
                    Budget::new(capacity, tokens, duration).unwrap_or_else(|error| out_of_range(flag(error), &error)),
                )
            }
            (Some(_), None, None) => {
                missing("how fast do tokens come back? Say --refill TOKENS/DURATION, as in --refill 2/1s")
            }
            (None, Some(_), None) => missing("how many tokens at once? Say --capacity TOKENS, as in --capacity 5"),
            (None, None, None) => missing(
                "what is the limit? Say --capacity TOKENS and --refill TOKENS/DURATION for a token bucket, \
                 or --window LIMIT/DURATION for a fixed window, or --policy FILE",
            ),
        }
    }
}

/// The policy of this name in a file. Ends the program where there is none, or the file cannot be used.
fn chosen(file: &Path, name: Option<&str>, command: &str) -> SaidPolicy {
    let policies = policy::read(file.as_os_str()).unwrap_or_else(|error| {
        complain(format_args!("{error}"));
        std::process::exit(1)
    });
    let policy = match name {
        Some(name) => policies.get(name),
        None => policies.iter().next().filter(|_| policies.iter().count() == 1),
    };
    policy.cloned().unwrap_or_else(|| {
        let names = policies.iter().map(SaidPolicy::name).collect::<Vec<_>>().join(", ");
        let asks = format!("which policy of {}? Say --name POLICY, one of {names}", file.display());
        usage_of(command, ErrorKind::MissingRequiredArgument, asks)
    })
}

fn out_of_range(flag: &str, error: &BudgetError) -> ! {
    usage(ErrorKind::ValueValidation, format!("{flag}: {error}"))
}

fn missing(question: &str) -> ! {
    usage(ErrorKind::MissingRequiredArgument, question)
}

fn usage(kind: ErrorKind, what: impl std::fmt::Display) -> ! {
    usage_of("replay", kind, what)
}

fn usage_of(name: &str, kind: ErrorKind, what: impl std::fmt::Display) -> ! {
    let mut command = Args::command();
    command.build();
    let of = command.find_subcommand_mut(name).expect("it is declared above");
    of.error(kind, what).exit()
}
