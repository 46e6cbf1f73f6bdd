//! A slot for a newcomer: a free one, or one whose bucket is full.

use super::{Counts, Group, Table};
use crate::keyed::owner::Owner;
use crate::keyed::slot::{Mask, Seen, Slot};
use crate::sync::{Backoff, Ordering};

/// What a newcomer could do with the slots of a group.
struct Survey<'t> {
    /// How many are free.
    free: usize,
    /// How many hold a bucket that is full.
    full: usize,
    /// One that is free; without one, that whose bucket has been full for longest, as far as words of different tiers can be
    /// compared.
    choice: Option<(&'t Slot, Option<Seen>)>,
    /// When the first of the others is full.
    soonest: u64,
}

impl Survey<'_> {
    /// The better group is one that has a free slot, so that nobody is forgotten who need not be; then the one with more
    /// room; then the one with more of it free.
    fn rank(&self) -> (bool, usize, usize) {
        (self.free > 0, self.free + self.full, self.free)
    }
}

impl Table {
    /// Takes a slot for the key of this hash, whose lock is held; the instant at which there may be one, where there is none
    /// now.
    pub(super) fn room(&self, hash: u64, now: u64) -> Result<&Slot, u64> {
        let (first, second) = self.places(hash);
        let backoff = Backoff::new();
        loop {
            let (one, other) = (self.survey(first, now), self.survey(second, now));
            let soonest = one.soonest.min(other.soonest);
            let better = if one.rank() >= other.rank() { one } else { other };
            match better.choice {
                None => return Err(soonest),
                Some((slot, None)) => {
                    if slot.take_free() {
                        Counts::add(&self.counts.used);
                        return Ok(slot);
                    }
                }
                Some((slot, Some(seen))) => {
                    // Before the slot is taken: see the page of the table. Relaxed: taking it is the release.
                    self.taken_at.fetch_max(now, Ordering::Relaxed);
                    if slot.take_if(seen) {
                        Counts::add(&self.counts.reclaimed);
                        return Ok(slot);
                    }
                }
            }
            // Somebody was faster, so somebody has got on.
            backoff.spin();
        }
    }

    fn survey(&self, group: usize, now: u64) -> Survey<'_> {
        let Group(slots) = &self.groups[group];
        let mut survey = Survey { free: 0, full: 0, choice: None, soonest: u64::MAX };
        for slot in slots {
            let owner = slot.owner();
            if owner.is_key() {
                let tier = &self.tiers[owner.tier()];
                let number = tier.number();
                if owner.number(number) != number {
                    // Whoever changed the terms is about to come by.
                    survey.soonest = survey.soonest.min(now);
                    continue;
                }
                let Some(seen) = slot.see(owner, Mask::new(owner, number)) else {
                    // As good as busy: somebody is taking it, or has just given it away.
                    survey.soonest = survey.soonest.min(now);
                    continue;
                };
                let rule = tier.rule(number);
                if rule.is_full(seen.word(), now) {
                    survey.full += 1;
                    let longer = |(_, other): (_, Option<Seen>)| other.is_some_and(|other| seen.word() < other.word());
                    if survey.choice.is_none_or(longer) {
                        survey.choice = Some((slot, Some(seen)));
                    }
                } else {
                    survey.soonest = survey.soonest.min(rule.full_at(seen.word(), now));
                }
            } else if owner == Owner::FREE {
                if survey.free == 0 {
                    survey.choice = Some((slot, None));
                }
                survey.free += 1;
            } else {
                // Busy: it may be free, or full, the next moment.
                survey.soonest = survey.soonest.min(now);
            }
        }
        survey
    }
}
