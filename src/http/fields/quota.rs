//! What a policy's limit is in the fields' words.

use core::time::Duration;
use std::borrow::ToOwned;
use std::string::String;

use sfv::{Integer, StringRef};

use super::error::{Fault, FieldsError};
use super::{integer, seconds_up};
use crate::policy::{Policy, Unit, is_name};
use crate::rule::Rule;

/// A policy's name, its limit, and the time of that limit.
///
/// Of a token bucket the limit is the capacity, and the time is that of refilling it from empty, rounded up to seconds:
/// 20 at once and 100 a minute are 20 in 12 s. Of a fixed window they are the limit and the window's length.
///
/// ```
/// use admittance::http::Quota;
/// use admittance::{Budget, Rule};
/// let quota = Quota::of_rule("api", &Rule::from(Budget::per_minute(100).with_capacity(20)))?;
/// assert_eq!((quota.name(), quota.capacity(), quota.seconds()), ("api", 20, 12));
/// # Ok::<(), admittance::http::FieldsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// A policy's name: no byte of it needs an escape, in a structured field or in JSON.
    name: String,
    capacity: u64,
    /// 1 at least.
    seconds: u64,
    unit: Unit,
}

impl Quota {
    /// So many requests in such a time, which is told in seconds: rounded up, and 1 at least.
    ///
    /// # Errors
    ///
    /// When the name is not a policy's: 1 to 64 of `a-z`, `0-9`, `-` and `_`, beginning with a letter.
    pub fn new(name: &str, capacity: u64, time: Duration) -> Result<Self, FieldsError> {
        Self::named(name, capacity, seconds_up(time))
    }

    /// What this rule allows.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of_rule(name: &str, rule: &Rule) -> Result<Self, FieldsError> {
        Self::named(name, rule.capacity(), seconds_of(rule))
    }

    /// What this policy allows everybody, or its first tier.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        Self::of_policy(policy, &policy.rule())
    }

    /// What this policy allows those of a tier; `None` where it has no tier of that name.
    #[must_use]
    pub fn of_tier(policy: &Policy, tier: &str) -> Option<Self> {
        let (_, rule) = policy.tiers().iter().find(|(name, _)| name == tier)?;
        Some(Self::of_policy(policy, rule))
    }

    /// The same quota, where a token is one of these: requests unless this says otherwise.
    ///
    /// # Errors
    ///
    /// When the unit has a name of its own that could not be a policy's.
    pub fn with_unit(self, unit: Unit) -> Result<Self, FieldsError> {
        match &unit {
            Unit::Named(name) if !is_name(name) => Err(FieldsError::new(Fault::Unit(name.clone()))),
            _ => Ok(Self { unit, ..self }),
        }
    }

    fn named(name: &str, capacity: u64, seconds: u64) -> Result<Self, FieldsError> {
        if !is_name(name) {
            return Err(FieldsError::new(Fault::Name(name.to_owned())));
        }
        Ok(Self { name: name.to_owned(), capacity, seconds: seconds.max(1), unit: Unit::Request })
    }

    /// A policy's names are names.
    fn of_policy(policy: &Policy, rule: &Rule) -> Self {
        Self {
            name: policy.name().to_owned(),
            capacity: rule.capacity(),
            seconds: seconds_of(rule),
            unit: policy.unit().clone(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tokens: the largest cost that is ever admitted.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The time in which so many come back.
    #[must_use]
    pub const fn seconds(&self) -> u64 {
        self.seconds
    }

    /// What a token stands for.
    #[must_use]
    pub const fn unit(&self) -> &Unit {
        &self.unit
    }

    pub(super) fn limit(&self) -> Integer {
        integer(self.capacity)
    }

    pub(super) fn window(&self) -> Integer {
        integer(self.seconds)
    }

    pub(super) fn quoted_name(&self) -> &StringRef {
        string(&self.name)
    }

    /// The unit as the drafts name it; `None` for requests, which are meant where nothing is said. A unit of your own is not
    /// in their registry, but to say nothing would be to say requests.
    pub(super) fn quoted_unit(&self) -> Option<&StringRef> {
        match &self.unit {
            Unit::Request => None,
            Unit::Byte => Some(StringRef::constant("content-bytes")),
            Unit::Named(name) => Some(string(name)),
        }
    }
}

fn string(name: &str) -> &StringRef {
    StringRef::from_str(name).expect("a name is of a-z, 0-9, '-' and '_'")
}

/// Seconds in which all of a rule's capacity comes back, rounded up.
fn seconds_of(rule: &Rule) -> u64 {
    match rule {
        // One division, so that nothing is rounded twice. Both products are below 2¹²⁸: each factor fits 64 bits.
        Rule::TokenBucket(budget) => {
            let ticks = u128::from(budget.capacity()) * budget.refill_duration().as_nanos();
            let seconds = ticks.div_ceil(u128::from(budget.refill_tokens()) * 1_000_000_000);
            u64::try_from(seconds).unwrap_or(u64::MAX)
        }
        Rule::FixedWindow(window) => seconds_up(window.length()),
    }
}
