//! Which logs, and how their lines are read: the same flags wherever logs are read.

use std::ffi::OsString;

use admittance::replay::{self, Format, Input, Unit};
use clap::ValueEnum;

/// Logs, and how they are read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Logs, read one after the other as one; gzip is seen. `-` is standard input.
    #[arg(required = true, value_name = "LOG", help_heading = "Arguments")]
    logs: Vec<OsString>,

    /// Whose lines share one budget. A trace says itself, by its `key`.
    #[arg(long, value_enum, default_value_t)]
    identity: Identity,

    /// What a line of an access log costs. A trace says itself, by its `cost`.
    #[arg(long, value_enum, default_value_t)]
    unit: UnitArg,

    /// How the logs are written.
    #[arg(long, value_enum, default_value_t)]
    format: FormatArg,

    /// Stop at the first line that cannot be read.
    #[arg(long)]
    strict: bool,

    /// Threads to work with; all cores by default. The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
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

impl Reading {
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.logs.iter().map(|log| Input::from_arg(log)).collect()
    }

    /// How lines are read.
    pub(crate) fn reading(&self) -> replay::Reading {
        let Identity::Address = self.identity;
        let unit = match self.unit {
            UnitArg::Request => Unit::Request,
            UnitArg::Byte => Unit::Byte,
        };
        let reading = replay::Reading::new().unit(unit).strict(self.strict);
        match self.format {
            FormatArg::Auto => reading,
            FormatArg::Combined => reading.format(Format::Combined),
            FormatArg::Jsonl => reading.format(Format::Jsonl),
        }
    }

    /// Whether it was said that keys are whatever each line says.
    pub(crate) fn says_its_keys(&self) -> bool {
        matches!(self.format, FormatArg::Jsonl)
    }
}
