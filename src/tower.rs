//! Limits for HTTP and gRPC services: a layer for tower, and so for axum, hyper and tonic.
//!
//! See [`RateLimitLayer`], and `examples/axum_server.rs`.
//!
//! # What is answered
//!
//! | the request | [`ProblemJson`] | [`Grpc`] |
//! |---|---|---|
//! | finds its budget spent | 429, `Retry-After` | `RESOURCE_EXHAUSTED`, `RetryInfo` |
//! | costs more than the budget ever holds | 413 or 422 | `RESOURCE_EXHAUSTED` |
//! | meets a store that is gone, and a policy that denies then | 503 | `UNAVAILABLE` |
//! | has no identity | 401 | `UNAUTHENTICATED` |
//!
//! Where there is a wait it is said, and where none helps none is. To answer in words of your own: [`Respond`].
//!
//! # Who has no identity
//!
//! Those of whom nothing is known never share a budget by accident: such a request is refused, unless the layer
//! was told otherwise by name, for one limit:
//!
//! ```
//! use admittance::identity::{Account, Address};
//! use admittance::tower::{RateLimitLayer, Seen, from_extension};
//! use http::{Request, Response};
//! # use std::convert::Infallible;
//! use tower::{Layer, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
//! # use admittance::{Budget, Limiter, Overflow};
//! # let policy = |name, kind| Policy::builder(name).unit(Unit::Request).identity([kind]).scope(Scope::process())
//! #     .rule(Budget::per_minute(100)).on_exhausted(OnExhausted::Deny).keys(1_000, Overflow::Deny).build();
//! # let accounts = || Limiter::<Account>::new(policy("accounts", IdentityKind::Account).unwrap()).unwrap();
//! # let addresses = || Limiter::<Address>::new(policy("addresses", IdentityKind::Address).unwrap()).unwrap();
//!
//! let address = |_: &Seen<'_>| Some(Address::new([192, 0, 2, 1].into())); // of the socket, or of a trusted proxy
//! let layers = [
//!     (RateLimitLayer::new(accounts(), from_extension::<Account>())?, 401),
//!     (RateLimitLayer::builder().limit(accounts(), from_extension::<Account>()).or(addresses(), address).build()?, 200),
//!     (RateLimitLayer::builder().limit(accounts(), from_extension::<Account>()).or_pass().build()?, 200),
//! ];
//! let work = service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new("done".to_owned())));
//! for (layer, status) in layers {
//!     let service = layer.layer(work);
//!     let answer = service.oneshot(Request::new(())).await?; // of nobody
//!     assert_eq!(answer.status(), status);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # gRPC
//!
//! A gRPC client reads a status of its own, not HTTP's: tell the layer to [`respond`](RateLimitLayerBuilder::respond) with
//! [`Grpc`]. With tonic, whose server puts a `TcpConnectInfo` into each request:
//!
//! ```
//! use admittance::http::ClientAddress;
//! use admittance::identity::Address;
//! use admittance::tower::{Grpc, RateLimitLayer, from_peer};
//! use http::{Request, Response};
//! # use std::convert::Infallible;
//! use tonic::transport::server::TcpConnectInfo;
//! use tower::{Layer, ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
//! # use admittance::{Budget, Limiter, Overflow};
//! # let policy = Policy::builder("calls").unit(Unit::Request).identity([IdentityKind::Address]).scope(Scope::process())
//! #     .rule(Budget::per_minute(1)).on_exhausted(OnExhausted::Deny).keys(1_000, Overflow::Deny).build().unwrap();
//! # let limiter: Limiter<Address> = Limiter::new(policy).unwrap();
//!
//! let peer = |extensions: &http::Extensions| extensions.get::<TcpConnectInfo>()?.remote_addr().map(|peer| peer.ip());
//! let layer = RateLimitLayer::builder()
//!     .limit(limiter, from_peer(ClientAddress::peer(), peer))
//!     .respond(Grpc::default())
//!     .build()?; // and then `Server::builder().layer(layer)`
//!
//! let service =
//!     layer.layer(service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new("done".to_owned()))));
//! let call = || {
//!     let mut call = Request::new(());
//!     let remote_addr = Some(([192, 0, 2, 1], 4711).into());
//!     call.extensions_mut().insert(TcpConnectInfo { local_addr: None, remote_addr });
//!     call
//! };
//! service.clone().oneshot(call()).await?;
//! let denied = service.oneshot(call()).await?;
//! assert_eq!((denied.status().as_u16(), &denied.headers()["grpc-status"]), (200, &"8".parse()?));
//! // Status, code 8, with a RetryInfo of about a minute.
//! assert!(denied.headers().contains_key("grpc-status-details-bin"));
//! # Ok(())
//! # }
//! ```
//!
//! # Pages of other origins
//!
//! A browser shows a page of another origin none of these fields unless
//! [`cors_expose`](crate::http::cors_expose) says so, **in the denial too**: what adds it stands outside of the limit. (With
//! tower-http: `CorsLayer::expose_headers` of [`Dialect::names`](crate::http::Dialect::names) and `Retry-After`.)
//!
//! ```
//! use admittance::http::{Dialect, cors_expose};
//! use admittance::identity::Account;
//! use admittance::tower::{RateLimitLayer, from_extension};
//! use axum::Router;
//! use axum::extract::Request;
//! use axum::middleware::map_response;
//! use axum::response::Response;
//! use http::header::ACCESS_CONTROL_EXPOSE_HEADERS;
//! use tower::ServiceExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
//! # use admittance::{Budget, Limiter, Overflow};
//! # let policy = Policy::builder("api").unit(Unit::Request).identity([IdentityKind::Account]).scope(Scope::process())
//! #     .rule(Budget::per_minute(1)).on_exhausted(OnExhausted::Deny).keys(1_000, Overflow::Deny).build().unwrap();
//! # let accounts: Limiter<Account> = Limiter::new(policy).unwrap();
//!
//! let dialect = Dialect::DraftList;
//! let limits = RateLimitLayer::builder().limit(accounts, from_extension::<Account>()).fields(dialect).build()?;
//! let expose = map_response(move |mut response: Response| {
//!     response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, cors_expose(dialect));
//!     std::future::ready(response)
//! });
//! // The last layer is the outermost.
//! let app: Router = Router::new().fallback(async || "done").layer(limits).layer(expose);
//!
//! for status in [200, 429] {
//!     let mut request: Request = Request::default();
//!     request.extensions_mut().insert(Account::new("ann".to_owned())?);
//!     let answer = app.clone().oneshot(request).await?;
//!     assert_eq!(answer.status(), status);
//!     assert_eq!(answer.headers()[ACCESS_CONTROL_EXPOSE_HEADERS], "retry-after, ratelimit-policy, ratelimit");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Files
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
