//! `policy`.

use std::ffi::OsString;

use clap::Subcommand;

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
Examples:
  What a file says, before it is used:
    admittance policy check limits.toml
  All of them, as JSON, in a script that stops where one is wrong:
    admittance policy check --json limits/*.toml

Exit codes:
  0  every file can be used
  1  a file cannot be read, or something in it is missing or wrong
  2  the command line is wrong";
