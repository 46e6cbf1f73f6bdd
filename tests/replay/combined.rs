//! Access logs: what is read of a line, and what is refused.

use admittance::replay::{LineError, Unit, combined};

use crate::support::{SECOND, TEN};

const DATE: &str = "[17/May/2015:10:00:00 +0000]";

/// Address, time and size of a line.
fn read(line: impl AsRef<[u8]>) -> Result<(String, u64, u64), LineError> {
    let record = combined::Reader::new(Unit::Byte).read(line.as_ref())?;
    Ok((String::from_utf8_lossy(&record.key).into_owned(), record.time, record.cost))
}

/// The size of a line that is whole but for what is in it after the date.
fn size(rest: &str) -> Result<u64, LineError> {
    let (key, time, size) = read(format!("192.0.2.1 - - {DATE} {rest}"))?;
    assert_eq!((key.as_str(), time), ("192.0.2.1", TEN), "{rest}");
    Ok(size)
}

#[test]
fn common_and_combined_lines_of_both_servers_are_read() {
    for (line, key, size) in [
        (format!("192.0.2.7 - - {DATE} \"GET / HTTP/1.0\" 200 2326"), "192.0.2.7", 2326),
        (
            format!("192.0.2.7 - alice {DATE} \"GET / HTTP/1.0\" 200 5 \"https://a.example/\" \"curl/8\""),
            "192.0.2.7",
            5,
        ),
        (format!("2001:db8::1 - - {DATE} \"GET / HTTP/2.0\" 304 0 \"-\" \"-\""), "2001:db8::/64", 0),
        (format!("::ffff:192.0.2.7 - - {DATE} \"GET / HTTP/2.0\" 200 - \"-\" \"-\""), "192.0.2.7", 0),
        (
            format!("host.example ident alice {DATE} \"GET / HTTP/1.1\" 206 18446744073709551615"),
            "host.example",
            u64::MAX,
        ),
        // More fields behind, as many add: the time taken, an upstream, cookies.
        (
            format!("192.0.2.7 - - {DATE} \"GET / HTTP/1.1\" 200 7 \"-\" \"a\" 200 99 \"up 404 3\" 0.004"),
            "192.0.2.7",
            7,
        ),
        (format!("192.0.2.7 - - {DATE} \"\" 400 0 \"-\" \"-\""), "192.0.2.7", 0),
        (format!("192.0.2.7 - - {DATE} \"-\" 408 - \"-\" \"-\""), "192.0.2.7", 0),
    ] {
        assert_eq!(read(&line), Ok((key.into(), TEN, size)), "{line}");
    }
}

#[test]
fn the_offset_from_utc_counts() {
    let time = |date: &str| read(format!("a - - [{date}] \"GET /\" 200 1")).map(|(_, time, _)| time);
    assert_eq!(time("17/May/2015:12:00:00 +0200"), Ok(TEN));
    assert_eq!(time("16/May/2015:22:30:00 -1130"), Ok(TEN));
    assert_eq!(time("29/Feb/2016:00:00:00 +0000"), Ok(1_456_704_000 * SECOND));
    assert_eq!(time("01/Jan/1970:00:00:00 +0000"), Ok(0));
    assert_eq!(time("21/Jul/2554:23:34:33 +0000"), Ok(18_446_744_073 * SECOND));
}

#[test]
fn the_date_that_is_remembered_is_not_taken_for_another() {
    let mut reader = combined::Reader::new(Unit::Request);
    let mut time = |date: &str| {
        let line = format!("a - - [{date}] \"GET /\" 200 1");
        reader.read(line.as_bytes()).map(|record| record.time).ok()
    };
    for _ in 0..2 {
        assert_eq!(time("17/May/2015:10:00:00 +0000"), Some(TEN));
        assert_eq!(time("17/May/2015:10:00:00 +0000"), Some(TEN));
        assert_eq!(time("17/May/2015:10:00:00 +0100"), Some(TEN - 3600 * SECOND));
        assert_eq!(time("17/Mai/2015:10:00:00 +0000"), None);
        assert_eq!(time("17/May/2015:10:00:01 +0000"), Some(TEN + SECOND));
    }
}

#[test]
fn a_user_name_may_hold_spaces_brackets_and_another_date() {
    for user in
        ["bob smith", "[x]", "a [17/May/1999:10:00:00 +0000] b", "[17/May/1999:10:00:00 +0000]", "\\\"", "[", "] ["]
    {
        let line = format!("192.0.2.1 - {user} {DATE} \"GET / HTTP/1.1\" 200 5");
        assert_eq!(read(&line), Ok(("192.0.2.1".into(), TEN, 5)), "{line}");
    }
}

#[test]
fn what_a_client_sends_cannot_pass_for_a_size() {
    for (rest, bytes) in [
        (r#""GET /\" 200 1 HTTP/1.1" 200 5 "-" "-""#, 5),
        (r#""GET /\\\" 200 1 HTTP/1.1" 404 5"#, 5),
        // A backslash that is escaped does not escape the quote behind it.
        (r#""GET /\\" 200 5 "-" "x\" 200 1""#, 5),
        (r#""GET / HTTP/1.1" 200 5 "\" 200 1" "\" 200 2""#, 5),
        // A server that does not escape, and one place that can be meant.
        (r#""GET /a"b HTTP/1.1" 200 5 "-" "-""#, 5),
        (r#""GET /"" 200 5"#, 5),
    ] {
        assert_eq!(size(rest), Ok(bytes), "{rest}");
    }
    // A server that does not escape, and two.
    let error = size(r#""GET /"a" 200 1 " HTTP/1.1" 200 5 "-" "-""#).unwrap_err();
    assert!(error.to_string().contains("one status and size, not two"), "{error}");
}

#[test]
fn a_request_may_be_anything_where_only_requests_are_counted() {
    let mut reader = combined::Reader::new(Unit::Request);
    for request in ["\"", "\"\\x16\\x03\\x01\" 400", "\"GET /\" abc def", "\"GET /\" 200 -5", "\"never closed"] {
        let line = format!("192.0.2.1 - - {DATE} {request}");
        let record = reader.read(line.as_bytes()).unwrap();
        assert_eq!((&*record.key, record.time, record.cost), (&b"192.0.2.1"[..], TEN, 1), "{line}");
        assert!(read(&line).is_err(), "{line}: there is no size");
    }
}

#[test]
fn keys_are_bytes() {
    let mut reader = combined::Reader::new(Unit::Request);
    let line = [b"\xff\x00\xfe - - ".as_slice(), DATE.as_bytes(), b" \"\xff\xfe\x00\" 200 5"].concat();
    assert_eq!(&*reader.read(&line).unwrap().key, b"\xff\x00\xfe");
}

#[test]
fn a_line_that_cannot_be_read_says_what_was_expected_and_where() {
    for (line, column, expected, found) in [
        ("", 1, "a space after the address", "the end of the line"),
        ("192.0.2.1", 10, "a space after the address", "the end of the line"),
        (" 192.0.2.1 - - ", 1, "an address in the first field", "' 192.0.2.1 - - '"),
        ("hello world", 12, "[17/May/2015:10:05:03 +0000] and then a quoted request", "the end of the line"),
        ("a - - [17/May/2015:10:05", 7, "and then a quoted request", "'[17/May/2015:10:05'"),
        (
            "a - - [17/May/2015:10:00:00 +0000] GET",
            7,
            "and then a quoted request",
            "'[17/May/2015:10:00:00 +0000] GET'",
        ),
        ("a - - [17/Mai/2015:10:00:00 +0000] \"", 8, "a date like 17/May/2015:10:05:03 +0000", "'17/Mai/2015"),
        ("a - - [31/Feb/2015:10:00:00 +0000] \"", 8, "a date like", "'31/Feb/2015"),
        ("a - - [17/May/2015:24:00:00 +0000] \"", 8, "a date like", "'17/May/2015:24"),
        ("a - - [17/May/2015:10:00:00 +9999] \"", 8, "a date like", "'17/May/2015"),
        ("a - - [2015-05-17T10:00:00+00:00Z] \"", 8, "a date like", "'2015-05-17T10"),
        ("a - - [31/Dec/1969:23:59:59 +0000] \"", 8, "a date from 1970 to 2554", "'31/Dec/1969"),
        ("a - - [01/Jan/1970:00:00:00 +0001] \"", 8, "a date from 1970 to 2554", "'01/Jan/1970"),
        ("a - - [21/Jul/2554:23:34:34 +0000] \"", 8, "a date from 1970 to 2554", "'21/Jul/2554"),
        (
            "a - - [17/May/2015:10:00:00 +0000] \"GET /",
            42,
            "a status of three digits, and a size or -",
            "the end of the line",
        ),
        ("a - - [17/May/2015:10:00:00 +0000] \"GET /\" 20 5", 43, "a status of three digits", "' 20 5'"),
        ("a - - [17/May/2015:10:00:00 +0000] \"GET /\" 200 -5", 43, "a status of three digits", "' 200 -5'"),
        ("a - - [17/May/2015:10:00:00 +0000] \"GET /\" 200 5k", 43, "a status of three digits", "' 200 5k'"),
        (
            "a - - [17/May/2015:10:00:00 +0000] \"GET /\" 200 18446744073709551616",
            48,
            "a size of at most 18446744073709551615",
            "'18446744073709551616'",
        ),
    ] {
        let error = read(line).expect_err(line);
        assert_eq!(error.column, column, "{line}: {error}");
        let text = error.to_string();
        assert!(text.contains(expected) && text.contains(&format!("found {found}")), "{line}: {text}");
    }
}
