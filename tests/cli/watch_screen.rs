//! `watch` on a terminal: what its screen shows, its keys, and how it leaves.

use crate::program::access;
use crate::terminal::{Terminal, row};

const LIMIT: [&str; 5] = ["watch", "--capacity", "2", "--refill", "1/30d"];

fn watch(name: &str) -> Terminal {
    Terminal::start(name, &LIMIT, "")
}

/// The row of a caller among those who are limited: refused in the last minute, and in all.
fn refused(screen: &vt100::Screen, caller: &str) -> Option<(String, String)> {
    let row = row(screen, &[caller, "29d"])?;
    Some((row.get(1)?.clone(), row.get(2)?.clone()))
}

fn is_refused(terminal: &Terminal, caller: &str, times: u64) {
    let times = times.to_string();
    terminal.shows_that(&format!("{caller} refused {times} times"), |screen| {
        refused(screen, caller) == Some((times.clone(), times.clone()))
    });
}

#[test]
fn who_is_limited_is_shown_with_counts_and_q_leaves_the_terminal_as_it_was() {
    let mut terminal = watch("screen");
    terminal.shows("no line yet");
    terminal
        .shows_that("a screen of its own without a cursor", |screen| screen.alternate_screen() && screen.hide_cursor());
    terminal.feed(&access("192.0.2.7", 0, 1).repeat(5));
    terminal.feed(&access("192.0.2.9", 0, 1));
    terminal.feed("what?\n");
    is_refused(&terminal, "192.0.2.7", 3);
    for said in [
        "limit · token bucket: 1 per 2592000s, capacity 2",
        "the log's clock: 2015-05-17T10:00:00Z",
        "7 lines: 3 admitted, 3 denied, 1 unreadable; 1 limited now of 2 callers",
        "unreadable: standard input:7:6: expected a space after the address, found the end of the line",
        "Limited now: 1 (3 refused in the last minute)",
    ] {
        terminal.shows(said);
    }
    // In the list of requests the caller that was never refused is too; in that of refusals it is not.
    assert_eq!(terminal.row(&["192.0.2.9"]), Some(vec!["192.0.2.9".into(), "1".into()]));
    assert_eq!(terminal.row(&["192.0.2.7", "5"]).map(|row| row.len()), Some(4));
    if let Some(path) = std::env::var_os("ADMITTANCE_SCREEN") {
        std::fs::write(path, terminal.screen().contents()).unwrap();
    }

    // Larger, and everything has moved.
    terminal.resize(30, 120);
    terminal.shows_that("keys in the last of thirty rows", |screen| {
        screen.rows(0, 120).nth(29).is_some_and(|row| row.contains("q quit"))
    });
    is_refused(&terminal, "192.0.2.7", 3);

    terminal.press("q");
    let status = terminal.ends();
    assert_eq!((status.exit_code(), status.signal()), (0, None));
    let left = terminal.screen().contents();
    assert!(left.contains("7 lines: 3 admitted, 3 denied, 1 unreadable; 1 limited now of 2 callers"), "{left}");
    assert!(!left.contains("q quit"), "{left}");
}

#[test]
fn it_says_that_the_log_has_ended_and_stays() {
    let mut terminal = watch("ended");
    terminal.feed(&access("192.0.2.7", 0, 1).repeat(3));
    is_refused(&terminal, "192.0.2.7", 1);
    terminal.log = None;
    terminal.shows("THE LOG HAS ENDED");
    // It still hears keys.
    terminal.press("s");
    terminal.shows("by wait");
    // The log's clock stands where the log ended.
    assert!(!terminal.screen().contents().contains("Z +"), "{}", terminal.screen().contents());
    terminal.press("\u{1b}");
    assert_eq!(terminal.ends().exit_code(), 0);
}

#[test]
fn it_leaves_at_the_end_where_that_is_asked_for() {
    let mut terminal = Terminal::start("exit", &[&LIMIT[..], &["--exit-at-end"]].concat(), "");
    terminal.feed(&access("192.0.2.7", 0, 1).repeat(3));
    terminal.log = None;
    assert_eq!(terminal.ends().exit_code(), 0);
    assert!(terminal.screen().contents().contains("3 lines: 2 admitted, 1 denied"));
}

#[test]
fn ctrl_c_is_a_key_like_q() {
    let mut terminal = watch("ctrl-c");
    terminal.feed(&access("192.0.2.7", 0, 1).repeat(3));
    is_refused(&terminal, "192.0.2.7", 1);
    terminal.press("\u{3}");
    let status = terminal.ends();
    assert_eq!((status.exit_code(), status.signal()), (0, None));
}

#[test]
fn a_signal_ends_it_as_any_other_program_with_the_terminal_put_back() {
    let mut terminal = watch("signal");
    terminal.feed(&access("192.0.2.7", 0, 1).repeat(3));
    is_refused(&terminal, "192.0.2.7", 1);
    terminal.terminate();
    assert_eq!(terminal.ends().signal(), Some("Terminated"));
}

#[test]
fn strict_leaves_with_what_is_wrong() {
    let mut terminal = Terminal::start("strict", &[&LIMIT[..], &["--strict"]].concat(), "");
    terminal.shows("no line yet");
    terminal.feed("what?\n");
    assert_eq!(terminal.ends().exit_code(), 1);
    let left = terminal.screen().contents();
    assert!(left.contains("admittance: standard input:1:6: expected a space after the address"), "{left}");
}

#[test]
fn what_is_paused_stays_while_the_log_is_read_on() {
    let mut terminal = watch("paused");
    terminal.feed(&access("192.0.2.7", 0, 1).repeat(4));
    is_refused(&terminal, "192.0.2.7", 2);
    terminal.press("p");
    terminal.shows("PAUSED");
    terminal.feed(&access("192.0.2.7", 0, 1).repeat(5));
    for sort in ["by wait", "by key", "by denials", "by wait"] {
        terminal.press("s");
        terminal.shows(sort);
        assert_eq!(refused(&terminal.screen(), "192.0.2.7"), Some(("2".into(), "2".into())));
    }
    terminal.press("p");
    is_refused(&terminal, "192.0.2.7", 7);
    assert!(!terminal.screen().contents().contains("PAUSED"));
}

#[test]
fn arrows_move_through_more_callers_than_there_are_rows() {
    let mut terminal = watch("arrows");
    let log: String = (1..=30).map(|caller| access(&format!("192.0.2.{caller:03}"), 0, 1).repeat(3)).collect();
    terminal.feed(&log);
    let first = |caller: &'static str| {
        move |screen: &vt100::Screen| {
            let rows: Vec<String> = screen.rows(0, 100).collect();
            let head = rows.iter().position(|row| row.contains("would pass in"));
            head.is_some_and(|head| rows[head + 1].contains(caller))
        }
    };
    terminal.shows("30 limited now of 30 callers");
    terminal.shows_that("the first of them", first("192.0.2.001"));
    terminal.press("\u{1b}[B\u{1b}[B");
    terminal.shows_that("the third at the top", first("192.0.2.003"));
    terminal.press("\u{1b}[A");
    terminal.shows_that("the second at the top", first("192.0.2.002"));
    // As far as there are rows, and not beyond.
    terminal.press(&"\u{1b}[6~".repeat(9));
    terminal.shows_that("the last at the bottom", |screen| refused(screen, "192.0.2.030").is_some());
    terminal.press("\u{1b}[H");
    terminal.shows_that("the first of them", first("192.0.2.001"));
}

#[test]
fn no_terminal_is_too_small() {
    let mut terminal = watch("small");
    terminal.feed(&access("192.0.2.7", 0, 1).repeat(3));
    is_refused(&terminal, "192.0.2.7", 1);
    for (lines, columns) in [(8, 20), (2, 5), (1, 1), (3, 200)] {
        terminal.resize(lines, columns);
    }
    terminal.resize(24, 100);
    is_refused(&terminal, "192.0.2.7", 1);
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
}
