//! The first word of a slot: whose bucket it is, and in what terms it is counted.
//!
//! | bits | holds |
//! |---|---|
//! | `8 .. 64` | the key's fingerprint: the low 56 bits of its hash; never 0 |
//! | `1 .. 8` | the key's tier |
//! | `0` | the parity of the tier's terms: how often its rule was changed, modulo 2 |
//!
//! | word | the slot is |
//! |---|---|
//! | `0` | free |
//! | `1` | busy: somebody has it for themselves for a moment |
//! | `256 ..` | a key's |
//!
//! One bit of the count of changes is enough: when a tier's terms change, every slot is brought up to date before they can
//! change again (`table/change.rs`), so a slot is in the current terms or in those just before.

use super::MAX_TIERS;

/// Bits below the fingerprint.
const META_BITS: u32 = 8;

/// Whose bucket a slot holds. See the [module](self) for its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(u64);

impl Owner {
    pub(super) const FREE: Self = Self(0);
    pub(super) const BUSY: Self = Self(1);

    #[inline]
    pub(super) const fn new(hash: u64, tier: usize, number: u64) -> Self {
        debug_assert!(tier < MAX_TIERS, "a tier of this table");
        Self(Self::print_of(hash) | (tier as u64) << 1 | (number & 1))
    }

    #[inline]
    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(super) const fn is_key(self) -> bool {
        self.0 > Self::BUSY.0
    }

    /// Whether it is the key of this hash, in whatever tier and terms.
    pub(super) const fn is_of(self, hash: u64) -> bool {
        self.print() == Self::print_of(hash)
    }

    /// The fingerprint, where it stands in the word.
    pub(super) const fn print(self) -> u64 {
        self.0 >> META_BITS << META_BITS
    }

    #[inline]
    pub(super) const fn print_of(hash: u64) -> u64 {
        let print = hash << META_BITS;
        // 0 would be a slot that is free: such a key shares the next one's, as any two keys of one fingerprint do.
        if print == 0 { 1 << META_BITS } else { print }
    }

    /// Which of so many locks is its key's. A power of two. By other bits than those that choose its groups, so that
    /// neighbours do not wait for each other.
    pub(super) const fn stripe(self, stripes: usize) -> usize {
        (self.0 >> (META_BITS + 16)) as usize & (stripes - 1)
    }

    pub(super) const fn tier(self) -> usize {
        (self.0 >> 1) as usize & (MAX_TIERS - 1)
    }

    /// The number of the terms it is counted in, where the current ones are `current`.
    pub(super) const fn number(self, current: u64) -> u64 {
        if self.0 & 1 == current & 1 { current } else { current.saturating_sub(1) }
    }

    /// The same key in other terms.
    pub(super) const fn with(self, tier: usize, number: u64) -> Self {
        Self(self.print() | (tier as u64) << 1 | (number & 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_field_comes_back(hash: u64, tier in 0..MAX_TIERS, number in 0_u64..1 << 40) {
            let owner = Owner::new(hash, tier, number);
            prop_assert!(owner.is_key() && owner.is_of(hash));
            prop_assert_eq!(owner.tier(), tier);
            prop_assert_eq!(owner.number(number), number);
            prop_assert_eq!(owner.number(number + 1), number);
            prop_assert_eq!(owner.with(3, number + 1), Owner::new(hash, 3, number + 1));
        }

        #[test]
        fn keys_that_differ_in_the_fingerprint_differ(hash: u64, bit in 0..56_u32) {
            let other = hash ^ 1 << bit;
            prop_assume!(hash << 8 != 0 && other << 8 != 0);
            prop_assert!(!Owner::new(hash, 0, 0).is_of(other));
        }
    }

    #[test]
    fn a_hash_of_zero_is_not_a_free_slot() {
        assert!(Owner::new(0, 0, 0).is_key());
        assert!(Owner::new(0xab << 56, 0, 0).is_key());
    }
}
