//! What is wrong with what a planner was given.

use core::fmt;
use core::time::Duration;
use std::error::Error;
use std::string::String;

/// Something that a planner was given cannot be: which field, which value, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryError {
    field: &'static str,
    fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    Zero,
    Below { given: u64, least: u64 },
    Method(String),
    Key(String),
}

impl RetryError {
    pub(super) const fn zero(field: &'static str) -> Self {
        Self { field, fault: Fault::Zero }
    }

    pub(super) const fn below(field: &'static str, given: u64, least: u64) -> Self {
        Self { field, fault: Fault::Below { given, least } }
    }

    pub(super) fn method(given: &str) -> Self {
        Self { field: "method", fault: Fault::Method(shown(given)) }
    }

    pub(super) fn key(given: &str) -> Self {
        Self { field: "idempotency key", fault: Fault::Key(shown(given)) }
    }

    /// The field at fault: `attempts`, `deadline`, `backoff factor`, `backoff ceiling`, `max_keys`, `release`, `method` or
    /// `idempotency key`.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        self.field
    }
}

fn shown(given: &str) -> String {
    let shown: String = given.chars().take(60).flat_map(char::escape_debug).collect();
    if given.chars().nth(60).is_some() { shown + "…" } else { shown }
}

impl fmt::Display for RetryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field;
        match &self.fault {
            Fault::Zero => write!(f, "{field}: must be at least 1, was 0"),
            Fault::Below { given, least } => {
                let [given, least] = [*given, *least].map(Duration::from_nanos);
                write!(f, "{field}: must be at least {least:?}, was {given:?}")
            }
            Fault::Method(given) => {
                write!(
                    f,
                    "{field}: '{given}' is not known to be idempotent; why is it safe to send twice? Use a key, or assert it"
                )
            }
            Fault::Key(given) => write!(f, "{field}: '{given}' is not 1 to 255 visible ASCII characters"),
        }
    }
}

impl Error for RetryError {}
