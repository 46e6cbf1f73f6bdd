//! Both sides at once: a server that says no, and fifty callers who hear it. What is measured is measured at the server.
#![cfg(all(feature = "tower", feature = "retry-reqwest"))]

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use admittance::identity::Account;
use admittance::policy::{IdentityKind, OnExhausted, Policy, Scope, Unit};
use admittance::retry::reqwest::RetryClient;
use admittance::retry::{Backoff, Gate, Reason, Retry, Safety, Stop};
use admittance::tower::{RateLimitLayer, Seen};
use admittance::{Budget, Limiter, Overflow};
use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use reqwest::{Client, Method};
use tokio::net::TcpListener;

const CALLERS: usize = 50;
const PER_SECOND: u64 = 5;

/// So short that the budget cannot serve everybody in it: 5 at once and 5 in each of 5 seconds are 30.
const DEADLINE: Duration = Duration::from_secs(5);

/// What is sent before another caller's answer was heard may come after it. It does not take that long, unless the machine does
/// other things meanwhile: see [`stalls`].
const IN_FLIGHT: Duration = Duration::from_millis(500);

/// By how much the planner's clock, a counter whose rate is measured once, and this test's may differ in a call's time.
const CLOCKS: Duration = Duration::from_millis(5);

/// One attempt, by the server's clock.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    caller: usize,
    came: Instant,
    /// What this caller had been told to wait for when it came.
    told: Option<Instant>,
    /// Where it was denied: when that left the server, and the boundary that it named.
    denied: Option<(Instant, Instant)>,
}

/// Everything that came, in order.
type Log = Arc<Mutex<Vec<Attempt>>>;

/// Writes an attempt down. The boundary is counted from before the answer is on its way: no caller hears it sooner.
async fn record(log: Log, request: Request, next: Next) -> Response {
    let came = Instant::now();
    let caller = request.headers()["x-caller"].to_str().unwrap().parse().unwrap();
    let number = {
        let mut log = log.lock().unwrap();
        let told = log.iter().filter(|attempt| attempt.caller == caller).filter_map(|attempt| attempt.denied);
        let told = told.map(|(_, boundary)| boundary).max();
        log.push(Attempt { caller, came, told, denied: None });
        log.len() - 1
    };
    let response = next.run(request).await;
    if response.status() == 429 {
        let seconds = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        let now = Instant::now();
        log.lock().unwrap()[number].denied = Some((now, now + Duration::from_secs(seconds)));
    }
    response
}

async fn serve(log: Log) -> SocketAddr {
    let policy = Policy::builder("accounts")
        .unit(Unit::Request)
        .identity([IdentityKind::Account])
        .scope(Scope::process())
        .rule(Budget::per_second(PER_SECOND))
        .on_exhausted(OnExhausted::Deny)
        .keys(1_000, Overflow::Deny)
        .build()
        .unwrap();
    let limiter: Limiter<Account> = Limiter::new(policy).unwrap();
    let account = |seen: &Seen<'_>| Account::new(seen.headers().get("x-account")?.to_str().unwrap().to_owned()).ok();
    let app = Router::new()
        .route("/work", get(|| async { "done" }))
        .layer(RateLimitLayer::new(limiter, account).unwrap())
        .layer(from_fn(move |request, next| record(Arc::clone(&log), request, next)));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// How a call ended, by its caller's clock.
struct End {
    /// None where the gate held it from the first.
    status: Option<u16>,
    stop: Stop,
    after: Duration,
}

/// All callers at once, of one account.
async fn callers(server: SocketAddr, gate: Option<Gate>) -> Vec<End> {
    // Attempts there are enough of: nothing but the deadline stops anybody.
    let retry = Retry::builder(100, DEADLINE)
        // Often drawn from below the boundary, which must not move.
        .backoff(Backoff::new(Duration::from_millis(300)).ceiling(Duration::from_secs(1)))
        .spread(Duration::from_millis(700));
    let retry = match gate {
        Some(gate) => retry.gate(Arc::new(gate)),
        None => retry,
    };
    // Whatever proxies this machine has, they are not for loopback.
    let client = RetryClient::build(Client::builder().no_proxy(), retry.build().unwrap()).unwrap();
    let calls: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let client = client.clone();
            let mut request = reqwest::Request::new(Method::GET, format!("http://{server}/work").parse().unwrap());
            request.headers_mut().insert("x-account", "ann".parse().unwrap());
            request.headers_mut().insert("x-caller", caller.into());
            tokio::spawn(async move {
                let began = Instant::now();
                let answered = client.execute_as("ann", request, Safety::of_method("GET")).await;
                let after = began.elapsed();
                match answered {
                    Ok(response) => {
                        let stop = *response.extensions().get().unwrap();
                        End { status: Some(response.status().as_u16()), stop, after }
                    }
                    Err(unanswered) => {
                        assert!(unanswered.error().is_none(), "caller {caller}: {unanswered:?}");
                        End { status: None, stop: *unanswered.stop().unwrap(), after }
                    }
                }
            })
        })
        .collect();
    let mut ends = Vec::new();
    for call in calls {
        ends.push(call.await.unwrap());
    }
    ends
}

/// Every call ends with success or at its deadline, and both are seen.
fn all_end_well(ends: &[End], log: &[Attempt], stalled: Duration) {
    let succeeded = ends.iter().filter(|end| end.status == Some(200)).count();
    for (caller, end) in ends.iter().enumerate() {
        match end.status {
            Some(200) => assert_eq!(end.stop.reason(), Reason::Answered),
            Some(429) | None => {
                assert_eq!(end.stop.reason(), Reason::Deadline, "caller {caller}");
                // It stopped because it could not have gone in time, and then at once.
                let resume = end.after + end.stop.resume_after().unwrap() + CLOCKS;
                assert!(resume >= DEADLINE, "caller {caller} could have gone after {resume:?}");
            }
            Some(status) => panic!("caller {caller}: {status}"),
        }
        let late = end.after.saturating_sub(DEADLINE);
        assert!(
            late < Duration::from_secs(1) + stalled * 4,
            "caller {caller}: {late:?}, the machine's part {stalled:?}"
        );
    }
    let admitted = log.iter().filter(|attempt| attempt.denied.is_none()).count();
    assert_eq!(succeeded, admitted, "whoever was admitted has heard it, and nobody was admitted twice");
    let time = log.last().unwrap().came - log[0].came;
    // One more for those who came within the last token's time.
    let most = PER_SECOND * (time.as_secs() + 1) + u64::from(time.subsec_millis()) * PER_SECOND / 1_000 + 1;
    assert!(admitted as u64 <= most, "{admitted} in {time:?}");
    // More than were admitted at once, so some came back; and fewer than all.
    assert!(succeeded > 2 * PER_SECOND as usize && succeeded < CALLERS, "{succeeded} of {CALLERS} succeeded");
}

/// Nobody comes before the boundary that its last answer named, and after it is denied once at most, and told a new one.
fn all_obey(log: &[Attempt]) {
    let mut denials: BTreeMap<(usize, Option<Instant>), u32> = BTreeMap::new();
    for attempt in log {
        if let Some(boundary) = attempt.told {
            let early = boundary.saturating_duration_since(attempt.came);
            assert!(early.is_zero(), "caller {} came {early:?} before its boundary", attempt.caller);
        }
        if attempt.denied.is_some() {
            *denials.entry((attempt.caller, attempt.told)).or_default() += 1;
        }
    }
    assert!(denials.values().all(|&denied| denied == 1), "{denials:?}");
    // Or nothing was tested: a boundary was met again and again.
    let waits = log.iter().filter(|attempt| attempt.told.is_some()).count();
    assert!(waits > 2 * PER_SECOND as usize, "{waits} attempts had a boundary to wait for");
}

/// What one of them was told holds the others as well.
fn all_wait_for_each_other(log: &[Attempt]) {
    for attempt in log.iter().filter(|attempt| attempt.told.is_some()) {
        let held = log
            .iter()
            .filter_map(|other| other.denied)
            .find(|&(answered, boundary)| (answered + IN_FLIGHT..boundary).contains(&attempt.came));
        if let Some((answered, _)) = held {
            let since = attempt.came - answered;
            panic!("caller {} came {since:?} after an answer that held all for a second", attempt.caller);
        }
    }
}

/// For how long this machine let a thread wait that had nothing to wait for, at worst, while something went on.
async fn stalls<T>(during: impl Future<Output = T>) -> (T, Duration) {
    let over = Arc::new(AtomicBool::new(false));
    let watch = thread::spawn({
        let over = Arc::clone(&over);
        move || {
            let (step, mut worst) = (Duration::from_millis(5), Duration::ZERO);
            // Relaxed: nothing but the end is told.
            while !over.load(Ordering::Relaxed) {
                let began = Instant::now();
                thread::sleep(step);
                worst = worst.max(began.elapsed().saturating_sub(step));
            }
            worst
        }
    });
    let value = during.await;
    over.store(true, Ordering::Relaxed);
    (value, watch.join().unwrap())
}

async fn crowd(gate: Option<Gate>) -> (Vec<Attempt>, Duration) {
    let log = Log::default();
    let server = serve(Arc::clone(&log)).await;
    let (ends, stalled) = stalls(callers(server, gate)).await;
    let log = log.lock().unwrap().clone();
    all_end_well(&ends, &log, stalled);
    all_obey(&log);
    (log, stalled)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_callers_who_know_nothing_of_each_other() {
    crowd(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_callers_behind_one_gate() {
    // On a machine that lets everybody wait for longer than that, what comes late may have been sent in time.
    for _ in 0..3 {
        let (log, stalled) = crowd(Some(Gate::new(10, Duration::from_secs(1)).unwrap())).await;
        if stalled < IN_FLIGHT / 4 {
            return all_wait_for_each_other(&log);
        }
        eprintln!("the machine stood still for {stalled:?}");
    }
}
