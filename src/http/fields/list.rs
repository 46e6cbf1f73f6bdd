//! The list form: `RateLimit: "api";r=50;t=5` and `RateLimit-Policy: "api";q=100;w=60`.

use std::string::String;

use ::http::HeaderMap;
use sfv::{Integer, ItemSerializer, KeyRef, ListSerializer};

use super::dialect::RATELIMIT;
use super::quota::Quota;
use super::value;

/// All quotas.
pub(super) fn policy(quotas: &[Quota]) -> String {
    let mut field = String::new();
    let mut list = ListSerializer::with_buffer(&mut field);
    for quota in quotas {
        let item = list.bare_item(quota.quoted_name()).parameter(KeyRef::constant("q"), quota.limit());
        let item = match quota.quoted_unit() {
            Some(unit) => item.parameter(KeyRef::constant("qu"), unit),
            None => item,
        };
        let _ = item.parameter(KeyRef::constant("w"), quota.window());
    }
    field
}

/// The one that binds. A list of one item is written as the item.
pub(super) fn write(headers: &mut HeaderMap, quota: &Quota, remaining: Integer, reset: Integer) {
    let field = ItemSerializer::new()
        .bare_item(quota.quoted_name())
        .parameter(KeyRef::constant("r"), remaining)
        .parameter(KeyRef::constant("t"), reset)
        .finish();
    headers.insert(RATELIMIT.clone(), value(field));
}
