//! Policies as they are written in TOML.
//!
//! Every check is made where its value is read, so that the parser knows which value was wrong.

/// Something that is written as one of a few words.
macro_rules! words {
    ($name:ident($what:ty), $part:literal, $($word:literal => $value:expr,)*) => {
        struct $name($what);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                match &*String::deserialize(from)? {
                    $($word => Ok(Self($value)),)*
                    other => Err(D::Error::custom(format_args!(
                        concat!($part, ": '{}' is none of {}{}"),
                        other.escape_debug(),
                        [$($word),*].join(", "),
                        $crate::policy::raw::question(other, &[$($word),*]),
                    ))),
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let words = [$(($word, $value)),*];
                let word = words.iter().find(|(_, value)| *value == self.0).map_or("", |(word, _)| word);
                to.serialize_str(word)
            }
        }
    };
}

use words;

mod scope;

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::borrow::ToOwned;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use scope::RawScope;

use super::{IdentityKind, OnExhausted, Policy, Unit, builder, near};
use crate::amount::{self, Per};
use crate::budget::Budget;
use crate::keyed::Overflow;
use crate::rule::Rule;
use crate::window::Window;

/// One `[[policy]]`.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPolicy {
    name: String,
    unit: Option<RawUnit>,
    identity: Option<RawIdentity>,
    scope: Option<RawScope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<RawRule>,
    on_exhausted: Option<RawOnExhausted>,
    max_keys: Option<usize>,
    overflow: Option<RawOverflow>,
    #[serde(default, skip_serializing_if = "RawTiers::is_empty")]
    tiers: RawTiers,
}

impl TryFrom<RawPolicy> for Policy {
    type Error = String;

    fn try_from(raw: RawPolicy) -> Result<Self, String> {
        let mut builder = Self::builder(raw.name);
        if let Some(RawUnit(unit)) = raw.unit {
            builder = builder.unit(unit);
        }
        if let Some(RawIdentity(kinds)) = raw.identity {
            builder = builder.identity(kinds);
        }
        if let Some(scope) = raw.scope {
            builder = builder.scope(scope.try_into()?);
        }
        if raw.rule.is_some() && !raw.tiers.0.is_empty() {
            return Err("rule and tiers: say one of them; a rule is everybody's, and tiers have a rule each".to_owned());
        }
        if let Some(RawRule(rule)) = raw.rule {
            builder = builder.rule(rule);
        }
        for (name, RawRule(rule)) in raw.tiers.0 {
            builder = builder.tier(name, rule);
        }
        if let Some(RawOnExhausted(on_exhausted)) = raw.on_exhausted {
            builder = builder.on_exhausted(on_exhausted);
        }
        let overflow = raw.overflow.map(|RawOverflow(overflow)| overflow);
        builder.max_keys(raw.max_keys).overflow(overflow).build().map_err(|error| error.to_string())
    }
}

impl From<Policy> for RawPolicy {
    fn from(policy: Policy) -> Self {
        let lone = policy.tiers.len() == 1 && policy.tiers[0].0 == "default";
        let tiers = if lone { Vec::new() } else { policy.tiers.clone() };
        Self {
            unit: Some(RawUnit(policy.unit)),
            identity: Some(RawIdentity(policy.identity)),
            rule: lone.then(|| RawRule(policy.tiers[0].1)),
            tiers: RawTiers(tiers.into_iter().map(|(name, rule)| (name, RawRule(rule))).collect()),
            on_exhausted: Some(RawOnExhausted(policy.on_exhausted)),
            max_keys: Some(policy.max_keys),
            overflow: Some(RawOverflow(policy.overflow)),
            scope: Some(policy.scope.into()),
            name: policy.name,
        }
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        RawPolicy::deserialize(from)?.try_into().map_err(D::Error::custom)
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        RawPolicy::from(self.clone()).serialize(to)
    }
}

/// `"request"`, `"byte"`, or a name.
struct RawUnit(Unit);

impl<'de> Deserialize<'de> for RawUnit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let unit = match &*String::deserialize(from)? {
            "request" => Unit::Request,
            "byte" => Unit::Byte,
            name => Unit::Named(name.into()),
        };
        builder::unit_fault(&unit).map_or(Ok(Self(unit)), |fault| Err(D::Error::custom(fault)))
    }
}

impl Serialize for RawUnit {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

/// What to add to the refusal of a word: a question where one of `words` is close, else nothing.
fn question(written: &str, words: &[&str]) -> String {
    near::meant(written, words).map_or_else(String::new, |word| format!("; did you mean '{word}'?"))
}

words! {
    RawOverflow(Overflow), "overflow",
    "deny" => Overflow::Deny, "admit" => Overflow::Admit, "share" => Overflow::Share,
}
words! {
    RawKind(IdentityKind), "identity",
    "account" => IdentityKind::Account, "credential" => IdentityKind::Credential, "address" => IdentityKind::Address,
    "tenant" => IdentityKind::Tenant, "session" => IdentityKind::Session,
}

/// `"account"`, or `["tenant", "account"]`.
struct RawIdentity(Vec<IdentityKind>);

impl<'de> Deserialize<'de> for RawIdentity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Kinds;

        impl<'de> Visitor<'de> for Kinds {
            type Value = Vec<IdentityKind>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a kind of identity, as \"account\", or two or three of them, as [\"tenant\", \"account\"]")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
                let RawKind(kind) = RawKind::deserialize(serde::de::value::StrDeserializer::new(word))?;
                Ok(Vec::from([kind]))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut kinds = Vec::new();
                while let Some(RawKind(kind)) = seq.next_element()? {
                    kinds.push(kind);
                }
                Ok(kinds)
            }
        }

        from.deserialize_any(Kinds).map(Self)
    }
}

impl Serialize for RawIdentity {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &*self.0 {
            [one] => to.serialize_str(one.name()),
            several => to.collect_seq(several.iter().map(|kind| kind.name())),
        }
    }
}

/// `{ capacity = 20, refill = "100/1m" }`, or `{ window = "5/10s" }`: as on the command line.
struct RawRule(Rule);

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RawRuleFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refill: Option<RawPer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<RawPer>,
}

impl<'de> Deserialize<'de> for RawRule {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let RawRuleFields { capacity, refill, window } = RawRuleFields::deserialize(from)?;
        let rule = match (capacity, refill, window) {
            (Some(capacity), Some(RawPer(per)), None) => {
                Budget::new(capacity, per.tokens, per.duration).map(Rule::TokenBucket).map_err(D::Error::custom)
            }
            (None, None, Some(RawPer(per))) => {
                Window::new(per.tokens, per.duration).map(Rule::FixedWindow).map_err(D::Error::custom)
            }
            (Some(_), None, None) => {
                Err(D::Error::custom("how fast do tokens come back? Say refill, as in \"100/1m\""))
            }
            (None, Some(_), None) => Err(D::Error::custom("how many tokens at once? Say capacity, as in 20")),
            (None, None, None) => {
                Err(D::Error::custom("what is the limit? Say capacity and refill for a token bucket, or window"))
            }
            (_, _, Some(_)) => Err(D::Error::custom("a window has no capacity and no refill; say one or the other")),
        };
        rule.map(Self)
    }
}

impl Serialize for RawRule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (capacity, refill, window) = match &self.0 {
            Rule::TokenBucket(budget) => {
                let per = Per { tokens: budget.refill_tokens(), duration: budget.refill_duration() };
                (Some(budget.capacity()), Some(RawPer(per)), None)
            }
            Rule::FixedWindow(window) => {
                (None, None, Some(RawPer(Per { tokens: window.limit(), duration: window.length() })))
            }
        };
        RawRuleFields { capacity, refill, window }.serialize(to)
    }
}

struct RawPer(Per);

impl<'de> Deserialize<'de> for RawPer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Per::from_str(&String::deserialize(from)?).map(Self).map_err(D::Error::custom)
    }
}

impl Serialize for RawPer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}/{}", self.0.tokens, amount::Spelled(self.0.duration)))
    }
}

/// Tiers in the order in which they are written: the first is the one of a check that says none.
#[derive(Default)]
struct RawTiers(Vec<(String, RawRule)>);

impl RawTiers {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for RawTiers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Tiers;

        impl<'de> Visitor<'de> for Tiers {
            type Value = Vec<(String, RawRule)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rule for each tier, as free = { capacity = 5, refill = \"1/1s\" }")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut tiers = Vec::new();
                while let Some(tier) = map.next_entry()? {
                    tiers.push(tier);
                }
                Ok(tiers)
            }
        }

        from.deserialize_map(Tiers).map(Self)
    }
}

impl Serialize for RawTiers {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, rule) in &self.0 {
            map.serialize_entry(name, rule)?;
        }
        map.end()
    }
}

/// `"deny"`, `"shadow"`, or `{ wait_up_to = "2s" }`.
struct RawOnExhausted(OnExhausted);

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RawWait {
    wait_up_to: RawDuration,
}

struct RawDuration(Duration);

impl<'de> Deserialize<'de> for RawDuration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        amount::duration(&String::deserialize(from)?).map(Self).map_err(D::Error::custom)
    }
}

impl Serialize for RawDuration {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&amount::Spelled(self.0))
    }
}

impl<'de> Deserialize<'de> for RawOnExhausted {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct What;

        impl<'de> Visitor<'de> for What {
            type Value = OnExhausted;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"deny\", \"shadow\", or { wait_up_to = \"2s\" }")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<OnExhausted, E> {
                match word {
                    "deny" => Ok(OnExhausted::Deny),
                    "shadow" => Ok(OnExhausted::Shadow),
                    other => Err(E::custom(format_args!(
                        "on_exhausted: '{}' is none of \"deny\", \"shadow\" and {{ wait_up_to = \"2s\" }}{}",
                        other.escape_debug(),
                        question(other, &["deny", "shadow"])
                    ))),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OnExhausted, A::Error> {
                let wait = RawWait::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(OnExhausted::WaitUpTo(wait.wait_up_to.0))
            }
        }

        from.deserialize_any(What).map(Self)
    }
}

impl Serialize for RawOnExhausted {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            OnExhausted::Deny => to.serialize_str("deny"),
            OnExhausted::Shadow => to.serialize_str("shadow"),
            OnExhausted::WaitUpTo(limit) => RawWait { wait_up_to: RawDuration(limit) }.serialize(to),
        }
    }
}
