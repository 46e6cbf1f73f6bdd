//! Limits of a shared store in a layer.

#[path = "../redis/support/server.rs"]
#[allow(dead_code, reason = "the tests of the library use all of it")]
mod server;

use std::time::Duration;

use admittance::Window;
use admittance::http::{ClientAddress, Dialect};
use admittance::identity::Account;
use admittance::policy::{IdentityKind, OnStoreFailure, Scope, Sharing};
use admittance::redis::{SharedLimiter, Store};
use admittance::tower::{RateLimitLayer, from_extension, from_peer};

use crate::support::{Front, addresses, field, peer, policy, request};
use server::Server;

fn shared(url: &str, on_store_failure: OnStoreFailure) -> SharedLimiter<Account> {
    let sharing = Sharing::new(on_store_failure).deadline(Duration::from_secs(10));
    let policy = policy("shared", IdentityKind::Account, Window::per_day(3)).scope(Scope::shared(sharing));
    SharedLimiter::new(policy.build().unwrap(), Store::open(url).unwrap()).unwrap()
}

#[tokio::test]
async fn two_servers_share_a_budget_and_give_back_together() {
    let server = Server::start();
    let layers = [(), ()].map(|()| {
        RateLimitLayer::builder()
            .limit_shared(shared(&server.url(), OnStoreFailure::Deny), from_extension::<Account>())
            .limit(addresses(Window::per_day(1)), from_peer(ClientAddress::peer(), peer))
            .build()
            .unwrap()
    });
    let mut fronts = layers.each_ref().map(Front::of);
    // Each server's address limit is its own: the second request to one is denied there, and given back to the account.
    let mut statuses = Vec::new();
    for (front, peer) in [(0, "192.0.2.1"), (0, "192.0.2.1"), (1, "192.0.2.1"), (1, "192.0.2.1"), (0, "192.0.2.2")] {
        statuses.push(fronts[front].status(request("/", Some("ann"), Some(peer))).await);
        // What is given back goes on its way while the answer does.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(statuses, [200, 429, 200, 429, 200]);
    assert_eq!(fronts[1].status(request("/", Some("ann"), Some("192.0.2.3"))).await, 429, "three were the budget");
}

#[tokio::test]
async fn a_store_that_is_gone_is_503_and_never_429_and_no_fields_are_made_up() {
    let gone = "redis://127.0.0.1:1/";
    let layer = RateLimitLayer::builder()
        .limit_shared(shared(gone, OnStoreFailure::Deny), from_extension::<Account>())
        .fields(Dialect::DraftList)
        .build()
        .unwrap();
    let mut front = Front::of(&layer);
    for _ in 0..5 {
        let answer = front.answer(request("/", Some("ann"), None)).await;
        assert_eq!(answer.status().as_u16(), 503);
        assert_eq!((field(answer.headers(), "ratelimit"), field(answer.headers(), "ratelimit-policy")), (None, None));
        assert_eq!(field(answer.headers(), "retry-after"), None);
    }
    let admits = RateLimitLayer::builder()
        .limit_shared(shared(gone, OnStoreFailure::Admit), from_extension::<Account>())
        .fields(Dialect::DraftList)
        .build()
        .unwrap();
    let mut front = Front::of(&admits);
    let answer = front.answer(request("/", Some("ann"), None)).await;
    assert_eq!((answer.status().as_u16(), field(answer.headers(), "ratelimit")), (200, None));
}
