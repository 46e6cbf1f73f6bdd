//! Denials as bodies that programs can read: RFC 9457.

use core::fmt;
use core::time::Duration;
use std::format;
use std::string::String;

use ::http::{HeaderValue, StatusCode};

use super::fields::Quota;
use super::retry_after_seconds;
use crate::policy::{IdentityKind, Unit};

/// A response's status, and its body: `application/problem+json`.
///
/// ```
/// use std::time::Duration;
/// use admittance::http::{Problem, Quota};
///
/// let quota = Quota::new("api", 100, Duration::from_secs(60))?;
/// let problem = Problem::quota_exceeded([&quota], Duration::from_millis(4_200));
/// assert_eq!(problem.status(), 429);
/// assert!(problem.body().contains(r#""violated-policies":["api"]"#));
/// # Ok::<(), admittance::http::FieldsError>(())
/// ```
///
/// Headers are not its own: `Content-Type` is [`CONTENT_TYPE`](Self::CONTENT_TYPE); a 429 wants a `Retry-After`
/// ([`retry_after_seconds`]), 413 and 422 must not have one, and a 401 must have a `WWW-Authenticate`; all want
/// `Cache-Control: no-store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    body: String,
}

/// The type of a problem that its status says all of.
const BLANK: &str = "about:blank";

/// As draft-ietf-httpapi-ratelimit-headers registers it.
const QUOTA_EXCEEDED: &str = "https://iana.org/assignments/http-problem-types#quota-exceeded";

impl Problem {
    /// The body's media type: the value of `Content-Type`.
    pub const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");

    /// 429: denied by these quotas, for so long at least.
    #[must_use]
    pub fn quota_exceeded<'q>(violated: impl IntoIterator<Item = &'q Quota>, retry_after: Duration) -> Self {
        let mut policies = String::new();
        for quota in violated {
            policies.push_str(if policies.is_empty() { "\"" } else { ",\"" });
            policies.push_str(quota.name());
            policies.push('"');
        }
        let seconds = retry_after_seconds(retry_after);
        let detail = format_args!("The quota has room for this request in {seconds} s.");
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            QUOTA_EXCEEDED,
            "Quota Exceeded",
            detail,
            format_args!(",\"violated-policies\":[{policies}]"),
        )
    }

    /// The request costs more than the quota ever has, and no wait can help: 413 where a token is a byte, else 422.
    #[must_use]
    pub fn never(quota: &Quota, cost: u64) -> Self {
        let status = match quota.unit() {
            Unit::Byte => StatusCode::PAYLOAD_TOO_LARGE,
            Unit::Request | Unit::Named(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let (name, most) = (quota.name(), quota.capacity());
        let detail = format_args!(
            "This request costs {cost}, and the quota '{name}' never has more than {most}; no wait can help."
        );
        Self::blank(status, detail)
    }

    /// 503: what counts this quota cannot be asked, and nothing is admitted without it. Not a 429: the client did nothing
    /// wrong.
    #[must_use]
    pub fn degraded(quota: &Quota) -> Self {
        let name = quota.name();
        Self::blank(StatusCode::SERVICE_UNAVAILABLE, format_args!("The quota '{name}' cannot be counted at present."))
    }

    /// 401: the quota is each one's of a kind, and the request does not say who it is.
    #[must_use]
    pub fn unidentified(quota: &Quota, kind: IdentityKind) -> Self {
        let name = quota.name();
        let detail =
            format_args!("The quota '{name}' is of each {kind}, and the request has none that could be recognised.");
        Self::blank(StatusCode::UNAUTHORIZED, detail)
    }

    /// A problem without a type of its own has the title of its status.
    fn blank(status: StatusCode, detail: fmt::Arguments<'_>) -> Self {
        let title = match status {
            StatusCode::PAYLOAD_TOO_LARGE => "Content Too Large",
            StatusCode::UNPROCESSABLE_ENTITY => "Unprocessable Content",
            status => status.canonical_reason().unwrap_or_default(),
        };
        Self::new(status, BLANK, title, detail, format_args!(""))
    }

    /// Nothing is escaped, as nothing needs to be: what is not a literal of this file is a number, the name of an
    /// [`IdentityKind`], or a quota's name, which is of `a-z`, `0-9`, `-` and `_`.
    fn new(status: StatusCode, kind: &str, title: &str, detail: fmt::Arguments<'_>, more: fmt::Arguments<'_>) -> Self {
        let code = status.as_u16();
        let body = format!(r#"{{"type":"{kind}","title":"{title}","status":{code},"detail":"{detail}"{more}}}"#);
        Self { status, body }
    }

    /// The response's status.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The body, to send.
    #[must_use]
    pub fn into_body(self) -> String {
        self.body
    }
}
