//! The limit that is tried: on the command line, or from files of policies.

use std::path::{Path, PathBuf};

use admittance::policy::Policy;
use admittance::replay::Input;
use admittance::{Budget, BudgetError, Per, Rule, Window};
use clap::error::ErrorKind;

use super::{ask_which, number, read, usage_of};

/// A limit.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "The limit: --capacity and --refill, or --window, or --policy")]
pub(crate) struct Limit {
    /// Token bucket: tokens it holds at most, the largest burst.
    #[arg(long, value_name = "TOKENS", value_parser = number::whole::<u64>(1..=u64::MAX, "--capacity 5"), allow_hyphen_values = true)]
    capacity: Option<u64>,

    /// Token bucket: how fast tokens come back, as in 2/1s (units: ns, us, ms, s, m, h, d).
    #[arg(long, value_name = "TOKENS/DURATION", allow_hyphen_values = true)]
    refill: Option<Per>,

    /// Fixed window, instead of a bucket: so many in each window, as in 5/10s. Windows begin at whole multiples of their
    /// length since 1970.
    #[arg(
        long,
        value_name = "LIMIT/DURATION",
        allow_hyphen_values = true,
        conflicts_with_all = ["capacity", "refill"]
    )]
    window: Option<Per>,

    /// Policies instead: their rules, identities, routes and units, from a file of TOML, or `-` for standard input. Say it again for more files. Where there
    /// are several policies they are told side by side, against the first. Which fields of a log are whom they name is said by
    /// --identity KIND=FIELD.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["capacity", "refill", "window", "unit"])]
    pub(super) policy: Vec<PathBuf>,

    /// Only the policy of this name, of each file.
    #[arg(long, value_name = "POLICY")]
    name: Option<String>,
}

impl Limit {
    /// The policies that the flags say, each with its file; empty where they say none. Ends the program where a file cannot be
    /// used, or has none of the name, or is standard input, which is something else already.
    pub(super) fn policies(&self, logs: &[Input], command: &str) -> Vec<(&Path, Policy)> {
        let from_stdin = self.policy.iter().filter(|file| **file == Path::new("-")).count();
        let is_log = logs.iter().any(|log| matches!(log, Input::Stdin));
        if from_stdin > 1 || (from_stdin == 1 && is_log) {
            let what = if is_log { "the log" } else { "another --policy" };
            let asks =
                format!("--policy -: standard input is {what} too, and is read once; name a file for the policy");
            usage_of(command, ErrorKind::ArgumentConflict, asks)
        }
        let mut all = Vec::new();
        for file in &self.policy {
            let policies = read(file);
            let before = all.len();
            let is_meant = |policy: &&Policy| self.name.as_deref().is_none_or(|name| policy.name() == name);
            all.extend(policies.iter().filter(is_meant).map(|policy| (&**file, policy.clone())));
            if all.len() == before {
                ask_which(file, &policies, self.name.as_deref(), command)
            }
        }
        all
    }

    /// The rule that the flags say, for a subcommand. Ends the program where they do not say one, or one that cannot be.
    pub(super) fn rule(&self, command: &str) -> Rule {
        let missing = |question: &str| -> ! { usage_of(command, ErrorKind::MissingRequiredArgument, question) };
        let out_of_range = |flag: &str, error: BudgetError| -> ! {
            usage_of(command, ErrorKind::ValueValidation, format!("{flag}: {error}"))
        };
        if self.name.is_some() {
            missing("--name says which policy of a file; say --policy FILE too");
        }
        match (self.capacity, self.refill, self.window) {
            (_, _, Some(Per { tokens, duration })) => {
                Rule::FixedWindow(Window::new(tokens, duration).unwrap_or_else(|error| out_of_range("--window", error)))
            }
            (Some(capacity), Some(Per { tokens, duration }), None) => {
                let flag = |error: BudgetError| if error.field() == "capacity" { "--capacity" } else { "--refill" };
                Rule::TokenBucket(
                    Budget::new(capacity, tokens, duration).unwrap_or_else(|error| out_of_range(flag(error), error)),
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
