//! Why a replay stopped.

use std::fmt;
use std::io;

use super::format::FieldError;
use super::summary::BadLine;

/// Why a replay stopped.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An input could not be read.
    #[non_exhaustive]
    Read {
        /// Its name.
        input: String,
        /// What the system said.
        error: io::Error,
    },
    /// The format that was detected does not tell what is asked of it.
    Field(FieldError),
    /// The decisions could not be written.
    Write(io::Error),
    /// A line could not be read, and the replay is strict.
    Unreadable(Box<BadLine>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { input, error } => write!(f, "{input}: {error}"),
            Self::Field(error) => write!(f, "{error}"),
            Self::Write(error) => write!(f, "decisions: {error}"),
            Self::Unreadable(bad) => write!(f, "{bad}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { error, .. } | Self::Write(error) => Some(error),
            Self::Field(error) => Some(error),
            Self::Unreadable(bad) => Some(&bad.error),
        }
    }
}
