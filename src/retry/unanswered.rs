//! The end of a call that has no response.

use core::fmt;

use super::plan::Stop;

/// A call that ended without a response: what the transport said last, if it was asked at all, and why there is no further
/// attempt.
///
/// Its [source](std::error::Error::source) is the transport's error as it was.
#[derive(Debug)]
pub struct Unanswered<E> {
    error: Option<E>,
    stop: Option<Stop>,
    sent: u32,
}

impl<E> Unanswered<E> {
    pub(super) const fn new(error: Option<E>, stop: Option<Stop>, sent: u32) -> Self {
        Self { error, stop, sent }
    }

    /// Why there is no further attempt, and [when](Stop::resume_after) there could have been one. `None` when no planner was
    /// asked, because there was nothing to plan: the request cannot be sent at all, or the service under a layer is broken.
    #[must_use]
    pub const fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }

    /// How many attempts were made.
    #[must_use]
    pub const fn sent(&self) -> u32 {
        self.sent
    }

    /// What the transport said to the last of them. `None` when none was made: the gate holds longer than the call may take.
    #[must_use]
    pub const fn error(&self) -> Option<&E> {
        self.error.as_ref()
    }

    /// The same, to keep.
    #[must_use]
    pub fn into_error(self) -> Option<E> {
        self.error
    }
}

impl<E> fmt::Display for Unanswered<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sent {
            0 => f.write_str("nothing was sent")?,
            1 => f.write_str("no response to 1 attempt")?,
            sent => write!(f, "no response to {sent} attempts")?,
        }
        match &self.stop {
            Some(stop) => write!(f, "; {stop}"),
            None => Ok(()),
        }
    }
}
