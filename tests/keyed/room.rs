//! How full a table can be.

use admittance::{ManualClock, Overflow};

use crate::{a_second_each, table};

/// How many of `max_keys` newcomers find no room in a table that they fill to the last.
fn turned_away(max_keys: usize, part: f64) -> u64 {
    let clock = ManualClock::new();
    let callers = table(a_second_each(1), max_keys, Overflow::Deny, &clock);
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a share of a table")]
    let keys = (max_keys as f64 * part) as u64;
    let denied = (0..keys).filter(|key| callers.check(key, 1).is_denied()).count() as u64;
    assert_eq!(callers.stats().overflowed, denied);
    assert_eq!(callers.len() as u64, keys - denied);
    denied
}

/// The documented share is one in 10 000; a simulation of perfect hashing says one in 20 000.
#[test]
fn few_are_turned_away_by_a_table_that_is_filled_to_max_keys() {
    let keys = if cfg!(miri) { 2_000 } else { 200_000 };
    let denied = turned_away(keys, 1.0);
    assert!(denied <= keys as u64 / 10_000, "{denied} of {keys}");
}

#[test]
fn nobody_is_turned_away_by_a_table_that_is_three_quarters_full() {
    assert_eq!(turned_away(if cfg!(miri) { 2_000 } else { 200_000 }, 0.75), 0);
}

#[test]
fn small_tables_hold_what_they_were_built_for() {
    for max_keys in 1..=4 {
        assert_eq!(turned_away(max_keys, 1.0), 0, "{max_keys}");
    }
}

#[test]
fn a_table_takes_thirty_one_bytes_a_key_and_some_kilobytes() {
    let clock = ManualClock::new();
    for max_keys in [1, 100, 10_000, 1_000_000] {
        let stats = table(a_second_each(1), max_keys, Overflow::Deny, &clock).stats();
        assert!(stats.bytes <= 31 * max_keys + 16_000, "{max_keys} keys: {} bytes", stats.bytes);
        assert!(stats.capacity >= max_keys * 31 / 16);
        assert!((stats.len, stats.reclaimed, stats.overflowed) == (0, 0, 0));
    }
}
