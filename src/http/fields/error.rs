//! What is wrong with a quota, or with several.

use core::fmt;
use std::string::String;

/// What is wrong with a quota, or with several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldsError(Fault);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    Twice(String),
    Name(String),
    Unit(String),
}

impl FieldsError {
    pub(super) const fn new(fault: Fault) -> Self {
        Self(fault)
    }
}

impl fmt::Display for FieldsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, name) = match &self.0 {
            Fault::None => return f.write_str("quotas: there are none; say one at least"),
            Fault::Twice(name) => return write!(f, "quotas: '{name}' is there twice"),
            Fault::Name(name) => ("name", name),
            Fault::Unit(name) => ("unit", name),
        };
        write!(f, "{part}: '{}' is not 1 to 64 of a-z, 0-9, '-' and '_' that begin with a letter", name.escape_debug())
    }
}

impl core::error::Error for FieldsError {}
