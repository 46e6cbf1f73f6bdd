//! What a hot path has beyond yes and no: leases, waits, several limits at once.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use admittance::{AllOf, Clock, Lease, TokenBucket, TscClock};

use super::ours::{BenchClock, bucket};
use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;
use crate::shared;

/// A bucket whose callers each have a lease of 64.
#[derive(Debug)]
pub struct Leased<C: Clock>(TokenBucket<C>);

impl<C: BenchClock> Limiter for Leased<C> {
    const NAME: &'static str = "admittance, lease of 64";

    type Caller<'l>
        = Lease<&'l TokenBucket<C>, C>
    where
        C: 'l;

    fn build(plan: &Plan) -> Self {
        Self(bucket(plan))
    }

    fn caller(&self) -> Self::Caller<'_> {
        self.0.lease(64)
    }
}

impl<C: BenchClock> Caller for Lease<&TokenBucket<C>, C> {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.try_acquire(1).is_admitted()
    }
}

/// A bucket whose callers wait, and need not.
#[derive(Debug)]
pub struct Waiting(TokenBucket<TscClock>);

impl Limiter for Waiting {
    const NAME: &'static str = "admittance, wait_async";

    shared!();

    fn build(plan: &Plan) -> Self {
        Self(bucket(plan))
    }
}

impl Caller for &Waiting {
    #[inline(always)]
    fn admit(&self) -> bool {
        ready(self.0.wait_async(1)).is_some_and(|decision| decision.is_admitted())
    }
}

/// Two buckets at once: all or nothing.
#[derive(Debug)]
pub struct BothOf(TokenBucket<TscClock>, TokenBucket<TscClock>);

impl Limiter for BothOf {
    const NAME: &'static str = "admittance, all of two";

    shared!();

    fn build(plan: &Plan) -> Self {
        Self(bucket(plan), bucket(plan))
    }
}

impl Caller for &BothOf {
    #[inline(always)]
    fn admit(&self) -> bool {
        AllOf::new([&self.0, &self.1]).try_acquire(1).decision.is_admitted()
    }
}

/// Two buckets one after the other, which is not all or nothing.
#[derive(Debug)]
pub struct TwoCalls(TokenBucket<TscClock>, TokenBucket<TscClock>);

impl Limiter for TwoCalls {
    const NAME: &'static str = "admittance, two calls";

    shared!();

    fn build(plan: &Plan) -> Self {
        Self(bucket(plan), bucket(plan))
    }
}

impl Caller for &TwoCalls {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.0.try_acquire(1).is_admitted() && self.1.try_acquire(1).is_admitted()
    }
}

/// What a future says at once; `None` where it would have to wait.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}
