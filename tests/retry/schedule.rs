//! What a planner says that it would do.

use std::time::Duration;

use admittance::ManualClock;
use admittance::retry::{Backoff, Ends, Goes, Jitter, Retry, Schedule, SeededRandom, Wait};

use crate::support::{plain, secs};

fn rows(schedule: &Schedule) -> Vec<(u64, u64, Goes)> {
    schedule.attempts().iter().map(|row| (row.earliest().as_secs(), row.latest().as_secs(), row.goes())).collect()
}

#[test]
fn the_example_of_the_command_line() {
    let clock = ManualClock::new();
    let retry = Retry::builder_with(5, secs(10), &clock, SeededRandom::new(0))
        .backoff(Backoff::new(secs(1)))
        .spread(secs(1))
        .build()
        .unwrap();
    let schedule = retry.schedule(Some(Wait::Exactly(secs(3))));
    assert_eq!(
        rows(&schedule),
        [
            (0, 0, Goes::Always),
            (3, 4, Goes::Always),
            (6, 8, Goes::Always),
            (9, 13, Goes::Perhaps),
            (12, 22, Goes::Never)
        ]
    );
    assert_eq!((schedule.worst_total(), schedule.ends()), (secs(10), Ends::Deadline));
}

#[test]
fn without_a_signal_the_backoff_is_all() {
    let clock = ManualClock::new();
    for (jitter, second, third) in [
        (Jitter::None, (2, 2), (6, 6)),
        (Jitter::Full, (0, 2), (0, 6)),
        (Jitter::Equal, (1, 2), (3, 6)),
        (Jitter::Decorrelated, (2, 6), (4, 24)),
    ] {
        let retry = plain(3, secs(1000), &clock).backoff(Backoff::new(secs(2)).jitter(jitter)).build().unwrap();
        let schedule = retry.schedule(None);
        let expected = [(0, 0), second, third].map(|(earliest, latest)| (earliest, latest, Goes::Always));
        assert_eq!(rows(&schedule), expected, "{jitter:?}");
        assert_eq!((schedule.worst_total(), schedule.ends()), (secs(third.1), Ends::Attempts));
    }
}

#[test]
fn what_is_too_long_ends_it() {
    let clock = ManualClock::new();
    let retry = plain(4, secs(1000), &clock).longest_wait(secs(5)).build().unwrap();
    let schedule = retry.schedule(Some(Wait::Exactly(secs(6))));
    assert_eq!((schedule.worst_total(), schedule.ends()), (Duration::ZERO, Ends::WaitTooLong));
    assert!(schedule.attempts()[1..].iter().all(|row| row.goes() == Goes::Never));
    let schedule = retry.schedule(Some(Wait::Saturated));
    assert_eq!(schedule.attempts()[3].goes(), Goes::Never);
}

#[test]
fn a_great_many_attempts_are_not_all_listed() {
    let clock = ManualClock::new();
    assert_eq!(plain(u32::MAX, secs(1000), &clock).build().unwrap().schedule(None).attempts().len(), 1000);
}
