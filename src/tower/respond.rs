//! What is answered to a request that may not go.

use core::time::Duration;
use std::string::String;

use http::{HeaderValue, Response, StatusCode, header};

use crate::http::{Problem, Quota, retry_after_seconds};
use crate::policy::Policy;

/// Why a request may not go, as far as its client is told. The policy is the one that bound.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Refusal<'p> {
    /// The budget is spent: it may go after this wait. (Whole seconds, rounded up and at least one, in `Retry-After`.)
    Exhausted {
        /// What says so.
        policy: &'p Policy,
        /// The wait.
        retry_after: Duration,
    },
    /// It costs more than the budget ever holds: no wait can help.
    Never {
        /// What says so.
        policy: &'p Policy,
        /// What it costs.
        cost: u64,
    },
    /// The store of the budgets is slow or gone, and the policy denies then.
    Degraded {
        /// What says so.
        policy: &'p Policy,
    },
    /// It has no identity whose budget could be asked.
    Unidentified {
        /// Of the first limit that knows nobody.
        policy: &'p Policy,
    },
}

/// Makes an answer of a refusal.
pub trait Respond<B>: Send + Sync + 'static {
    /// The whole answer, but for the `RateLimit` fields, which the layer adds where it is told to.
    fn respond(&self, refusal: &Refusal<'_>) -> Response<B>;
}

/// Answers with `application/problem+json` (RFC 9457), and a status that says what to do: 429 with `Retry-After` (RFC 6585, RFC
/// 9110), 413 or 422 for what is never admitted, 503 where the store is down, 401 where nobody knows who asks. None is to be
/// kept by a cache.
#[derive(Clone, Debug, Default)]
pub struct ProblemJson {
    challenge: Option<HeaderValue>,
}

impl ProblemJson {
    /// With a challenge in the 401s, as `Bearer`: RFC 9110, section 15.5.2, wants one, and only you know which.
    #[must_use]
    pub fn with_challenge(challenge: HeaderValue) -> Self {
        Self { challenge: Some(challenge) }
    }
}

impl<B: From<String>> Respond<B> for ProblemJson {
    fn respond(&self, refusal: &Refusal<'_>) -> Response<B> {
        let (problem, field) = match refusal {
            Refusal::Exhausted { policy, retry_after } => {
                let seconds = HeaderValue::from(retry_after_seconds(*retry_after));
                (Problem::quota_exceeded([&Quota::of(policy)], *retry_after), Some((header::RETRY_AFTER, seconds)))
            }
            Refusal::Never { policy, cost } => (Problem::never(&Quota::of(policy), *cost), None),
            Refusal::Degraded { policy } => (Problem::degraded(&Quota::of(policy)), None),
            Refusal::Unidentified { policy } => {
                let challenge = self.challenge.clone().map(|challenge| (header::WWW_AUTHENTICATE, challenge));
                (Problem::unidentified(&Quota::of(policy), policy.identity()[0]), challenge)
            }
        };
        let status = problem.status();
        let mut response = Response::new(B::from(problem.into_body()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, Problem::CONTENT_TYPE);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some((name, value)) = field {
            headers.insert(name, value);
        }
        response
    }
}

/// Answers a gRPC call: status `RESOURCE_EXHAUSTED` with a `RetryInfo` where a wait helps, `UNAVAILABLE` where the store is down,
/// `UNAUTHENTICATED` where nobody knows who asks. A response of header fields alone, as gRPC has it for calls that end
/// before they begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grpc {
    _private: (),
}

/// The codes of gRPC that are used here.
const RESOURCE_EXHAUSTED: u8 = 8;
const UNAVAILABLE: u8 = 14;
const UNAUTHENTICATED: u8 = 16;

impl<B: Default> Respond<B> for Grpc {
    fn respond(&self, refusal: &Refusal<'_>) -> Response<B> {
        let (code, message, retry_after) = match refusal {
            Refusal::Exhausted { policy, retry_after } => {
                (RESOURCE_EXHAUSTED, std::format!("quota '{}' is spent", policy.name()), Some(*retry_after))
            }
            Refusal::Never { policy, .. } => {
                (RESOURCE_EXHAUSTED, std::format!("costs more than quota '{}' ever holds", policy.name()), None)
            }
            Refusal::Degraded { .. } => (UNAVAILABLE, "quotas cannot be looked at".into(), None),
            Refusal::Unidentified { .. } => (UNAUTHENTICATED, "nobody knows whose quota this is".into(), None),
        };
        let mut response = Response::new(B::default());
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert("grpc-status", HeaderValue::from(u16::from(code)));
        // Names and our own words: nothing that would have to be percent-encoded.
        if let Ok(message) = HeaderValue::from_str(&message) {
            headers.insert("grpc-message", message);
        }
        if let Some(wait) = retry_after
            && let Ok(details) = HeaderValue::from_str(&super::grpc::retry_info(code, &message, wait))
        {
            headers.insert("grpc-status-details-bin", details);
        }
        response
    }
}
