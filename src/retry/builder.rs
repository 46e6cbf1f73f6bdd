//! What a planner is made of.

use core::fmt;
use core::hash::Hash;
use core::time::Duration;
use std::sync::Arc;

use super::attempts::Attempts;
use super::backoff::Backoff;
use super::error::RetryError;
use super::gate::Gate;
use super::lenience::Lenience;
use super::parse::{Wait, nanos};
use super::random::{Random, SystemRandom};
use super::safety::{Body, Safety};
use super::schedule::Schedule;
use super::terms::Terms;
use crate::bucket::TokenBucket;
use crate::clock::{Clock, TscClock};

/// Plans the attempts of calls: one for all callers of a service, whose budget and gate they share. A clone is the same planner.
///
/// ```
/// use std::time::Duration;
/// use admittance::retry::{Backoff, Retry};
///
/// let retry = Retry::builder(5, Duration::from_secs(10))
///     .backoff(Backoff::new(Duration::from_millis(250)).ceiling(Duration::from_secs(2)))
///     .build()?;
/// # let _ = retry;
/// # Ok::<(), admittance::retry::RetryError>(())
/// ```
///
/// # What it does not promise
///
/// It reads no socket, sleeps for nobody and sends nothing: whoever follows its plans does. It counts the attempts that it is
/// told of.
pub struct Retry<C = TscClock, R = SystemRandom> {
    pub(super) shared: Arc<Shared<C, R>>,
}

/// What all calls of a planner share.
pub(super) struct Shared<C, R> {
    pub(super) terms: Terms,
    pub(super) clock: C,
    pub(super) random: R,
    pub(super) budget: Option<Arc<TokenBucket<C>>>,
    pub(super) gate: Option<Arc<Gate<C>>>,
}

impl Retry {
    /// Asks for what has no safe default: how many times a request is sent at most, the first time included, and how long all of
    /// it may take, from the start of the call. On the precise clock, with the system's randomness.
    pub fn builder(attempts: u32, deadline: Duration) -> RetryBuilder {
        Self::builder_with(attempts, deadline, TscClock::new(), SystemRandom)
    }
}

impl<C: Clock, R: Random> Retry<C, R> {
    /// As [`builder`](Retry::builder), with a clock and a source of chance.
    pub fn builder_with(attempts: u32, deadline: Duration, clock: C, random: R) -> RetryBuilder<C, R> {
        let terms = Terms {
            attempts,
            deadline: nanos(deadline),
            backoff: Backoff::new(Duration::from_millis(200)),
            spread: 100_000_000,
            longest_wait: u64::MAX,
            lenience: Lenience::STRICT,
        };
        RetryBuilder { shared: Shared { terms, clock, random, budget: None, gate: None } }
    }

    /// Begins a call, of which nothing is sent yet: ask [`Attempts::ready`] first. All such calls have one key at the gate.
    pub fn start(&self, safety: Safety, body: Body) -> Attempts<C, R> {
        self.start_as(&(), safety, body)
    }

    /// As [`start`](Self::start), of whoever the server limits together: a host, a credential. Without a gate it is the same.
    pub fn start_as<K: Hash + ?Sized>(&self, key: &K, safety: Safety, body: Body) -> Attempts<C, R> {
        let key = self.shared.gate.as_ref().map(|gate| gate.hash(key));
        Attempts::new(Arc::clone(&self.shared), key, safety, body)
    }
}

impl<C, R> Retry<C, R> {
    /// When each attempt would go if every answer came at once, said to try again, and asked for this wait.
    #[must_use]
    pub fn schedule(&self, signal: Option<Wait>) -> Schedule {
        Schedule::new(&self.shared.terms, signal.map_or(0, Wait::nanos))
    }

    /// The clock that its instants are of. A boundary is kept by this clock, and by others as far as they agree with it: of two
    /// that differ by 25 parts in a million one is past an hour 90 ms before the other. A wait that is slept through as a
    /// [`Duration`] is kept by the sleeper's clock.
    #[must_use]
    pub fn clock(&self) -> &C {
        &self.shared.clock
    }

    /// The gate that its callers share.
    #[must_use]
    pub fn gate(&self) -> Option<&Gate<C>> {
        self.shared.gate.as_deref()
    }

    /// The budget that its callers share.
    #[must_use]
    pub fn budget(&self) -> Option<&TokenBucket<C>> {
        self.shared.budget.as_deref()
    }
}

impl<C, R> Clone for Retry<C, R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<C, R> fmt::Debug for Retry<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.fmt(f)
    }
}

impl<C, R> fmt::Debug for Shared<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("terms", &self.terms)
            .field("budget", &self.budget.as_ref().map(|budget| budget.budget()))
            .field("gate", &self.gate.is_some())
            .finish_non_exhaustive()
    }
}

/// Builds a [`Retry`].
#[must_use = "a builder does nothing until it is built"]
pub struct RetryBuilder<C = TscClock, R = SystemRandom> {
    shared: Shared<C, R>,
}

impl<C, R> RetryBuilder<C, R> {
    /// The client's own wait between attempts. Without it 200 ms at first, doubled each time, with [`Jitter::Full`](super::Jitter).
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.shared.terms.backoff = backoff;
        self
    }

    /// Up to this much is added to every wait, by chance, so that callers who were told one instant do not all come at it.
    /// Without it 100 ms.
    pub fn spread(mut self, spread: Duration) -> Self {
        self.shared.terms.spread = nanos(spread);
        self
    }

    /// A wait that would be longer, spread included, stops the call. It is never shortened. Without it only the deadline does.
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.shared.terms.longest_wait = nanos(wait);
        self
    }

    /// What is read although the standard has no such form. Without it nothing.
    pub fn lenience(mut self, lenience: Lenience) -> Self {
        self.shared.terms.lenience = lenience;
        self
    }

    /// Every attempt but the first costs a token of this bucket, and is not made where there is none: a service that fails all
    /// its callers is not sent a multiple of their calls. Share it between planners by `Arc`. A call that is dropped while it waits
    /// has spent its token.
    pub fn budget(mut self, budget: Arc<TokenBucket<C>>) -> Self {
        self.shared.budget = Some(budget);
        self
    }

    /// What one caller is told holds the others of its key. Share it between planners by `Arc`.
    pub fn gate(mut self, gate: Arc<Gate<C>>) -> Self {
        self.shared.gate = Some(gate);
        self
    }

    /// The planner.
    ///
    /// # Errors
    ///
    /// When the attempts, the deadline or the backoff's factor are 0, or the backoff's ceiling is below its first.
    pub fn build(self) -> Result<Retry<C, R>, RetryError> {
        let terms = &self.shared.terms;
        if terms.attempts == 0 {
            return Err(RetryError::zero("attempts"));
        }
        if terms.deadline == 0 {
            return Err(RetryError::zero("deadline"));
        }
        terms.backoff.check()?;
        Ok(Retry { shared: Arc::new(self.shared) })
    }
}

impl<C, R> fmt::Debug for RetryBuilder<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryBuilder").field("terms", &self.shared.terms).finish_non_exhaustive()
    }
}
