//! Limits for HTTP and gRPC services: a layer for tower, and so for axum, hyper and tonic.
//!
//! See [`RateLimitLayer`], and `examples/axum_server.rs`.
//!
//! | file | holds |
//! |---|---|
//! | `layer`, `builder` | [`RateLimitLayer`], and how one is built |
//! | `service`, `future` | [`RateLimit`], the service, and its answers |
//! | `course` | one request on its way through several limits, all or nothing |
//! | `guard` | one limit, of this process or shared |
//! | `seen`, `extract` | what is looked at of a request, and who asks |
//! | `respond`, `grpc` | what is answered to a request that may not go |

mod builder;
mod course;
mod extract;
mod future;
mod grpc;
mod guard;
mod layer;
mod respond;
mod seen;
mod service;

pub use builder::{LayerError, RateLimitLayerBuilder};
pub use extract::{Extract, FromExtension, FromPeer, from_extension, from_peer};
pub use future::ResponseFuture;
pub use layer::RateLimitLayer;
pub use respond::{Grpc, ProblemJson, Refusal, Respond};
pub use seen::Seen;
pub use service::RateLimit;
