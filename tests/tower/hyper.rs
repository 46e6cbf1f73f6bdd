//! In plain hyper, over a real socket.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};

use admittance::Window;
use admittance::http::ClientAddress;
use admittance::tower::{RateLimitLayer, from_peer};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tower::{Layer, service_fn};

use crate::support::{addresses, peer};

#[tokio::test]
async fn a_connection_is_limited_by_its_peer() {
    let layer = RateLimitLayer::new(addresses(Window::per_day(2)), from_peer(ClientAddress::peer(), peer)).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let to = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        loop {
            let (stream, peer) = listener.accept().await.unwrap();
            let limited = layer.layer(service_fn(|_: Request<Incoming>| async {
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"done"))))
            }));
            // What accepts a connection knows the peer, and puts it into its requests.
            let named = service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert::<SocketAddr>(peer);
                tower::ServiceExt::oneshot(limited.clone(), request)
            });
            let connection =
                http1::Builder::new().serve_connection(TokioIo::new(stream), TowerToHyperService::new(named));
            tokio::spawn(connection);
        }
    });
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let answer = crate::axum::ask(to, "").await;
        statuses.push(answer.split(' ').nth(1).unwrap().to_owned());
    }
    assert_eq!(statuses, ["200", "200", "429", "429"]);
    server.abort();
}
