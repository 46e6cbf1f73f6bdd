//! The dictionary form: `RateLimit: limit=100, remaining=50, reset=5` and `RateLimit-Policy: 100;w=60`.

use std::string::String;

use ::http::HeaderMap;
use sfv::{DictSerializer, Integer, KeyRef, ListSerializer};

use super::dialect::RATELIMIT;
use super::quota::Quota;
use super::value;

/// All quotas, without their names. These drafts tell them apart by their limits and allow no two of one limit, so of such
/// only the one of the longest time is told: who keeps to it keeps to the others.
pub(super) fn policy(quotas: &[Quota]) -> String {
    let mut field = String::new();
    let mut list = ListSerializer::with_buffer(&mut field);
    for (number, quota) in quotas.iter().enumerate() {
        let is_implied = quotas.iter().enumerate().any(|(other_number, other)| {
            other.limit() == quota.limit()
                && (other.window() > quota.window() || other.window() == quota.window() && other_number < number)
        });
        if !is_implied {
            let _ = list.bare_item(quota.limit()).parameter(KeyRef::constant("w"), quota.window());
        }
    }
    field
}

/// The one that binds.
pub(super) fn write(headers: &mut HeaderMap, quota: &Quota, remaining: Integer, reset: Integer) {
    let mut field = String::new();
    let mut dictionary = DictSerializer::with_buffer(&mut field);
    for (key, number) in [("limit", quota.limit()), ("remaining", remaining), ("reset", reset)] {
        let _ = dictionary.bare_item(KeyRef::constant(key), number);
    }
    headers.insert(RATELIMIT.clone(), value(field));
}
