//! JSON lines of one's own.

use admittance::replay::{Fields, Format, Reading, SpecError, Unit, json};

use crate::support::{TEN, keys, records};

fn fields(specs: &[&str]) -> Reading {
    Reading::new().format(Format::Json(Fields::new(specs).unwrap_or_else(|error| panic!("{error}"))))
}

#[test]
fn fields_are_found_by_their_paths() {
    let log =
        r#"{"user":{"id":"ann","a.b":7},"more":[{"x":1},{"x":"\u00e9"}],"ts":"2015-05-17T10:00:00.5Z","rows":20}"#;
    for (key, found) in [("user.id", "ann"), ("user.a\\.b", "7"), ("more.1.x", "é"), ("more.0.x", "1"), ("rows", "20")]
    {
        let reading = fields(&["time=ts", &format!("key={key}"), "cost=rows"]);
        assert_eq!(records(reading, log).0, [(found.into(), 500_000_000, 20)], "{key}");
    }
}

#[test]
fn the_unit_of_a_time_is_what_is_said_and_never_guessed() {
    let ten = TEN / 1_000_000_000;
    for (spec, value, nanos) in [
        ("time=ts", format!("{ten}"), 0),
        ("time=ts", format!("{ten}.000000001"), 1),
        ("time=ts:s", format!("\"{ten}.123456789123\""), 123_456_789),
        ("time=ts:ms", format!("{ten}001.25"), 1_250_000),
        ("time=ts:us", format!("{ten}000001"), 1_000),
        ("time=ts:ns", format!("{TEN}"), 0),
        ("time=ts:ns", format!("\"{TEN}\""), 0),
        ("time=ts", "\"2015-05-17T12:00:00.000000007+02:00\"".into(), 7),
        ("time=ts:rfc3339", "\"2015-05-17T10:00:00Z\"".into(), 0),
        ("time=ts", "1.4318568e9".into(), 0),
        // Milliseconds where nothing is said are seconds, of another age.
        ("time=ts", "18446744073".into(), 18_446_744_073_000_000_000 - i128::from(TEN)),
    ] {
        let (read, summary) = records(fields(&[spec, "key=k"]), format!("{{\"ts\":{value},\"k\":\"a\"}}"));
        assert_eq!(read, [("a".into(), nanos, 1)], "{spec} {value} {:?}", summary.bad_lines);
    }
    for (spec, value, said) in [
        ("time=ts", "1431856800000", "2554 in seconds (:ms, :us and :ns say another unit), found '1431856800000'"),
        ("time=ts:s", "1431856800000", "ts to be a time from 1970 to 2554, found '1431856800000'"),
        ("time=ts", "\"1431856800\"", "ts to be a time as RFC 3339 writes it"),
        ("time=ts:rfc3339", "1431856800", "ts to be a string, as in"),
        ("time=ts:ms", "\"2015-05-17T10:00:00Z\"", "ts to be a number of milliseconds since 1970"),
        ("time=ts", "null", "found 'null'"),
        ("time=ts", "true", "found 'true'"),
        ("time=ts", "-5", "a time from 1970"),
        ("time=ts", "1e30", "a time from 1970"),
    ] {
        let (_, errors) = keys(fields(&[spec, "key=k"]), format!("{{\"ts\":{value},\"k\":\"a\"}}"));
        assert!(
            errors[0].starts_with("bytes:1:7: expected ") && errors[0].contains(said),
            "{spec} {value}: {errors:?}"
        );
    }
}

#[test]
fn a_line_without_a_key_is_nobodys() {
    let log = "{\"ts\":1,\"k\":null}\n{\"ts\":1}\n{\"ts\":1,\"k\":\"\"}\n{\"ts\":1,\"k\":{}}\n{\"ts\":1,\"k\":\"-\"}\n";
    let (read, said) = keys(fields(&["time=ts", "key=k"]), log);
    assert!(read.is_empty(), "{read:?}");
    for (error, found) in said.iter().zip([
        "1:18: expected key, to tell whose line it is, found none",
        "2:9: expected key, to tell whose line it is, found none",
        "3:13: expected key, to tell whose line it is, found nothing in it",
        "4:13: expected a string or a number, found '{}'",
        "5:13: expected key, to tell whose line it is, found '-'",
    ]) {
        assert!(error.contains(found), "{error}\n{found}");
    }
    assert_eq!(said.len(), 5);
}

#[test]
fn lines_that_are_no_json_say_where() {
    let read = |line: &str| keys(fields(&["time=ts", "key=a.b", "cost=n"]), line).1.join("\n");
    for (line, said) in [
        ("[1]", "1:1: expected a JSON object, found '[1]'"),
        ("{\"ts\":1,\"a\":{\"b\":1}", "1:20: expected a whole JSON object, with each field once, found "),
        ("{\"ts\":1,\"ts\":2,\"a\":{\"b\":1},\"n\":1}", "a field is there twice"),
        ("{\"ts\":1,\"a\":{\"b\":1},\"a\":{\"b\":2},\"n\":1}", "a field is there twice"),
        ("{\"ts\":1,\"a\":{\"b\":1},\"n\":1} x", "1:28: expected a whole JSON object"),
        (
            "{\"ts\":1,\"a\":{\"b\":1},\"n\":1.5}",
            "1:25: expected n to be a whole number from 0 to 18446744073709551615, found '1.5'",
        ),
        ("{\"ts\":1,\"a\":{\"b\":1},\"n\":-1}", "found '-1'"),
        ("{\"ts\":1,\"a\":{\"b\":1},\"n\":18446744073709551616}", "found '18446744073709551616'"),
        (
            "{\"ts\":1,\"a\":{\"b\":1}}",
            "1:21: expected n to be a whole number from 0 to 18446744073709551615, found none",
        ),
        ("{\"ts\":1,\"a\":\"b\",\"n\":1}", "expected key, to tell whose line it is, found none"),
        ("{\"ts\":1,\"a\":{\"b\":\"\\ud800\"},\"n\":1}", "1:18: expected a string whose escapes are whole"),
    ] {
        assert!(read(line).contains(said), "{line}: {}", read(line));
    }
    // Bytes that are not UTF-8 matter where they are asked for, and nowhere else.
    let log = [
        b"{\"ts\":1,\"a\":{\"b\":\"\xff\"},\"n\":1}\n".as_slice(),
        b"{\"ts\":1,\"c\":\"\xff\",\"a\":{\"b\":\"x\"},\"n\":1}",
    ]
    .concat();
    let (read, said) = keys(fields(&["time=ts", "key=a.b", "cost=n"]), log);
    assert_eq!((read, said.len()), (vec!["x".to_owned()], 1));
}

#[test]
fn a_value_and_what_is_in_it_can_both_be_asked_for() {
    let reading = fields(&["time=a.t", "key=a.0"]).identity("a.k".parse().unwrap());
    assert_eq!(keys(reading, r#"{"a":{"t":1,"k":"x"}}"#).0, ["x"]);
    let both = fields(&["time=a.1", "address=a.0"]).identity("address,a.2".parse().unwrap());
    assert_eq!(keys(both, r#"{"a":["::ffff:1.2.3.4",1,"z"]}"#).0, ["1.2.3.4 · z"]);
}

#[test]
fn fields_that_cannot_be_used_show_the_place() {
    let error = |specs: &[&str]| Fields::new(specs).map_err(|error: SpecError| error.to_string()).unwrap_err();
    for (specs, shown) in [
        (&["ts"][..], "there is no '='; write ROLE=PATH, as in time=ts:ms or key=user.id\n  |\n1 | ts\n  |   ^"),
        (&["size=n"], "'size' is no role; roles are time, key, address, cost and route\n  |\n1 | size=n\n  | ^^^^"),
        (&["time=ts:m"], "'m' is no unit of time; say s, ms, us, ns or rfc3339"),
        (&["time=log:ts"], "1 | time=log:ts\n  |          ^^"),
        (&["time=a..b"], "a member has no name"),
        (&["time="], "1 | time=\n  |      ^"),
        (&["time=a", "key=.b"], "1 | key=.b\n  |     ^"),
        (&["time=a", "time=b"], "time is said twice; say it once"),
        (&["key=a"], "which field is the time? Say time=PATH"),
        (&[], "which field is the time? Say time=PATH"),
    ] {
        assert!(error(specs).contains(shown), "{specs:?}:\n{}", error(specs));
    }
    // A colon in a name is escaped, in other roles it needs not be.
    assert_eq!(keys(fields(&["time=a\\:b:ms", "key=c:d"]), r#"{"a:b":0,"c:d":"x"}"#).0, ["x"]);
}

#[test]
fn what_the_fields_do_not_tell_is_said_before_a_line_is_read() {
    let time = Fields::new(["time=ts"]).unwrap();
    assert!(
        json::Reader::new(&time)
            .unwrap_err()
            .to_string()
            .contains("has no field 'address'; it has the path of any member")
    );
    let error = fields(&["time=ts", "key=k"]).unit(Unit::Byte).check().unwrap_err();
    assert_eq!(error.to_string(), "which field is the size in bytes? Say cost=PATH");
}
