//! The layer of tower, on tokio's paused clock: nothing sleeps, and every instant is exact to tokio's millisecond.
#![cfg(feature = "retry-tower")]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use admittance::retry::tower::{BoxError, RetryLayer, RetryService, by_method};
use admittance::retry::{
    Backoff, Gate, IdempotencyKey, Jitter, Reason, Retry, RetryAt, RetryBuilder, Safety, SeededRandom, Stop, Unanswered,
};
use admittance::{Budget, Clock, TokenBucket};
use http::{Request, Response};
use tokio::time::{Instant, sleep, timeout};
use tower::limit::ConcurrencyLimit;
use tower::{Layer, Service, ServiceExt};

/// tokio's clock, which stands until everybody waits.
#[derive(Clone, Copy, Debug)]
struct Paused(Instant);

impl Clock for Paused {
    fn now(&self) -> u64 {
        self.0.elapsed().as_nanos().try_into().unwrap()
    }
}

type Planner = RetryBuilder<Paused, SeededRandom>;
type Client<S> = RetryService<S, String, Paused, SeededRandom>;
type Answered = Result<Response<String>, Unanswered<BoxError>>;

/// Without jitter and spread.
fn plain(attempts: u32, deadline: u64) -> Planner {
    Retry::builder_with(attempts, secs(deadline), Paused(Instant::now()), SeededRandom::new(7))
        .backoff(Backoff::new(Duration::from_millis(100)).jitter(Jitter::None))
        .spread(Duration::ZERO)
}

fn gate(planner: Planner) -> (Planner, Arc<Gate<Paused>>) {
    let gate = Arc::new(Gate::with_clock(100, secs(1), Paused(Instant::now())).unwrap());
    (planner.gate(Arc::clone(&gate)), gate)
}

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// What a server does with a request.
#[derive(Clone, Copy, Debug)]
enum Does {
    Answer(u16, &'static str),
    Refuse,
    Break,
}
use Does::{Answer, Break, Refuse};

/// What came, and how long after the server began.
type Seen = (Duration, Request<String>);

/// A server that does what a script says, the last of it for ever, and writes down what came and when.
#[derive(Clone)]
struct Server {
    script: Arc<Mutex<VecDeque<Does>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    began: Instant,
}

impl Server {
    fn new(script: &[Does]) -> Self {
        Self {
            script: Arc::new(Mutex::new(script.iter().copied().collect())),
            seen: Arc::default(),
            began: Instant::now(),
        }
    }

    fn times(&self) -> Vec<Duration> {
        self.seen.lock().unwrap().iter().map(|(when, _)| *when).collect()
    }

    fn sends(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// Each value of a header line, of every request.
    fn lines(&self, name: &str) -> Vec<Option<String>> {
        let line = |request: &Request<String>| request.headers().get(name).map(|line| line.to_str().unwrap().into());
        self.seen.lock().unwrap().iter().map(|(_, request)| line(request)).collect()
    }
}

impl Service<Request<String>> for Server {
    type Response = Response<String>;
    type Error = std::io::Error;
    type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<String>) -> Self::Future {
        self.seen.lock().unwrap().push((self.began.elapsed(), request));
        let mut script = self.script.lock().unwrap();
        let does = if script.len() > 1 { script.pop_front().unwrap() } else { script[0] };
        std::future::ready(match does {
            Answer(status, wait) => {
                let response = Response::builder().status(status).header("x-number", self.sends());
                let response = if wait.is_empty() { response } else { response.header("Retry-After", wait) };
                Ok(response.body(format!("answer {}", self.sends())).unwrap())
            }
            Refuse => Err(std::io::ErrorKind::ConnectionRefused.into()),
            Break => Err(std::io::ErrorKind::ConnectionReset.into()),
        })
    }
}

fn client<S>(planner: Planner, server: S) -> Client<S> {
    layer(planner).layer(server)
}

fn layer(planner: Planner) -> RetryLayer<String, Paused, SeededRandom> {
    RetryLayer::new(planner.build().unwrap(), by_method).not_sent(|error| {
        error.downcast_ref().is_some_and(|error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    })
}

fn request(method: &str, uri: &str) -> Request<String> {
    Request::builder().method(method).uri(uri).body("the body".into()).unwrap()
}

fn get() -> Request<String> {
    request("GET", "http://a.example/x")
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

#[tokio::test(start_paused = true)]
async fn no_attempt_comes_before_the_boundary() {
    for seed in 0..200 {
        let server = Server::new(&[Answer(503, "3"), Answer(429, "1"), Answer(503, "0"), Answer(200, "")]);
        let retry = Retry::builder_with(9, secs(60), Paused(Instant::now()), SeededRandom::new(seed))
            .backoff(Backoff::new(Duration::from_millis(1_500)))
            .spread(Duration::from_millis(400));
        let answered = client(retry, server.clone()).oneshot(get()).await;
        stops(&answered, 200, Reason::Answered);
        let times = server.times();
        // The boundary, the longest backoff and spread beyond it, and tokio's millisecond.
        for (number, [low, high]) in [[3_000, 3_401], [1_000, 3_401], [0, 6_401]].into_iter().enumerate() {
            let gap = times[number + 1].saturating_sub(times[number]).as_micros();
            assert!((low * 1_000..=high * 1_000).contains(&gap), "{seed}: {times:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_is_sent_than_is_allowed_and_the_last_response_comes_back_as_it_is() {
    for attempts in 1..5 {
        let server = Server::new(&[Answer(503, "1")]);
        let answered = client(plain(attempts, 60), server.clone()).oneshot(get()).await;
        stops(&answered, 503, Reason::Attempts);
        assert_eq!(server.sends(), attempts as usize);
        let response = answered.unwrap();
        assert_eq!(response.headers()["x-number"], attempts.to_string());
        assert_eq!(response.headers()["retry-after"], "1");
        assert_eq!(*response.body(), format!("answer {attempts}"));
    }
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_the_same_request() {
    let server = Server::new(&[Answer(503, ""), Answer(503, ""), Answer(200, "")]);
    let mut request = request("PUT", "http://a.example/x?y");
    request.headers_mut().insert("x-line", "z".parse().unwrap());
    request.extensions_mut().insert(7_u8);
    stops(&client(plain(9, 60), server.clone()).oneshot(request).await, 200, Reason::Answered);
    for (_, seen) in server.seen.lock().unwrap().iter() {
        assert_eq!((seen.method().as_str(), seen.uri().to_string()), ("PUT", "http://a.example/x?y".into()));
        assert_eq!((seen.headers()["x-line"].as_bytes(), seen.extensions().get()), (&b"z"[..], Some(&7_u8)));
        assert_eq!(seen.body(), "the body");
    }
    assert_eq!(server.sends(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_plain_post_is_sent_once() {
    let server = Server::new(&[Answer(503, "1"), Answer(200, "")]);
    let answered = client(plain(9, 60), server.clone()).oneshot(request("POST", "http://a.example/")).await;
    stops(&answered, 503, Reason::NotReplayable);
    assert_eq!((server.sends(), stop(&answered).resume_after()), (1, Some(secs(1))));
}

#[tokio::test(start_paused = true)]
async fn a_post_with_a_key_is_sent_again_with_the_same_key() {
    let server = Server::new(&[Answer(503, "1"), Break, Answer(429, "1"), Answer(201, "")]);
    let mut post = request("POST", "http://a.example/");
    post.headers_mut().insert("Idempotency-Key", "order-7".parse().unwrap());
    stops(&client(plain(9, 60), server.clone()).oneshot(post).await, 201, Reason::Answered);
    assert_eq!(server.lines("idempotency-key"), vec![Some("order-7".to_owned()); 4]);
}

#[tokio::test(start_paused = true)]
async fn a_key_of_the_callers_own_is_put_where_the_caller_says() {
    let server = Server::new(&[Answer(503, "1"), Answer(201, "")]);
    let keyed = |_: &http::request::Parts| Safety::Keyed { key: IdempotencyKey::new("k-1").unwrap() };
    let layer = RetryLayer::new(plain(9, 60).build().unwrap(), keyed).key_header("x-request-key".parse().unwrap());
    let mut post = request("POST", "http://a.example/");
    post.headers_mut().insert("x-request-key", "another".parse().unwrap());
    stops(&layer.layer(server.clone()).oneshot(post).await, 201, Reason::Answered);
    assert_eq!(server.lines("x-request-key"), vec![Some("k-1".to_owned()); 2]);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_cannot_be_copied_is_sent_once() {
    let server = Server::new(&[Answer(503, "1"), Answer(200, "")]);
    let layer = RetryLayer::with_copy(plain(9, 60).build().unwrap(), by_method, |_: &String| None);
    let began = Instant::now();
    let answered = layer.layer(server.clone()).oneshot(get()).await;
    stops(&answered, 503, Reason::BodySpent);
    // Known before, so nobody waits for it.
    assert_eq!((server.sends(), began.elapsed(), stop(&answered).resume_after()), (1, Duration::ZERO, Some(secs(1))));
    assert_eq!(server.seen.lock().unwrap()[0].1.body(), "the body");
}

/// A copy function that breaks its word: what can be sent is sent, and an empty body never is.
#[tokio::test(start_paused = true)]
async fn a_body_that_can_be_copied_only_once_is_sent_twice() {
    let server = Server::new(&[Answer(503, "1")]);
    let copies = Mutex::new(1);
    let layer = RetryLayer::with_copy(plain(9, 60).build().unwrap(), by_method, move |body: &String| {
        let mut left = copies.lock().unwrap();
        (*left > 0).then(|| {
            *left -= 1;
            body.clone()
        })
    });
    stops(&layer.layer(server.clone()).oneshot(get()).await, 503, Reason::BodySpent);
    assert!(server.seen.lock().unwrap().iter().all(|(_, request)| request.body() == "the body"));
    assert_eq!(server.sends(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_sent_is_sent_again_and_what_was_lost_only_if_that_is_safe() {
    let server = Server::new(&[Refuse, Refuse, Break, Answer(200, "")]);
    let answered = client(plain(9, 60), server.clone()).oneshot(request("POST", "http://a.example/")).await;
    let unanswered = answered.as_ref().unwrap_err();
    assert_eq!((stop(&answered).reason(), unanswered.sent(), server.sends()), (Reason::NotReplayable, 3, 3));
    // The error is the service's own.
    let source: &std::io::Error = unanswered.source().unwrap().downcast_ref().unwrap();
    assert_eq!(source.kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(
        unanswered.to_string(),
        "no response to 3 attempts; no further attempt: the request may have been carried out, and nothing says that it \
         may be sent twice; it could resume after 400ms"
    );

    let server = Server::new(&[Refuse, Break, Answer(200, "")]);
    stops(&client(plain(9, 60), server.clone()).oneshot(get()).await, 200, Reason::Answered);
    assert_eq!(server.sends(), 3);

    // Without being told what an error means, each is one that was perhaps sent.
    let server = Server::new(&[Refuse, Answer(200, "")]);
    let layer = RetryLayer::new(plain(9, 60).build().unwrap(), by_method);
    let answered = layer.layer(server.clone()).oneshot(request("POST", "http://a.example/")).await;
    assert_eq!((stop(&answered).reason(), server.sends()), (Reason::NotReplayable, 1));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_in_the_way_stops_at_once() {
    let (server, began) = (Server::new(&[Answer(503, "10"), Answer(200, "")]), Instant::now());
    let answered = client(plain(9, 10), server.clone()).oneshot(get()).await;
    stops(&answered, 503, Reason::Deadline);
    assert_eq!((server.sends(), began.elapsed()), (1, Duration::ZERO));
    assert_eq!(stop(&answered).resume_after(), Some(secs(10)));
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_stops_everybody() {
    let server = Server::new(&[Answer(503, "1")]);
    let budget = TokenBucket::with_clock(Budget::new(2, 1, secs(3_600)).unwrap(), Paused(Instant::now()));
    let client = client(plain(9, 60).budget(Arc::new(budget)), server.clone());
    stops(&client.clone().oneshot(get()).await, 503, Reason::Budget);
    stops(&client.oneshot(get()).await, 503, Reason::Budget);
    assert_eq!(server.sends(), 3 + 1);
}

#[tokio::test(start_paused = true)]
async fn a_429_holds_all_callers_of_its_host_and_no_other() {
    let server = Server::new(&[Answer(429, "5"), Answer(200, "")]);
    let (planner, _) = gate(plain(9, 60));
    let client = client(planner, server.clone());
    let told = tokio::spawn(client.clone().oneshot(get()));
    sleep(secs(1)).await;
    let others: Vec<_> = (0..10).map(|_| tokio::spawn(client.clone().oneshot(get()))).collect();
    stops(&client.oneshot(request("GET", "http://b.example/x")).await, 200, Reason::Answered);
    assert_eq!(server.times(), [secs(0), secs(1)]);
    stops(&told.await.unwrap(), 200, Reason::Answered);
    for other in others {
        stops(&other.await.unwrap(), 200, Reason::Answered);
    }
    assert!(server.times()[2..].iter().all(|&time| time >= secs(5)), "{:?}", server.times());
    assert_eq!(server.sends(), 2 + 11);
}

#[tokio::test(start_paused = true)]
async fn a_gate_may_be_of_whoever_the_caller_says() {
    let server = Server::new(&[Answer(429, "5"), Answer(200, "")]);
    let (planner, gate) = gate(plain(1, 60));
    let client = layer(planner).gate_key(|parts| parts.headers.get("authorization").cloned()).layer(server.clone());
    let with = |token: &str| {
        let mut request = get();
        request.headers_mut().insert("authorization", token.parse().unwrap());
        request
    };
    stops(&client.clone().oneshot(with("ann")).await, 429, Reason::Attempts);
    stops(&client.clone().oneshot(with("bob")).await, 200, Reason::Answered);
    stops(&client.oneshot(with("ann")).await, 200, Reason::Answered);
    assert!(server.times()[1] == secs(0) && server.times()[2] >= secs(5));
    assert_eq!(gate.held(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_holds_too_long_ends_a_call_before_it_is_sent() {
    let server = Server::new(&[Answer(200, "")]);
    let (planner, gate) = gate(plain(9, 10));
    gate.hold("a.example:80", secs(30));
    let answered = client(planner, server.clone()).oneshot(get()).await;
    let unanswered = answered.as_ref().unwrap_err();
    assert!(unanswered.error().is_none() && unanswered.source().is_none() && unanswered.sent() == 0);
    assert_eq!((stop(&answered).reason(), server.sends()), (Reason::Deadline, 0));
    assert!(stop(&answered).resume_after() >= Some(secs(30)));
}

/// The last response is the result, even when it turns out only in the wait that there is no further one.
#[tokio::test(start_paused = true)]
async fn a_gate_that_closes_during_a_wait_gives_the_last_response_back() {
    let server = Server::new(&[Answer(503, "2"), Answer(200, "")]);
    let (planner, gate) = gate(plain(9, 10));
    let call = tokio::spawn(client(planner, server.clone()).oneshot(get()));
    sleep(secs(1)).await;
    gate.hold("a.example:80", secs(30));
    let answered = call.await.unwrap();
    stops(&answered, 503, Reason::Deadline);
    assert_eq!((server.sends(), answered.unwrap().into_body().as_str()), (1, "answer 1"));
}

#[tokio::test(start_paused = true)]
async fn a_redirect_with_a_retry_after_comes_back_when_it_may_be_followed() {
    for method in ["GET", "POST"] {
        for status in [301, 302, 303, 307, 308] {
            let (server, began) = (Server::new(&[Answer(status, "3"), Answer(200, "")]), Instant::now());
            let response =
                client(plain(9, 60), server.clone()).oneshot(request(method, "http://a.example/")).await.unwrap();
            assert_eq!((response.status().as_u16(), response.body().as_str()), (status, "answer 1"));
            assert!(began.elapsed() >= secs(3) && began.elapsed() <= Duration::from_millis(3_001), "{status}");
            assert_eq!(server.sends(), 1, "it is not followed, and the same is not asked again");
            assert!(response.extensions().get::<Stop>().is_none());
            assert_eq!(response.extensions().get().map(RetryAt::attempt), Some(2));
        }
    }
    let began = Instant::now();
    stops(&client(plain(9, 60), Server::new(&[Answer(302, "")])).oneshot(get()).await, 302, Reason::Answered);
    stops(&client(plain(9, 60), Server::new(&[Answer(304, "3")])).oneshot(get()).await, 304, Reason::Answered);
    stops(&client(plain(9, 60), Server::new(&[Answer(302, "99")])).oneshot(get()).await, 302, Reason::Deadline);
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_reserved_while_a_call_waits() {
    let server = Server::new(&[Answer(503, "9"), Answer(200, "")]);
    let (planner, gate) = gate(plain(9, 60));
    let client = client(planner, ConcurrencyLimit::new(server.clone(), 1));
    let waits = tokio::spawn(client.clone().oneshot(get()));
    sleep(secs(1)).await;
    gate.hold("b.example:80", secs(9));
    // This one has its place when the gate turns out to be closed.
    let held = tokio::spawn(client.clone().oneshot(request("GET", "http://b.example/")));
    sleep(secs(1)).await;
    let goes = timeout(secs(1), client.oneshot(request("GET", "http://c.example/"))).await;
    stops(&goes.expect("the place is free"), 200, Reason::Answered);
    stops(&waits.await.unwrap(), 200, Reason::Answered);
    stops(&held.await.unwrap(), 200, Reason::Answered);
}

/// Takes two seconds to be ready, each time anew.
struct Slow<S>(S, Option<std::pin::Pin<Box<tokio::time::Sleep>>>);

impl<S: Clone> Clone for Slow<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), None)
    }
}

impl<S: Service<Request<String>>> Service<Request<String>> for Slow<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        let sleep = self.1.get_or_insert_with(|| Box::pin(sleep(secs(2))));
        sleep.as_mut().poll(cx).map(Ok)
    }

    fn call(&mut self, request: Request<String>) -> Self::Future {
        assert!(self.1.take().is_some_and(|sleep| sleep.is_elapsed()), "called without being ready");
        self.0.call(request)
    }
}

#[tokio::test(start_paused = true)]
async fn the_gate_is_asked_again_when_the_service_is_ready() {
    let server = Server::new(&[Answer(503, "1"), Answer(200, "")]);
    let (planner, gate) = gate(plain(9, 60));
    let call = tokio::spawn(client(planner, Slow(server.clone(), None)).oneshot(get()));
    // Ready and sent at 2, waits until 3, would be ready again at 5.
    sleep(secs(4)).await;
    gate.hold("a.example:80", secs(10));
    stops(&call.await.unwrap(), 200, Reason::Answered);
    assert_eq!(server.times()[0].as_secs(), 2);
    assert!(server.times()[1] >= secs(14 + 2), "{:?}", server.times());
}

/// A service that never is ready.
#[derive(Clone)]
struct Broken;

impl Service<Request<String>> for Broken {
    type Response = Response<String>;
    type Error = BoxError;
    type Future = std::future::Pending<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Err("broken".into()))
    }

    fn call(&mut self, _: Request<String>) -> Self::Future {
        unreachable!("it is not ready")
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_service_is_not_asked_again() {
    let unanswered = client(plain(9, 60), Broken).oneshot(get()).await.unwrap_err();
    assert!(unanswered.stop().is_none() && unanswered.sent() == 0);
    assert_eq!(
        (unanswered.to_string().as_str(), unanswered.into_error().unwrap().to_string().as_str()),
        ("nothing was sent", "broken")
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_sends_nothing_more() {
    let server = Server::new(&[Answer(503, "3"), Answer(200, "")]);
    let client = client(plain(9, 60), server.clone());
    assert!(timeout(secs(2), client.oneshot(get())).await.is_err());
    sleep(secs(10)).await;
    assert_eq!(server.sends(), 1);
}

/// As the services that axum makes.
#[tokio::test(start_paused = true)]
async fn a_service_without_errors_is_a_service_too() {
    let service =
        tower::service_fn(async |request: Request<String>| Ok::<_, Infallible>(Response::new(request.into_body())));
    let layer = RetryLayer::new(plain(2, 60).build().unwrap(), by_method);
    stops(&layer.layer(service).oneshot(get()).await, 200, Reason::Answered);
}
