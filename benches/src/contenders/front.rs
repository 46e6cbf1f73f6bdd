//! Layers of tower in front of a service that does nothing, by the address of the peer: ours and `tower_governor`'s.
//!
//! A call makes a request with a peer, as a server would have, sends it through, and looks at the answer's status.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::task::{Context, Poll};

use admittance::Overflow;
use admittance::http::{ClientAddress, Dialect};
use admittance::identity::Address;
use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
use admittance::tower::{RateLimitLayer, from_peer};
use axum::body::Body;
use axum::extract::ConnectInfo;
use governor::middleware::NoOpMiddleware;
use http::{Extensions, Request, Response};
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;
use tower_governor::key_extractor::PeerIpKeyExtractor;
use tower_layer::Layer;
use tower_service::Service;

use super::crowd::budget;
use super::hot;
use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;

/// The service behind.
#[derive(Clone, Debug)]
pub struct Nothing;

impl Service<Request<()>> for Nothing {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(Response::new(Body::empty())))
    }
}

/// A service as one thread calls it.
pub struct Door<S>(RefCell<S>);

impl<S> fmt::Debug for Door<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Door").finish_non_exhaustive()
    }
}

impl<S> Caller for Door<S>
where
    S: Service<Request<()>, Response = Response<Body>, Error = Infallible>,
{
    #[inline(always)]
    fn admit(&self) -> bool {
        let mut request = Request::new(());
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([192, 0, 2, 1], 4711))));
        let answer = hot::ready(self.0.borrow_mut().call(request));
        answer.is_some_and(|answer| answer.is_ok_and(|response| response.status().is_success()))
    }
}

/// Our layer, by the peer's address.
pub(super) fn ours(plan: &Plan, fields: bool) -> RateLimitLayer {
    let policy = Policy::builder("peers")
        .unit(Unit::Request)
        .identity([IdentityKind::Address])
        .scope(Scope::process())
        .rule(budget(plan))
        .on_exhausted(OnExhausted::Deny)
        .keys(1_000, Overflow::Deny)
        .build()
        .expect("it says everything");
    let limiter: admittance::Limiter<Address> = admittance::Limiter::new(policy).expect("a small table");
    let peer = |extensions: &Extensions| extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let builder = RateLimitLayer::builder().limit(limiter, from_peer(ClientAddress::peer(), peer));
    let builder = if fields { builder.fields(Dialect::DraftList) } else { builder };
    builder.build().expect("one limit")
}

/// Our layer in front of nothing.
#[derive(Debug)]
pub struct Front<const FIELDS: bool>(RateLimitLayer);

impl<const FIELDS: bool> Limiter for Front<FIELDS> {
    const NAME: &'static str = if FIELDS { "admittance layer, fields" } else { "admittance layer" };

    type Caller<'l> = Door<admittance::tower::RateLimit<Nothing>>;

    fn build(plan: &Plan) -> Self {
        Self(ours(plan, FIELDS))
    }

    fn caller(&self) -> Self::Caller<'_> {
        Door(RefCell::new(self.0.layer(Nothing)))
    }
}

pub(super) type Peers = GovernorLayer<PeerIpKeyExtractor, NoOpMiddleware<governor::clock::QuantaInstant>, Body>;

/// Theirs, by the peer's address.
pub(super) fn theirs(plan: &Plan) -> Peers {
    let mut builder = GovernorConfigBuilder::default();
    let config = builder
        .period(plan.interval())
        .burst_size(NonZeroU32::new(plan.capacity).expect("a plan has a capacity").get())
        .finish()
        .expect("a plan's tokens take time");
    GovernorLayer::new(Arc::new(config))
}

/// `tower_governor`'s in front of nothing.
pub struct GovernorFront(Peers);

impl fmt::Debug for GovernorFront {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GovernorFront").finish_non_exhaustive()
    }
}

impl Limiter for GovernorFront {
    const NAME: &'static str = "tower_governor";

    type Caller<'l> = Door<<Peers as Layer<Nothing>>::Service>;

    fn build(plan: &Plan) -> Self {
        Self(theirs(plan))
    }

    fn caller(&self) -> Self::Caller<'_> {
        Door(RefCell::new(self.0.layer(Nothing)))
    }
}
