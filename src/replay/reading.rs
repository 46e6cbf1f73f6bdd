//! How lines become records: what is the same for whatever is then done with them.

use super::format::{FieldError, Format, Reader};
use super::identity::Identity;
use super::record::Unit;
use crate::policy::Scope;

/// How the lines of a log are read.
///
/// ```
/// use admittance::policy::Scope;
/// use admittance::replay::{Format, Reading};
///
/// // Users of the API, of two servers' logs.
/// let scope = Scope::process().routes(["/api"]);
/// let reading = Reading::new().format(Format::Combined).identity("user".parse()?).scope(&scope).merge(true);
/// reading.check()?;
///
/// let error = reading.identity("tenant".parse()?).check().unwrap_err();
/// assert!(error.to_string().starts_with("the combined format has no field 'tenant'; it has address, user,"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "it says how, and reads nothing by itself"]
pub struct Reading {
    pub(super) unit: Unit,
    pub(super) format: Option<Format>,
    pub(super) strict: bool,
    pub(super) identity: Option<Identity>,
    /// `None` where all routes are asked about.
    pub(super) scope: Option<Scope>,
    pub(super) merge: bool,
}

impl Reading {
    /// Format detected, requests of addresses counted on all routes, inputs one after the other, bad lines passed over.
    pub fn new() -> Self {
        Self::default()
    }

    /// What an access log's lines cost. A trace says itself, and so does a JSON log with a cost.
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

    /// Whose lines share one budget; the client's address where this is not said, or the key of a JSON log. A trace says itself.
    ///
    /// A line whose field is missing, empty or `-` cannot be read: what nobody said is not one caller's.
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Passes over lines whose request is not on a policy's routes, and counts them. One without a path is on no route.
    pub fn scope(mut self, scope: &Scope) -> Self {
        self.scope = (!scope.prefixes().is_empty()).then(|| scope.clone());
        self
    }

    /// Takes the lines of several inputs in order of time, each input's own as they come; of one time, those of the first input
    /// first. Without it, inputs are read one after the other.
    pub fn merge(mut self, merge: bool) -> Self {
        self.merge = merge;
        self
    }

    /// Whether the format, if it is said, tells what is asked of it.
    ///
    /// # Errors
    ///
    /// When it has no such field, no path for routes, or no size for bytes.
    pub fn check(&self) -> Result<(), FieldError> {
        match &self.format {
            Some(format) => Reader::new(format, self).map(|_| ()),
            None => Ok(()),
        }
    }
}
