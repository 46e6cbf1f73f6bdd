//! Counters for the `metrics` facade: `admittance_decisions_total`, by policy and decision. No key is a label.

use super::verdict::Verdict;

/// A counter for each decision; nothing without the feature.
#[cfg(feature = "metrics")]
pub(super) struct Counts {
    admitted: metrics::Counter,
    denied: metrics::Counter,
    never: metrics::Counter,
    shadowed: metrics::Counter,
}

#[cfg(feature = "metrics")]
impl Counts {
    /// Registered with whatever recorder there is now.
    pub(super) fn new(policy: &str) -> Self {
        use std::string::String;
        metrics::describe_counter!("admittance_decisions_total", "Decisions of a rate limit, by policy and decision");
        let of = |decision: &'static str| metrics::counter!("admittance_decisions_total", "policy" => String::from(policy), "decision" => decision);
        Self { admitted: of("admitted"), denied: of("denied"), never: of("never"), shadowed: of("shadowed") }
    }

    pub(super) fn count(&self, verdict: &Verdict) {
        use crate::decision::Decision;
        let counter = match verdict.decision() {
            Decision::Admitted(_) => &self.admitted,
            _ if verdict.would_be_denied() => &self.shadowed,
            Decision::Denied(_) => &self.denied,
            Decision::Never => &self.never,
        };
        counter.increment(1);
    }
}

#[cfg(not(feature = "metrics"))]
pub(super) struct Counts;

#[cfg(not(feature = "metrics"))]
impl Counts {
    pub(super) const fn new(_policy: &str) -> Self {
        Self
    }

    #[allow(clippy::unused_self, reason = "with the feature it counts")]
    pub(super) const fn count(&self, _verdict: &Verdict) {}
}
