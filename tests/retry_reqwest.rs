//! The client on reqwest, against servers on loopback. What is measured is measured at the server.
#![cfg(feature = "retry-reqwest")]

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use admittance::retry::reqwest::RetryClient;
use admittance::retry::{
    Backoff, Gate, IdempotencyKey, Jitter, Reason, Retry, RetryAt, RetryBuilder, Safety, Stop, Unanswered,
};
use admittance::{Budget, TokenBucket, TscClock};
use axum::Router;
use axum::body::to_bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::Full;
use reqwest::{Client, ClientBuilder, Method, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

type Answered = Result<reqwest::Response, Unanswered<reqwest::Error>>;
type Answer = (u16, &'static str);

/// One request as it came.
#[derive(Clone, Debug)]
struct Seen {
    at: Instant,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// A server that answers by a script, the last of it for ever.
#[derive(Clone)]
struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    async fn start(script: &[Answer]) -> Self {
        Self::serve(TcpListener::bind("127.0.0.1:0").await.unwrap(), script)
    }

    fn serve(listener: TcpListener, script: &[Answer]) -> Self {
        let server = Self { address: listener.local_addr().unwrap(), seen: Arc::default() };
        let script: Arc<Mutex<VecDeque<Answer>>> = Arc::new(Mutex::new(script.iter().copied().collect()));
        let seen = Arc::clone(&server.seen);
        let app = Router::new().fallback(async move |request: axum::extract::Request| {
            let (parts, body) = request.into_parts();
            let body = to_bytes(body, 1_000).await.unwrap().to_vec();
            let (at, path) = (Instant::now(), parts.uri.path().to_owned());
            seen.lock().unwrap().push(Seen { at, method: parts.method, path, headers: parts.headers, body });
            let mut script = script.lock().unwrap();
            answer(if script.len() > 1 { script.pop_front().unwrap() } else { script[0] })
        });
        tokio::spawn(async move { axum::serve(listener, app).await });
        server
    }

    fn url(&self) -> String {
        format!("http://{}/work", self.address)
    }

    fn request(&self, method: Method) -> Request {
        Request::new(method, self.url().parse().unwrap())
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The times between the requests.
    fn gaps(&self) -> Vec<Duration> {
        self.seen().windows(2).map(|pair| pair[1].at - pair[0].at).collect()
    }
}

fn answer((status, wait): Answer) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert("location", "/elsewhere".parse().unwrap());
    if !wait.is_empty() {
        headers.insert("retry-after", wait.parse().unwrap());
    }
    (StatusCode::from_u16(status).unwrap(), headers, "a text").into_response()
}

/// With 20 ms between attempts and no spread.
fn plain(attempts: u32, deadline: u64) -> RetryBuilder {
    Retry::builder(attempts, secs(deadline))
        .backoff(Backoff::new(Duration::from_millis(20)).factor(1).jitter(Jitter::None))
        .spread(Duration::ZERO)
}

fn client(planner: RetryBuilder) -> RetryClient {
    RetryClient::build(bare(), planner.build().unwrap()).unwrap()
}

/// Whatever proxies this machine has, they are not for loopback.
fn bare() -> ClientBuilder {
    Client::builder().no_proxy()
}

fn keyed(key: &str) -> Safety {
    Safety::Keyed { key: IdempotencyKey::new(key).unwrap() }
}

fn get() -> Safety {
    Safety::of_method("GET")
}

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[track_caller]
fn stop(answered: &Answered) -> Stop {
    match answered {
        Ok(response) => *response.extensions().get().expect("a response says why"),
        Err(unanswered) => *unanswered.stop().expect("an error says why"),
    }
}

#[track_caller]
fn stops(answered: &Answered, status: u16, reason: Reason) {
    assert_eq!(answered.as_ref().unwrap().status(), status);
    assert_eq!(stop(answered).reason(), reason);
}

#[tokio::test]
async fn no_attempt_comes_before_the_boundary() {
    let server = Server::start(&[(503, "1"), (429, "1"), (200, "")]).await;
    // The backoff is drawn anew each time, often from below the boundary.
    let retry = plain(9, 60).backoff(Backoff::new(Duration::from_millis(500))).spread(Duration::from_millis(100));
    let client = client(retry);
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let (client, request) = (client.clone(), server.request(Method::GET));
            tokio::spawn(async move { client.execute(request, get()).await })
        })
        .collect();
    for call in calls {
        stops(&call.await.unwrap(), 200, Reason::Answered);
    }
    // Three came at once; of these the script told two to wait, and one was answered.
    let gaps = server.gaps();
    assert!(gaps.len() == 4 && gaps[2] >= Duration::from_millis(900), "{gaps:?}");

    let server = Server::start(&[(503, "1"), (429, "1"), (200, "")]).await;
    stops(&client.execute(server.request(Method::GET), get()).await, 200, Reason::Answered);
    assert!(server.gaps().iter().all(|&gap| gap >= secs(1)), "{:?}", server.gaps());
    assert_eq!(server.gaps().len(), 2);
}

#[tokio::test]
async fn no_more_is_sent_than_is_allowed_and_the_last_response_comes_back_as_it_is() {
    for attempts in 1..4 {
        let server = Server::start(&[(503, "")]).await;
        let answered = client(plain(attempts, 60)).execute(server.request(Method::GET), get()).await;
        stops(&answered, 503, Reason::Attempts);
        assert_eq!(server.seen().len(), attempts as usize);
        let response = answered.unwrap();
        assert_eq!(response.headers()["location"], "/elsewhere");
        assert_eq!(response.text().await.unwrap(), "a text");
    }
}

#[tokio::test]
async fn a_plain_post_is_sent_once() {
    let server = Server::start(&[(503, "1"), (200, "")]).await;
    let answered = client(plain(9, 60)).execute(server.request(Method::POST), Safety::of_method("POST")).await;
    stops(&answered, 503, Reason::NotReplayable);
    assert_eq!((server.seen().len(), stop(&answered).resume_after()), (1, Some(secs(1))));
}

#[tokio::test]
async fn a_post_with_a_key_is_sent_again_with_the_same_key_and_body() {
    for (header, named) in [("idempotency-key", false), ("x-request-key", true)] {
        let server = Server::start(&[(503, ""), (429, ""), (201, "")]).await;
        let client = client(plain(9, 60));
        let client = if named { client.key_header(header.parse().unwrap()) } else { client };
        let mut request = server.request(Method::POST);
        *request.body_mut() = Some("the order".into());
        request.headers_mut().insert(header.parse::<reqwest::header::HeaderName>().unwrap(), "other".parse().unwrap());
        stops(&client.execute(request, keyed("order-7")).await, 201, Reason::Answered);
        assert_eq!(server.seen().len(), 3);
        for seen in server.seen() {
            let keys: Vec<_> = seen.headers.get_all(header).iter().collect();
            assert_eq!(keys, ["order-7"]);
            assert_eq!((seen.method, seen.body.as_slice()), (Method::POST, &b"the order"[..]));
        }
    }
}

#[tokio::test]
async fn a_body_that_is_a_stream_is_sent_once() {
    let server = Server::start(&[(503, "5")]).await;
    let mut request = server.request(Method::PUT);
    *request.body_mut() = Some(reqwest::Body::wrap(Full::<axum::body::Bytes>::from("a stream")));
    assert!(request.try_clone().is_none(), "or this tests nothing");
    let answered = client(plain(9, 60)).execute(request, Safety::of_method("PUT")).await;
    stops(&answered, 503, Reason::BodySpent);
    assert_eq!(stop(&answered).resume_after(), Some(secs(5)), "known before, so nobody waits for it");
    let seen = server.seen();
    assert_eq!((seen.len(), seen[0].body.as_slice()), (1, &b"a stream"[..]));
}

/// The address of a server that is not there yet, and what makes it be there.
async fn to_be() -> (String, impl Future<Output = Server>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let start = async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        Server::serve(TcpListener::bind(address).await.unwrap(), &[(200, "")])
    };
    (format!("http://{address}/"), start)
}

#[tokio::test]
async fn a_refused_connection_is_tried_again_even_by_a_post() {
    let (url, start) = to_be().await;
    let request = Request::new(Method::POST, url.parse().unwrap());
    let client = client(plain(1_000, 20));
    let (answered, server) = tokio::join!(client.execute(request, Safety::NotSent), start);
    stops(&answered, 200, Reason::Answered);
    assert_eq!(server.seen().len(), 1);
}

/// A client that may follow redirects may have had an answer before a connection was refused.
#[tokio::test]
async fn of_a_client_that_was_there_no_error_says_that_nothing_was_sent() {
    let (url, _) = to_be().await;
    // It follows the redirect to where nobody is: the POST has been carried out.
    let app = Router::new().fallback(async move || (StatusCode::SEE_OTHER, [("location", url)]));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });

    let client = RetryClient::new(bare().build().unwrap(), plain(3, 20).build().unwrap());
    let post = || Request::new(Method::POST, format!("http://{address}/").parse().unwrap());
    let answered = client.execute(post(), Safety::NotSent).await;
    let unanswered = answered.as_ref().unwrap_err();
    assert!(unanswered.error().unwrap().is_connect(), "or this tests nothing");
    assert_eq!((stop(&answered).reason(), unanswered.sent()), (Reason::NotReplayable, 1));
    // With a key it is sent as often as is allowed.
    let answered = client.execute(post(), keyed("k")).await;
    assert_eq!((stop(&answered).reason(), answered.unwrap_err().sent()), (Reason::Attempts, 3));
}

/// A server that reads the request and then hangs up, or says nothing. Counts connections.
async fn mute(hangs_up: bool) -> (Server, Arc<Mutex<u32>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server { address: listener.local_addr().unwrap(), seen: Arc::default() };
    let connections = Arc::new(Mutex::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        let mut kept = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            *count.lock().unwrap() += 1;
            let _ = stream.read(&mut [0; 1_000]).await;
            if hangs_up {
                let _ = stream.shutdown().await;
            } else {
                kept.push(stream);
            }
        }
    });
    (server, connections)
}

#[tokio::test]
async fn what_was_perhaps_carried_out_is_sent_again_only_if_that_is_safe() {
    for hangs_up in [true, false] {
        for (method, safety, sends, reason) in [
            (Method::POST, Safety::NotSent, 1, Reason::NotReplayable),
            (Method::POST, keyed("k"), 3, Reason::Attempts),
            (Method::GET, get(), 3, Reason::Attempts),
        ] {
            let (server, connections) = mute(hangs_up).await;
            // Who hangs up does so at once; who says nothing is waited for.
            let builder = bare().timeout(if hangs_up { secs(20) } else { Duration::from_millis(200) });
            let client = RetryClient::build(builder, plain(3, 20).build().unwrap()).unwrap();
            let answered = client.execute(server.request(method), safety).await;
            let unanswered = answered.as_ref().unwrap_err();
            assert_eq!(unanswered.error().unwrap().is_timeout(), !hangs_up);
            assert_eq!((stop(&answered).reason(), unanswered.sent()), (reason, sends));
            assert_eq!(*connections.lock().unwrap(), sends);
        }
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_sent_is_not_tried_again() {
    let began = Instant::now();
    let request = Request::new(Method::GET, "ftp://127.0.0.1/".parse().unwrap());
    let client = client(plain(9, 60).backoff(Backoff::new(secs(20)).jitter(Jitter::None)));
    let unanswered = client.execute(request, get()).await.unwrap_err();
    assert!(unanswered.error().unwrap().is_builder() && unanswered.stop().is_none());
    assert!(began.elapsed() < secs(20));
}

#[tokio::test]
async fn a_deadline_in_the_way_stops_at_once() {
    let (server, began) = (Server::start(&[(503, "20"), (200, "")]).await, Instant::now());
    let answered = client(plain(9, 20)).execute(server.request(Method::GET), get()).await;
    stops(&answered, 503, Reason::Deadline);
    assert!(server.seen().len() == 1 && began.elapsed() < secs(10));
    assert_eq!(stop(&answered).resume_after(), Some(secs(20)));
}

#[tokio::test]
async fn a_spent_budget_stops_everybody() {
    let server = Server::start(&[(503, "")]).await;
    let budget = TokenBucket::with_clock(Budget::new(2, 1, secs(3_600)).unwrap(), TscClock::new());
    let client = client(plain(9, 60).budget(Arc::new(budget)));
    for sends in [3, 4] {
        stops(&client.execute(server.request(Method::GET), get()).await, 503, Reason::Budget);
        assert_eq!(server.seen().len(), sends);
    }
}

fn gated(attempts: u32, deadline: u64) -> (RetryBuilder, Arc<Gate>) {
    let gate = Arc::new(Gate::new(100, Duration::from_millis(200)).unwrap());
    (plain(attempts, deadline).gate(Arc::clone(&gate)), gate)
}

#[tokio::test]
async fn a_429_holds_all_callers_of_its_host_and_no_other() {
    let [server, other] = [Server::start(&[(429, "2"), (200, "")]).await, Server::start(&[(200, "")]).await];
    let client = client(gated(9, 60).0);
    let call = |server: &Server| {
        let (client, request) = (client.clone(), server.request(Method::GET));
        tokio::spawn(async move { client.execute(request, get()).await })
    };
    let mut calls = vec![call(&server)];
    tokio::time::timeout(secs(10), async {
        while client.retry().gate().unwrap().held() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("the 429 has come");
    calls.extend((0..10).map(|_| call(&server)));
    stops(&call(&other).await.unwrap(), 200, Reason::Answered);
    let free = other.seen()[0].at;
    for call in calls {
        stops(&call.await.unwrap(), 200, Reason::Answered);
    }
    let [first, held @ ..] = &server.seen()[..] else { panic!("nothing came") };
    assert!(free < first.at + secs(2), "the other host was not held");
    assert_eq!(held.len(), 11);
    assert!(held.iter().all(|seen| seen.at >= first.at + secs(2)), "{held:?}");
}

#[tokio::test]
async fn a_gate_may_be_of_whoever_the_caller_says() {
    let server = Server::start(&[(429, "30"), (200, "")]).await;
    let client = client(gated(9, 10).0);
    let call = |who: &'static str| client.execute_as(who, server.request(Method::GET), get());
    stops(&call("ann").await, 429, Reason::Deadline);
    stops(&call("bob").await, 200, Reason::Answered);
    // Nothing is sent, and the error says so.
    let answered = call("ann").await;
    let unanswered = answered.as_ref().unwrap_err();
    assert!(unanswered.error().is_none() && unanswered.sent() == 0);
    assert_eq!(stop(&answered).reason(), Reason::Deadline);
    assert!(stop(&answered).resume_after().is_some_and(|after| after > secs(20)));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_redirect_with_a_retry_after_comes_back_when_it_may_be_followed() {
    let server = Server::start(&[(303, "1"), (200, "")]).await;
    let client = client(plain(9, 60));
    let response = client.execute(server.request(Method::POST), Safety::NotSent).await.unwrap();
    assert_eq!(response.status(), 303);
    assert!(response.extensions().get::<Stop>().is_none() && response.extensions().get::<RetryAt>().is_some());
    // Now it may be followed.
    let place = response.url().join(response.headers()["location"].to_str().unwrap()).unwrap();
    stops(&client.execute(Request::new(Method::GET, place), get()).await, 200, Reason::Answered);
    let paths: Vec<_> = server.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["/work", "/elsewhere"]);
    assert!(server.gaps()[0] >= secs(1), "{:?}", server.gaps());

    let (server, began) = (Server::start(&[(302, ""), (307, "90")]).await, Instant::now());
    stops(&client.execute(server.request(Method::GET), get()).await, 302, Reason::Answered);
    stops(&client.execute(server.request(Method::GET), get()).await, 307, Reason::Deadline);
    assert!(server.seen().len() == 2 && began.elapsed() < secs(10));
}
