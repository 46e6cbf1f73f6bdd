//! What is wrong with a table that was asked for.

use core::fmt;
use std::error::Error;

use super::MAX_TIERS;
use crate::rule::Rule;

/// A table cannot be built, or changed, as asked. Says which value is wrong, and what would be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyedError(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Keys(usize),
    Tiers(usize),
    Mixed { tier: usize, windows: bool },
}

impl KeyedError {
    /// Two candidate groups are told from 32 bits of a hash each.
    pub(super) const MOST_KEYS: usize = if usize::BITS > 32 { (1 << 32) - 1 } else { usize::MAX / 64 };

    pub(super) const fn keys(given: usize) -> Self {
        Self(Kind::Keys(given))
    }

    pub(super) const fn tiers(given: usize) -> Self {
        Self(Kind::Tiers(given))
    }

    pub(super) const fn mixed(tier: usize, expected: &Rule, _given: &Rule) -> Self {
        Self(Kind::Mixed { tier, windows: matches!(expected, Rule::FixedWindow(_)) })
    }

    /// The field that is wrong: `max_keys` or `tier`.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self.0 {
            Kind::Keys(_) => "max_keys",
            Kind::Tiers(_) | Kind::Mixed { .. } => "tier",
        }
    }
}

impl fmt::Display for KeyedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Keys(given) => {
                write!(
                    f,
                    "max_keys: {given} is not from 1 to {}: how many keys at once are not at rest?",
                    Self::MOST_KEYS
                )
            }
            Kind::Tiers(given) => write!(f, "tier: {given} tiers are more than {MAX_TIERS}"),
            Kind::Mixed { tier, windows: true } => {
                write!(
                    f,
                    "tier: {tier} is a token bucket where the others are fixed windows; a table has one kind of rule"
                )
            }
            Kind::Mixed { tier, windows: false } => {
                write!(
                    f,
                    "tier: {tier} is a fixed window where the others are token buckets; a table has one kind of rule"
                )
            }
        }
    }
}

impl Error for KeyedError {}
