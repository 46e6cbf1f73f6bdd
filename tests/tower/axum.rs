//! In axum, over a real socket.

use std::net::{Ipv4Addr, SocketAddr};

use admittance::http::{ClientAddress, Dialect};
use admittance::identity::Address;
use admittance::policy::IdentityKind;
use admittance::tower::{RateLimitLayer, from_peer};
use admittance::{Limiter, Window};
use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::policy;

/// Asks once, and reads all that is answered.
pub(crate) async fn ask(to: SocketAddr, fields: &str) -> String {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let text = format!("GET /work HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{fields}\r\n");
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_server_admits_its_budget_and_says_the_rest_no() {
    let limiter: Limiter<Address> =
        Limiter::new(policy("peers", IdentityKind::Address, Window::per_day(5)).build().unwrap()).unwrap();
    let address = from_peer(ClientAddress::peer(), |extensions: &http::Extensions| {
        extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip())
    });
    let layer = RateLimitLayer::builder().limit(limiter, address).fields(Dialect::DraftList).build().unwrap();
    let app = Router::new().route("/work", get(|| async { "done" })).layer(layer);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let to = listener.local_addr().unwrap();
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    let server = tokio::spawn(async move { axum::serve(listener, service).await });
    let callers: Vec<_> = (0..16)
        // Whoever says to be somebody else is not believed.
        .map(|number| tokio::spawn(async move { ask(to, &format!("x-forwarded-for: 6.6.6.{number}\r\n")).await }))
        .collect();
    let (mut admitted, mut denied) = (0, 0);
    for caller in callers {
        let answer = caller.await.unwrap().to_lowercase();
        if answer.starts_with("http/1.1 200 ") {
            assert!(answer.ends_with("done"), "{answer}");
            admitted += 1;
        } else {
            assert!(answer.starts_with("http/1.1 429 ") && answer.contains("\nretry-after: "), "{answer}");
            denied += 1;
        }
        assert!(answer.contains("\nratelimit-policy: \"peers\";q=5;w=86400\r"), "{answer}");
    }
    assert_eq!((admitted, denied), (5, 11));
    server.abort();
}
