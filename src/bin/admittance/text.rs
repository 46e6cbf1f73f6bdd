//! Numbers, times and keys as people read them.

use std::time::Duration;

use admittance::replay::{Unread, key};
use jiff::Timestamp;

/// 1 234 567.
pub(crate) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// To the nearest tenth of a percent; 0% and 100% are said of none and of all alone.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if part == 0 || part == whole {
        return if part == 0 { "0%" } else { "100%" }.into();
    }
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    match (part * 1000 + whole / 2) / whole {
        0 => "<0.1%".into(),
        1000.. => ">99.9%".into(),
        tenths => format!("{}.{}%", tenths / 10, tenths % 10),
    }
}

/// A time of our days as a date; a trace that starts near 0 as a time since its start.
pub(crate) fn instant(nanos: u64) -> String {
    const YEAR_1990: u64 = 631_152_000_000_000_000;
    match Timestamp::from_nanosecond(nanos.into()) {
        Ok(time) if nanos >= YEAR_1990 => time.to_string(),
        _ => span(nanos),
    }
}

/// In the two largest units that are not nothing: `8d 4h`, `1h 53s`, `1.5s`, `428.571428ms`.
pub(crate) fn span(nanos: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)];
    let mut left = nanos / 1_000_000_000;
    if left < 60 {
        return format!("{:?}", Duration::from_nanos(nanos));
    }
    let mut parts = Vec::new();
    for (unit, length) in UNITS {
        if left >= length {
            parts.push(format!("{}{unit}", left / length));
        }
        left %= length;
    }
    parts.truncate(2);
    parts.join(" ")
}

/// What is wrong with a log of which nothing can be read, and which flags would help.
pub(crate) fn unread(unread: &Unread) -> String {
    let which = if unread.is_known {
        "Is it written otherwise? Say --format, --log-format or --field."
    } else {
        "How is it written? Say --format combined, jsonl, alb or caddy, --log-format for nginx's own, --field for JSON of your own."
    };
    format!("{unread}\n{which}")
}

/// How much of a key is shown, in characters.
const MOST: usize = 48;

/// A key as it can be shown, and named again (but for one that is too long): no control characters, no end of the terminal's
/// line, and not nothing.
pub(crate) fn printable(key: &[u8]) -> String {
    // What does not fit is not looked at: a key may be a mebibyte.
    let parts = key::parts(key).into_iter().map(|part| &part[..part.len().min(4 * MOST)]);
    let text = key::shown(&key::join(parts));
    if text.chars().count() > MOST { text.chars().take(MOST - 1).chain(['…']).collect() } else { text }
}

/// The whole of a key that [`printable`] cuts short, where that is not more than anybody would read.
pub(crate) fn whole(key: &[u8]) -> Option<String> {
    const LONGEST: usize = 4096;
    let text = (key.len() <= LONGEST).then(|| key::shown(key))?;
    (text.chars().count() > MOST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1 000"), (1_234_567, "1 234 567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn none_and_all_are_not_said_of_almost_none_and_almost_all() {
        for (part, whole, text) in [
            (0, 5, "0%"),
            (5, 5, "100%"),
            (1, u64::MAX, "<0.1%"),
            (u64::MAX - 1, u64::MAX, ">99.9%"),
            (1, 100, "1.0%"),
            (500, 620, "80.6%"),
            (120, 620, "19.4%"),
            (1, 3, "33.3%"),
            (2, 3, "66.7%"),
        ] {
            assert_eq!(percent(part, whole), text);
        }
    }

    #[test]
    fn a_span_is_told_in_two_units_at_most() {
        let second = 1_000_000_000;
        for (nanos, text) in [
            (0, "0ns"),
            (1_009_000, "1.009ms"),
            (59 * second, "59s"),
            (60 * second, "1m"),
            (3653 * second, "1h 53s"),
            (300 * second + 1, "5m"),
            (3661 * second, "1h 1m"),
            (86_399 * second, "23h 59m"),
            (u64::MAX, "213503d 23h"),
        ] {
            assert_eq!(span(nanos), text);
        }
    }

    #[test]
    fn a_key_cannot_speak_to_the_terminal() {
        assert_eq!(printable(b"\x1b[31m\n\xff"), "\\u{1b}[31m\\n\\xff");
        assert_eq!(printable(&[b'a'; 1000]).chars().count(), 48);
        assert_eq!(printable(&key::join([&b"a\n"[..], b"c"])), "a\\n · c");
        assert_eq!((printable(b""), printable(b"\"\"")), ("\"\"".into(), "\\\"\\\"".into()));
    }
}
