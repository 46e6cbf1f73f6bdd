//! A client that tries again when it may: `cargo run --release --features retry --example retry`.
//!
//! A pretended service answers by a script, and time moves by hand, so the whole of it is over at once. Three callers share a
//! planner with a budget and a gate; what each sends, what it is told and what it does then is printed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use admittance::retry::{
    Attempts, Backoff, Body, Gate, IdempotencyKey, Outcome, Plan, Response, Retry, RetryError, Safety, SeededRandom,
};
use admittance::{Budget, Clock, ManualClock, TokenBucket};

type Call<'c> = Attempts<&'c ManualClock, SeededRandom>;

fn main() -> Result<(), RetryError> {
    let clock = ManualClock::new();
    let budget = TokenBucket::with_clock(Budget::per_minute(10), &clock);
    let gate = Gate::with_clock(1_000, Duration::from_secs(2), &clock)?;
    // Five times at most, half a minute at most. On a real clock: `Retry::builder(5, Duration::from_secs(30))`.
    let retry = Retry::builder_with(5, Duration::from_secs(30), &clock, SeededRandom::new(42))
        .backoff(Backoff::new(Duration::from_millis(250)).ceiling(Duration::from_secs(5)))
        .spread(Duration::from_millis(500))
        .budget(Arc::new(budget))
        .gate(Arc::new(gate))
        .build()?;

    // A payment that the server knows by its key. It is unavailable, says for how long, and says it in two ways.
    let key = IdempotencyKey::new("payment-7f3a")?;
    let mut pay = retry.start_as("account 7", Safety::Keyed { key }, Body::Repeatable);
    follow(&clock, "pay", &mut pay, &[(503, &["2"]), (503, &["Tue, 10 Mar 2026 12:00:10 GMT", "3"]), (201, &[])]);

    // A search that is told to slow down, and with it everybody of account 7; account 8 is not concerned.
    let mut search = retry.start_as("account 7", Safety::of_method("GET"), Body::Repeatable);
    follow(&clock, "search", &mut search, &[(429, &["20"]), (200, &[])]);

    // A plain POST: nothing says that it may be sent twice.
    let mut comment = retry.start_as("account 8", Safety::of_method("POST"), Body::Repeatable);
    follow(&clock, "comment", &mut comment, &[(503, &["1"])]);

    // Longer than the deadline: it stops at once, and says when it would make sense to come back.
    let mut report = retry.start_as("account 8", Safety::of_method("GET"), Body::Repeatable);
    follow(&clock, "report", &mut report, &[(429, &["120"])]);
    let mut next = retry.start_as("account 8", Safety::of_method("GET"), Body::Repeatable);
    follow(&clock, "next", &mut next, &[]);
    Ok(())
}

/// Sends a call until it is answered or stops, against a service that answers by this script.
fn follow(clock: &ManualClock, name: &str, call: &mut Call<'_>, script: &[(u16, &[&str])]) {
    let mut script: VecDeque<_> = script.iter().collect();
    let mut plan = call.ready();
    loop {
        let now = Duration::from_nanos(clock.now());
        match plan {
            Plan::RetryAt(next) if next.wait().is_zero() => {
                let (status, lines) = script.pop_front().expect("the script is long enough");
                let key = call.key().unwrap_or("none");
                println!("{now:>8.1?}  {name}: attempt {}, key {key}: {status} {lines:?}", next.attempt());
                let lines = lines.iter().map(|line| ("Retry-After", line.as_bytes()));
                plan = call.after(&Outcome::Response(Response::new(*status, wall(clock), lines)));
            }
            Plan::RetryAt(next) => {
                println!("{now:>8.1?}  {name}: waits {:.1?}, because of the {:?}", next.wait(), next.bound());
                // Here a real client sleeps, and then asks again: others may have been told to wait meanwhile.
                clock.set(next.at());
                plan = call.ready();
            }
            Plan::Stop(stop) => {
                println!("{now:>8.1?}  {name}: {stop}");
                return;
            }
        }
    }
}

/// The wall clock of this pretended client: noon of a day in 2026, and as much later as the other clock says.
fn wall(clock: &ManualClock) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_773_144_000) + Duration::from_nanos(clock.now())
}
