//! The fixed window against a table of what was spent in each.

mod oracle;
#[path = "oracle/strategies.rs"]
mod strategies;

use std::time::Duration;

use admittance::bucket::Word;
use admittance::bucket::step::Step;
use admittance::window::step;
use admittance::{Decision, FixedWindow, ManualClock, Window};
use oracle::{Answer, HORIZON, WindowOp, drive_window, nanos};
use proptest::prelude::*;
use strategies::{DAY, SECOND, YEAR, any_size, cases, cost, start};

/// Any window that can be built. A limit that leaves no room for the number becomes the largest that does.
fn window() -> impl Strategy<Value = Window> {
    let length = prop_oneof![
        3 => prop::sample::select(vec![1, 2, 3, 1000, SECOND, 10 * SECOND, 60 * SECOND, DAY, 30 * YEAR, HORIZON]),
        2 => any_size().prop_map(|n| n.clamp(1, HORIZON)),
    ];
    let limit = prop_oneof![3 => 1_u64..20, 1 => Just(1), 2 => any_size().prop_map(|n| n.max(1)), 1 => Just(u64::MAX)];
    (limit, length).prop_map(|(limit, length)| {
        let length = Duration::from_nanos(length);
        Window::new(limit, length)
            .or_else(|error| Window::new(error.bound().expect("only the limit can be at fault"), length))
            .expect("the bound builds")
    })
}

fn ops(window: &Window) -> impl Strategy<Value = Vec<WindowOp>> + use<> {
    let (limit, length) = (window.limit(), nanos(window.length()));
    let span = move || prop_oneof![3 => 1_u64..4, 3 => 0..=length, 1 => any_size().prop_map(|n| n.min(30 * YEAR))];
    let op = prop_oneof![
        8 => cost(limit).prop_map(WindowOp::Acquire),
        1 => cost(limit).prop_map(WindowOp::Peek),
        1 => Just(WindowOp::Available),
        4 => span().prop_map(WindowOp::Advance),
        2 => span().prop_map(WindowOp::StepBack),
        4 => (-2_i8..=2).prop_map(WindowOp::Boundary),
    ];
    prop::collection::vec(op, 1..40)
}

fn spend(word: Word, n: u64, now: u64, window: &Window) -> Word {
    match step::acquire(word, n, now, window) {
        Step::Spend { next, .. } => next,
        Step::Keep(decision) => panic!("{n} at {now} of {window:?}: {decision:?}"),
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn any_history_is_the_one_of_the_table(
        (window, ops) in window().prop_flat_map(|window| { let ops = ops(&window); (Just(window), ops) }), start in start(),
    ) {
        prop_assert_eq!(drive_window(window, start, &ops), Ok(()));
    }

    #[test]
    fn a_denial_is_denied_one_nanosecond_before_the_promised_instant_and_admitted_at_it(
        (window, spent, n) in window().prop_flat_map(|w| (Just(w), 1..=w.limit(), 1..=w.limit())), now in start(),
    ) {
        let word = spend(Word::FULL, spent, now, &window);
        let at = |now| Answer::from(step::acquire(word, n, now, &window).decision());
        match at(now) {
            Answer::Denied(u64::MAX) => prop_assert_eq!(at(u64::MAX), Answer::Denied(u64::MAX)),
            Answer::Denied(wait) => {
                prop_assert_eq!(at(now + wait - 1), Answer::Denied(1));
                prop_assert_eq!(at(now + wait), Answer::Admitted(window.limit() - n));
            }
            other => prop_assert_eq!(other, Answer::Admitted(window.limit() - spent - n)),
        }
    }

    #[test]
    fn a_word_is_its_two_digits(window in window(), number in any_size(), count in any_size(), bits in any_size()) {
        let last = HORIZON / nanos(window.length());
        match step::pack(number, count, &window) {
            Some(word) => prop_assert_eq!(step::unpack(word, &window), (number, count)),
            None => prop_assert!(number > last || count > window.limit()),
        }
        let (number, count) = (number % (last + 1), count % window.limit());
        let word = step::pack(number, count, &window).expect("within the bounds");
        prop_assert_eq!(step::unpack(word, &window), (number, count));
        let (number, count) = step::unpack(Word::from_bits(bits), &window);
        let sound = number <= last && count <= window.limit();
        prop_assert_eq!(step::pack(number, count, &window), sound.then_some(Word::from_bits(bits)));
    }

    /// Whatever the word holds: one of another window, or of nothing at all. It may deny for ever; it does not panic
    /// and gives no more than the limit.
    #[test]
    fn a_word_of_something_else_gives_no_more_than_the_limit(
        (window, n) in window().prop_flat_map(|window| (Just(window), cost(window.limit()))),
        bits in any_size(), now in start(),
    ) {
        match step::acquire(Word::from_bits(bits), n, now, &window) {
            Step::Spend { next, .. } => prop_assert!(step::unpack(next, &window).1 <= window.limit()),
            Step::Keep(decision) => prop_assert!(decision.remaining().unwrap_or(0) <= window.limit()),
        }
    }

    #[test]
    fn a_new_epoch_changes_no_answer(
        (window, spent, n) in window().prop_flat_map(|w| (Just(w), 1..=w.limit(), cost(w.limit()))),
        then in any_size(), windows in any_size(), later in any_size(),
    ) {
        let length = nanos(window.length());
        let then = then.min(HORIZON);
        let word = spend(Word::FULL, spent, then, &window);
        let windows = windows % (HORIZON / length + 1);
        let by = windows * length;
        let now = by + later % (HORIZON - by + 1);
        let (old, new) = (
            Answer::from(step::acquire(word, n, now, &window).decision()),
            Answer::from(step::acquire(step::rebase(word, windows, &window), n, now - by, &window).decision()),
        );
        match (old, new) {
            // Only the horizon moves.
            (Answer::Denied(u64::MAX), Answer::Denied(wait)) => prop_assert!(wait > HORIZON - now),
            (old, new) => prop_assert_eq!(old, new),
        }
    }
}

fn limiter(limit: u64, seconds: u64, clock: &ManualClock) -> FixedWindow<&ManualClock> {
    FixedWindow::with_clock(Window::new(limit, Duration::from_secs(seconds)).unwrap(), clock)
}

fn admitted(limiter: &FixedWindow<&ManualClock>, calls: u32) -> u32 {
    (0..calls).map(|_| u32::from(limiter.try_acquire(1).is_admitted())).sum()
}

#[test]
fn windows_are_aligned_to_the_epoch_and_not_to_the_first_call() {
    let clock = ManualClock::at(7 * SECOND);
    let limiter = limiter(5, 10, &clock);
    assert_eq!(admitted(&limiter, 9), 5);
    assert_eq!(limiter.try_acquire(1).retry_after(), Some(Duration::from_secs(3)));
    clock.set(10 * SECOND - 1);
    assert_eq!(limiter.try_acquire(1).retry_after(), Some(Duration::from_nanos(1)));
    clock.set(10 * SECOND);
    assert_eq!(admitted(&limiter, 9), 5);
}

/// What the documentation says it does not promise: half on each side of a boundary.
#[test]
fn twice_the_limit_passes_around_a_boundary_and_no_more() {
    let clock = ManualClock::at(10 * SECOND - 1);
    let limiter = limiter(5, 10, &clock);
    assert_eq!(admitted(&limiter, 20), 5);
    clock.set(10 * SECOND);
    assert_eq!(admitted(&limiter, 20), 5);
    clock.set(20 * SECOND - 2);
    assert_eq!(admitted(&limiter, 20), 0, "ten in less than a window, and then none");
}

#[test]
fn a_clock_that_steps_back_over_a_boundary_opens_no_window_again() {
    let clock = ManualClock::at(9 * SECOND);
    let limiter = limiter(5, 10, &clock);
    assert_eq!(admitted(&limiter, 20), 5);
    clock.set(11 * SECOND);
    assert_eq!(admitted(&limiter, 2), 2);
    clock.set(9 * SECOND);
    assert_eq!(limiter.available(), 3, "counted in the word's window");
    assert_eq!(admitted(&limiter, 20), 3);
    assert_eq!(limiter.try_acquire(1).retry_after(), Some(Duration::from_secs(11)), "to where the word's window ends");
    clock.set(11 * SECOND);
    assert_eq!(admitted(&limiter, 20), 0);
    clock.set(20 * SECOND);
    assert_eq!(admitted(&limiter, 20), 5);
}

#[test]
fn costs_at_the_edges_of_the_limit() {
    let clock = ManualClock::new();
    let limiter = limiter(5, 10, &clock);
    assert_eq!(limiter.try_acquire(0).remaining(), Some(5));
    assert!(limiter.try_acquire(6).is_never());
    assert!(limiter.try_acquire(u64::MAX).is_never());
    assert_eq!(limiter.try_acquire(3).remaining(), Some(2));
    assert!(limiter.try_acquire(3).is_denied());
    assert_eq!(limiter.peek(2).remaining(), Some(0));
    assert_eq!(limiter.try_acquire(2).remaining(), Some(0));
    assert_eq!(limiter.try_acquire(0).remaining(), Some(0), "nothing is left, and nothing is asked");
    assert_eq!(limiter.available(), 0);
}

#[test]
fn past_the_horizon_the_last_window_stays() {
    let clock = ManualClock::at(HORIZON);
    let limiter = limiter(5, 10, &clock);
    assert_eq!(admitted(&limiter, 3), 3);
    clock.set(u64::MAX);
    assert_eq!(admitted(&limiter, 20), 2);
    assert_eq!(limiter.try_acquire(1).retry_after(), Some(Duration::from_nanos(u64::MAX)));
}

#[test]
fn a_window_as_long_as_the_horizon_is_one_count() {
    let clock = ManualClock::new();
    let limiter = FixedWindow::with_clock(Window::new(u64::MAX / 4, Duration::from_nanos(HORIZON)).unwrap(), &clock);
    assert_eq!(limiter.try_acquire(u64::MAX / 4).remaining(), Some(0));
    assert_eq!(limiter.try_acquire(1).retry_after(), Some(Duration::from_nanos(HORIZON)));
    clock.set(HORIZON);
    assert_eq!(limiter.try_acquire(1).remaining(), Some(u64::MAX / 4 - 1));
}

/// Equal answers compare equal, whatever they were computed from.
#[test]
fn decisions_of_a_bucket_and_of_a_window_compare_by_what_they_say() {
    let clock = ManualClock::new();
    let limiter = limiter(2, 1, &clock);
    let bucket = admittance::TokenBucket::with_clock(admittance::Budget::per_second(1).with_capacity(2), &clock);
    assert_eq!(limiter.try_acquire(2), bucket.try_acquire(2));
    assert_eq!(limiter.try_acquire(1), bucket.try_acquire(1));
    assert_eq!(limiter.try_acquire(3), Decision::Never);
    assert_ne!(limiter.peek(0), limiter.peek(1));
}
