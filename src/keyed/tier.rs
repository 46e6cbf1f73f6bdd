//! A tier: the rule that its keys are counted by, and the rules it had before.

use super::owner::Owner;
use super::slot::{Mask, Slot};
use crate::bucket::Word;
use crate::later::Later;
use crate::rule::Rule;

/// The hash of no key: of the bucket that those share who found no room.
pub(super) const SHARED: u64 = u64::MAX;

/// One tier of a table.
pub(super) struct Tier {
    first: Rule,
    later: Later<Terms>,
    /// The bucket of those who found no room.
    pub(super) shared: crossbeam_utils::CachePadded<Slot>,
}

/// A rule, and the instant from which it holds.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) rule: Rule,
    pub(super) since: u64,
}

impl Tier {
    pub(super) fn new(tier: usize, rule: Rule) -> Self {
        let owner = Owner::new(SHARED, tier, 0);
        let shared = Slot::owned(owner, Mask::new(owner, 0), Word::FULL).into();
        Self { first: rule, later: Later::new(), shared }
    }

    /// How often the rule was changed.
    #[inline]
    pub(super) fn number(&self) -> u64 {
        self.later.number()
    }

    /// The rule after `number` changes.
    #[inline]
    pub(super) fn rule(&self, number: u64) -> &Rule {
        if number == 0 { &self.first } else { self.changed(number).map_or(&self.first, |terms| &terms.rule) }
    }

    /// When the rule was changed for the `number`th time.
    pub(super) fn since(&self, number: u64) -> u64 {
        if number == 0 { 0 } else { self.changed(number).map_or(0, |terms| terms.since) }
    }

    #[cold]
    fn changed(&self, number: u64) -> Option<&Terms> {
        self.later.get(number)
    }

    /// Makes `rule` the one in use from the instant that `now` reads.
    pub(super) fn change(&self, rule: Rule, now: impl FnOnce() -> u64) {
        self.later.push(|| Some(Terms { rule, since: now() }));
    }
}
