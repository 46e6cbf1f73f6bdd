//! A slot for a newcomer: a free one, or one whose bucket is full.

use super::{Counts, GROUP, Group, Table};
use crate::keyed::slot::{Mask, Seen, Slot};
use crate::sync::{Backoff, Ordering};

/// What a newcomer could do with the slots of a group.
struct Survey<'t> {
    /// Free slots, and slots whose bucket is full.
    usable: usize,
    free: Option<&'t Slot>,
    full: Option<(&'t Slot, Seen)>,
    /// When the first of the others is full.
    soonest: u64,
}

impl Table {
    /// Takes a slot for the key of this hash, whose lock is held; the instant at which there may be one, where there is none
    /// now.
    pub(super) fn room(&self, hash: u64, now: u64) -> Result<&Slot, u64> {
        let (one, other) = self.places(hash);
        let backoff = Backoff::new();
        loop {
            let (one, other) = (self.survey(one, now), self.survey(other, now));
            let soonest = one.soonest.min(other.soonest);
            let roomy = if one.usable >= other.usable { one } else { other };
            if roomy.usable == 0 {
                return Err(soonest);
            }
            if let Some(slot) = roomy.free {
                if slot.take_free() {
                    Counts::add(&self.counts.used);
                    return Ok(slot);
                }
            } else if let Some((slot, seen)) = roomy.full {
                // Before the slot is taken: see the page of the table. Relaxed: taking it is the release.
                self.taken_at.fetch_max(now, Ordering::Relaxed);
                if slot.take_if(seen) {
                    Counts::add(&self.counts.reclaimed);
                    return Ok(slot);
                }
            }
            // Somebody was faster, so somebody has got on.
            backoff.spin();
        }
    }

    fn survey(&self, group: usize, now: u64) -> Survey<'_> {
        let Group(slots) = &self.groups[group];
        let mut survey = Survey { usable: 0, free: None, full: None, soonest: u64::MAX };
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
                let Some(seen) = slot.see(owner, Mask::new(owner, number)) else { continue };
                let rule = tier.rule(number);
                if rule.is_full(seen.word(), now) {
                    survey.usable += 1;
                    survey.full = survey.full.or(Some((slot, seen)));
                } else {
                    survey.soonest = survey.soonest.min(rule.full_at(seen.word(), now));
                }
            } else if owner == crate::keyed::owner::Owner::FREE {
                survey.usable += 1;
                survey.free = survey.free.or(Some(slot));
            } else {
                // Busy: it may be free, or full, the next moment.
                survey.soonest = survey.soonest.min(now);
            }
        }
        debug_assert!(survey.usable <= GROUP);
        survey
    }
}
