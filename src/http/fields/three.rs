//! Three fields of a number each, with an `X-` or without.

use ::http::{HeaderMap, HeaderName};
use sfv::{Integer, ItemSerializer};

use super::value;

/// Limit, remaining and reset, under these names.
pub(super) fn write(headers: &mut HeaderMap, names: &'static [HeaderName; 3], numbers: [Integer; 3]) {
    for (name, number) in names.iter().zip(numbers) {
        headers.insert(name.clone(), value(ItemSerializer::new().bare_item(number).finish()));
    }
}
