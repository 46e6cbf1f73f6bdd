//! When the next attempt goes, or why there is none.

use core::fmt;
use core::time::Duration;

use super::resolve::Signal;

/// When the next attempt goes, or why there is none.
#[must_use = "a plan that is not followed sends too early, or for ever"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Send at this instant and not before.
    RetryAt(RetryAt),
    /// Do not send. What there is, a response or a failure, is the result.
    Stop(Stop),
}

impl Plan {
    /// The attempt to come, if there is one.
    #[must_use]
    pub const fn retry_at(&self) -> Option<&RetryAt> {
        match self {
            Self::RetryAt(retry) => Some(retry),
            Self::Stop(_) => None,
        }
    }

    /// Why there is none, if there is none.
    #[must_use]
    pub const fn stop(&self) -> Option<&Stop> {
        match self {
            Self::RetryAt(_) => None,
            Self::Stop(stop) => Some(stop),
        }
    }
}

/// An attempt to come. Instants are nanoseconds of the planner's clock.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAt {
    pub(super) attempt: u32,
    pub(super) now: u64,
    pub(super) boundary: u64,
    pub(super) at: u64,
    pub(super) bound: Bound,
    pub(super) signal: Option<Signal>,
}

/// What an attempt waits for: the latest of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Nothing: it may go now.
    Nothing,
    /// The client's own backoff.
    Backoff,
    /// What the server asked this caller for.
    Signal,
    /// What the server asked another caller of the same key for.
    Gate,
}

impl RetryAt {
    /// Which attempt it is; the first is 1.
    #[must_use]
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// When to send: the boundary and the spread. Never before the boundary.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// How long that is from when it was planned.
    #[must_use]
    pub const fn wait(&self) -> Duration {
        Duration::from_nanos(self.at - self.now)
    }

    /// The instant before which nothing may go: the latest of backoff, signal and gate.
    #[must_use]
    pub const fn boundary(&self) -> u64 {
        self.boundary
    }

    /// Which of them that was. Of several at once, the first in the order of [`Bound`].
    #[must_use]
    pub const fn bound(&self) -> Bound {
        self.bound
    }

    /// What the last response asked for.
    #[must_use]
    pub const fn signal(&self) -> Option<&Signal> {
        self.signal.as_ref()
    }
}

/// The end of a call.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    pub(super) reason: Reason,
    pub(super) now: u64,
    pub(super) resume_at: Option<u64>,
}

/// Why there is no further attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The response is an answer, good or bad: not 429, not 503, not a redirect with a `Retry-After`.
    Answered,
    /// The request may have been carried out, and nothing says that it may be sent twice.
    NotReplayable,
    /// The body cannot be sent twice.
    BodySpent,
    /// As many attempts as are allowed were sent.
    Attempts,
    /// The wait would be longer than the longest that is allowed. It is not shortened.
    WaitTooLong,
    /// The wait could not end before the deadline. It is not shortened, and does not begin.
    Deadline,
    /// The retry budget is spent: too much of what is sent is sent again.
    Budget,
}

impl Stop {
    /// Why.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// When a next attempt could have gone, had it been allowed, in nanoseconds of the planner's clock; `None` when it was
    /// answered, or that is past the clock's range. A new call before that is likely to be refused.
    #[must_use]
    pub const fn resume_at(&self) -> Option<u64> {
        self.resume_at
    }

    /// How long that is from when it stopped.
    #[must_use]
    pub fn resume_after(&self) -> Option<Duration> {
        self.resume_at.map(|at| Duration::from_nanos(at.saturating_sub(self.now)))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "it was answered",
            Self::NotReplayable => "the request may have been carried out, and nothing says that it may be sent twice",
            Self::BodySpent => "the body cannot be sent twice",
            Self::Attempts => "no attempts are left",
            Self::WaitTooLong => "the wait is longer than the longest that is allowed",
            Self::Deadline => "the wait cannot end before the deadline",
            Self::Budget => "the retry budget is spent",
        })
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no further attempt: {}", self.reason)?;
        match self.resume_after() {
            Some(after) => write!(f, "; it could resume after {after:?}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RetryAt(retry) => write!(f, "attempt {} after {:?}", retry.attempt, retry.wait()),
            Self::Stop(stop) => write!(f, "{stop}"),
        }
    }
}
