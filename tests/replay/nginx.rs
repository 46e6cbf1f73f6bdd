//! Logs of an nginx whose `log_format` is given.

use admittance::replay::{Format, LogFormat, Reading, Unit};

use crate::support::{keys, records};

fn format(text: &str) -> Reading {
    Reading::new().format(Format::Nginx(text.parse().unwrap_or_else(|error| panic!("{error}"))))
}

const COMBINED: &str = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;

#[test]
fn the_combined_format_with_more_behind_it_is_read() {
    let line = r#"192.0.2.7 - ann [17/May/2015:10:00:01 +0000] "GET /a?b HTTP/1.1" 200 512 "-" "Mozilla \x22x\x22 [1] (y)" 0.004"#;
    let reading = format(&format!("{COMBINED} $request_time")).unit(Unit::Byte);
    let (read, summary) = records(reading, line);
    assert_eq!(read, [("192.0.2.7".into(), 1_000_000_000, 512)]);
    assert_eq!(summary.format.unwrap().name(), "nginx");
}

#[test]
fn times_are_read_at_their_finest() {
    for (text, line, nanos) in [
        ("$remote_addr $msec", "a 1431856800.007", 7_000_000),
        ("$remote_addr $time_iso8601", "a 2015-05-17T12:00:05+02:00", 5_000_000_000),
        ("$remote_addr [$time_local] ${msec}", "a [17/May/2015:10:00:00 +0000] 1431856800.250", 250_000_000),
        // A tab as the configuration writes it, and one as it is.
        ("$remote_addr\\t$msec\t${status}ms", "a\t1431856801.000\t200ms", 1_000_000_000),
        ("[\\\"$remote_addr\\\"|$msec] end", "[\"a\"|1431856801.000] end", 1_000_000_000),
        ("$msec|é|$remote_addr", "1431856800.000|é|a", 0),
    ] {
        assert_eq!(records(format(text), line).0, [("a".into(), nanos, 1)], "{text}");
    }
}

#[test]
fn any_variable_says_who_asked_and_whatever_is_not_known_is_passed_over() {
    let text = r#"$remote_addr "$http_x_forwarded_for" $upstream_whatever [$time_local] "$request" $status"#;
    let log = "10.0.0.1 \"203.0.113.9, 10.0.0.2\" x y z [17/May/2015:10:00:00 +0000] \"GET / HTTP/1.1\" 200\n\
               2001:db8::1 \"-\" - [17/May/2015:10:00:00 +0000] \"\" 400\n";
    let by = |identity: &str| keys(format(text).identity(identity.parse().unwrap()), log);
    let (read, said) = by("http_x_forwarded_for");
    assert_eq!(read, ["203.0.113.9, 10.0.0.2"]);
    assert_eq!(said, ["bytes:2:14: expected http_x_forwarded_for, to tell whose line it is, found '-'"]);
    assert_eq!(by("address").0, ["10.0.0.1", "2001:db8::/64"]);
    assert_eq!(by("status,address").0, ["200 · 10.0.0.1", "400 · 2001:db8::/64"]);
    assert_eq!(by("upstream_whatever").0, ["x y z"]);
}

#[test]
fn a_name_cannot_pass_for_the_fields_behind_it() {
    let user = "x [17/May/1999:10:00:00 +0000] y [";
    let log = format!("192.0.2.7 - {user} [17/May/2015:10:00:00 +0000] \"GET / HTTP/1.1\" 200 512 \"-\" \"-\"");
    let (read, _) = records(format(COMBINED).identity("remote_user".parse().unwrap()), log);
    assert_eq!(read, [(user.into(), 0, 1)]);
    // The status is what follows a quote that nginx wrote; a dash is a number that is missing, and none is looked for further on.
    let log = "192.0.2.7 - - [17/May/2015:10:00:00 +0000] \"GET / HTTP/1.1\" 200 - \"-\" \"- 7 \"";
    assert_eq!(records(format(COMBINED).unit(Unit::Byte), log).0, [("192.0.2.7".into(), 0, 0)]);
}

#[test]
fn lines_that_are_not_what_the_format_writes_say_where() {
    for (text, line, column, said) in [
        (COMBINED, "192.0.2.7 - ann", 13, "' [' behind $remote_user, as the log format has it, found 'ann'"),
        (COMBINED, "192.0.2.7 ann", 1, "' - ' behind $remote_addr"),
        ("[$time_local] $remote_addr", "17/May", 1, "'[' at the beginning, as the log format has it, found '17/May'"),
        ("[$time_local] $remote_addr", "[17/Mai/2015:10:00:00 +0000] a", 2, "a date like 17/May/2015:10:05:03 +0000"),
        ("[$time_local] $remote_addr;", "[17/May/2015:10:00:00 +0000] a; ", 30, "';' behind $remote_addr"),
        ("$msec $remote_addr", "yesterday a", 1, "a number of seconds since 1970"),
        ("$msec $remote_addr", "-1 a", 1, "a time from 1970 to 2554, found '-1'"),
        ("$time_iso8601 $remote_addr", "2015-05-17 a", 1, "as RFC 3339 writes it"),
        ("$msec $remote_addr", "1 ", 3, "address, to tell whose line it is, found nothing in it"),
    ] {
        let (_, said_of) = keys(format(text), line);
        let [error] = said_of.as_slice() else { panic!("{text}: {line}: {said_of:?}") };
        assert!(error.starts_with(&format!("bytes:1:{column}: expected ")) && error.contains(said), "{error}");
    }
    let bytes = format("$msec $remote_addr $bytes_sent").unit(Unit::Byte);
    let (_, said) = keys(bytes, "1 a 18446744073709551616\n1 a 5k");
    assert!(said[0].contains("1:5: expected $bytes_sent, a whole number from 0 to 18446744073709551615"), "{said:?}");
    assert!(said[1].ends_with("found '5k'"), "{said:?}");
}

#[test]
fn a_log_format_that_cannot_be_used_shows_the_place() {
    for (text, shown) in [
        (
            "$remote_addr $status$request_time",
            "$status and $request_time have nothing between them, so where the first ends cannot be told\n  |\n1 | \
             $remote_addr $status$request_time\n  |              ^^^^^^^^^^^^^^^^^^^^",
        ),
        ("$a $ $b", "1 | $a $ $b\n  |    ^"),
        ("$a ${b", "1 | $a ${b\n  |    ^"),
        ("$a ${b-c}", "letters, digits and _ behind the $"),
        ("no variable", "there is no variable in it"),
        ("", "there is no variable in it"),
        ("log_format main '$remote_addr'", "write what is between the quotes alone\n  |\n1 | log_format main"),
        ("escape=json {\"a\":\"$a\"}", "say --format json"),
        ("{\"a\":\"$remote_addr\"}", "say --format json"),
    ] {
        let error = text.parse::<LogFormat>().unwrap_err().to_string();
        assert!(error.contains(shown), "{text}:\n{error}");
    }
}

#[test]
fn what_the_format_does_not_tell_is_said_before_a_line_is_read() {
    for (reading, said) in [
        (format("$remote_addr"), "has no time: it needs $time_local, $time_iso8601 or $msec"),
        (format("$msec $status"), "has no field 'address'; it has msec, status"),
        (format("$msec $remote_addr").unit(Unit::Byte), "has no size: it needs $body_bytes_sent or $bytes_sent"),
        (format("$msec $remote_addr").identity("user".parse().unwrap()), "has no field 'user'"),
    ] {
        let error = reading.check().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_long_line_of_what_looks_like_numbers_takes_no_long_time() {
    let log = format!("1.{}", "1.".repeat(400_000));
    let begun = std::time::Instant::now();
    let (_, said) = keys(format("$remote_addr.$status|$msec"), log);
    assert_eq!(said.len(), 1);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
