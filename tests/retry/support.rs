//! What several of these tests use.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use admittance::ManualClock;
use admittance::retry::{
    Attempts, Backoff, Body, IdempotentMethod, Jitter, Lenience, Outcome, Plan, Reason, Response, Retry, RetryAt,
    RetryBuilder, Safety, SeededRandom, Signal, Stop,
};

pub(crate) const GET: Safety = Safety::IdempotentMethod(IdempotentMethod::GET);

/// A planner on a clock that stands where it is put, with chance that is always the same; without jitter and spread.
pub(crate) fn plain(
    attempts: u32,
    deadline: Duration,
    clock: &ManualClock,
) -> RetryBuilder<&ManualClock, SeededRandom> {
    Retry::builder_with(attempts, deadline, clock, SeededRandom::new(7))
        .backoff(Backoff::new(Duration::from_millis(100)).jitter(Jitter::None))
        .spread(Duration::ZERO)
}

pub(crate) type Planner<'c> = Retry<&'c ManualClock, SeededRandom>;

pub(crate) fn get<'c>(retry: &Planner<'c>) -> Attempts<&'c ManualClock, SeededRandom> {
    retry.start(GET, Body::Repeatable)
}

/// 2026-03-10, noon.
pub(crate) fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_773_144_000)
}

/// A response of this status that came at noon, with these lines `Retry-After`.
pub(crate) fn response<'a>(status: u16, lines: &[&'a str]) -> Response<'a> {
    Response::new(status, noon(), lines.iter().map(|line| ("Retry-After", line.as_bytes())))
}

pub(crate) fn answer<'a>(status: u16, lines: &[&'a str]) -> Outcome<'a> {
    Outcome::Response(response(status, lines))
}

pub(crate) fn signal(lines: &[&str]) -> Option<Signal> {
    response(503, lines).signal(Lenience::STRICT)
}

#[track_caller]
pub(crate) fn retry_at(plan: Plan) -> RetryAt {
    *plan.retry_at().unwrap_or_else(|| panic!("{plan}"))
}

#[track_caller]
pub(crate) fn stop(plan: Plan) -> Stop {
    *plan.stop().unwrap_or_else(|| panic!("{plan}"))
}

#[track_caller]
pub(crate) fn stops(plan: Plan, reason: Reason) -> Option<u64> {
    let stop = stop(plan);
    assert_eq!(stop.reason(), reason);
    stop.resume_at()
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Seconds in nanoseconds.
pub(crate) const fn s(seconds: u64) -> u64 {
    seconds * 1_000_000_000
}
