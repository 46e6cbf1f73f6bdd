//! What is answered to a request that may not go.

use core::time::Duration;

use http::{HeaderValue, Response, StatusCode, header};

use crate::http::{Problem, retry_after_seconds};
use crate::policy::Policy;

/// Why a request may not go, as far as its client is told.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Refusal<'p> {
    /// The budget is spent: it may go after this wait.
    Exhausted {
        /// What the policy is, that bound.
        policy: &'p Policy,
        /// The wait. Whole seconds, rounded up and at least one, in `Retry-After`.
        retry_after: Duration,
    },
    /// It costs more than the budget ever holds: no wait can help.
    TooLarge {
        /// What the policy is, that bound.
        policy: &'p Policy,
    },
    /// The store of the budgets is slow or gone, and the policy denies then.
    StoreDown {
        /// What the policy is, that bound.
        policy: &'p Policy,
    },
    /// It has no identity whose budget could be asked.
    Anonymous,
}

/// Makes an answer of a refusal.
pub trait Respond<B>: Send + Sync + 'static {
    /// The whole answer, but for the `RateLimit` fields, which the layer adds where it is told to.
    fn respond(&self, refusal: &Refusal<'_>) -> Response<B>;
}

/// Answers with `application/problem+json` (RFC 9457), and a status that says what to do: 429 with `Retry-After` (RFC 6585, RFC
/// 9110), 413 for what is never admitted, 503 where the store is down, 401 where nobody knows who asks. None is to be
/// kept by a cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProblemJson {
    _private: (),
}

impl<B: From<String>> Respond<B> for ProblemJson {
    fn respond(&self, refusal: &Refusal<'_>) -> Response<B> {
        let (problem, retry_after) = match refusal {
            Refusal::Exhausted { policy, retry_after } => {
                let seconds = retry_after_seconds(*retry_after);
                (Problem::exhausted(policy.name(), seconds), Some(seconds))
            }
            Refusal::TooLarge { policy } => (Problem::too_large(policy.name(), policy.rule().capacity()), None),
            Refusal::StoreDown { policy } => (Problem::store_down(policy.name()), None),
            Refusal::Anonymous => (Problem::anonymous(), None),
        };
        let mut response = Response::new(B::from(problem.body()));
        *response.status_mut() = problem.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(Problem::CONTENT_TYPE));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
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
            Refusal::TooLarge { policy } => {
                (RESOURCE_EXHAUSTED, std::format!("costs more than quota '{}' ever holds", policy.name()), None)
            }
            Refusal::StoreDown { .. } => (UNAVAILABLE, "quotas cannot be looked at".into(), None),
            Refusal::Anonymous => (UNAUTHENTICATED, "nobody knows whose quota this is".into(), None),
        };
        let mut response = Response::new(B::default());
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert("grpc-status", HeaderValue::from(u16::from(code)));
        if let Ok(message) = HeaderValue::from_str(&message) {
            // Names and our own words: nothing that would have to be percent-encoded.
            headers.insert("grpc-message", message.clone());
        }
        if let (Some(wait), Ok(details)) = (
            retry_after,
            HeaderValue::from_str(&super::grpc::retry_info(code, &message, retry_after.unwrap_or_default())),
        ) {
            let _ = wait;
            headers.insert("grpc-status-details-bin", details);
        }
        response
    }
}
