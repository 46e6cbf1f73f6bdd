//! One identity's leases, denial, and callers who wait.

use std::vec::Vec;

use tokio::sync::oneshot;

use crate::redis::failure::StoreFailure;
use crate::redis::key::Digest;
use crate::redis::limits::Limits;
use crate::redis::script::Answer;
use crate::redis::terms::State;

#[derive(Default)]
pub(in crate::redis) struct Seat {
    pub(in crate::redis) lease: Option<Held>,
    known: Option<Known>,
    /// Those who wait for the next call; `None` while nobody carries calls for this seat.
    waiting: Option<Vec<Waiting>>,
    /// Tokens to ask for on top of what is asked for, the next time.
    pub(in crate::redis) appetite: u64,
}

/// A lease. Its tokens are spent in the store, and here they are a number.
pub(in crate::redis) struct Held {
    pub(in crate::redis) left: u64,
    /// Until when they may be spent, on this process's clock.
    pub(in crate::redis) expires: u64,
    pub(in crate::redis) id: u128,
    /// The server's instant of the grant, in µs.
    pub(in crate::redis) granted: u64,
    pub(in crate::redis) digest: Digest,
    pub(in crate::redis) tier: usize,
}

/// The limits' states as the store told them, when it denied.
pub(in crate::redis) struct Known {
    pub(in crate::redis) states: Vec<State>,
    /// The server's instant, in µs.
    pub(in crate::redis) server: u64,
    /// When the call was sent, on this process's clock: no later than the server's instant.
    pub(in crate::redis) sent: u64,
}

/// Somebody who waits for a call.
pub(in crate::redis) struct Waiting {
    pub(in crate::redis) cost: u64,
    pub(in crate::redis) tell: oneshot::Sender<Result<Told, StoreFailure>>,
}

/// What one who waited is told.
pub(in crate::redis) enum Told {
    /// By the store.
    Answer(std::sync::Arc<Answer>, u64),
    /// It was served of a lease, and so many tokens are left of that.
    Leased(u64),
}

impl Seat {
    /// Spends leased tokens; what is left.
    pub(in crate::redis) fn spend(&mut self, cost: u64, now: u64) -> Option<u64> {
        let held = self.lease.as_mut().filter(|held| now < held.expires)?;
        held.left = held.left.checked_sub(cost)?;
        Some(held.left)
    }

    /// Tokens of the lease that were not needed after all.
    pub(in crate::redis) fn put_back(&mut self, cost: u64) {
        if let Some(held) = &mut self.lease {
            held.left = held.left.saturating_add(cost);
        }
    }

    /// How long the store would still deny, in µs and at least 1, and which limit.
    pub(in crate::redis) fn denies(
        &mut self,
        limits: &Limits,
        tier: usize,
        cost: u64,
        now: u64,
    ) -> Option<(u64, usize)> {
        let known = self.known.as_ref()?;
        // Elapsed time rounded down, as of the sending: what is remembered ends no earlier than it ends in the store, by less
        // than a microsecond.
        let elapsed = now.saturating_sub(known.sent) / 1_000;
        let (wait, limit) = limits.wait(tier, &known.states, cost, known.server);
        match wait.saturating_sub(elapsed) {
            0 => {
                if limits.wait(tier, &known.states, limits.capacity(tier), known.server).0 <= elapsed {
                    self.known = None;
                }
                None
            }
            left => Some((left, limit)),
        }
    }

    pub(in crate::redis) fn remember(&mut self, known: Option<Known>) {
        self.known = known;
    }

    /// Joins those who wait; whether somebody has to begin to carry calls.
    #[must_use]
    pub(in crate::redis) fn join(&mut self, waiting: Waiting) -> bool {
        let begins = self.waiting.is_none();
        self.waiting.get_or_insert_default().push(waiting);
        begins
    }

    /// The next to be served, `most` of them; nobody, and the carrier is done.
    pub(in crate::redis) fn next(&mut self, most: usize) -> Vec<Waiting> {
        let Some(waiting) = &mut self.waiting else { return Vec::new() };
        // Those who have given up are not charged.
        waiting.retain(|waiting| !waiting.tell.is_closed());
        if waiting.is_empty() {
            self.waiting = None;
            return Vec::new();
        }
        let rest = waiting.split_off(most.min(waiting.len()));
        core::mem::replace(waiting, rest)
    }

    /// Sends away all who wait, when nobody carries calls any more: what they wait on is closed.
    pub(in crate::redis) fn abandon(&mut self) {
        self.waiting = None;
    }

    /// Whether nothing is lost when the seat is.
    pub(super) fn is_idle(&self, now: u64) -> bool {
        let known = self.known.as_ref().is_some_and(|known| now.saturating_sub(known.sent) < MEMORY);
        self.waiting.is_none() && self.lease.as_ref().is_none_or(|held| held.left == 0) && !known
    }
}

/// How long a seat is kept for what is remembered of denials alone, in nanoseconds: forgetting costs a call.
const MEMORY: u64 = 10_000_000_000;
