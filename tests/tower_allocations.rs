//! A request that is admitted by limits of this process passes the layer without an allocation.
#![cfg(feature = "tower")]

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use admittance::identity::Account;
use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
use admittance::tower::{RateLimitLayer, from_extension};
use admittance::{Budget, Limiter, Overflow};
use http::{Request, Response};
use tower::{Layer, Service};

#[derive(Clone)]
struct Nothing;

impl Service<Request<()>> for Nothing {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        ready(Ok(Response::new(String::new())))
    }
}

fn accounts(name: &str) -> Limiter<Account> {
    let policy = Policy::builder(name)
        .unit(Unit::Request)
        .identity([IdentityKind::Account])
        .scope(Scope::process().routes(["/api"]))
        .rule(Budget::per_hour(10))
        .on_exhausted(OnExhausted::Deny)
        .keys(100, Overflow::Deny)
        .build()
        .unwrap();
    Limiter::new(policy).unwrap()
}

#[test]
fn an_admitted_request_allocates_nothing_in_the_layer() {
    let who = from_extension::<Account>;
    let one = RateLimitLayer::new(accounts("one"), who()).unwrap();
    let two = RateLimitLayer::builder()
        .limit(accounts("one"), who())
        .limit(accounts("two"), who())
        .refund_when(|status, _| status == 304)
        .build()
        .unwrap();
    for layer in [one, two] {
        let mut service = layer.layer(Nothing);
        let mut statuses = Vec::with_capacity(20);
        for call in 0..12 {
            let mut request = Request::builder().uri("/api/x").body(()).unwrap();
            request.extensions_mut().insert(Account::new("ann".to_owned()).unwrap());
            let allocated = allocation_counter::measure(|| {
                let mut answer = pin!(service.call(request));
                let Poll::Ready(Ok(response)) = answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                    panic!("a limit of this process is never waited for")
                };
                statuses.push(response.status().as_u16());
            });
            if call < 10 {
                assert_eq!(allocated.count_total, 0, "call {call}");
            } else {
                assert!(allocated.count_total > 0, "a refusal is written out: the counter counts");
            }
        }
        assert_eq!(statuses, [[200; 10].as_slice(), &[429; 2]].concat());
    }
}
