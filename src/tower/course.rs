//! One request on its way through the limits: all or nothing.

use core::time::Duration;

use arrayvec::ArrayVec;
use http::{HeaderMap, Response};

use super::guard::{Decided, Later, Made, Ticket};
use super::layer::{MOST, Rules};
use super::respond::{Refusal, Respond};
use super::seen::Seen;
use crate::decision::Decision;
use crate::http::Standing;

/// What a request has been told so far.
///
/// Kept on the stack while it is decided; where nothing is to be done with the answer it ends there.
pub(super) struct Course {
    /// The limit to be asked next.
    next: usize,
    /// The guard that was asked last, and for how much.
    asked: (usize, usize),
    cost: u64,
    refused: Option<Refused>,
    kept: Kept,
}

/// What the answer needs of a request's course: goes along with the answer to come, so it is kept small.
pub(super) struct Kept {
    /// What was charged, and by which guard.
    charged: ArrayVec<Charged, MOST>,
    /// The policy that is nearest to its end, or that refused; kept where answers tell it.
    binding: Option<Standing>,
    /// Budgets could not be looked at: nothing is said of how they stand.
    degraded: bool,
}

struct Charged {
    limit: u32,
    guard: u32,
    ticket: Ticket,
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
    pub(super) const fn new() -> Self {
        Self {
            next: 0,
            asked: (0, 0),
            cost: 0,
            refused: None,
            kept: Kept { charged: ArrayVec::new_const(), binding: None, degraded: false },
        }
    }

    /// What is left of it when it may go.
    pub(super) fn into_kept(self) -> Kept {
        self.kept
    }

    /// Asks the limits that have not been asked yet, until one refuses or cannot tell at once.
    pub(super) fn go_on(&mut self, rules: &Rules, seen: &Seen<'_>) -> Step {
        let keep = rules.keeps_admissions();
        while let Some(limit) = rules.limits.get(self.next) {
            let number = self.next;
            self.next += 1;
            if !limit.covers(seen) {
                continue;
            }
            self.cost = limit.cost.as_ref().map_or(1, |cost| cost(seen));
            let mut is_anonymous = true;
            for (guard, asked) in limit.guards.iter().enumerate() {
                self.asked = (number, guard);
                match asked.decide(seen, self.cost, keep) {
                    Decided::Missing => continue,
                    Decided::Admitted => {}
                    Decided::Later(later) => return Step::Later(later),
                    Decided::Now(made) => {
                        if !self.takes(rules, made) {
                            return Step::Refused;
                        }
                    }
                }
                is_anonymous = false;
                break;
            }
            if is_anonymous && !limit.lets_anonymous_pass {
                self.refused = Some(Refused::Unidentified { at: Place { limit: number, guard: 0, policy: 0 } });
                self.kept.give_back(rules);
                return Step::Refused;
            }
        }
        Step::Go
    }

    /// Goes on after a limit that could not tell at once.
    pub(super) fn resume(&mut self, rules: &Rules, made: Made, seen: &Seen<'_>) -> Step {
        if self.takes(rules, made) { self.go_on(rules, seen) } else { Step::Refused }
    }

    /// Whether the request may go on. Where it may not, nothing stays charged.
    fn takes(&mut self, rules: &Rules, made: Made) -> bool {
        let (limit, guard) = self.asked;
        let at = Place { limit, guard, policy: made.policy };
        let decision = made.verdict.decision();
        let is_admitted = made.verdict.is_admitted();
        self.kept.degraded |= made.degraded;
        if rules.fields.is_some() {
            self.stands(rules, at, &made);
        }
        if let (true, Some(ticket)) = (rules.gives_back(), made.ticket) {
            self.kept.charged.push(Charged { limit: limit as u32, guard: guard as u32, ticket });
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
        self.kept.give_back(rules);
        false
    }

    /// Keeps the policy that refused, or has the fewest tokens left.
    fn stands(&mut self, rules: &Rules, at: Place, made: &Made) {
        let remaining = made.verdict.decision().remaining().unwrap_or(0);
        let refuses = !made.verdict.is_admitted();
        if !refuses && self.kept.binding.is_some_and(|before| before.remaining <= remaining) {
            return;
        }
        let guard = &rules.limits[at.limit].guards[at.guard];
        let told = if refuses { made.verdict.retry_after() } else { made.reset_after };
        if let Some(reset_after) = told.or_else(|| guard.reset_after(&made.verdict)) {
            self.kept.binding = Some(Standing { binding: number(rules, at), remaining, reset_after });
        }
    }

    /// The answer to a request that was refused.
    pub(super) fn refuse<B>(self, rules: &Rules, respond: &impl Respond<B>) -> Response<B> {
        let policy = |at: Place| &rules.limits[at.limit].guards[at.guard].policies()[at.policy];
        let refusal = match self.refused {
            Some(Refused::Exhausted { at, retry_after }) => Refusal::Exhausted { policy: policy(at), retry_after },
            Some(Refused::Never { at, cost }) => Refusal::Never { policy: policy(at), cost },
            Some(Refused::Degraded { at }) => Refusal::Degraded { policy: policy(at) },
            Some(Refused::Unidentified { at }) => Refusal::Unidentified { policy: policy(at) },
            // Nobody asks for the refusal of what was not refused.
            None => Refusal::Unidentified { policy: policy(Place { limit: 0, guard: 0, policy: 0 }) },
        };
        let mut response = respond.respond(&refusal);
        self.kept.write_fields(rules, response.headers_mut());
        response
    }
}

impl Kept {
    /// The service's answer, with what is to be said of the budgets; and the tokens given back, where it is such a one.
    pub(super) fn finish<B>(mut self, rules: &Rules, mut response: Response<B>) -> Response<B> {
        self.write_fields(rules, response.headers_mut());
        if rules.refund.as_ref().is_some_and(|refund| refund(response.status(), response.headers())) {
            self.give_back(rules);
        }
        response
    }

    fn give_back(&mut self, rules: &Rules) {
        for Charged { limit, guard, ticket } in self.charged.drain(..) {
            let guard = &rules.limits[limit as usize].guards[guard as usize];
            if let Some(later) = guard.give_back(ticket) {
                // Nobody waits for it: the answer goes out meanwhile.
                tokio::spawn(later);
            }
        }
    }

    fn write_fields(&self, rules: &Rules, headers: &mut HeaderMap) {
        if let (Some(fields), Some(standing), false) = (&rules.fields, self.binding, self.degraded) {
            fields.write(headers, standing);
        }
    }
}

/// Which of all policies it is.
fn number(rules: &Rules, at: Place) -> usize {
    let before = rules.limits[..at.limit].iter().flat_map(|limit| &limit.guards);
    let beside = &rules.limits[at.limit].guards[..at.guard];
    before.chain(beside).map(|guard| guard.policies().len()).sum::<usize>() + at.policy
}
