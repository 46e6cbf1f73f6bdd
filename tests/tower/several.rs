//! Several limits in one layer: all or nothing.

use std::sync::Arc;
use std::time::Duration;

use admittance::http::ClientAddress;
use admittance::identity::Account;
use admittance::policy::{IdentityKind, OnExhausted, Scope, Unit};
use admittance::tower::{RateLimitLayer, from_extension, from_peer};
use admittance::{Budget, Window};
use tower::Service;

use crate::support::{Front, accounts, addresses, peer, policy, request, still};

#[tokio::test]
async fn what_the_second_denies_is_not_charged_to_the_first() {
    let layer = RateLimitLayer::builder()
        .limit(addresses(Window::per_day(5)), from_peer(ClientAddress::peer(), peer))
        .limit(accounts(Window::per_day(2)), from_extension::<Account>())
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    for expected in [200, 200, 429, 429, 429, 429, 429, 429] {
        assert_eq!(front.status(request("/", Some("ann"), Some("192.0.2.1"))).await, expected);
    }
    // Two of five are gone from the address: three others may still come from there.
    for name in ["bob", "cid", "dan"] {
        assert_eq!(front.status(request("/", Some(name), Some("192.0.2.1"))).await, 200, "{name}");
    }
    assert_eq!(front.status(request("/", Some("eve"), Some("192.0.2.1"))).await, 429);
}

#[tokio::test]
async fn who_the_second_does_not_know_is_not_charged_to_the_first() {
    let layer = RateLimitLayer::builder()
        .limit(addresses(Window::per_day(1)), from_peer(ClientAddress::peer(), peer))
        .limit(accounts(Window::per_day(5)), from_extension::<Account>())
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    for _ in 0..3 {
        assert_eq!(front.status(request("/", None, Some("192.0.2.1"))).await, 401);
    }
    assert_eq!(front.status(request("/", Some("ann"), Some("192.0.2.1"))).await, 200);
}

#[tokio::test]
async fn a_limit_holds_on_its_routes_alone() {
    let api = policy("api", IdentityKind::Account, Window::per_day(1)).scope(Scope::process().routes(["/api"]));
    let layer = RateLimitLayer::builder()
        .limit(still::<Account>(api), from_extension::<Account>())
        .limit(accounts(Window::per_day(3)), from_extension::<Account>())
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    let mut statuses = Vec::new();
    for path in ["/api/x?y=/", "/api", "/apix", "/", "/", "/api"] {
        statuses.push(front.status(request(path, Some("ann"), None)).await);
    }
    assert_eq!(statuses, [200, 429, 200, 200, 429, 429]);
}

#[tokio::test]
async fn a_shadow_decides_and_never_blocks() {
    let shadow = policy("shadow", IdentityKind::Account, Window::per_day(1)).on_exhausted(OnExhausted::Shadow);
    let layer = RateLimitLayer::builder()
        .limit(still::<Account>(shadow), from_extension::<Account>())
        .cost(|_| 7)
        .limit(accounts(Window::per_day(4)), from_extension::<Account>())
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    for expected in [200, 200, 200, 200, 429] {
        assert_eq!(front.status(request("/", Some("ann"), None)).await, expected);
    }
}

#[tokio::test]
async fn a_cost_is_said_where_a_token_is_no_request() {
    let bytes = || policy("bytes", IdentityKind::Account, Budget::per_hour(1_000)).unit(Unit::Byte);
    let unsaid = RateLimitLayer::new(still::<Account>(bytes()), from_extension::<Account>()).unwrap_err();
    assert_eq!(unsaid.to_string(), "policy 'bytes': how many bytes does a request cost? Say cost after its limit");
    let layer = RateLimitLayer::builder()
        .limit(still::<Account>(bytes()), from_extension::<Account>())
        .cost(|seen| seen.headers().get("content-length").and_then(|it| it.to_str().ok()?.parse().ok()).unwrap_or(0))
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    let of = |bytes: u32| {
        let mut request = request("/", Some("ann"), None);
        request.headers_mut().insert("content-length", bytes.into());
        request
    };
    assert_eq!(front.status(of(900)).await, 200);
    assert_eq!(front.status(of(200)).await, 429);
    assert_eq!(front.status(of(100)).await, 200);
    assert_eq!(front.status(of(1_001)).await, 413, "never, whatever is waited for");
    assert_eq!(front.status(of(0)).await, 200);
}

#[tokio::test]
async fn answers_that_were_free_are_given_back() {
    let layer = RateLimitLayer::builder()
        .limit(addresses(Window::per_day(2)), from_peer(ClientAddress::peer(), peer))
        .limit(accounts(Window::per_day(2)), from_extension::<Account>())
        .refund_when(|status, _| status == 304)
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    let of = |status: u16| {
        let mut request = request("/", Some("ann"), Some("192.0.2.1"));
        request.headers_mut().insert("x-status", status.into());
        request
    };
    for expected in [304, 304, 304, 304, 200, 304, 500] {
        assert_eq!(front.status(of(expected)).await, expected);
    }
    assert_eq!(front.status(of(200)).await, 429);
}

#[tokio::test]
async fn what_is_given_back_goes_to_the_window_it_was_spent_in() {
    const DAY: Duration = Duration::from_secs(86_400);
    let limiter = accounts(Window::per_day(1));
    let layer = RateLimitLayer::builder()
        .limit(Arc::clone(&limiter), from_extension::<Account>())
        .refund_when(|status, _| status == 304)
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    let of = |status: u16| {
        let mut request = request("/", Some("ann"), None);
        request.headers_mut().insert("x-status", status.into());
        request
    };
    // Not the first window, whose number is that of no window at all.
    limiter.table().clock().advance(DAY);
    for expected in [304, 304, 304] {
        assert_eq!(front.status(of(expected)).await, expected);
    }
    let free = front.service.call(of(304));
    limiter.table().clock().advance(DAY);
    assert_eq!(front.status(of(200)).await, 200);
    // Yesterday's.
    assert_eq!(free.await.unwrap().status(), 304);
    assert_eq!(front.status(of(200)).await, 429);
}

#[test]
fn a_layer_that_cannot_be_is_refused() {
    let one = || accounts(Window::per_day(1));
    let who = from_extension::<Account>;
    let text = |builder: admittance::tower::RateLimitLayerBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(text(RateLimitLayer::builder()), "a layer has from 1 to 8 limits, not 0");
    assert_eq!(text(RateLimitLayer::builder().or_pass().limit(one(), who())), "or_pass: there is no limit before it");
    let twice = text(RateLimitLayer::builder().limit(one(), who()).limit(one(), who()));
    assert_eq!(twice, "policy 'accounts': is there twice; clients tell policies by name");
}
