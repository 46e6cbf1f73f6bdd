//! What `X-RateLimit-Reset` is where it is a time of day.

use core::time::Duration;
use std::time::SystemTime;

use crate::http::seconds_up;

/// Seconds since 1970 at which the wait is over, rounded up once. A clock before 1970 counts as 1970.
pub(super) fn unix_time(now: SystemTime, wait: Duration) -> u64 {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    seconds_up(now.saturating_add(wait))
}
