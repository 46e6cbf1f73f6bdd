//! The fixed window's rollover: number and count change together.
//!
//! Cost: three threads without a bound; under a second.
#![cfg(admittance_loom)]

use std::time::Duration;

use admittance::window::step;
use admittance::{AtomicWord, Clock, FixedWindow, Window};
use admittance_loom_tests::mutant::{PlainStore, StaleLoad};
use admittance_loom_tests::{Limiter, check, refutes};
use loom::sync::Arc;
use loom::thread;

const SECOND: u64 = 1_000_000_000;

/// One caller in window 0, two in window 1, which has one token: never more than one in each.
fn rollover<L: Limiter>() {
    check(None, 3, || {
        let window = Window::new(1, Duration::from_secs(1)).unwrap();
        let word = Arc::new(L::default());
        let callers: Vec<_> = [SECOND - 1, SECOND]
            .into_iter()
            .map(|now| {
                let word = Arc::clone(&word);
                thread::spawn(move || word.apply(|word| step::acquire(word, 1, now, &window)).is_admitted())
            })
            .collect();
        let mut admitted = vec![word.apply(|word| step::acquire(word, 1, SECOND + 5, &window)).is_admitted()];
        admitted.extend(callers.into_iter().map(|caller| caller.join().unwrap()));
        let in_the_new = usize::from(admitted[0]) + usize::from(admitted[2]);
        // A caller from the old window that comes after the rollover is counted in the new one.
        let count = admitted.iter().filter(|&&admitted| admitted).count();
        assert!(in_the_new <= 1 && (1..=2).contains(&count), "a window's limit holds across the rollover");
        assert_eq!(step::unpack(word.load(), &window), (1, 1), "the word ends in the new window, with its one spent");
        admitted
    });
}

/// Stands at the last instant of a window for one thread and at the first of the next for the other.
struct TwoClocks(thread::ThreadId);

impl Clock for TwoClocks {
    fn now(&self) -> u64 {
        if thread::current().id() == self.0 { SECOND - 1 } else { SECOND }
    }
}

#[test]
fn a_window_rolls_over_once() {
    rollover::<AtomicWord>();
}

#[test]
fn the_limiter_itself_holds_its_limit_across_a_rollover() {
    check(None, 2, || {
        let clock = TwoClocks(thread::current().id());
        let limiter = Arc::new(FixedWindow::with_clock(Window::new(2, Duration::from_secs(1)).unwrap(), clock));
        let other = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || [limiter.try_acquire(1).is_admitted(), limiter.try_acquire(1).is_admitted()])
        };
        let here = limiter.try_acquire(2).is_admitted();
        let there = other.join().unwrap();
        // Before the rollover both windows admit all. After it, the late caller is counted in the new window.
        let new = there.iter().filter(|&&admitted| admitted).count();
        assert!(new == 2 || !here, "who is denied in the new window was not beaten by more than its limit");
        (here, there)
    });
}

#[test]
fn a_plain_store_counts_wrong() {
    refutes("holds across", rollover::<PlainStore>);
}

#[test]
fn a_stale_count_counts_wrong() {
    refutes("holds across", rollover::<StaleLoad>);
}
