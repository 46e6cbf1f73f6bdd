//! How lines become records: what is the same for whatever is then done with them.

use super::format::Format;
use super::record::Unit;

/// How the lines of a log are read.
#[derive(Clone, Debug, Default)]
#[must_use = "it says how, and reads nothing by itself"]
pub struct Reading {
    pub(super) unit: Unit,
    pub(super) format: Option<Format>,
    pub(super) strict: bool,
}

impl Reading {
    /// Format detected, requests counted, bad lines passed over.
    pub fn new() -> Self {
        Self::default()
    }

    /// What an access log's lines cost. A trace says itself.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// How the log is written; told from its first readable line where this is not said.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Stops at the first line that cannot be read.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }
}
