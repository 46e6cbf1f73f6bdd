//! The attempts of one call.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::builder::Shared;
use super::outcome::Outcome;
use super::parse::nanos;
use super::plan::{Bound, Plan, Reason, RetryAt, Stop};
use super::random::{Random, Stream};
use super::resolve::Signal;
use super::safety::{Body, Safety, is_redirect};
use super::terms::Waits;
use crate::clock::{Clock, TscClock};
use crate::decision::Decision;

/// The attempts of one call, from [`Retry::start`](super::Retry::start). It owns its share of the planner, so a future can.
///
/// Ask [`ready`](Self::ready) before each send, and tell [`after`](Self::after) what became of it:
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use admittance::ManualClock;
/// use admittance::retry::{Body, IdempotentMethod, Outcome, Plan, Response, Retry, Safety, SeededRandom};
///
/// let clock = ManualClock::new();
/// let retry = Retry::builder_with(3, Duration::from_secs(10), &clock, SeededRandom::new(1)).build()?;
/// let mut answers = [(503, "2"), (200, "")].into_iter();
///
/// let mut call = retry.start(Safety::IdempotentMethod(IdempotentMethod::GET), Body::Repeatable);
/// let mut plan = call.ready();
/// let stop = loop {
///     match plan {
///         Plan::RetryAt(next) if !next.wait().is_zero() => {
///             clock.advance(next.wait()); // sleep
///             plan = call.ready(); // the gate may have been closed meanwhile
///         }
///         Plan::RetryAt(_) => {
///             let (status, wait) = answers.next().unwrap(); // send
///             let lines = [("retry-after", wait.as_bytes())];
///             plan = call.after(&Outcome::Response(Response::new(status, SystemTime::now(), lines)));
///         }
///         Plan::Stop(stop) => break stop,
///     }
/// };
/// assert_eq!(call.sent(), 2);
/// assert_eq!(stop.to_string(), "no further attempt: it was answered");
/// # Ok::<(), admittance::retry::RetryError>(())
/// ```
#[must_use = "a call that asks for no plan sends nothing"]
pub struct Attempts<C = TscClock, R = super::SystemRandom> {
    shared: Arc<Shared<C, R>>,
    stream: Stream,
    safety: Safety,
    body: Body,
    /// Its key's hash, where there is a gate.
    key: Option<u64>,
    began: u64,
    /// Both instants.
    deadline: u64,
    /// The boundary and the instant of the attempt to come.
    due: (u64, u64),
    sent: u32,
    last_backoff: u64,
    /// Whether the attempt to come has cost a token. All but the first have, where there is a budget.
    charged: bool,
    bound: Bound,
    signal: Option<Signal>,
    stopped: Option<Stop>,
}

impl<C: Clock, R: Random> Attempts<C, R> {
    pub(super) fn new(shared: Arc<Shared<C, R>>, key: Option<u64>, safety: Safety, body: Body) -> Self {
        let began = shared.clock.now();
        Self {
            stream: Stream::new(shared.random.seed()),
            safety,
            body,
            key,
            began,
            deadline: began.saturating_add(shared.terms.deadline),
            due: (began, began),
            sent: 0,
            last_backoff: 0,
            charged: false,
            bound: Bound::Nothing,
            signal: None,
            stopped: None,
            shared,
        }
    }

    /// With this deadline, from the start of the call, where it is sooner than the planner's.
    pub fn within(mut self, deadline: Duration) -> Self {
        self.deadline = self.deadline.min(self.began.saturating_add(nanos(deadline)));
        self
    }

    /// When the attempt that is to come may go. It may when [`RetryAt::wait`] is nothing.
    ///
    /// Before the first attempt that is now, unless the gate holds this key. After a wait it may be later than was planned,
    /// because another caller has been told to wait meanwhile; where that is too late it stops, and the token that the attempt
    /// has cost goes back to the budget. Ask as often as you like: nothing is counted or spent.
    pub fn ready(&mut self) -> Plan {
        if let Some(stop) = self.stopped {
            return Plan::Stop(stop);
        }
        let draw = self.stream.draw();
        let (held, release) = self.held();
        // Read after the gate: its remaining wait, counted from a later instant, ends no earlier.
        let now = self.shared.clock.now();
        let open = now.saturating_add(held);
        if held > 0 && open > self.due.1 {
            self.due = (open, open.saturating_add(draw.between(0, release)));
            self.bound = Bound::Gate;
        }
        let (boundary, at) = self.due;
        let at = at.max(now);
        if let Some(reason) = self.shared.terms.refuses(now, at, self.deadline) {
            self.give_back();
            return self.stop(reason, now, at);
        }
        let bound = if at > now { self.bound } else { Bound::Nothing };
        Plan::RetryAt(RetryAt { attempt: self.sent + 1, now, boundary, at, bound, signal: self.signal })
    }

    /// What to do after an attempt that was sent, or that failed to be.
    ///
    /// The wait is `max(backoff, signal, gate) + spread` from now: what the server asks for is never cut short, whatever jitter,
    /// ceilings, caps or deadlines say. A wait that is too long, or could not end before the deadline, does not begin: it stops
    /// now, and says when it could resume.
    ///
    /// A 429 with a `Retry-After` closes the gate for its key, whatever this caller then does: it is the server's word to all of
    /// them. Beyond that **a plan that stops changes nothing**: it costs no token, and holds nobody.
    ///
    /// Once it has stopped it stays stopped, for the same reason.
    pub fn after(&mut self, outcome: &Outcome<'_>) -> Plan {
        if let Some(stop) = self.stopped {
            return Plan::Stop(stop);
        }
        self.sent += 1;
        // Both drawn before anything is looked at: a longer signal never meets a luckier number.
        let draws = [self.stream.draw(), self.stream.draw()];
        let terms = self.shared.terms;
        self.signal = match outcome {
            Outcome::Response(response) => response.signal(terms.lenience),
            Outcome::NotSent | Outcome::Lost => None,
        };
        self.tell_gate(outcome);
        let (held, release) = self.held();
        // Read after the gate, as in `ready`.
        let now = self.shared.clock.now();
        if !wants_another(outcome, self.signal.as_ref()) {
            return self.stop(Reason::Answered, now, u64::MAX);
        }
        self.last_backoff = terms.backoff.draw(self.sent, self.last_backoff, draws[0]);
        let waits = Waits {
            backoff: self.last_backoff,
            signal: self.signal.map_or(0, |signal| signal.wait().nanos()),
            gate: held,
            spread: draws[1].between(0, release),
        };
        let (boundary, at, bound) = waits.from(now);
        if let Some(reason) = self.refuses(outcome, now, at) {
            return self.stop(reason, now, at);
        }
        if let Err(wait) = self.charge() {
            return self.stop(Reason::Budget, now, at.max(now.saturating_add(wait)));
        }
        (self.due, self.bound) = ((boundary, at), bound);
        Plan::RetryAt(RetryAt { attempt: self.sent + 1, now, boundary, at, bound, signal: self.signal })
    }

    fn refuses(&self, outcome: &Outcome<'_>, now: u64, at: u64) -> Option<Reason> {
        let terms = &self.shared.terms;
        if !self.safety.allows(outcome) {
            Some(Reason::NotReplayable)
        } else if self.body == Body::Once && !is_get_next(outcome) {
            Some(Reason::BodySpent)
        } else if self.sent >= terms.attempts {
            Some(Reason::Attempts)
        } else {
            terms.refuses(now, at, self.deadline)
        }
    }

    /// The gate's wait for this key, and the widest spread with it.
    fn held(&self) -> (u64, u64) {
        let spread = self.shared.terms.spread;
        let held = self.gate().map_or((0, 0), |(gate, key)| (gate.wait_hash(key), gate.release()));
        // Where nobody is held there is nobody to release.
        if held.0 > 0 { (held.0, spread.max(held.1)) } else { (0, spread) }
    }

    fn tell_gate(&self, outcome: &Outcome<'_>) {
        let is_limited = matches!(outcome, Outcome::Response(response) if response.status() == 429);
        if let (true, Some(signal), Some((gate, key))) = (is_limited, self.signal, self.gate()) {
            gate.hold_hash(key, signal.wait().nanos());
        }
    }

    fn gate(&self) -> Option<(&super::Gate<C>, u64)> {
        self.shared.gate.as_deref().zip(self.key)
    }

    /// Takes a token, or says how long there is none.
    fn charge(&mut self) -> Result<(), u64> {
        match self.shared.budget.as_ref().map(|budget| budget.try_acquire(1)) {
            None => Ok(()),
            Some(Decision::Admitted(_)) => {
                self.charged = true;
                Ok(())
            }
            Some(Decision::Denied(denial)) => Err(denial.retry_after_nanos()),
            Some(Decision::Never) => Err(u64::MAX),
        }
    }

    fn give_back(&mut self) {
        if let (true, Some(budget)) = (core::mem::take(&mut self.charged), &self.shared.budget) {
            budget.refund(1);
        }
    }

    fn stop(&mut self, reason: Reason, now: u64, resume_at: u64) -> Plan {
        let stop = Stop { reason, now, resume_at: (resume_at < u64::MAX).then_some(resume_at) };
        self.stopped = Some(stop);
        Plan::Stop(stop)
    }
}

impl<C, R> Attempts<C, R> {
    /// How many attempts it was told of.
    #[must_use]
    pub const fn sent(&self) -> u32 {
        self.sent
    }

    /// The idempotency key to send with every attempt, where there is one. It never changes.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match &self.safety {
            Safety::Keyed { key } => Some(key.as_str()),
            Safety::NotSent | Safety::IdempotentMethod(_) | Safety::Asserted(_) => None,
        }
    }

    /// The instant by which the last wait has ended, in nanoseconds of the planner's clock.
    #[must_use]
    pub const fn deadline(&self) -> u64 {
        self.deadline
    }
}

/// Whether there is anything to try again for.
fn wants_another(outcome: &Outcome<'_>, signal: Option<&Signal>) -> bool {
    match outcome {
        Outcome::NotSent | Outcome::Lost => true,
        Outcome::Response(response) => match response.status() {
            429 | 503 => true,
            status => is_redirect(status) && signal.is_some(),
        },
    }
}

/// Whether what comes next is a `GET` without a body, whatever this was.
fn is_get_next(outcome: &Outcome<'_>) -> bool {
    matches!(outcome, Outcome::Response(response) if response.status() == 303)
}

impl<C, R> fmt::Debug for Attempts<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempts")
            .field("sent", &self.sent)
            .field("safety", &self.safety)
            .field("body", &self.body)
            .field("deadline", &self.deadline)
            .field("due", &self.due)
            .field("stopped", &self.stopped)
            .finish_non_exhaustive()
    }
}
