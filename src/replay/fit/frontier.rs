//! Which refills are tried and told, and which is suggested.

use core::time::Duration;

use super::error::FitError;
use super::fitted::{Checked, FitPoint, Refused};
use super::grid;
use super::need::{Callers, Spared};
use crate::{Budget, Per};

/// What was found.
pub(super) struct Found {
    pub(super) frontier: Vec<FitPoint>,
    /// Which of them.
    pub(super) suggested: usize,
    pub(super) check: Checked,
    pub(super) refused: Vec<Refused>,
}

/// A refill, and the smallest budget there that spares the share.
#[derive(Clone, Copy, Debug)]
struct Pair {
    refill: Per,
    budget: Budget,
}

pub(super) fn find(callers: &Callers, asked: &[Per], most: usize, over: Duration) -> Result<Found, FitError> {
    let mut refused = Vec::new();
    let mut pairs = if asked.is_empty() { chosen(callers, &mut refused)? } else { said(callers, asked, &mut refused)? };
    // Of those that let as much through, the first, and slowest.
    let Some(mut suggested) = (0..pairs.len()).min_by_key(|&place| most_in(&pairs[place].budget, over)) else {
        // The fastest: where even that is not enough, a slower one is not.
        let Refused { refill, error } = refused[refused.len() - 1];
        return Err(FitError::NoBudget { refill, error });
    };
    if asked.is_empty() {
        refused.clear();
        thin(&mut pairs, &mut suggested, most);
    }
    let check = callers.check(pairs[suggested].budget);
    let frontier = pairs.into_iter().map(|pair| pair.told(callers)).collect::<Result<_, _>>()?;
    Ok(Found { frontier, suggested, check, refused })
}

impl Pair {
    fn told(self, callers: &Callers) -> Result<FitPoint, FitError> {
        let Self { refill, budget } = self;
        let Spared { denied, requests, most_demanding } =
            callers.spared(&budget, refill).map_err(|error| FitError::Refill { refill, error })?;
        Ok(FitPoint { refill, budget, callers_denied: denied, requests_spared: requests, most_demanding })
    }
}

/// The most that one caller can do in a time: all that the bucket holds, and what is refilled meanwhile.
pub(super) fn most_in(budget: &Budget, over: Duration) -> u128 {
    // A budget's refill is at most 15 tokens a nanosecond of at most 2^64: only a time of centuries could overflow.
    let refilled = over.as_nanos().saturating_mul(budget.refill_tokens().into()) / budget.refill_duration().as_nanos();
    refilled.saturating_add(budget.capacity().into())
}

/// The smallest budget at a refill, where there is one.
fn pair(refill: Per, capacity: u64, refused: &mut Vec<Refused>) -> Option<Pair> {
    match Budget::new(capacity, refill.tokens, refill.duration) {
        Ok(budget) => Some(Pair { refill, budget }),
        Err(error) => {
            refused.push(Refused { refill, error });
            None
        }
    }
}

/// Those that were asked for, each once, the slowest first.
fn said(callers: &Callers, asked: &[Per], refused: &mut Vec<Refused>) -> Result<Vec<Pair>, FitError> {
    let failed = |refill| move |error| FitError::Refill { refill, error };
    // Before they are compared: one that cannot be has no rate.
    for &refill in asked {
        Budget::new(1, refill.tokens, refill.duration).map_err(failed(refill))?;
    }
    let mut refills = asked.to_vec();
    refills.sort_by(grid::by_rate);
    refills.dedup_by(|a, b| grid::by_rate(a, b).is_eq());
    let mut pairs = Vec::new();
    for refill in refills {
        let capacity = callers.smallest(refill).map_err(failed(refill))?;
        pairs.extend(pair(refill, capacity, refused));
    }
    Ok(pairs)
}

/// Those where something changes: from about the fastest at which nearly as much is needed as at the slowest, to the slowest at
/// which as little as at the fastest. Without those at which a slower one needs no more, and none that would not have given
/// back one token in all the time of the log: it says nothing of them.
fn chosen(callers: &Callers, refused: &mut Vec<Refused>) -> Result<Vec<Pair>, FitError> {
    const SECOND: u64 = 1_000_000_000;
    let time = callers.span.map_or(0, |(first, last)| last - first).max(SECOND);
    let all = grid::refills();
    let slower = all.iter().filter(|refill| refill.duration.as_nanos() > u128::from(time) * u128::from(refill.tokens));
    let refills = &all[slower.count()..];
    let smallest = |place: usize| {
        let refill: Per = refills[place];
        callers.smallest(refill).map_err(|error| FitError::Refill { refill, error })
    };
    let (most, least) = (smallest(0)?, smallest(refills.len() - 1)?);
    // Capacities fall as refills rise, so both ends are found by halving.
    let nearly = |capacity: u64| u128::from(capacity) * 10 >= u128::from(most) * 9;
    let last_nearly = smallest(partition(refills.len(), |place| Ok(nearly(smallest(place)?)))? - 1)?;
    // Where hardly anything changes from end to end, all of it.
    let flat = last_nearly == least;
    let begin = if flat { 0 } else { partition(refills.len(), |place| Ok(smallest(place)? > last_nearly))? };
    let end = partition(refills.len(), |place| Ok(smallest(place)? > least))?;
    let mut pairs: Vec<Pair> = Vec::new();
    for (place, &refill) in refills.iter().enumerate().skip(begin) {
        // Past the end only where no budget could be as large at a slower refill.
        if place > end && pairs.last().is_some_and(|last| last.budget.capacity() == least) {
            break;
        }
        let capacity = smallest(place)?;
        if pairs.last().is_none_or(|last| capacity < last.budget.capacity()) {
            pairs.extend(pair(refill, capacity, refused));
        }
    }
    Ok(pairs)
}

/// How many from the first on `are`, where none is after one that is not.
fn partition(count: usize, are: impl Fn(usize) -> Result<bool, FitError>) -> Result<usize, FitError> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if are(middle)? { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}

/// Leaves out points until so many are left: each time the one between whose neighbours capacities differ least, and never an
/// end or the suggested one.
fn thin(pairs: &mut Vec<Pair>, suggested: &mut usize, most: usize) {
    while pairs.len() > most {
        let between = |place: usize| {
            let capacity = |place: usize| u128::from(pairs[place].budget.capacity());
            (capacity(place - 1), capacity(place + 1))
        };
        let dispensable = (1..pairs.len() - 1).filter(|place| place != suggested).min_by(|&a, &b| {
            let ((before, after), (other_before, other_after)) = (between(a), between(b));
            (before * other_after).cmp(&(other_before * after)).then(b.cmp(&a))
        });
        // Two ends and one between them, which is suggested: one more than two are told.
        let Some(place) = dispensable else { break };
        pairs.remove(place);
        if place < *suggested {
            *suggested -= 1;
        }
    }
}
