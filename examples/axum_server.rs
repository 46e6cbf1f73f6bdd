//! A server that says no well: five requests a second for each account, and for each address that has none.
//!
//! ```text
//! cargo run --example axum_server --features tower              # listens on 127.0.0.1:3000
//! cargo run --example reqwest_client --features retry-reqwest   # twenty callers who hear it
//! curl -i http://127.0.0.1:3000/work -H 'x-account: ann'
//! ```

use std::error::Error;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use admittance::http::{ClientAddress, Dialect, Forwarding};
use admittance::identity::{Account, Address};
use admittance::policy::{IdentityKind, OnExhausted, Policy, PolicyError, Scope, Unit};
use admittance::tower::{RateLimitLayer, from_extension, from_peer};
use admittance::{Budget, Limiter, Overflow};
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use axum::{Router, serve};

fn policy(name: &str, kind: IdentityKind) -> Result<Policy, PolicyError> {
    Policy::builder(name)
        .unit(Unit::Request)
        .identity([kind])
        .scope(Scope::process().routes(["/work"]))
        .rule(Budget::per_second(5))
        .on_exhausted(OnExhausted::Deny)
        .keys(100_000, Overflow::Deny)
        .build()
}

static DONE: AtomicU64 = AtomicU64::new(0);

/// Stands for authentication: a real one would not believe a header.
async fn who(mut request: Request, next: Next) -> Response {
    let account = request.headers().get("x-account").and_then(|name| Account::new(name.to_str().ok()?.to_owned()).ok());
    if let Some(account) = account {
        request.extensions_mut().insert(account);
    }
    next.run(request).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let accounts: Limiter<Account> = Limiter::new(policy("accounts", IdentityKind::Account)?)?;
    let strangers: Limiter<Address> = Limiter::new(policy("strangers", IdentityKind::Address)?)?;
    // Only a proxy on this machine or in this network is believed about whom it asks for.
    let client = ClientAddress::behind(["127.0.0.0/8".parse()?, "10.0.0.0/8".parse()?], Forwarding::XForwardedFor);
    let peer =
        |extensions: &http::Extensions| extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let limits = RateLimitLayer::builder()
        .limit(accounts, from_extension::<Account>())
        .or(strangers, from_peer(client, peer))
        .fields(Dialect::DraftList)
        .build()?;

    let work = || async { format!("piece of work number {}\n", DONE.fetch_add(1, Ordering::Relaxed)) };
    // The last layer is the first to see a request: who asks is found out before it is limited.
    let app = Router::new().route("/work", get(work)).layer(limits).layer(from_fn(who));

    let address: SocketAddr = std::env::args().nth(1).as_deref().unwrap_or("127.0.0.1:3000").parse()?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}/work", listener.local_addr()?);
    serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
