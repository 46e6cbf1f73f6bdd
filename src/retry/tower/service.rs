//! The service: a call of it is a call of the planner.

use core::fmt;
use core::mem;
use core::task::{Context, Poll};
use std::sync::Arc;

use http::{Request, Response};
use tower_service::Service;

use super::BoxError;
use super::future::RetryFuture;
use super::how::{GateKey, How};
use crate::clock::{Clock, TscClock};
use crate::retry::builder::Retry;
use crate::retry::random::{Random, SystemRandom};
use crate::retry::safety::Body;
use crate::retry::unanswered::Unanswered;

/// Sends each request as often as the planner says, and not before it says. From [`RetryLayer`](super::RetryLayer).
///
/// It is ready when the service inside is, and the first attempt goes to the one that was. Before each further attempt a clone
/// is asked to be ready, after the wait and not before: **nothing is reserved while a call waits**. The planner is asked
/// once more then, because being ready may have taken long.
#[must_use = "a service does nothing until it is called"]
pub struct RetryService<S, B, C = TscClock, R = SystemRandom> {
    inner: S,
    retry: Retry<C, R>,
    how: Arc<How<B>>,
}

impl<S, B, C, R> RetryService<S, B, C, R> {
    pub(super) fn new(inner: S, retry: Retry<C, R>, how: Arc<How<B>>) -> Self {
        Self { inner, retry, how }
    }

    /// The planner that it follows.
    #[must_use]
    pub const fn retry(&self) -> &Retry<C, R> {
        &self.retry
    }
}

impl<S, T, B, C, R> Service<Request<B>> for RetryService<S, B, C, R>
where
    S: Service<Request<B>, Response = Response<T>> + Clone,
    S::Error: Into<BoxError>,
    C: Clock,
    R: Random,
{
    type Response = Response<T>;
    type Error = Unanswered<BoxError>;
    type Future = RetryFuture<S, B, C, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(|error| Unanswered::new(Some(error.into()), None, 0))
    }

    /// # Panics
    ///
    /// Its future, when it has to wait outside a tokio runtime with time enabled.
    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        let spare = (self.how.copy)(&body);
        let repeats = if spare.is_some() { Body::Repeatable } else { Body::Once };
        let safety = (self.how.safety)(&parts);
        let key = GateKey { gate_key: &*self.how.gate_key, parts: &parts };
        let attempts = self.retry.start_as(&key, safety, repeats);
        if let Some(key) = attempts.key() {
            self.how.put_key(&mut parts, key);
        }
        // The one that is ready goes with the call; its clone may not be.
        let clone = self.inner.clone();
        let ready = mem::replace(&mut self.inner, clone);
        RetryFuture::new(ready, Arc::clone(&self.how), attempts, parts, [Some(body), spare])
    }
}

impl<S: Clone, B, C, R> Clone for RetryService<S, B, C, R> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), retry: self.retry.clone(), how: Arc::clone(&self.how) }
    }
}

impl<S: fmt::Debug, B, C, R> fmt::Debug for RetryService<S, B, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryService")
            .field("inner", &self.inner)
            .field("retry", &self.retry)
            .field("how", &self.how)
            .finish()
    }
}
