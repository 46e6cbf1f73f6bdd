//! Another tier, other terms.
//!
//! # When a tier's rule changes
//!
//! 1. The new rule is put in with the instant from which it holds. From here every caller asks for buckets in the new terms.
//! 2. Every lock is passed through once: whoever was giving a newcomer its bucket in the old terms is done.
//! 3. Every slot in the old terms is moved to the new, under its key's lock.
//!
//! Callers do not wait for that: who finds its bucket in the old terms moves it itself. A bucket moves *as of the instant of
//! the change*, whenever it is met, so a new rule is never applied to time already past. Only when all slots are moved may
//! the rule change again; that is why one bit in the owner word tells old terms from new.

use std::sync::PoisonError;

use super::Table;
use crate::keyed::owner::Owner;
use crate::keyed::slot::{Mask, Slot};
use crate::rule::Rule;

impl Table {
    /// Counts all buckets of a tier by `rule` from the instant on that `now` reads. One call at a time.
    pub(in crate::keyed) fn change(&self, tier: usize, rule: Rule, now: impl Fn() -> u64) {
        let _one = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let terms = &self.tiers[tier];
        if *terms.rule(terms.number()) == rule {
            return;
        }
        terms.change(rule, &now);
        self.stripes.pass();
        let number = terms.number();
        let slots = self.groups.iter().flat_map(|group| &group.0).chain([&*terms.shared]);
        for slot in slots {
            let found = slot.owner();
            if found.is_key() && found.tier() == tier && found.number(number) != number {
                let _guard = self.stripes.lock(found.print());
                self.move_terms(slot, found, tier, now());
            }
        }
    }

    /// Moves the bucket of `found` to the current terms of `tier`, if it is still there and not in them. Its key's lock is
    /// held, so nobody else moves it, and its own tier's rule can change once meanwhile at most.
    pub(super) fn move_terms(&self, slot: &Slot, found: Owner, tier: usize, now: u64) {
        let (from, to) = (&self.tiers[found.tier()], &self.tiers[tier]);
        // Read once each: what changes later finds the slot in the terms that were current here.
        let current = from.number();
        let number = if found.tier() == tier { current } else { to.number() };
        let owner = found.with(tier, number);
        let old = found.number(current);
        if owner == found {
            return;
        }
        let Some(mut word) = slot.take(found, Mask::new(found, old)) else { return };
        let carry = |word, at, from: &Rule, to: &Rule| {
            // Tiers are built of one kind of rule; of another there is nothing to carry.
            Rule::carry(word, at, from, to).unwrap_or_else(|| to.full(at))
        };
        if old != current {
            word = carry(word, from.since(current), from.rule(old), from.rule(current));
        }
        if found.tier() != tier {
            word = carry(word, now, from.rule(current), to.rule(number));
        }
        slot.give(owner, Mask::new(owner, number), word);
    }
}
