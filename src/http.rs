//! What HTTP says of limits: who the client is, and what a response tells it. Pure: no socket, no task, no clock but where
//! a dialect wants the time of day.
//!
//! ```
//! use std::time::Duration;
//! use admittance::http::{ClientAddress, Dialect, Forwarding, Quota, RateLimitFields, Standing, retry_after_seconds};
//! use http::{HeaderMap, HeaderValue};
//!
//! // Who asks: the proxies of this network are believed, and nobody else.
//! let client = ClientAddress::behind(["10.0.0.0/8".parse()?], Forwarding::XForwardedFor);
//! let mut request = HeaderMap::new();
//! request.insert("x-forwarded-for", HeaderValue::from_static("6.6.6.6, 198.51.100.4"));
//! let address = client.address("10.0.0.1".parse()?, &request);
//! assert_eq!(address.to_string(), "198.51.100.4");
//!
//! // What it is told.
//! let fields = RateLimitFields::new(Dialect::DraftList, [Quota::new("api", 100, Duration::from_secs(60))?])?;
//! let mut response = HeaderMap::new();
//! let wait = Duration::from_millis(4_200);
//! fields.write(&mut response, Standing { binding: 0, remaining: 0, reset_after: wait });
//! response.insert("retry-after", retry_after_seconds(wait).into());
//! assert_eq!(response["ratelimit-policy"], r#""api";q=100;w=60"#);
//! assert_eq!(response["ratelimit"], r#""api";r=0;t=5"#);
//! assert_eq!(response["retry-after"], "5");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | this one | [`retry_after_seconds`] |
//! | `client` | [`ClientAddress`]: who the client is behind proxies, and how their headers are read |
//! | `fields` | [`RateLimitFields`]: what is left, in each [`Dialect`] |
//! | `problem` | [`Problem`]: a denial as a body that programs can read |

mod client;
mod fields;
mod problem;

use core::time::Duration;

pub use client::{ClientAddress, Forwarding};
pub use fields::{Dialect, FieldsError, Quota, RateLimitFields, Reset, Standing, cors_expose};
/// A network, as `10.0.0.0/8`: `ipnet`'s type.
pub use ipnet::IpNet;
pub use problem::Problem;

/// The wait as a `Retry-After` in seconds (RFC 9110, section 10.2.3): whole ones, rounded up, and 1 at least, so that who
/// comes back then is not denied for having come too early.
///
/// ```
/// use std::time::Duration;
/// use admittance::http::retry_after_seconds;
/// assert_eq!(retry_after_seconds(Duration::from_nanos(1)), 1);
/// assert_eq!(retry_after_seconds(Duration::from_millis(1_001)), 2);
/// ```
#[must_use]
pub const fn retry_after_seconds(wait: Duration) -> u64 {
    let seconds = seconds_up(wait);
    if seconds == 0 { 1 } else { seconds }
}

/// Whole seconds, rounded up.
const fn seconds_up(time: Duration) -> u64 {
    time.as_secs().saturating_add((time.subsec_nanos() > 0) as u64)
}
