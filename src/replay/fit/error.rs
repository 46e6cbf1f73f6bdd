//! Why nothing could be fitted.

use std::fmt;

use crate::Per;
use crate::budget::BudgetError;
use crate::replay::error::Error;
use crate::replay::unread::Unread;

/// Why nothing could be fitted.
#[derive(Debug)]
#[non_exhaustive]
pub enum FitError {
    /// The log could not be read.
    Read(Error),
    /// There was no line.
    Empty,
    /// Of lines that could be read, there were those of other routes alone.
    #[non_exhaustive]
    Outside {
        /// How many.
        lines: u64,
    },
    /// There was no line that could be read.
    Unread(Box<Unread>),
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

impl From<Unread> for FitError {
    fn from(unread: Unread) -> Self {
        Self::Unread(Box::new(unread))
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "{error}"),
            Self::Empty => f.write_str("the log is empty: there is nobody whom a limit could fit"),
            Self::Outside { lines } => {
                write!(
                    f,
                    "the log's lines are all of other routes ({lines} of them): there is nobody whom a limit could fit"
                )
            }
            Self::Unread(unread) => write!(f, "{unread}"),
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
            Self::Empty | Self::Outside { .. } => None,
            Self::Unread(unread) => Some(&unread.first.error),
            Self::Refill { error, .. } | Self::NoBudget { error, .. } => Some(error),
        }
    }
}
