//! What can be said on the command line.

mod again;
mod fit;
mod generate;
mod limit;
mod load;
pub(crate) mod number;
mod policy;
mod reading;
mod replay;
mod shell;
mod store;
mod watch;

pub(crate) use again::reading_again;
pub(crate) use fit::Fit;
pub(crate) use generate::{Generate, LogFormat};
pub(crate) use limit::Limit;
pub(crate) use load::Load;
pub(crate) use policy::{Check, Policy};
pub(crate) use reading::Reading;
pub(crate) use replay::{Replay, Trial};
pub(crate) use shell::{Completions, Man};
pub(crate) use store::{Trust, Unopened};
pub(crate) use watch::Watch;

use std::path::Path;

use admittance::policy::{Policies, Policy as SaidPolicy};
use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

use crate::{complain, retry};

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
    /// Follow a log as it is written, and show who is being limited now.
    Watch(Watch),
    /// Drive a shared store with a policy, and say what it admitted and how fast it answered.
    Load(Load),
    /// Say which limits would have spared most callers of a log: the smallest capacity at each of some refills, and one to use.
    Fit(Fit),
    /// Write a synthetic log: callers by Zipf's law, a rate that follows the day, bursts; the same bytes for the same seed.
    #[command(name = "gen")]
    Generate(Generate),
    /// Say when a client's attempts would go, by what a server's Retry-After asks for.
    Retry(Box<retry::Args>),
    /// Look at files of policies.
    #[command(arg_required_else_help = true)]
    Policy {
        #[command(subcommand)]
        what: Policy,
    },
    /// Write what a shell needs to complete these commands.
    Completions(Completions),
    /// Write these commands' pages for man.
    Man(Man),
}

const FIRST_STEPS: &str = "\
Try a limit of five requests at once and one every two seconds on a log:
  admittance replay access.log --capacity 5 --refill 1/2s
See who would be limited right now:
  tail -F access.log | admittance watch --capacity 5 --refill 1/2s
See when a client may try again:
  admittance retry --header 'Retry-After: 3' --deadline 10s --attempts 5

The --help of each command has all flags, more examples and the exit codes.";

/// The policy of this name in a file, or the only one. Ends the program where there is none, or the file cannot be used.
fn chosen(file: &Path, name: Option<&str>, command: &str) -> SaidPolicy {
    let policies = read(file);
    let policy = match name {
        Some(name) => policies.get(name),
        None => policies.iter().next().filter(|_| policies.iter().count() == 1),
    };
    policy.cloned().unwrap_or_else(|| ask_which(file, &policies, name, command))
}

/// Asks which policy of a file is meant, and ends the program.
fn ask_which(file: &Path, policies: &Policies, name: Option<&str>, command: &str) -> ! {
    let (file, names) = (file.display(), policies.iter().map(SaidPolicy::name).collect::<Vec<_>>().join(", "));
    let (kind, asks) = match name {
        Some(name) => (ErrorKind::ValueValidation, format!("--name {name}: {file} has no policy of this name.")),
        None => (ErrorKind::MissingRequiredArgument, format!("which policy of {file}?")),
    };
    usage_of(command, kind, format!("{asks} Say --name POLICY, one of {names}"))
}

/// The policies of a file. Ends the program where it cannot be used.
fn read(file: &Path) -> Policies {
    crate::policy::read(file.as_os_str()).unwrap_or_else(|error| {
        complain(format_args!("{error}"));
        std::process::exit(1)
    })
}

/// Says what is wrong with a subcommand's flags, as clap does, and ends the program.
fn usage_of(name: &str, kind: ErrorKind, what: impl std::fmt::Display) -> ! {
    let mut command = Args::command();
    command.build();
    let of = command.find_subcommand_mut(name).expect("it is declared above");
    of.error(kind, what).exit()
}
