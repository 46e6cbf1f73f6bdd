//! One plan after the other, by hand.

use std::time::Duration;

use admittance::ManualClock;
use admittance::retry::{Backoff, Bound, Jitter, Outcome, Reason, Signal, Stop};

use crate::support::{answer, get, plain, retry_at, s, secs, stop, stops};

#[test]
fn the_latest_of_backoff_and_signal_counts() {
    let clock = ManualClock::at(s(1));
    let retry = plain(9, secs(100), &clock).build().unwrap();
    let mut call = get(&retry);
    let first = retry_at(call.ready());
    assert_eq!((first.attempt(), first.at(), first.bound()), (1, s(1), Bound::Nothing));

    let second = retry_at(call.after(&answer(503, &["3"])));
    assert_eq!((second.attempt(), second.at(), second.boundary(), second.bound()), (2, s(4), s(4), Bound::Signal));
    assert_eq!((second.wait(), second.signal().map(Signal::several)), (secs(3), Some(false)));
    clock.set(second.at());
    // An answer of 0 is obeyed by the backoff alone; so is none, and one that cannot be read.
    for (lines, wait) in [(&["0"][..], 200), (&[], 400), (&["+9"], 800)] {
        let next = retry_at(call.after(&answer(503, lines)));
        assert_eq!((next.wait(), next.bound()), (Duration::from_millis(wait), Bound::Backoff), "{lines:?}");
        clock.set(next.at());
    }
    assert_eq!(call.sent(), 4);
}

/// What is drawn does not depend on what the server says: a second more is a second later, in this plan and in the next.
#[test]
fn a_second_more_is_a_second_later() {
    let plans = |seconds: &str| {
        let clock = ManualClock::new();
        let retry = plain(3, secs(1000), &clock).spread(secs(5)).build().unwrap();
        let mut call = get(&retry);
        let first = retry_at(call.after(&answer(503, &[seconds])));
        [first.at(), retry_at(call.after(&answer(503, &["20"]))).at()]
    };
    let [one, next] = plans("1");
    for seconds in 2..20 {
        assert_eq!(plans(&seconds.to_string()), [one + s(seconds - 1), next], "{seconds}");
    }
}

#[test]
fn a_second_is_not_floored_away() {
    let clock = ManualClock::at(999_999_999);
    let retry = plain(9, secs(100), &clock).build().unwrap();
    assert_eq!(retry_at(get(&retry).after(&answer(503, &["1"]))).at(), 1_999_999_999);
}

#[test]
fn a_wait_that_cannot_end_before_the_deadline_stops_now() {
    let clock = ManualClock::new();
    let retry = plain(9, secs(10), &clock).build().unwrap();
    // From the start, not from now.
    let mut call = get(&retry);
    assert_eq!(call.deadline(), s(10));
    clock.set(s(6));
    assert_eq!(retry_at(call.after(&answer(503, &["3"]))).at(), s(9));
    let stopped = stop(call.after(&answer(503, &["4"])));
    assert_eq!(
        (stopped.reason(), stopped.resume_at(), stopped.resume_after()),
        (Reason::Deadline, Some(s(10)), Some(secs(4)))
    );
    assert_eq!(clock.advance(Duration::ZERO), s(6), "nobody waited");
    // To the nanosecond, and the spread counts.
    for (now, reason) in [(s(7) - 1, None), (s(7), Some(Reason::Deadline))] {
        let mut call = get(&retry).within(Duration::from_nanos(s(10) - now));
        assert_eq!(call.deadline(), s(16) - now);
        let plan = call.after(&answer(503, &["3"]));
        assert_eq!(plan.stop().map(Stop::reason), reason, "{plan}");
    }
    // A sooner deadline than the planner's counts, a later one does not.
    assert_eq!(get(&retry).within(secs(99)).deadline(), s(16));
    // One that slept through it does not send.
    let mut call = get(&retry);
    let _ = retry_at(call.after(&answer(503, &["3"])));
    clock.set(s(16));
    assert_eq!(stops(call.ready(), Reason::Deadline), Some(s(16)));
}

#[test]
fn a_longest_wait_stops_and_never_shortens() {
    let clock = ManualClock::new();
    let retry = plain(9, secs(1000), &clock).longest_wait(secs(5)).build().unwrap();
    let mut call = get(&retry);
    assert_eq!(retry_at(call.after(&answer(503, &["5"]))).wait(), secs(5));
    assert_eq!(stops(call.after(&answer(503, &["6"])), Reason::WaitTooLong), Some(s(6)));
    // Its own backoff is measured by it as well.
    let slow = Backoff::new(secs(6)).jitter(Jitter::None);
    let retry = plain(9, secs(1000), &clock).backoff(slow).longest_wait(secs(5)).build().unwrap();
    assert_eq!(stops(get(&retry).after(&Outcome::Lost), Reason::WaitTooLong), Some(s(6)));
    // The ceiling of the backoff shortens the backoff, and nothing else.
    let retry = plain(9, secs(1000), &clock).backoff(slow.factor(9).ceiling(secs(7))).build().unwrap();
    let mut call = get(&retry);
    for (lines, wait) in [(&[][..], 6), (&[], 7), (&["20"], 20), (&["1"], 7)] {
        assert_eq!(retry_at(call.after(&answer(503, lines))).wait(), secs(wait), "{lines:?}");
    }
}

#[test]
fn attempts_are_counted_where_nothing_waits_too() {
    let clock = ManualClock::new();
    let at_once = Backoff::new(Duration::ZERO);
    for most in 1..6 {
        let retry = plain(most, secs(1000), &clock).backoff(at_once).build().unwrap();
        let mut call = get(&retry);
        let mut sent = 0;
        while let Some(next) = call.ready().retry_at().copied() {
            sent += 1;
            assert_eq!((next.attempt(), next.wait()), (sent, Duration::ZERO));
            let _ = call.after(&answer(503, &["0"]));
        }
        assert_eq!((sent, call.sent()), (most, most));
        assert_eq!(stop(call.ready()).reason(), Reason::Attempts);
    }
}

#[test]
fn asking_again_costs_nothing() {
    let clock = ManualClock::new();
    let retry = plain(3, secs(1000), &clock).build().unwrap();
    let mut call = get(&retry);
    let next = retry_at(call.after(&answer(503, &["3"])));
    for now in [0, s(1), s(3) - 1] {
        clock.set(now);
        let again = retry_at(call.ready());
        assert_eq!((again.attempt(), again.at(), again.bound()), (2, next.at(), Bound::Signal));
    }
    for now in [s(3), s(4)] {
        clock.set(now);
        assert_eq!(retry_at(call.ready()).wait(), Duration::ZERO);
    }
}

#[test]
fn an_end_beyond_the_clock_is_no_instant() {
    let clock = ManualClock::at(s(1));
    let retry = plain(9, Duration::MAX, &clock).build().unwrap();
    for never in ["18446744073709551616", "18446744073", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        assert_eq!(stops(get(&retry).after(&answer(503, &[never])), Reason::Deadline), None, "{never}");
    }
}

#[test]
fn plans_say_what_they_are() {
    let clock = ManualClock::new();
    let retry = plain(9, secs(2), &clock).build().unwrap();
    assert_eq!(get(&retry).after(&answer(503, &["1"])).to_string(), "attempt 2 after 1s");
    assert_eq!(
        get(&retry).after(&answer(503, &["3"])).to_string(),
        "no further attempt: the wait cannot end before the deadline; it could resume after 3s"
    );
}
