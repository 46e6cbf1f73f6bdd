//! `fit`.

use std::time::Duration;

use admittance::Per;
use admittance::replay::{self, Of, Share};
use clap::ValueEnum;

use super::reading::HEADING;
use super::{Reading, number};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  Budgets under which 999 of 1000 addresses would never have been denied:
    admittance fit access.log
  Of bytes, for addresses that make 95% of all requests; with a plot, and a policy to begin with:
    admittance fit access.log --unit byte --spare 95% --of requests --plot fit.svg --policy-out limits.toml
  At refills of your own, as JSON:
    admittance fit access.log --refill 10/1m,1/1s,5/1s --json
  Then see who would feel it:
    admittance replay access.log --policy limits.toml

For each refill, each caller's smallest capacity that would have denied it nothing is worked out from its
lines, exactly and without trying: the largest backlog of its requests. The capacity told is the smallest
that spares the share. Refills are chosen from the data: 1, 2 or 5, with noughts, a day, hour, minute or
second; none so slow that the log was too short for one token, and none where a slower one would do.
Lines are counted at the instants at which `admittance replay` decides them. All are kept in memory, 16
to 32 bytes a line.

Exit codes:
  0  done
  1  a log cannot be read, or nothing in it; an output cannot be written; no budget is large enough; or
     --strict met a line that cannot be read
  2  the command line is wrong";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fit {
    /// The share that is never denied.
    #[arg(long, value_name = "P%", default_value = "99.9%", help_heading = FITTING, allow_hyphen_values = true)]
    spare: Share,

    /// Of what it is the share.
    #[arg(long, value_enum, default_value_t, help_heading = FITTING)]
    of: OfArg,

    /// Suggest the budget that lets one caller do least in this long: its capacity, and what is refilled meanwhile.
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = number::duration, help_heading = FITTING, allow_hyphen_values = true)]
    over: Duration,

    /// How many refills to tell of, at most.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 12,
        value_parser = number::whole::<u16>(2..=1000, "12"),
        help_heading = FITTING,
        allow_hyphen_values = true,
        conflicts_with = "refill"
    )]
    points: u16,

    /// These refills, and all of them, as in 10/1m,1/1s.
    #[arg(long, value_name = "TOKENS/DURATION", value_delimiter = ',', help_heading = FITTING, allow_hyphen_values = true)]
    refill: Vec<Per>,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Count in order of time, not of lines, as `replay --sort` decides.
    #[arg(long, help_heading = HEADING)]
    sort: bool,

    /// Write the suggested budget as a policy, complete and with its reasons, to a file. `-` is standard output; the answer then
    /// goes to standard error.
    #[arg(long, value_name = "FILE", value_parser = Output::parser(), help_heading = TELLING)]
    pub(crate) policy_out: Option<Output>,

    /// Draw capacities against refills, as SVG, into a file. `-` is standard output; the answer then goes to standard error.
    #[arg(long, value_name = "FILE", value_parser = Output::parser(), help_heading = TELLING)]
    pub(crate) plot: Option<Output>,

    /// As one JSON object.
    #[arg(long, help_heading = TELLING)]
    pub(crate) json: bool,

    /// No progress bar. There is none anyway where standard error is no terminal.
    #[arg(long, help_heading = TELLING)]
    pub(crate) quiet: bool,
}

const FITTING: &str = "Fitting";
const TELLING: &str = "Telling";

/// Of what a share is spared.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum OfArg {
    /// So many of all callers are never denied.
    #[default]
    Callers,
    /// The callers that are never denied make so many of all requests; of the others' some are admitted too, so that more
    /// is admitted in all.
    Requests,
}

impl Fit {
    /// What is asked for.
    pub(crate) fn fit(&self) -> replay::Fit {
        let of = match self.of {
            OfArg::Callers => Of::Callers,
            OfArg::Requests => Of::Requests,
        };
        replay::Fit::new()
            .reading(self.reading.reading("fit"))
            .sort(self.sort)
            .spare(self.spare)
            .of(of)
            .over(self.over)
            .points(self.points.into())
            .refills(self.refill.iter().copied())
    }
}
