//! What may be sent twice, and what is tried again at all.

use admittance::ManualClock;
use admittance::retry::{Body, IdempotencyKey, IdempotentMethod, Outcome, Reason, Safety};

use crate::support::{GET, answer, plain, retry_at, s, secs, stops};

fn keyed() -> Safety {
    Safety::Keyed { key: IdempotencyKey::new("order-7f3a").unwrap() }
}

/// Whether a call of this safety and body has a second attempt after this.
fn goes_on(safety: Safety, body: Body, outcome: &Outcome<'_>) -> Result<(), Reason> {
    let clock = ManualClock::new();
    let retry = plain(3, secs(100), &clock).build().unwrap();
    let plan = retry.start(safety, body).after(outcome);
    plan.stop().map_or(Ok(()), |stop| Err(stop.reason()))
}

#[test]
fn a_post_without_a_key_stops_at_a_503() {
    let post = || Safety::of_method("POST");
    assert_eq!(post(), Safety::NotSent);
    for outcome in [answer(503, &["3"]), answer(429, &["3"]), answer(503, &[]), Outcome::Lost] {
        assert_eq!(goes_on(post(), Body::Repeatable, &outcome), Err(Reason::NotReplayable), "{outcome:?}");
        for safe in [keyed(), Safety::Asserted("a search"), GET] {
            assert_eq!(goes_on(safe, Body::Repeatable, &outcome), Ok(()), "{outcome:?}");
        }
    }
    assert_eq!(goes_on(post(), Body::Repeatable, &Outcome::NotSent), Ok(()));
}

#[test]
fn only_known_methods_are_idempotent() {
    for name in ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"] {
        assert_eq!(IdempotentMethod::new(name).unwrap().as_str(), name);
        assert!(matches!(Safety::of_method(name), Safety::IdempotentMethod(_)), "{name}");
    }
    for name in ["POST", "PATCH", "CONNECT", "get", "Get", "", "GET "] {
        assert!(IdempotentMethod::new(name).is_err(), "{name}");
        assert_eq!(Safety::of_method(name), Safety::NotSent, "{name}");
    }
    let error = IdempotentMethod::new("POST").unwrap_err();
    assert_eq!(error.field(), "method");
    assert!(error.to_string().contains("'POST' is not known to be idempotent"), "{error}");
}

#[test]
fn a_body_that_cannot_be_sent_twice_stops() {
    for outcome in [answer(503, &[]), answer(429, &["3"]), answer(307, &["3"]), Outcome::Lost, Outcome::NotSent] {
        assert_eq!(goes_on(keyed(), Body::Once, &outcome), Err(Reason::BodySpent), "{outcome:?}");
    }
    // A GET follows, which has none.
    assert_eq!(goes_on(Safety::NotSent, Body::Once, &answer(303, &["3"])), Ok(()));
}

#[test]
fn the_key_is_the_same_on_every_attempt() {
    let clock = ManualClock::new();
    let retry = plain(10, secs(1000), &clock).build().unwrap();
    let mut call = retry.start(keyed(), Body::Repeatable);
    for _ in 0..9 {
        let next = retry_at(call.ready());
        clock.set(next.at());
        assert_eq!(call.key(), Some("order-7f3a"));
        let _ = call.after(&answer(503, &["1"]));
    }
    assert_eq!(retry.start(GET, Body::Repeatable).key(), None);
    for wrong in ["", "a b", "a\n", "é", &"x".repeat(256)] {
        let error = IdempotencyKey::new(wrong).unwrap_err();
        assert_eq!(error.field(), "idempotency key", "{error}");
    }
    assert!(IdempotencyKey::new("x".repeat(255)).is_ok());
}

#[test]
fn what_is_an_answer_is_not_tried_again() {
    for status in (100..1000).filter(|status| !matches!(status, 429 | 503 | 300..=303 | 305..=399)) {
        assert_eq!(goes_on(GET, Body::Repeatable, &answer(status, &["3"])), Err(Reason::Answered), "{status}");
    }
    for status in [300, 301, 302, 303, 305, 307, 308, 399] {
        let redirect = answer(status, &["3"]);
        assert_eq!(goes_on(Safety::NotSent, Body::Repeatable, &redirect), Ok(()), "{status}: the server asks for it");
        for unsaid in [&[][..], &["x"]] {
            assert_eq!(goes_on(GET, Body::Repeatable, &answer(status, unsaid)), Err(Reason::Answered), "{status}");
        }
    }
}

#[test]
fn a_redirect_waits_too() {
    let clock = ManualClock::new();
    let retry = plain(3, secs(100), &clock).build().unwrap();
    assert_eq!(retry_at(retry.start(GET, Body::Repeatable).after(&answer(301, &["3"]))).at(), s(3));
}

#[test]
fn what_stops_for_safety_says_when_it_could_resume() {
    let clock = ManualClock::at(s(5));
    let retry = plain(3, secs(100), &clock).build().unwrap();
    let mut call = retry.start(Safety::NotSent, Body::Repeatable);
    assert_eq!(stops(call.after(&answer(503, &["3"])), Reason::NotReplayable), Some(s(8)));
    // And stays stopped.
    assert_eq!(stops(call.after(&Outcome::NotSent), Reason::NotReplayable), Some(s(8)));
    assert_eq!(stops(call.ready(), Reason::NotReplayable), Some(s(8)));
    assert_eq!(call.sent(), 1);
}
