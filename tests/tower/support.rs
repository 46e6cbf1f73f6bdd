//! What the tests have in common.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use admittance::identity::{Account, Address, Identity};
use admittance::policy::{IdentityKind, OnExhausted, Policy, PolicyBuilder, Scope, Unit};
use admittance::tower::{RateLimit, RateLimitLayer, Respond};
use admittance::{Limiter, ManualClock, Overflow, Rule};
use http::{Extensions, HeaderMap, Request, Response, StatusCode};
use tower::{Layer, Service, ServiceExt};

pub(crate) fn policy(name: &str, kind: IdentityKind, rule: impl Into<Rule>) -> PolicyBuilder {
    Policy::builder(name)
        .unit(Unit::Request)
        .identity([kind])
        .scope(Scope::process())
        .rule(rule)
        .on_exhausted(OnExhausted::Deny)
        .keys(1_000, Overflow::Deny)
}

/// A limiter whose time stands still until the test moves it.
pub(crate) fn still<I: Identity>(policy: PolicyBuilder) -> Arc<Limiter<I, Arc<ManualClock>>> {
    Arc::new(Limiter::with_clock(policy.build().unwrap(), Arc::new(ManualClock::new())).unwrap())
}

pub(crate) fn accounts(rule: impl Into<Rule>) -> Arc<Limiter<Account, Arc<ManualClock>>> {
    still(policy("accounts", IdentityKind::Account, rule))
}

pub(crate) fn addresses(rule: impl Into<Rule>) -> Arc<Limiter<Address, Arc<ManualClock>>> {
    still(policy("addresses", IdentityKind::Address, rule))
}

/// A service that answers with the status that the request asks for in `x-status`, and counts.
#[derive(Clone, Default)]
pub(crate) struct Works(pub(crate) Arc<AtomicU32>);

impl Works {
    pub(crate) fn done(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Service<Request<()>> for Works {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        self.0.fetch_add(1, Ordering::SeqCst);
        let mut response = Response::new("work".to_owned());
        if let Some(status) = request.headers().get("x-status") {
            *response.status_mut() = StatusCode::from_bytes(status.as_bytes()).unwrap();
        }
        ready(Ok(response))
    }
}

/// A request of an account, an address, or neither.
pub(crate) fn request(path: &str, account: Option<&str>, peer: Option<&str>) -> Request<()> {
    let mut request = Request::builder().uri(path).body(()).unwrap();
    if let Some(account) = account {
        request.extensions_mut().insert(Account::new(account.to_owned()).unwrap());
    }
    if let Some(peer) = peer {
        request.extensions_mut().insert(SocketAddr::new(peer.parse().unwrap(), 4711));
    }
    request
}

pub(crate) fn peer(extensions: &Extensions) -> Option<std::net::IpAddr> {
    extensions.get::<SocketAddr>().map(SocketAddr::ip)
}

pub(crate) struct Front<R> {
    pub(crate) service: RateLimit<Works, R>,
    pub(crate) works: Works,
}

impl<R: Respond<String>> Front<R> {
    pub(crate) fn of(layer: &RateLimitLayer<R>) -> Self {
        let works = Works::default();
        Self { service: layer.layer(works.clone()), works }
    }

    pub(crate) async fn answer(&mut self, request: Request<()>) -> Response<String> {
        self.service.ready().await.unwrap().call(request).await.unwrap()
    }

    pub(crate) async fn status(&mut self, request: Request<()>) -> u16 {
        self.answer(request).await.status().as_u16()
    }
}

pub(crate) fn field<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}
