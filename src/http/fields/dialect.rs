//! Which fields there are.

use core::slice;

use ::http::{HeaderName, HeaderValue};

/// How limits are told. Clients understand one of these or another; none is a standard yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The list form, of draft-ietf-httpapi-ratelimit-headers-08 and later (as -10 has it): `RateLimit: "api";r=50;t=5` and
    /// `RateLimit-Policy: "api";q=100;w=60`. A unit other than requests is told as `qu`.
    DraftList,
    /// The dictionary form, of -07: `RateLimit: limit=100, remaining=50, reset=5` and `RateLimit-Policy: 100;w=60`.
    DraftDictionary,
    /// The form of three fields, of -06 and before: `RateLimit-Limit: 100`, `RateLimit-Remaining: 50`, `RateLimit-Reset: 5`,
    /// and `RateLimit-Policy: 100;w=60`.
    DraftThreeFields,
    /// What was there before the drafts: `X-RateLimit-Limit`, `X-RateLimit-Remaining`, `X-RateLimit-Reset`. Services differ in
    /// what the last one means, so it has to be said.
    Legacy {
        /// What `X-RateLimit-Reset` is.
        reset: Reset,
    },
}

/// What `X-RateLimit-Reset` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reset {
    /// Seconds from now. Clocks need not agree.
    Seconds,
    /// Seconds since 1970, by the server's clock.
    UnixTime,
}

pub(super) static POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

pub(super) static RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// Limit, remaining, reset.
pub(super) static THREE: [HeaderName; 3] = [
    HeaderName::from_static("ratelimit-limit"),
    HeaderName::from_static("ratelimit-remaining"),
    HeaderName::from_static("ratelimit-reset"),
];

/// As [`THREE`], with an `X-`.
pub(super) static LEGACY: [HeaderName; 3] = [
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
];

impl Dialect {
    /// The names of its fields.
    pub fn names(self) -> impl Iterator<Item = &'static HeaderName> {
        let (policy, rest): (Option<_>, &[_]) = match self {
            Self::DraftList | Self::DraftDictionary => (Some(&POLICY), slice::from_ref(&RATELIMIT)),
            Self::DraftThreeFields => (Some(&POLICY), &THREE),
            Self::Legacy { .. } => (None, &LEGACY),
        };
        policy.into_iter().chain(rest)
    }
}

/// The value of `Access-Control-Expose-Headers` that lets a page of another origin read `Retry-After` and the dialect's
/// fields. A browser shows it none of them otherwise, and a client that cannot see the wait retries at once.
///
/// ```
/// use admittance::http::{Dialect, cors_expose};
/// assert_eq!(cors_expose(Dialect::DraftList), "retry-after, ratelimit-policy, ratelimit");
/// ```
#[must_use]
pub fn cors_expose(dialect: Dialect) -> HeaderValue {
    HeaderValue::from_static(match dialect {
        Dialect::DraftList | Dialect::DraftDictionary => "retry-after, ratelimit-policy, ratelimit",
        Dialect::DraftThreeFields => {
            "retry-after, ratelimit-policy, ratelimit-limit, ratelimit-remaining, ratelimit-reset"
        }
        Dialect::Legacy { .. } => "retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset",
    })
}
