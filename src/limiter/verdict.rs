//! What a check answers.

use core::time::Duration;

use crate::decision::Decision;

/// A decision, and whether it is enforced.
#[must_use = "a verdict that is not looked at limits nothing"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    decision: Decision,
    shadow: bool,
}

impl Verdict {
    pub(crate) const fn new(decision: Decision, shadow: bool) -> Self {
        Self { decision, shadow }
    }

    /// Whether the work may go: it was admitted, or the policy only watches.
    #[must_use]
    pub const fn is_admitted(&self) -> bool {
        self.shadow || self.decision.is_admitted()
    }

    /// Whether the work goes only because the policy watches.
    #[must_use]
    pub const fn would_be_denied(&self) -> bool {
        self.shadow && !self.decision.is_admitted()
    }

    /// What was decided, enforced or not.
    pub const fn decision(&self) -> Decision {
        self.decision
    }

    /// The wait after which work that may not go now may; `None` where it may, or never.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        if self.shadow { None } else { self.decision.retry_after() }
    }
}
