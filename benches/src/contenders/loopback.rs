//! The same layers on a route of axum, over loopback: what is left of the difference where there are sockets.
//!
//! Server and caller take turns on one thread, in one runtime: on two, what is measured is how long a thread takes to wake (ten
//! times as long, and half of it by chance). A caller has one connection, which it keeps, and asks one after the other; its
//! key is the address it comes from.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::routing::get;
use http::StatusCode;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use super::front::{ours, theirs};
use crate::limiter::{Caller, Limiter};
use crate::plan::Plan;

/// What is in front of the route.
pub trait Before {
    /// How reports call it.
    const NAME: &'static str;

    /// Puts it there.
    fn put(plan: &Plan, route: Router) -> Router;
}

/// Our layer.
#[derive(Debug)]
pub struct OurLayer;

impl Before for OurLayer {
    const NAME: &'static str = "admittance layer, axum";

    fn put(plan: &Plan, route: Router) -> Router {
        route.layer(ours(plan, false))
    }
}

/// `tower_governor`'s.
#[derive(Debug)]
pub struct TheirLayer;

impl Before for TheirLayer {
    const NAME: &'static str = "tower_governor, axum";

    fn put(plan: &Plan, route: Router) -> Router {
        route.layer(theirs(plan))
    }
}

/// None.
#[derive(Debug)]
pub struct NoLayer;

impl Before for NoLayer {
    const NAME: &'static str = "no layer, axum";

    fn put(_: &Plan, route: Router) -> Router {
        route
    }
}

/// A server with one route, and what is in front of it.
pub struct Served<B> {
    address: SocketAddr,
    /// Dropped, it ends the server.
    runtime: Runtime,
    before: PhantomData<fn() -> B>,
}

impl<B> fmt::Debug for Served<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("address", &self.address).finish_non_exhaustive()
    }
}

impl<B: Before> Limiter for Served<B> {
    const NAME: &'static str = B::NAME;

    type Caller<'l>
        = Connection<'l>
    where
        B: 'l;

    fn build(plan: &Plan) -> Self {
        let runtime = Builder::new_current_thread().enable_io().build().expect("a runtime starts");
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        // No body: an answer ends with its head.
        let app = B::put(plan, Router::new().route("/", get(|| async { StatusCode::NO_CONTENT })));
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self { address, runtime, before: PhantomData }
    }

    fn caller(&self) -> Connection<'_> {
        let stream = self.runtime.block_on(TcpStream::connect(self.address)).expect("the server listens");
        stream.set_nodelay(true).expect("a socket has this option");
        Connection { stream: RefCell::new(stream), runtime: &self.runtime }
    }
}

/// A connection to a server.
#[derive(Debug)]
pub struct Connection<'l> {
    stream: RefCell<TcpStream>,
    runtime: &'l Runtime,
}

impl Caller for Connection<'_> {
    #[inline(always)]
    fn admit(&self) -> bool {
        self.runtime.block_on(ask(&mut self.stream.borrow_mut()))
    }
}

/// Whether the answer is 204. What the answer to a denial has after its head nobody reads: the measurement fails with it.
async fn ask(stream: &mut TcpStream) -> bool {
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("the server reads");
    let (mut answer, mut length) = ([0; 1024], 0);
    while !answer[..length].ends_with(b"\r\n\r\n") {
        let more = stream.read(&mut answer[length..]).await.expect("the server answers");
        length += more;
        if more == 0 || length >= 12 && !answer.starts_with(b"HTTP/1.1 204") {
            return false;
        }
    }
    true
}
