//! In tonic: a gRPC call over a real socket, limited, and what its client hears.

use std::future::{Ready, ready};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use admittance::Budget;
use admittance::http::ClientAddress;
use admittance::tower::{Grpc, RateLimitLayer, from_peer};
use bytes::{Buf, BufMut};
use http::uri::PathAndQuery;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::{NamedService, UnaryService};
use tonic::transport::server::TcpConnectInfo;
use tonic::transport::{Channel, Server};
use tonic::{Code, Request, Response, Status};

use crate::support::addresses;

/// Bytes, as they are.
#[derive(Clone, Copy, Default)]
struct Plain;

impl Codec for Plain {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Plain {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Plain {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let mut item = vec![0; from.remaining()];
        from.copy_to_slice(&mut item);
        Ok(Some(item))
    }
}

/// Answers each call with what it was sent.
#[derive(Clone)]
struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "test.Echo";
}

impl UnaryService<Vec<u8>> for Echo {
    type Response = Vec<u8>;
    type Future = Ready<Result<Response<Vec<u8>>, Status>>;

    fn call(&mut self, request: Request<Vec<u8>>) -> Self::Future {
        ready(Ok(Response::new(request.into_inner())))
    }
}

impl tower::Service<http::Request<tonic::body::Body>> for Echo {
    type Response = http::Response<tonic::body::Body>;
    type Error = std::convert::Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        Box::pin(async move { Ok(tonic::server::Grpc::new(Plain).unary(Echo, request).await) })
    }
}

#[tokio::test]
async fn a_call_over_the_limit_is_resource_exhausted_and_says_when_to_come_back() {
    let peer = |extensions: &http::Extensions| extensions.get::<TcpConnectInfo>()?.remote_addr().map(|peer| peer.ip());
    let layer = RateLimitLayer::builder()
        .limit(
            addresses(Budget::new(2, 1, Duration::from_millis(2_500)).unwrap()),
            from_peer(ClientAddress::peer(), peer),
        )
        .respond(Grpc::default())
        .build()
        .unwrap();
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let to: SocketAddr = listener.local_addr().unwrap();
    drop(listener);
    let server = tokio::spawn(Server::builder().layer(layer).add_service(Echo).serve(to));
    let channel = async {
        loop {
            match Channel::from_shared(format!("http://{to}")).unwrap().connect().await {
                Ok(channel) => break channel,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    let channel = tokio::time::timeout(Duration::from_secs(10), channel).await.unwrap();
    let mut client = tonic::client::Grpc::new(channel);
    let path = PathAndQuery::from_static("/test.Echo/Echo");
    for call in 0..3 {
        client.ready().await.unwrap();
        let answer = client.unary(Request::new(b"hello".to_vec()), path.clone(), Plain).await;
        if call < 2 {
            assert_eq!(answer.unwrap().into_inner(), b"hello");
        } else {
            let status = answer.unwrap_err();
            assert_eq!((status.code(), status.message()), (Code::ResourceExhausted, "quota 'addresses' is spent"));
            // `google.rpc.RetryInfo` in an `Any` in a `Status`: two seconds and half of one.
            let info: &[u8] =
                b"\n\x28type.googleapis.com/google.rpc.RetryInfo\x12\x0a\n\x08\x08\x02\x10\x80\xca\xb5\xee\x01";
            assert!(status.details().ends_with(info), "{:?}", status.details());
        }
    }
    server.abort();
}
