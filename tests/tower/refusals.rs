//! What is answered to a request that may not go.

use std::time::Duration;

use admittance::Budget;
use admittance::identity::Account;
use admittance::tower::{Grpc, RateLimitLayer, Refusal, Respond, from_extension};
use http::Response;
use serde_json::Value;

use crate::support::{Front, accounts, field, request};

#[tokio::test]
async fn a_denial_is_429_with_the_wait_in_whole_seconds_rounded_up() {
    for (millis, seconds) in [(1, "1"), (999, "1"), (1_000, "1"), (1_001, "2"), (59_001, "60")] {
        let budget = Budget::new(1, 1, Duration::from_millis(millis)).unwrap();
        let mut front = Front::of(&RateLimitLayer::new(accounts(budget), from_extension::<Account>()).unwrap());
        assert_eq!(front.status(request("/", Some("ann"), None)).await, 200);
        let denied = front.answer(request("/", Some("ann"), None)).await;
        let headers = denied.headers();
        assert_eq!((denied.status().as_u16(), field(headers, "retry-after")), (429, Some(seconds)));
        assert_eq!(field(headers, "cache-control"), Some("no-store"));
        assert_eq!(field(headers, "content-type"), Some("application/problem+json"));
        let problem: Value = serde_json::from_str(denied.body()).unwrap();
        assert_eq!(problem["status"], 429);
        assert!(denied.body().contains("accounts"), "{problem}");
    }
}

#[tokio::test]
async fn what_is_never_admitted_has_no_retry_after() {
    let layer = RateLimitLayer::builder()
        .limit(accounts(Budget::per_second(5)), from_extension::<Account>())
        .cost(|_| 6)
        .build()
        .unwrap();
    let never = Front::of(&layer).answer(request("/", Some("ann"), None)).await;
    assert_eq!((never.status().as_u16(), field(never.headers(), "retry-after")), (422, None));
    let problem: Value = serde_json::from_str(never.body()).unwrap();
    assert_eq!(problem["status"], 422);
}

#[tokio::test]
async fn who_is_not_known_is_told_so() {
    let layer = RateLimitLayer::new(accounts(Budget::per_second(5)), from_extension::<Account>()).unwrap();
    let anonymous = Front::of(&layer).answer(request("/", None, None)).await;
    assert_eq!((anonymous.status().as_u16(), field(anonymous.headers(), "retry-after")), (401, None));
    let problem: Value = serde_json::from_str(anonymous.body()).unwrap();
    assert_eq!(problem["status"], 401);
}

/// Bytes as protobuf's own compiler reads them: `protoc --decode google.rpc.Status`, and `--decode google.rpc.RetryInfo`
/// within.
#[tokio::test]
async fn grpc_is_told_resource_exhausted_and_when_to_come_back() {
    let layer = RateLimitLayer::builder()
        .limit(accounts(Budget::new(1, 1, Duration::from_millis(2_500)).unwrap()), from_extension::<Account>())
        .respond(Grpc::default())
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    assert_eq!(front.status(request("/", Some("ann"), None)).await, 200);
    let denied = front.answer(request("/", Some("ann"), None)).await;
    let headers = denied.headers();
    assert_eq!((denied.status().as_u16(), field(headers, "content-type")), (200, Some("application/grpc")));
    assert_eq!(field(headers, "grpc-status"), Some("8"));
    assert_eq!(field(headers, "grpc-message"), Some("quota 'accounts' is spent"));
    assert_eq!(field(headers, "grpc-status-details-bin"), Some(DETAILS));
    let anonymous = front.answer(request("/", None, None)).await;
    assert_eq!(field(anonymous.headers(), "grpc-status"), Some("16"));
    assert_eq!(field(anonymous.headers(), "grpc-status-details-bin"), None);
}

/// Code 8, the message, and a `RetryInfo` of 2 s and 500 000 000 ns.
const DETAILS: &str = "CAgSGXF1b3RhICdhY2NvdW50cycgaXMgc3BlbnQaNgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIKCggIAhCAyrXuAQ";

#[tokio::test]
async fn an_answer_can_be_in_ones_own_words() {
    struct Plain;
    impl Respond<String> for Plain {
        fn respond(&self, refusal: &Refusal<'_>) -> Response<String> {
            let text = match refusal {
                Refusal::Exhausted { policy, retry_after } => format!("{}: {retry_after:?}", policy.name()),
                other => format!("{other:?}"),
            };
            Response::builder().status(420).body(text).unwrap()
        }
    }
    let layer = RateLimitLayer::builder()
        .limit(accounts(Budget::per_second(2).with_capacity(1)), from_extension::<Account>())
        .respond(Plain)
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    assert_eq!(front.status(request("/", Some("ann"), None)).await, 200);
    let denied = front.answer(request("/", Some("ann"), None)).await;
    assert_eq!((denied.status().as_u16(), denied.body().as_str()), (420, "accounts: 500ms"));
}
