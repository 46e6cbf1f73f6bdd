//! Who carries calls for an identity: one task at a time, for as long as somebody waits.
//!
//! Callers who come while a call is under way are collected, and go together in the next: nothing is delayed to make a batch
//! larger, and batches grow as the store slows down. Where tokens are leased, the same call asks for a lease, behind
//! what its callers ask for; who comes later is served of that, here.
//!
//! A caller keeps its own deadline. One that gives up before its call was sent is not charged; after, it may have been.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::vec::Vec;

use tokio::time::Instant;

use super::desk::{Held, Known, Place, Told, Waiting};
use super::failure::StoreFailure;
use super::inner::Inner;
use super::key::Digest;
use super::script::{Answer, Call, Request};

/// A lease asks for one part in this many of what the last call saw there: so many processes leave some for each other, and
/// near exhaustion there are no leases.
const LEASE_ONE_IN: u64 = 8;

/// Where calls go for.
#[derive(Clone, Copy)]
pub(super) struct Errand {
    pub(super) place: Place,
    pub(super) digest: Digest,
    pub(super) tier: usize,
}

/// Carries calls until nobody waits.
pub(super) async fn carry(inner: Arc<Inner>, errand: Errand) {
    let leaves = Leaves { inner: &inner, place: errand.place };
    while let Some((waiting, appetite)) = next(&inner, errand) {
        if waiting.is_empty() {
            continue;
        }
        let costs = waiting.iter().map(|waiting| Request { least: waiting.cost, most: waiting.cost });
        let lease = (appetite > 1).then_some(Request { least: 1, most: appetite });
        let requests: Vec<_> = costs.chain(lease).collect();
        let sent = inner.now();
        let answer = ask(&inner, errand, &requests).await;
        match answer {
            Ok(answer) => {
                installs(&inner, errand, &answer, sent, &waiting);
                let answer = Arc::new(answer);
                for (waiting, taken) in waiting.into_iter().zip(answer.taken.clone()) {
                    // Who does not listen any more has been charged: its doing so late is documented.
                    let _ = waiting.tell.send(Ok(Told::Answer(Arc::clone(&answer), taken)));
                }
            }
            Err(failure) => {
                for waiting in waiting {
                    let _ = waiting.tell.send(Err(failure.clone()));
                }
            }
        }
    }
    core::mem::forget(leaves);
}

/// Those who are next and were not served of a lease, and how many tokens to lease; `None` when nobody is.
fn next(inner: &Inner, errand: Errand) -> Option<(Vec<Waiting>, u64)> {
    let now = inner.now();
    inner.desk.with(errand.place, |seat| {
        let next = seat.next(inner.batch);
        if next.is_empty() {
            return None;
        }
        let mut rest = Vec::with_capacity(next.len());
        for waiting in next {
            match seat.spend(waiting.cost, now) {
                Some(left) => {
                    if waiting.tell.send(Ok(Told::Leased(left))).is_err() {
                        seat.put_back(waiting.cost);
                    }
                }
                None => rest.push(waiting),
            }
        }
        Some((rest, seat.appetite))
    })?
}

async fn ask(inner: &Inner, errand: Errand, requests: &[Request]) -> Result<Answer, StoreFailure> {
    let Errand { digest, tier, .. } = errand;
    let terms = inner.limits.terms(tier);
    let call = Call::spend(inner.limits.keys(&digest), digest.slot(), None, terms, requests.iter().copied());
    // Relaxed: a count that orders nothing.
    inner.calls.fetch_add(1, Ordering::Relaxed);
    let value = inner.store.call(&call, Instant::now() + inner.sharing.deadline_of()).await?;
    Answer::read(&value, terms.len(), requests.len())
}

/// Puts what an answer brought into the seat.
fn installs(inner: &Arc<Inner>, errand: Errand, answer: &Answer, sent: u64, waiting: &[Waiting]) {
    let Errand { place, digest, tier } = errand;
    let (there, _) = inner.limits.available(tier, &answer.states);
    let denied = waiting.iter().zip(&answer.taken).any(|(waiting, taken)| *taken < waiting.cost);
    let leased = answer.taken.get(waiting.len()).copied().unwrap_or(0);
    inner.desk.with(place, |seat| {
        if let Some(leasing) = inner.sharing.leasing() {
            seat.appetite = (there / LEASE_ONE_IN).min(leasing.most);
            if leased > 0 {
                let age = u64::try_from(leasing.max_age.as_nanos()).unwrap_or(u64::MAX);
                // As of the sending: no later than the window ends in the store.
                let window = inner.limits.window_left(tier, answer).map_or(u64::MAX, |left| left.saturating_mul(1_000));
                let expires = sent.saturating_add(age.min(window));
                match &mut seat.lease {
                    // What was left before is older, and so is the whole then.
                    Some(held) if held.left > 0 && inner.now() < held.expires => {
                        held.left += leased;
                        held.expires = held.expires.min(expires);
                    }
                    lease => {
                        let (id, granted) = (inner.lease_id(), answer.now);
                        *lease = Some(Held { left: leased, expires, id, granted, digest, tier });
                    }
                }
            }
        }
        let remembers = inner.sharing.remembers_denials() && denied;
        seat.remember(remembers.then(|| Known { states: answer.states.clone(), server: answer.now, sent }));
    });
    if leased > 0 {
        inner.tend_leases();
    }
}

/// When a carrier ends before its time (its runtime does), those who wait are sent away, and the next caller finds nobody
/// carrying.
struct Leaves<'i> {
    inner: &'i Inner,
    place: Place,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.inner.desk.with(self.place, super::desk::Seat::abandon);
    }
}
