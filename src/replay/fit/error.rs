//! Why nothing could be fitted.

use std::fmt;

use crate::Per;
use crate::budget::BudgetError;
use crate::replay::error::Error;

/// Why nothing could be fitted.
#[derive(Debug)]
#[non_exhaustive]
pub enum FitError {
    /// The log could not be read.
    Read(Error),
    /// There was no line that could be read.
    #[non_exhaustive]
    Nothing {
        /// Lines that could not be.
        lines: u64,
    },
    /// A refill that was asked for cannot be.
    #[non_exhaustive]
    Refill {
        /// Which.
        refill: Per,
        /// Why.
        error: BudgetError,
    },
    /// No budget has the capacity that it would take, at any of the refills.
    #[non_exhaustive]
    NoBudget {
        /// The fastest of them.
        refill: Per,
        /// Why not there.
        error: BudgetError,
    },
}

impl From<Error> for FitError {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "{error}"),
            Self::Nothing { lines: 0 } => f.write_str("the log is empty: there is nobody whom a limit could fit"),
            Self::Nothing { lines } => {
                write!(f, "none of the log's {lines} lines can be read: there is nobody whom a limit could fit")
            }
            Self::Refill { refill, error } => write!(f, "refill {refill}: {error}"),
            Self::NoBudget { refill, error } => {
                write!(f, "no budget can spare so many at these refills; at {refill}: {error}")
            }
        }
    }
}

impl std::error::Error for FitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Nothing { .. } => None,
            Self::Refill { error, .. } | Self::NoBudget { error, .. } => Some(error),
        }
    }
}
