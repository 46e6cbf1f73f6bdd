//! What the layer was told about requests, bodies and errors.

use core::fmt;
use core::hash::{Hash, Hasher};
use std::error::Error;
use std::sync::Arc;

use http::header::{HeaderName, HeaderValue};
use http::request::Parts;

use super::parts::{IDEMPOTENCY_KEY, host};
use crate::retry::safety::Safety;

type ToSafety = dyn Fn(&Parts) -> Safety + Send + Sync;
type ToKey = dyn Fn(&Parts, &mut dyn Hasher) + Send + Sync;
type ToCopy<B> = dyn Fn(&B) -> Option<B> + Send + Sync;
type IsNotSent = dyn Fn(&(dyn Error + 'static)) -> bool + Send + Sync;

/// The functions that the layer was built with. Each costs a call through a pointer once an attempt, which beside a network is
/// nothing, and keeps the types of services short.
pub(super) struct How<B> {
    pub(super) safety: Arc<ToSafety>,
    pub(super) gate_key: Arc<ToKey>,
    pub(super) copy: Arc<ToCopy<B>>,
    pub(super) not_sent: Arc<IsNotSent>,
    pub(super) key_header: HeaderName,
}

impl<B> How<B> {
    pub(super) fn new(
        safety: impl Fn(&Parts) -> Safety + Send + Sync + 'static,
        copy: impl Fn(&B) -> Option<B> + Send + Sync + 'static,
    ) -> Self {
        Self {
            safety: Arc::new(safety),
            gate_key: erased(host),
            copy: Arc::new(copy),
            not_sent: Arc::new(|_| false),
            key_header: IDEMPOTENCY_KEY,
        }
    }

    /// Puts the key that the server is to know this request by into its header, in place of what was there.
    pub(super) fn put_key(&self, parts: &mut Parts, key: &str) {
        // A key is visible ASCII, and so always a value.
        if let Ok(value) = HeaderValue::from_str(key) {
            parts.headers.insert(self.key_header.clone(), value);
        }
    }
}

/// A function to any key as one that hashes it.
pub(super) fn erased<K: Hash>(gate_key: impl Fn(&Parts) -> K + Send + Sync + 'static) -> Arc<ToKey> {
    Arc::new(move |parts, mut hasher| gate_key(parts).hash(&mut hasher))
}

/// The key of a request at the gate: worked out only where there is a gate.
pub(super) struct GateKey<'a> {
    pub(super) gate_key: &'a ToKey,
    pub(super) parts: &'a Parts,
}

impl Hash for GateKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.gate_key)(self.parts, state);
    }
}

impl<B> Clone for How<B> {
    fn clone(&self) -> Self {
        Self {
            safety: Arc::clone(&self.safety),
            gate_key: Arc::clone(&self.gate_key),
            copy: Arc::clone(&self.copy),
            not_sent: Arc::clone(&self.not_sent),
            key_header: self.key_header.clone(),
        }
    }
}

impl<B> fmt::Debug for How<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("How").field("key_header", &self.key_header).finish_non_exhaustive()
    }
}
