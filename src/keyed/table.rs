//! The table: groups of slots, and how a key finds its bucket in them.
//!
//! A key's hash names two groups, each one cache line of four slots; its bucket is in one of them and never moves to
//! another. A newcomer goes where there is more room, so that a table filled to `max_keys` with buckets that are all in
//! use turns away few newcomers (`tests/keyed/room.rs` counts them).
//!
//! Both groups are of one *block*, 64 groups, which is a page of memory: a large table costs a caller two misses of the
//! cache, but they are under way at the same time, and one miss of the page table.
//!
//! Where a key is among the eight slots is as good as random, so it is computed and not branched on: a branch would be
//! mispredicted, and in a large table not before the memory has answered.
//!
//! # One bucket a key
//!
//! Only who holds the key's lock ([`Stripes`]) gives it a slot, having looked at both groups first. A slot that is *taken*
//! (see [`slot`](super::slot)) is nobody's: its key was full, and gets a new full bucket when it comes back. So a key has one
//! bucket at most, and whoever finds it needs no lock.
//!
//! # Only full buckets are taken
//!
//! A taker reads a bucket's state, sees that it is full at its own `now`, and takes it by compare-and-swap of that very
//! state. Before that it notes `now` in `taken_at`, and a newcomer's bucket is full *as of the latest such instant*: a caller
//! whose clock is behind finds the level that the old bucket would have had at most. Nothing is minted, whoever is late.
//!
//! | file | holds |
//! |---|---|
//! | this one | finding a bucket and deciding on it; meeting a newcomer |
//! | `room` | a slot for a newcomer |
//! | `change` | another tier, other terms |

mod change;
mod room;

use std::boxed::Box;

use super::overflow::Overflow;
use super::owner::Owner;
use super::slot::{Mask, Slot};
use super::stripes::Stripes;
use super::tier::{SHARED, Tier};
use crate::bucket::Word;
use crate::bucket::step::Step;
use crate::decision::{Decision, Denial};
use crate::rule::Rule;
use crate::sync::{AtomicU64, Mutex, Ordering};

/// Slots in a group. Under loom one: a table of one or two slots reaches every state.
pub(super) const GROUP: usize = if cfg!(all(admittance_loom, feature = "loom")) { 1 } else { 4 };

/// Groups in a block: a page of memory.
const BLOCK: usize = 64;

/// One cache line.
#[repr(align(64))]
pub(super) struct Group([Slot; GROUP]);

impl Group {
    /// The slot that is this owner's.
    #[inline]
    fn slot_of(&self, owner: Owner) -> Option<&Slot> {
        let mut found = None;
        let mut place = 0;
        // Of constant length, so that it is unrolled: a comparison and a conditional move for each, and nothing branches.
        while place < GROUP {
            if self.0[place].owner() == owner {
                found = Some(&self.0[place]);
            }
            place += 1;
        }
        found
    }
}

pub(super) struct Table {
    groups: Box<[Group]>,
    /// Blocks, and groups in a block, a power of two: together all groups.
    blocks: usize,
    lines: usize,
    tiers: Box<[Tier]>,
    stripes: Stripes,
    overflow: Overflow,
    /// The latest instant as of which a bucket was taken for full.
    taken_at: AtomicU64,
    /// Held by whoever changes a tier's rule.
    changing: Mutex<()>,
    pub(super) counts: Counts,
}

/// What happened off the everyday path. Each is one atomic: read together they may be of slightly different instants.
pub(super) struct Counts {
    pub(super) used: AtomicU64,
    pub(super) reclaimed: AtomicU64,
    pub(super) overflowed: AtomicU64,
}

impl Counts {
    // Relaxed: numbers for people, on which nothing is decided.
    fn add(to: &AtomicU64) {
        to.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn of(count: &AtomicU64) -> u64 {
        count.load(Ordering::Relaxed)
    }
}

impl Table {
    pub(super) fn new(slots: usize, rules: &[Rule], overflow: Overflow) -> Self {
        let groups = slots.div_ceil(GROUP);
        let lines = groups.next_power_of_two().min(BLOCK);
        let blocks = groups.div_ceil(lines);
        let groups: Box<[Group]> = (0..blocks * lines).map(|_| Group(core::array::from_fn(|_| Slot::free()))).collect();
        Self {
            blocks,
            lines,
            stripes: Stripes::new(groups.len()),
            groups,
            tiers: rules.iter().enumerate().map(|(number, rule)| Tier::new(number, *rule)).collect(),
            overflow,
            taken_at: AtomicU64::new(0),
            changing: Mutex::new(()),
            counts: Counts { used: AtomicU64::new(0), reclaimed: AtomicU64::new(0), overflowed: AtomicU64::new(0) },
        }
    }

    pub(super) fn slots(&self) -> usize {
        self.groups.len() * GROUP
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.groups) + size_of_val(&*self.tiers) + self.stripes.bytes()
    }

    pub(super) fn tiers(&self) -> usize {
        self.tiers.len()
    }

    /// The rule in use.
    pub(super) fn rule(&self, tier: usize) -> Rule {
        let tier = &self.tiers[tier];
        *tier.rule(tier.number())
    }

    /// Touches the lines where a key's bucket may be, so that they are on their way when it is asked for.
    #[inline]
    pub(super) fn touch(&self, hash: u64) -> u64 {
        let (one, other) = self.places(hash);
        self.groups[one].0[0].owner().bits() ^ self.groups[other].0[0].owner().bits()
    }

    /// Decides by `step` on the bucket of the key of this hash, in this tier.
    #[inline]
    pub(super) fn apply<T>(
        &self,
        hash: u64,
        tier: usize,
        now: u64,
        step: impl Fn(Word, &Rule) -> Step<T> + Copy,
    ) -> Decision<T> {
        let terms = &self.tiers[tier];
        let number = terms.number();
        let owner = Owner::new(hash, tier, number);
        if let Some(slot) = self.probe(hash, owner) {
            let (mask, rule) = (Mask::new(owner, number), terms.rule(number));
            let decision = slot.attempt(owner, mask, || terms.number() == number, |word| step(word, rule));
            if let Some(decision) = decision {
                return decision;
            }
        }
        // No loop here: what is the same in each turn would be computed before the first, whether it is needed or not.
        self.apply_again(hash, tier, now, step)
    }

    /// As [`apply`](Self::apply), for a key that has no bucket, and where somebody else was faster.
    #[cold]
    #[inline(never)]
    fn apply_again<T>(
        &self,
        hash: u64,
        tier: usize,
        now: u64,
        step: impl Fn(Word, &Rule) -> Step<T> + Copy,
    ) -> Decision<T> {
        let terms = &self.tiers[tier];
        let number = terms.number();
        let owner = Owner::new(hash, tier, number);
        if let Some(slot) = self.probe(hash, owner) {
            let (mask, rule) = (Mask::new(owner, number), terms.rule(number));
            let decision = slot.apply(owner, mask, || terms.number() == number, |word| step(word, rule));
            if let Some(decision) = decision {
                return decision;
            }
        }
        self.meet(hash, tier, now, step)
    }

    /// As [`apply`](Self::apply), for a key that has no bucket yet, or has it in another tier or in other terms.
    fn meet<T>(&self, hash: u64, tier: usize, now: u64, step: impl Fn(Word, &Rule) -> Step<T> + Copy) -> Decision<T> {
        let guard = self.stripes.lock(Owner::print_of(hash));
        let terms = &self.tiers[tier];
        let soonest = loop {
            let number = terms.number();
            let owner = Owner::new(hash, tier, number);
            let (mask, rule) = (Mask::new(owner, number), terms.rule(number));
            match self.find(hash) {
                Some((slot, found)) if found == owner => {
                    let decision = slot.apply(owner, mask, || terms.number() == number, |word| step(word, rule));
                    if let Some(decision) = decision {
                        return decision;
                    }
                }
                Some((slot, found)) => self.move_terms(slot, found, tier, now),
                None => {
                    // Relaxed: whoever took this key's bucket noted the instant before, and `find` acquired that.
                    let full = rule.full(self.taken_at.load(Ordering::Relaxed));
                    match step(full, rule) {
                        // Nothing is spent: it needs no slot.
                        Step::Keep(decision) => return decision,
                        // Given back, by a clock so far behind that it was not full then: to nobody.
                        Step::Spend { next, permit } if next.bits() <= full.bits() => {
                            return Decision::Admitted(permit);
                        }
                        Step::Spend { next, permit } => match self.room(hash, now) {
                            Ok(slot) => {
                                slot.give(owner, mask, next);
                                return Decision::Admitted(permit);
                            }
                            Err(soonest) => break soonest,
                        },
                    }
                }
            }
        };
        drop(guard);
        self.overflow(tier, soonest, now, step)
    }

    /// Decides for a newcomer that finds no room before `soonest`.
    fn overflow<T>(
        &self,
        tier: usize,
        soonest: u64,
        now: u64,
        step: impl Fn(Word, &Rule) -> Step<T> + Copy,
    ) -> Decision<T> {
        Counts::add(&self.counts.overflowed);
        let terms = &self.tiers[tier];
        match self.overflow {
            Overflow::Deny => Decision::Denied(Denial::at(soonest.max(now.saturating_add(1)), now)),
            Overflow::Admit => step(terms.rule(terms.number()).full(now), terms.rule(terms.number())).decision(),
            Overflow::Share => loop {
                let number = terms.number();
                let owner = Owner::new(SHARED, tier, number);
                let (mask, rule) = (Mask::new(owner, number), terms.rule(number));
                let current = || terms.number() == number;
                if let Some(decision) = terms.shared.apply(owner, mask, current, |word| step(word, rule)) {
                    break decision;
                }
                let _guard = self.stripes.lock(Owner::print_of(SHARED));
                let found = terms.shared.owner();
                self.move_terms(&terms.shared, found, tier, now);
            },
        }
    }

    /// The two groups of a key. One, twice, where there is one.
    #[inline]
    fn places(&self, hash: u64) -> (usize, usize) {
        // The upper half of a product chooses a block evenly, by the upper bits of the hash, of which the fingerprint does
        // not have the first eight. The groups are chosen by the lowest twelve.
        let block = ((u128::from(hash) * self.blocks as u128) >> 64) as usize;
        let last = self.lines - 1;
        let first = block * self.lines;
        let one = hash as usize & last;
        // An odd distance in the bits is another line, unless there is only one.
        let other = one ^ ((hash >> 6) as usize | 1) & last;
        (first + one, first + other)
    }

    /// The slot of this owner, as far as can be seen without a lock.
    #[inline]
    fn probe(&self, hash: u64, owner: Owner) -> Option<&Slot> {
        let (one, other) = self.places(hash);
        let [one, other] = [one, other].map(|group| &self.groups[group]);
        // Both are looked at, whatever the first one holds.
        let (one, other) = (one.slot_of(owner), other.slot_of(owner));
        one.or(other)
    }

    /// The slot of the key of this hash, in whatever tier and terms. Its lock is held.
    fn find(&self, hash: u64) -> Option<(&Slot, Owner)> {
        let (one, other) = self.places(hash);
        [one, other].into_iter().flat_map(|group| &self.groups[group].0).find_map(|slot| {
            let owner = slot.owner();
            // One that is being taken is not the key's any more.
            (owner.is_of(hash) && slot.see(owner, self.mask(owner)).is_some()).then_some((slot, owner))
        })
    }

    /// The mask of an owner, by the current count of its tier's changes.
    fn mask(&self, owner: Owner) -> Mask {
        Mask::new(owner, owner.number(self.tiers[owner.tier()].number()))
    }

    /// Looks at every bucket, one after the other: whose it is, and its word with the rule that it is counted by. What is
    /// in other terms or changes hands meanwhile is passed over.
    pub(super) fn each(&self, mut look: impl FnMut(Owner, Word, &Rule)) {
        for slot in self.groups.iter().flat_map(|group| &group.0) {
            let owner = slot.owner();
            if owner.is_key() {
                let tier = &self.tiers[owner.tier()];
                let number = owner.number(tier.number());
                if let Some(seen) = slot.see(owner, Mask::new(owner, number)) {
                    look(owner, seen.word(), tier.rule(number));
                }
            }
        }
    }
}
