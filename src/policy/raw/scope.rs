//! A scope as it is written: `{ store = "process", routes = ["/api"] }`, or with `store = "shared"` and how it is shared.

use core::fmt;
use core::num::NonZeroU32;
use std::borrow::ToOwned;
use std::string::String;
use std::vec::Vec;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::RawDuration;
use crate::policy::{Leasing, OnStoreFailure, Scope, Sharing, StoreKind};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScope {
    store: RawStore,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    routes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_store_failure: Option<RawOnStoreFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<RawDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease: Option<RawLeasing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<NonZeroU32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remember_denials: Option<bool>,
}

/// Where the budgets are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Process,
    Shared,
}

super::words! { RawStore(Kept), "store", "process" => Kept::Process, "shared" => Kept::Shared, }

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RawLeasing {
    most: u64,
    max_age: RawDuration,
}

impl TryFrom<RawScope> for Scope {
    type Error = String;

    fn try_from(raw: RawScope) -> Result<Self, String> {
        let RawScope { store: RawStore(kept), routes, on_store_failure, deadline, lease, batch, remember_denials } =
            raw;
        let scope = if kept == Kept::Shared {
            let Some(RawOnStoreFailure(on_store_failure)) = on_store_failure else {
                return Err("scope: what happens while the store is slow or gone? Say on_store_failure: \"deny\", \
                            \"admit\", or { local = \"1/8\" }"
                    .to_owned());
            };
            let mut sharing = Sharing::new(on_store_failure);
            if let Some(RawDuration(deadline)) = deadline {
                sharing = sharing.deadline(deadline);
            }
            if let Some(RawLeasing { most, max_age: RawDuration(max_age) }) = lease {
                sharing = sharing.lease(most, max_age);
            }
            if let Some(most) = batch {
                sharing = sharing.batch(most);
            }
            if remember_denials == Some(true) {
                sharing = sharing.remember_denials();
            }
            Self::shared(sharing)
        } else {
            let given = [
                ("on_store_failure", on_store_failure.is_some()),
                ("deadline", deadline.is_some()),
                ("lease", lease.is_some()),
                ("batch", batch.is_some()),
                ("remember_denials", remember_denials.is_some()),
            ];
            if let Some((field, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(std::format!("scope: {field} is of a shared store, and store is \"process\""));
            }
            Self::process()
        };
        Ok(scope.routes(routes))
    }
}

impl From<Scope> for RawScope {
    fn from(scope: Scope) -> Self {
        let sharing = scope.sharing();
        Self {
            store: RawStore(match scope.store() {
                StoreKind::Process => Kept::Process,
                StoreKind::Shared(_) => Kept::Shared,
            }),
            routes: scope.prefixes().to_vec(),
            on_store_failure: sharing.map(|sharing| RawOnStoreFailure(sharing.on_store_failure())),
            deadline: sharing.map(|sharing| RawDuration(sharing.deadline_of())),
            lease: sharing
                .and_then(Sharing::leasing)
                .map(|Leasing { most, max_age }| RawLeasing { most, max_age: RawDuration(max_age) }),
            batch: sharing.and_then(Sharing::batch_of),
            remember_denials: sharing.map(Sharing::remembers_denials).filter(|remembers| *remembers),
        }
    }
}

/// `"deny"`, `"admit"`, or `{ local = "1/8" }`.
struct RawOnStoreFailure(OnStoreFailure);

impl<'de> Deserialize<'de> for RawOnStoreFailure {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct What;

        impl<'de> Visitor<'de> for What {
            type Value = OnStoreFailure;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"deny\", \"admit\", or { local = \"1/8\" }")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<OnStoreFailure, E> {
                match word {
                    "deny" => Ok(OnStoreFailure::Deny),
                    "admit" => Ok(OnStoreFailure::Admit),
                    other => Err(E::custom(format_args!(
                        "on_store_failure: '{}' is none of \"deny\", \"admit\" and {{ local = \"1/8\" }}",
                        other.escape_debug()
                    ))),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OnStoreFailure, A::Error> {
                let local = RawLocal::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let one_in = local.local.strip_prefix("1/").and_then(|parts| parts.parse().ok());
                match one_in {
                    Some(one_in) => Ok(OnStoreFailure::Local { one_in }),
                    None => Err(A::Error::custom(format_args!(
                        "local: '{}' is not one part in so many, as \"1/8\"",
                        local.local.escape_debug()
                    ))),
                }
            }
        }

        from.deserialize_any(What).map(Self)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLocal {
    local: String,
}

impl Serialize for RawOnStoreFailure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            OnStoreFailure::Deny => to.serialize_str("deny"),
            OnStoreFailure::Admit => to.serialize_str("admit"),
            OnStoreFailure::Local { one_in } => {
                let mut map = to.serialize_map(Some(1))?;
                map.serialize_entry("local", &std::format!("1/{one_in}"))?;
                map.end()
            }
        }
    }
}
