//! Any 64 bits as a word, of a bucket and of a window: round trips, a new epoch, and rules that hold whatever the word.

use admittance::bucket::Word;
use admittance::bucket::step::{self, Step};
use admittance::{Budget, Decision, Resolution, Window, window};

use super::input::Input;
use super::oracle::{Answer, HORIZON, nanos};
use super::{bucket, window as windows};

/// First byte even: a budget, a word, a time, a cost, a span. Odd: a window and the same.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    match input.byte() {
        Some(kind) if kind % 2 == 0 => _ = of_a_bucket(&mut input),
        Some(_) => _ = of_a_window(&mut input),
        None => {}
    }
}

fn of_a_bucket(input: &mut Input<'_>) -> Option<()> {
    let budget = bucket::budget(input)?;
    let table = bucket::table(&budget);
    let [bits, now, n, later] = [(); 4].map(|()| input.number(&table).unwrap_or(0));
    let word = Word::from_bits(bits);

    let (tokens, timestamp) = word.unpack(&budget);
    assert_eq!(Word::pack(tokens, timestamp, &budget), Some(word));
    if let Some(packed) = Word::pack(n, now, &budget) {
        assert_eq!(packed.unpack(&budget), (n, now));
    }

    any_bucket_word(word, n, now, &budget);
    // A new epoch, before or at the call.
    let by = later.min(now);
    if now <= HORIZON {
        let moved = step::rebase(word, by, &budget);
        let at = |word, now| Answer::from(step::acquire(word, n, now, &budget).decision());
        same_but_for_the_horizon(at(word, now), at(moved, now - by), &budget);
    }
    Some(())
}

/// What holds for every word, the top ones that no step writes included.
fn any_bucket_word(word: Word, n: u64, now: u64, budget: &Budget) {
    let available = step::available(word, now, budget);
    assert!(available <= budget.capacity());
    let refunded = step::refund(word, n, now, budget);
    assert!(refunded <= word && step::available(refunded, now, budget) >= available);
    let (debited, charged) = step::debit(word, n, now, budget);
    assert!(charged <= n && debited >= word && step::available(debited, now, budget) <= available);
    match step::acquire(word, n, now, budget) {
        Step::Spend { next, permit } => {
            assert!(n <= available && next > word);
            assert_eq!(permit.remaining(), available - n);
            assert_eq!(step::available(next, now, budget), available - n);
        }
        Step::Keep(Decision::Admitted(permit)) => assert_eq!((n, permit.remaining()), (0, available)),
        Step::Keep(Decision::Never) => assert!(n > budget.capacity()),
        Step::Keep(Decision::Denied(denial)) => {
            assert!(n > available);
            let then = |now| step::acquire(word, n, now, budget).decision();
            match denial.retry_after_nanos() {
                u64::MAX => assert!(then(HORIZON).is_denied()),
                wait => assert!(then(now + wait - 1).is_denied() && then(now + wait).is_admitted()),
            }
        }
    }
}

/// The horizon is counted from the epoch, so a wait that was beyond it may be within it now. A scaled budget's wait grows
/// by a tick at most, which is less than a nanosecond.
fn same_but_for_the_horizon(old: Answer, new: Answer, budget: &Budget) {
    let slack = u64::from(budget.resolution() == Resolution::WithinOneNanosecond);
    match (old, new) {
        (Answer::Denied(u64::MAX), Answer::Denied(_)) | (Answer::Never, Answer::Never) => {}
        (Answer::Denied(old), Answer::Denied(new)) => assert!((old..=old + slack).contains(&new), "{old}, then {new}"),
        (Answer::Admitted(_), Answer::Denied(1)) => assert_eq!(slack, 1),
        // A token is a tick at least.
        (Answer::Admitted(old), Answer::Admitted(new)) => {
            assert!(new <= old && old - new <= slack, "{old}, then {new}");
        }
        (old, new) => panic!("{old:?}, then {new:?}"),
    }
}

fn of_a_window(input: &mut Input<'_>) -> Option<()> {
    let window = windows::window(input)?;
    let table = windows::table(&window);
    let [bits, now, n, number] = [(); 4].map(|()| input.number(&table).unwrap_or(0));
    let word = Word::from_bits(bits);

    if let Some(packed) = window::step::pack(number, n, &window) {
        assert_eq!(window::step::unpack(packed, &window), (number, n));
    }
    let (stored, count) = window::step::unpack(word, &window);
    let packed = window::step::pack(stored, count, &window);
    assert!(packed.is_none_or(|packed| packed == word));

    any_window_word(word, n, now, &window);
    // A new epoch for a word that a step could have written.
    let length = nanos(window.length());
    if let Some(word) = packed.filter(|_| now <= HORIZON) {
        let windows = number.min(now / length);
        let moved = window::step::rebase(word, windows, &window);
        let at = |word, now| Answer::from(window::step::acquire(word, n, now, &window).decision());
        match (at(word, now), at(moved, now - windows * length)) {
            (Answer::Denied(u64::MAX), Answer::Denied(_)) => {}
            (old, new) => assert_eq!(old, new),
        }
    }
    Some(())
}

fn any_window_word(word: Word, n: u64, now: u64, window: &Window) {
    let acquire = |word, now| window::step::acquire(word, n, now, window);
    match acquire(word, now) {
        Step::Spend { next, permit } => {
            assert!(permit.remaining() + n <= window.limit());
            assert!(next > word && window::step::unpack(next, window).1 <= window.limit());
        }
        Step::Keep(Decision::Admitted(permit)) => assert!(n == 0 && permit.remaining() <= window.limit()),
        Step::Keep(Decision::Never) => assert!(n > window.limit()),
        Step::Keep(Decision::Denied(denial)) => match denial.retry_after_nanos() {
            u64::MAX => assert!(acquire(word, HORIZON).decision().is_denied()),
            wait => {
                assert!(acquire(word, now + wait - 1).decision().is_denied());
                assert!(acquire(word, now + wait).decision().is_admitted());
            }
        },
    }
}
