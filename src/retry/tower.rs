//! A layer of tower that follows the plans: for every client that is a service of HTTP requests.
//!
//! ```
//! use std::convert::Infallible;
//! use std::time::Duration;
//! use admittance::retry::tower::{RetryLayer, by_method};
//! use admittance::retry::{Reason, Retry, Stop};
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
//! let retry = Retry::builder(3, Duration::from_secs(10)).build()?;
//! let client = ServiceBuilder::new()
//!     .layer(RetryLayer::new(retry, by_method))
//!     .service_fn(async |_: Request<String>| Ok::<_, Infallible>(Response::builder().status(503).body("busy").unwrap()));
//!
//! // Nothing says that a plain POST may be sent twice.
//! let response = client.oneshot(Request::post("http://api.example/orders").body("…".to_owned())?).await?;
//! assert_eq!(response.status(), 503);
//! assert_eq!(response.extensions().get::<Stop>().unwrap().reason(), Reason::NotReplayable);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! # What comes back
//!
//! | the call ends with | what comes back |
//! |---|---|
//! | a response | that response as it is, and why there is no further attempt: a [`Stop`](super::Stop) in its extensions |
//! | a redirect with a `Retry-After` | that response **when it may be followed**, a [`RetryAt`](super::RetryAt) in its extensions |
//! | an error | [`Unanswered`]: the error as it is, and the `Stop` |
//! | a gate that holds too long | [`Unanswered`] without an error: nothing was sent |
//!
//! **It follows no redirect**, as where to and with which credentials is another's decision; it holds the redirect until then.
//! So whoever follows redirects stands outside of this layer. One inside follows them at once, and hides them from it.
//!
//! # What it does not promise
//!
//! - Layers inside that send again of their own accord are not counted.
//! - A response counts when its head is there. What happens to its body is the caller's.
//! - Only waits are bounded by the deadline: an attempt takes as long as the service inside takes. Put a timeout inside, and
//!   say what its error means by [`RetryLayer::not_sent`].
//! - The last response is kept while the call waits, because it is the result if there is no further one: until then it may
//!   hold its connection.
//! - A call that is dropped while it waits has spent the token that its attempt cost.

mod future;
mod how;
mod layer;
mod parts;
mod service;

pub use future::RetryFuture;
pub use layer::RetryLayer;
pub use parts::{by_method, host};
pub use service::RetryService;

use std::boxed::Box;
use std::error::Error;

use super::unanswered::Unanswered;

/// Any error, as tower has it.
pub type BoxError = Box<dyn Error + Send + Sync>;

impl Error for Unanswered<BoxError> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error().map(|error| &**error as _)
    }
}
