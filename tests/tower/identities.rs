//! Who is asked about, and what happens to those of whom nothing is known.

use admittance::Window;
use admittance::http::ClientAddress;
use admittance::identity::Account;
use admittance::tower::{RateLimitLayer, Seen, from_extension, from_peer};

use crate::support::{Front, accounts, addresses, peer, request};

#[tokio::test]
async fn each_account_has_a_budget_and_who_has_none_is_answered_401() {
    let layer = RateLimitLayer::new(accounts(Window::per_day(2)), from_extension::<Account>()).unwrap();
    let mut front = Front::of(&layer);
    for name in ["ann", "bob"] {
        for expected in [200, 200, 429] {
            assert_eq!(front.status(request("/", Some(name), None)).await, expected, "{name}");
        }
    }
    for _ in 0..5 {
        assert_eq!(front.status(request("/", None, Some("192.0.2.1"))).await, 401);
    }
    assert_eq!(front.works.done(), 4);
}

#[tokio::test]
async fn who_has_no_account_can_have_an_address() {
    let layer = RateLimitLayer::builder()
        .limit(accounts(Window::per_day(2)), from_extension::<Account>())
        .or(addresses(Window::per_day(1)), from_peer(ClientAddress::peer(), peer))
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    let mut statuses = Vec::new();
    for (account, peer) in [
        (None, Some("192.0.2.1")),
        (None, Some("192.0.2.1")),
        (None, Some("192.0.2.2")),
        // An account is not asked about its address, though that is spent.
        (Some("ann"), Some("192.0.2.1")),
        // An account and an address that are spelled alike are not one.
        (Some("192.0.2.1"), Some("192.0.2.1")),
        (None, None),
    ] {
        statuses.push(front.status(request("/", account, peer)).await);
    }
    assert_eq!(statuses, [200, 429, 200, 200, 200, 401]);
}

#[tokio::test]
async fn who_is_let_pass_has_to_be_let_pass_by_name() {
    let layer = RateLimitLayer::builder()
        .limit(accounts(Window::per_day(1)), from_extension::<Account>())
        .or_pass()
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    for _ in 0..10 {
        assert_eq!(front.status(request("/", None, None)).await, 200);
    }
    assert_eq!(front.status(request("/", Some("ann"), None)).await, 200);
    assert_eq!(front.status(request("/", Some("ann"), None)).await, 429);
}

#[tokio::test]
async fn a_closure_can_say_who_asks() {
    let by_header = |seen: &Seen<'_>| {
        let name = seen.headers().get("x-account")?.to_str().ok()?.to_owned();
        Account::new(name).ok()
    };
    let layer = RateLimitLayer::new(accounts(Window::per_day(1)), by_header).unwrap();
    let mut front = Front::of(&layer);
    let of = |name: &str| {
        let mut request = request("/", None, None);
        request.headers_mut().insert("x-account", name.parse().unwrap());
        request
    };
    assert_eq!(front.status(of("ann")).await, 200);
    assert_eq!(front.status(of("ann")).await, 429);
    assert_eq!(front.status(of("")).await, 401, "an empty identity is none");
}
