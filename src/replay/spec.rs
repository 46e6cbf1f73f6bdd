//! What is wrong with a text that says how lines are read.

use std::fmt;
use std::ops::Range;

use crate::caret::Caret;

/// A text that says how lines are read, and does not: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    what: String,
    place: Option<Caret>,
}

impl SpecError {
    pub(super) fn at(text: &str, place: Range<usize>, what: impl Into<String>) -> Self {
        Self { what: what.into(), place: Some(Caret::of(text, place)) }
    }

    /// Of something that is not there.
    pub(super) fn missing(what: impl Into<String>) -> Self {
        Self { what: what.into(), place: None }
    }

    /// The character at which it is wrong, counted from 1; `None` where something is missing.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.column)
    }
}

/// What is wrong; and on lines of their own the text, with carets below the place.
impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.place {
            Some(place) => write!(f, "\n{place}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SpecError {}
