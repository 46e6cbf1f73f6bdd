//! Whose lines share one budget.

use admittance::replay::{Error, Format, Identity, Input, Reading, Replay, key};

use crate::support::{access, bucket, decide, keys};

/// A line of an access log with what can say who asked.
fn line(address: &str, user: &str, request: &str, rest: &str) -> String {
    format!("{address} - {user} [17/May/2015:10:00:00 +0000] \"{request}\" 200 5{rest}\n")
}

fn by(identity: &str) -> Reading {
    Reading::new().format(Format::Combined).identity(identity.parse().unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn each_field_of_a_combined_line_can_say_it() {
    let log =
        line("192.0.2.7", "bob smith", "GET /a/b?c=d HTTP/1.1", r#" "https://e.example/" "Mozilla \"x\" (y)" 0.1"#);
    for (identity, key) in [
        ("address", "192.0.2.7"),
        ("user", "bob smith"),
        ("path", "/a/b"),
        ("referer", "https://e.example/"),
        ("agent", r#"Mozilla \"x\" (y)"#),
        ("user,address", "bob smith · 192.0.2.7"),
        ("agent,path,user", r#"Mozilla \"x\" (y) · /a/b · bob smith"#),
    ] {
        assert_eq!(keys(by(identity), &log).0, [key], "{identity}");
    }
}

#[test]
fn a_user_may_be_called_anything() {
    for user in ["[x]", "a [17/May/1999:10:00:00 +0000] b", "\\\"", "[", "a  b ", "é"] {
        assert_eq!(keys(by("user"), line("192.0.2.7", user, "GET /", "")).0, [user]);
    }
}

#[test]
fn what_is_missing_is_nobodys_and_is_said() {
    let common = line("192.0.2.7", "-", "GET / HTTP/1.1", "");
    for (identity, log, said) in [
        ("user", &common, "1:13: expected user, to tell whose line it is, found '-'"),
        ("address,user", &common, "1:13: expected user, to tell whose line it is, found '-'"),
        ("agent", &common, "1:66: expected agent, to tell whose line it is, found none"),
        (
            "referer",
            &line("a", "b", "GET / HTTP/1.1", " \"-\" \"c\""),
            "expected referer, to tell whose line it is, found '-'",
        ),
        (
            "agent",
            &line("a", "b", "GET / HTTP/1.1", " \"-\" \"\""),
            "expected agent, to tell whose line it is, found nothing in it",
        ),
        (
            "agent",
            &line("a", "b", "GET / HTTP/1.1", " \"-\" \"c"),
            "expected a closing quote, found the end of the line",
        ),
        ("path", &line("a", "b", "\\x16\\x03", ""), "expected path, to tell whose line it is, found '\\\\x16\\\\x03'"),
        ("path", &line("a", "b", "OPTIONS * HTTP/1.1", ""), "found 'OPTIONS * HTTP/1.1'"),
        ("address", &line("-", "b", "GET /", ""), "1:1: expected address, to tell whose line it is, found '-'"),
    ] {
        let (read, errors) = keys(by(identity), log);
        assert!(read.is_empty() && errors[0].contains(said), "{log}{errors:?}\n{said}");
    }
}

#[test]
fn no_two_pairs_are_one_key() {
    let log = line("a", "b_c", "GET /", "") + &line("a_b", "c", "GET /", "") + &line("a", "b_c", "GET /", "");
    let (decisions, summary) = decide(&Replay::new(bucket(1, 1)).reading(by("address,user")), &log);
    assert_eq!((summary.keys, summary.denied), (2, 1));
    assert_eq!(key::parts(&decisions[0].key), [&b"a"[..], b"b_c"]);
    assert_eq!(key::parts(&decisions[1].key), [&b"a_b"[..], b"c"]);
    let mut json = Vec::new();
    Replay::new(bucket(1, 1))
        .reading(by("address,user"))
        .run_to(&[Input::Bytes(log.into_bytes().into())], &mut json)
        .unwrap();
    assert!(json.starts_with(b"{\"t_ns\":1431856800000000000,\"key\":[\"a\",\"b_c\"],\"cost\":1,"));
    let told = serde_json::to_value(&summary).unwrap();
    assert_eq!(told["most_denied"][0]["key"], serde_json::json!(["a", "b_c"]));
    assert_eq!(told["identity"], serde_json::json!(["address", "user"]));
}

#[test]
fn an_address_is_one_client_however_it_is_written() {
    let log = ["::ffff:192.0.2.7", "192.0.2.7", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "2001:DB8:0:0:9::"]
        .map(|address| access(address, 0, "5"))
        .concat();
    let expected = ["192.0.2.7", "192.0.2.7", "2001:db8::/64", "2001:db8::/64", "2001:db8:0:1::/64", "2001:db8::/64"];
    assert_eq!(keys(Reading::new(), &log).0, expected);
    assert_eq!(keys(by("address"), &log).0, expected);
    // In a field of another name, where it is said to be one.
    let agents = line("a", "2001:db8::9", "GET /", "");
    assert_eq!(keys(by("user"), &agents).0, ["2001:db8::9"]);
    let reading = Reading::new().identity("user".parse::<Identity>().unwrap().as_addresses());
    assert_eq!(keys(reading, &agents).0, ["2001:db8::/64"]);
}

#[test]
fn a_format_that_has_no_such_field_says_what_it_has() {
    let log = access("192.0.2.7", 0, "5");
    let run = |reading: Reading| Replay::new(bucket(1, 1)).reading(reading).run_bytes(log.as_bytes(), |_| {});
    let error = run(Reading::new().identity("usre".parse().unwrap())).unwrap_err();
    assert!(matches!(error, Error::Field(_)));
    assert_eq!(
        error.to_string(),
        "the combined format has no field 'usre'; it has address, user, path, referer and agent"
    );
    let error = Reading::new().format(Format::Jsonl).identity("user".parse().unwrap()).check().unwrap_err();
    assert!(error.to_string().starts_with("a trace says by its key who asked"), "{error}");
}

#[test]
fn an_identity_that_cannot_be_used_shows_the_place() {
    for (text, shown) in [
        ("", "a field has no name; write FIELD, or FIELD,FIELD, as in address,user\n  |\n1 | \n  | ^"),
        ("a,,b", "1 | a,,b\n  |   ^"),
        ("a,", "a field has no name"),
        ("a,b,a", "'a' is in it twice; once is enough\n  |\n1 | a,b,a\n  |     ^"),
    ] {
        let error = text.parse::<Identity>().unwrap_err().to_string();
        assert!(error.contains(shown), "{text}:\n{error}");
    }
    let odd: Identity = "a\\,b,c".parse().unwrap();
    assert_eq!(odd.fields(), ["a,b", "c"]);
    assert_eq!(odd.to_string().parse::<Identity>().unwrap(), odd);
}
