//! The progress bar of `replay`: drawn on a terminal, and gone at the end.

use std::fs;

use crate::program::{access, file};
use crate::terminal::Terminal;

/// What the bar says of the lines so far.
const BAR: &str = "M lines, ";

#[test]
fn the_bar_is_drawn_on_a_terminal_alone_and_cleared_at_the_end() {
    let (summary, errors) = (file("progress.out", ""), file("progress.err", ""));
    let args = ["replay", "-", "--window", "1/1m"];
    let mut shown = Terminal::start("bar", &args, &format!("> {summary}"));
    // These are there as long as the one that is looked at, and longer.
    let mut quiet = Terminal::start("quiet", &["replay", "-", "--window", "1/1m", "--quiet"], "");
    let mut elsewhere = Terminal::start("elsewhere", &args, &format!("2> {errors}"));
    let mut all = [&mut shown, &mut quiet, &mut elsewhere];
    for terminal in &mut all {
        terminal.feed(&access("192.0.2.7", 0, 1).repeat(3));
    }
    let mut later = Terminal::start("later", &args, "> /dev/null");
    later.feed(&access("192.0.2.7", 0, 1));
    later.shows_that("a bar a second old", |screen| {
        let contents = screen.contents();
        contents.contains(BAR) && contents.contains("1s")
    });
    // Bytes are those that came so far.
    let bytes = access("192.0.2.7", 0, 1).len() * 3;
    all[0].shows(&format!("{bytes} B"));
    all[0].shows(BAR);

    for terminal in &mut all {
        terminal.log = None;
        let status = terminal.ends();
        assert_eq!((status.exit_code(), status.signal()), (0, None));
    }
    assert_eq!(shown.screen().contents(), "");
    assert!(fs::read_to_string(summary).unwrap().contains("denied    2"));
    for terminal in [&quiet, &elsewhere] {
        assert!(!terminal.written().contains(BAR), "{}", terminal.written());
        assert!(terminal.screen().contents().contains("denied    2"), "{}", terminal.screen().contents());
    }
    assert_eq!(fs::read_to_string(errors).unwrap(), "");
    later.log = None;
    later.ends();
}
