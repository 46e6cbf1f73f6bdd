//! `load`.

use std::path::PathBuf;

use admittance::policy::Policy;

use super::{Trust, chosen, number};

/// What to drive a store with.
#[derive(Debug, clap::Args)]
#[command(after_help = LOAD_EXAMPLES)]
pub(crate) struct Load {
    /// The store, as in `redis://127.0.0.1:6379`, or `rediss://` over TLS. Say it for several nodes to open a cluster.
    #[arg(long, required = true, value_name = "URL")]
    pub(crate) store: Vec<String>,

    /// A file of policies in TOML.
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,

    /// Which of the file's policies, where there are several.
    #[arg(long, value_name = "POLICY")]
    name: Option<String>,

    /// Callers at once.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = number::whole::<u32>(1..=10_000, "16"), allow_hyphen_values = true)]
    pub(crate) callers: u32,

    /// Identities they call as, in turn.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::whole::<u32>(1..=10_000_000, "16"), allow_hyphen_values = true)]
    pub(crate) identities: u32,

    /// Tokens that each call costs.
    #[arg(long, value_name = "TOKENS", default_value_t = 1, value_parser = number::whole::<u64>(0..=u64::MAX, "1"), allow_hyphen_values = true)]
    pub(crate) cost: u64,

    /// How long.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = number::whole::<u32>(1..=86_400, "16"), allow_hyphen_values = true)]
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

    #[command(flatten)]
    pub(crate) trust: Trust,
}

const LOAD_EXAMPLES: &str = "\
Examples:
  Sixteen callers of one identity for five seconds:
    admittance load --store redis://127.0.0.1:6379 --policy limits.toml --name api
  As sixteen processes, on a cluster, for a thousand identities:
    admittance load --store redis://10.0.0.1:7000 --store redis://10.0.0.2:7000 --policy limits.toml \\
      --separate --identities 1000
  Over TLS, with an authority of one's own:
    admittance load --store rediss://limits:secret@redis.internal:6380 --ca ca.pem --policy limits.toml

The policy must be of a shared scope. Every call is timed, those that the store did not decide too.

Exit codes:
  0  done, whatever was denied
  1  the store cannot be opened, or the policy not be used
  2  the command line is wrong";

impl Load {
    /// The policy. Ends the program where it is not there.
    pub(crate) fn policy(&self) -> Policy {
        chosen(&self.policy, self.name.as_deref(), "load")
    }
}
