//! TLS where the crate was built without it: there is none, and who asks for it is told how it comes.

use core::pin::Pin;
use std::boxed::Box;

use ::redis::aio::AsyncStream;

use super::failure::{FailureKind, StoreFailure};

#[derive(Clone)]
pub(super) enum Tls {}

impl Tls {
    pub(super) fn system() -> Result<Self, StoreFailure> {
        Err(StoreFailure::new(
            FailureKind::Invalid,
            "rediss:// is Redis over TLS, which needs the feature `redis-tls` of the crate `admittance`",
        ))
    }

    #[allow(clippy::unused_async, reason = "as the one that connects")]
    pub(super) async fn connect(
        &self,
        _host: &str,
        _port: u16,
    ) -> Result<Pin<Box<dyn AsyncStream + Send + Sync>>, StoreFailure> {
        match *self {}
    }
}
