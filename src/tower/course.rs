//! One request on its way through the limits: all or nothing.

use core::time::Duration;
use std::sync::Arc;

use http::{HeaderMap, Response};

use super::guard::{Decided, Later, Made, Ticket};
use super::layer::{MOST, Rules};
use super::respond::{Refusal, Respond};
use super::seen::Seen;
use crate::decision::Decision;
use crate::http::Standing;
use crate::policy::Policy;

/// What a request has been told so far.
pub(super) struct Course {
    rules: Arc<Rules>,
    /// The limit to be asked next.
    next: usize,
    /// The guard that was asked last, and for how much.
    asked: (usize, usize),
    cost: u64,
    /// What each limit charged, and who of it.
    charged: [Option<(usize, Ticket)>; MOST],
    /// The policy that is nearest to its end, or that refused; kept where answers tell it.
    binding: Option<Standing>,
    refused: Option<Refused>,
    /// Budgets could not be looked at: nothing is said of how they stand.
    degraded: bool,
}

enum Refused {
    Exhausted { at: Place, retry_after: Duration },
    Never { at: Place, cost: u64 },
    Degraded { at: Place },
    Unidentified { at: Place },
}

/// A policy: of which limit, which guard, and which of that one's.
#[derive(Clone, Copy)]
struct Place {
    limit: usize,
    guard: usize,
    policy: usize,
}

/// What comes next.
pub(super) enum Step {
    Go,
    Refused,
    Later(Later<Made>),
}

impl Course {
    pub(super) const fn new(rules: Arc<Rules>) -> Self {
        Self {
            rules,
            next: 0,
            asked: (0, 0),
            cost: 0,
            charged: [const { None }; MOST],
            binding: None,
            refused: None,
            degraded: false,
        }
    }

    /// Asks the limits that have not been asked yet, until one refuses or cannot tell at once.
    pub(super) fn go_on(&mut self, seen: &Seen<'_>) -> Step {
        let rules = Arc::clone(&self.rules);
        while let Some(limit) = rules.limits.get(self.next) {
            let number = self.next;
            self.next += 1;
            let covers = |policy: &Policy| policy.scope().covers(seen.uri().path());
            if !limit.guards.iter().flat_map(|guard| guard.policies()).any(covers) {
                continue;
            }
            self.cost = (limit.cost)(seen);
            let mut is_anonymous = true;
            for (guard, asked) in limit.guards.iter().enumerate() {
                self.asked = (number, guard);
                match asked.decide(seen, self.cost) {
                    Decided::Missing => continue,
                    Decided::Later(later) => return Step::Later(later),
                    Decided::Now(made) => {
                        if !self.takes(made) {
                            return Step::Refused;
                        }
                    }
                }
                is_anonymous = false;
                break;
            }
            if is_anonymous && !limit.lets_anonymous_pass {
                self.refused = Some(Refused::Unidentified { at: Place { limit: number, guard: 0, policy: 0 } });
                self.give_back();
                return Step::Refused;
            }
        }
        Step::Go
    }

    /// Goes on after a limit that could not tell at once.
    pub(super) fn resume(&mut self, made: Made, seen: &Seen<'_>) -> Step {
        if self.takes(made) { self.go_on(seen) } else { Step::Refused }
    }

    /// Whether the request may go on. Where it may not, nothing stays charged.
    fn takes(&mut self, made: Made) -> bool {
        let (limit, guard) = self.asked;
        let at = Place { limit, guard, policy: made.policy };
        let decision = made.verdict.decision();
        let is_admitted = made.verdict.is_admitted();
        self.degraded |= made.degraded;
        if self.rules.fields.is_some() {
            self.stands(at, &made);
        }
        if let Some(ticket) = made.ticket {
            self.charged[limit] = Some((guard, ticket));
        }
        if is_admitted {
            return true;
        }
        self.refused = Some(match decision {
            _ if made.degraded => Refused::Degraded { at },
            Decision::Denied(denial) => Refused::Exhausted { at, retry_after: denial.retry_after() },
            // What is admitted is not refused.
            Decision::Never | Decision::Admitted(_) => Refused::Never { at, cost: self.cost },
        });
        self.give_back();
        false
    }

    /// Keeps the policy that refused, or has the fewest tokens left.
    fn stands(&mut self, at: Place, made: &Made) {
        let remaining = made.verdict.decision().remaining().unwrap_or(0);
        let refuses = !made.verdict.is_admitted();
        if !refuses && self.binding.is_some_and(|before| before.remaining <= remaining) {
            return;
        }
        let guard = &self.rules.limits[at.limit].guards[at.guard];
        let told = if refuses { made.verdict.retry_after() } else { made.reset_after };
        if let Some(reset_after) = told.or_else(|| guard.reset_after(&made.verdict)) {
            self.binding = Some(Standing { binding: self.number(at), remaining, reset_after });
        }
    }

    /// Which of all policies it is.
    fn number(&self, at: Place) -> usize {
        let limits = &self.rules.limits;
        let before = limits[..at.limit].iter().flat_map(|limit| &limit.guards);
        let beside = &limits[at.limit].guards[..at.guard];
        before.chain(beside).map(|guard| guard.policies().len()).sum::<usize>() + at.policy
    }

    fn give_back(&mut self) {
        for (limit, charged) in self.charged.iter_mut().enumerate() {
            let Some((guard, ticket)) = charged.take() else { continue };
            if let Some(later) = self.rules.limits[limit].guards[guard].give_back(ticket) {
                // Nobody waits for it: the answer goes out meanwhile.
                tokio::spawn(later);
            }
        }
    }

    /// The answer to a request that was refused.
    pub(super) fn refuse<B>(self, respond: &impl Respond<B>) -> Response<B> {
        let policy = |at: Place| &self.rules.limits[at.limit].guards[at.guard].policies()[at.policy];
        let refusal = match self.refused {
            Some(Refused::Exhausted { at, retry_after }) => Refusal::Exhausted { policy: policy(at), retry_after },
            Some(Refused::Never { at, cost }) => Refusal::Never { policy: policy(at), cost },
            Some(Refused::Degraded { at }) => Refusal::Degraded { policy: policy(at) },
            Some(Refused::Unidentified { at }) => Refusal::Unidentified { policy: policy(at) },
            // Nobody asks for the refusal of what was not refused.
            None => Refusal::Unidentified { policy: policy(Place { limit: 0, guard: 0, policy: 0 }) },
        };
        let mut response = respond.respond(&refusal);
        self.write_fields(response.headers_mut());
        response
    }

    /// The service's answer, with what is to be said of the budgets; and the tokens given back, where it is such a one.
    pub(super) fn finish<B>(mut self, mut response: Response<B>) -> Response<B> {
        let rules = Arc::clone(&self.rules);
        self.write_fields(response.headers_mut());
        if rules.refund.as_ref().is_some_and(|refund| refund(response.status(), response.headers())) {
            self.give_back();
        }
        response
    }

    fn write_fields(&self, headers: &mut HeaderMap) {
        if let (Some(fields), Some(standing), false) = (&self.rules.fields, self.binding, self.degraded) {
            fields.write(headers, standing);
        }
    }
}
