//! What a planner would do, before it does.

use core::time::Duration;
use std::vec::Vec;

use super::terms::Terms;

/// At most so many attempts are listed.
const MOST_ROWS: u32 = 1_000;

/// When each attempt would go if every answer came at once and said to try again: the bounds of every draw. From
/// [`Retry::schedule`](super::Retry::schedule).
///
/// Without gate and budget, which depend on others.
///
/// ```
/// use std::time::Duration;
/// use admittance::retry::{Backoff, Goes, Retry, Wait};
///
/// let retry = Retry::builder(5, Duration::from_secs(10))
///     .backoff(Backoff::new(Duration::from_secs(1)))
///     .spread(Duration::from_secs(1))
///     .build()?;
/// let schedule = retry.schedule(Some(Wait::Exactly(Duration::from_secs(3))));
/// let third = schedule.attempts()[2];
/// assert_eq!((third.earliest(), third.latest()), (Duration::from_secs(6), Duration::from_secs(8)));
/// assert_eq!(schedule.attempts()[4].goes(), Goes::Never);
/// # Ok::<(), admittance::retry::RetryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    attempts: Vec<Scheduled>,
    total: u64,
    ends: Ends,
}

/// One attempt of a [`Schedule`], in time since the start of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    attempt: u32,
    earliest: u64,
    latest: u64,
    goes: Goes,
}

/// Whether an attempt goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Goes {
    /// Whatever is drawn.
    Always,
    /// Some draws are too late.
    Perhaps,
    /// Every draw is too late.
    Never,
}

/// What ends a call whose answers all say to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ends {
    /// As many attempts as are allowed, whatever is drawn.
    Attempts,
    /// The longest wait, at the latest; it may be the deadline.
    WaitTooLong,
    /// The deadline, at the latest.
    Deadline,
}

impl Schedule {
    pub(super) fn new(terms: &Terms, signal: u64) -> Self {
        let mut attempts = Vec::from([Scheduled { attempt: 1, earliest: 0, latest: 0, goes: Goes::Always }]);
        let (mut total, mut ends) = (0, Ends::Attempts);
        for retry in 1..terms.attempts.min(MOST_ROWS) {
            let last = attempts[attempts.len() - 1];
            let (low, high) = terms.backoff.nanos(retry);
            let (low, high) = (low.max(signal), high.max(signal).saturating_add(terms.spread));
            let (earliest, latest) = (last.earliest.saturating_add(low), last.latest.saturating_add(high));
            let goes = if low > terms.longest_wait || earliest >= terms.deadline {
                Goes::Never
            } else if high > terms.longest_wait || latest >= terms.deadline {
                Goes::Perhaps
            } else {
                Goes::Always
            };
            // What depends on an attempt that goes less surely goes no more surely.
            let goes = goes.max(last.goes);
            if ends == Ends::Attempts && goes > Goes::Always {
                ends = if high > terms.longest_wait { Ends::WaitTooLong } else { Ends::Deadline };
            }
            if goes < Goes::Never {
                total = latest.min(terms.deadline);
            }
            attempts.push(Scheduled { attempt: retry + 1, earliest, latest, goes });
        }
        Self { attempts, total, ends }
    }

    /// Every attempt that is allowed, the first included; the first thousand where there are more.
    #[must_use]
    pub fn attempts(&self) -> &[Scheduled] {
        &self.attempts
    }

    /// The longest that all waits together can take: until the last attempt that may go goes at the latest, and never beyond the
    /// deadline.
    #[must_use]
    pub const fn worst_total(&self) -> Duration {
        Duration::from_nanos(self.total)
    }

    /// What ends it, or may.
    #[must_use]
    pub const fn ends(&self) -> Ends {
        self.ends
    }
}

impl Scheduled {
    /// Which attempt it is; the first is 1.
    #[must_use]
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// When it goes at the earliest, if all before it did so too.
    #[must_use]
    pub const fn earliest(&self) -> Duration {
        Duration::from_nanos(self.earliest)
    }

    /// When it would go at the latest, if all before it did so too. Where that is too late it [`Goes`] only perhaps, or never.
    #[must_use]
    pub const fn latest(&self) -> Duration {
        Duration::from_nanos(self.latest)
    }

    /// Whether it goes.
    #[must_use]
    pub const fn goes(&self) -> Goes {
        self.goes
    }
}
