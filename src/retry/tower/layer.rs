//! The layer, and what it asks for.

use core::fmt;
use core::hash::Hash;
use std::error::Error;
use std::sync::Arc;

use http::header::HeaderName;
use http::request::Parts;
use tower_layer::Layer;

use super::how::{How, erased};
use super::service::RetryService;
use crate::clock::TscClock;
use crate::retry::builder::Retry;
use crate::retry::random::SystemRandom;
use crate::retry::safety::Safety;

/// Puts a [`RetryService`] around a client. A clone shares the planner.
///
/// ```
/// use std::time::Duration;
/// use admittance::retry::tower::{RetryLayer, by_method};
/// use admittance::retry::{Retry, Safety};
///
/// let retry = Retry::builder(3, Duration::from_secs(10)).build()?;
/// let searches = RetryLayer::<String>::new(retry.clone(), |parts| match parts.uri.path() {
///     "/search" => Safety::Asserted("it changes nothing"),
///     _ => by_method(parts),
/// });
///
/// // A body of one's own that can be copied only sometimes; callers that the server knows by their token.
/// enum Upload { Bytes(Vec<u8>), Pipe }
/// let uploads = RetryLayer::with_copy(retry, by_method, |body: &Upload| match body {
///     Upload::Bytes(bytes) => Some(Upload::Bytes(bytes.clone())),
///     Upload::Pipe => None,
/// })
/// .gate_key(|parts| (parts.uri.host().map(str::to_owned), parts.headers.get("authorization").cloned()));
/// # let _ = (searches, uploads);
/// # Ok::<(), admittance::retry::RetryError>(())
/// ```
#[must_use = "a layer does nothing until it is put around a service"]
pub struct RetryLayer<B, C = TscClock, R = SystemRandom> {
    retry: Retry<C, R>,
    how: How<B>,
}

impl<B, C, R> RetryLayer<B, C, R> {
    /// For requests whose bodies can be cloned. `safety` says of each request why it may be sent twice, or
    /// [`Safety::NotSent`]; there is no default. [`by_method`](super::by_method) is one that reads the head.
    pub fn new(retry: Retry<C, R>, safety: impl Fn(&Parts) -> Safety + Send + Sync + 'static) -> Self
    where
        B: Clone,
    {
        Self::with_copy(retry, safety, |body: &B| Some(body.clone()))
    }

    /// For requests whose bodies `copy` copies; where it says `None` the request is sent once. It is asked before the first
    /// attempt, because afterwards the body is gone, and then before each further one.
    pub fn with_copy(
        retry: Retry<C, R>,
        safety: impl Fn(&Parts) -> Safety + Send + Sync + 'static,
        copy: impl Fn(&B) -> Option<B> + Send + Sync + 'static,
    ) -> Self {
        Self { retry, how: How::new(safety, copy) }
    }

    /// Whoever the server limits together, for the planner's [`Gate`](crate::retry::Gate). Without it [`host`](super::host).
    pub fn gate_key<K: Hash>(mut self, gate_key: impl Fn(&Parts) -> K + Send + Sync + 'static) -> Self {
        self.how.gate_key = erased(gate_key);
        self
    }

    /// The header that an idempotency key is sent in. Without it `Idempotency-Key`. The key that [`Safety::Keyed`] names is put
    /// there on every attempt, in place of what was there.
    pub fn key_header(mut self, name: HeaderName) -> Self {
        self.how.key_header = name;
        self
    }

    /// Which errors of the service inside mean that **no byte of the request left**; such a request is always tried again.
    /// Without it no error does, and each is taken as a request that may have been carried out.
    ///
    /// Of hyper-util's client that is `error.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|e| e.is_connect())`.
    pub fn not_sent(mut self, is_not_sent: impl Fn(&(dyn Error + 'static)) -> bool + Send + Sync + 'static) -> Self {
        self.how.not_sent = Arc::new(is_not_sent);
        self
    }
}

impl<S, B, C, R> Layer<S> for RetryLayer<B, C, R> {
    type Service = RetryService<S, B, C, R>;

    fn layer(&self, inner: S) -> Self::Service {
        RetryService::new(inner, self.retry.clone(), Arc::new(self.how.clone()))
    }
}

impl<B, C, R> Clone for RetryLayer<B, C, R> {
    fn clone(&self) -> Self {
        Self { retry: self.retry.clone(), how: self.how.clone() }
    }
}

impl<B, C, R> fmt::Debug for RetryLayer<B, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryLayer").field("retry", &self.retry).field("how", &self.how).finish()
    }
}
