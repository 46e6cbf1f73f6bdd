//! Traces: what is read of a line, and what is refused.

use admittance::replay::jsonl;

#[test]
fn a_trace_says_time_key_and_cost() {
    for (line, time, key, cost) in [
        (r#"{"t_ns":5,"key":"a","cost":7}"#, 5, "a", 7),
        (r#"{"t_ns":0,"key":""}"#, 0, "", 1),
        (r#" { "cost" : 0 , "key" : "a b" , "t_ns" : 18446744073709551615 } "#, u64::MAX, "a b", 0),
        (r#"{"t_ns":1,"key":"é\u00e9\n\ud83d\ude00\"","cost":18446744073709551615}"#, 1, "éé\n😀\"", u64::MAX),
        (r#"{"id":[1,{"t_ns":9}],"t_ns":1,"key":"a","user":null,"cost":2,"x":1.5e300}"#, 1, "a", 2),
        // Its own output is a trace too.
        (r#"{"t_ns":1,"key":"a","cost":2,"outcome":"denied","retry_after_ns":3}"#, 1, "a", 2),
    ] {
        let record = jsonl::read(line.as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!((record.time, &*record.key, record.cost), (time, key.as_bytes(), cost), "{line}");
    }
}

#[test]
fn keys_are_bytes() {
    for (line, key) in [
        (&b"{\"t_ns\":1,\"key\":\"\xff\xfe\"}"[..], &b"\xff\xfe"[..]),
        (b"{\"t_ns\":1,\"key\":\"\x00\"}", b"\x00"),
        (b"{\"t_ns\":1,\"note\":\"\xff\",\"key\":\"a\"}", b"a"),
    ] {
        assert_eq!(&*jsonl::read(line).unwrap().key, key, "{}", line.escape_ascii());
    }
}

#[test]
fn a_line_that_cannot_be_read_names_the_field_its_value_and_what_would_be_right() {
    const WHOLE: &str = "a whole number from 0 to 18446744073709551615";
    for (line, text) in [
        (r#"{"t_ns":-1,"key":"a"}"#, format!("expected t_ns to be {WHOLE}, found '-1'")),
        (r#"{"t_ns":1.5,"key":"a"}"#, format!("expected t_ns to be {WHOLE}, found '1.5'")),
        (r#"{"t_ns":1e3,"key":"a"}"#, format!("expected t_ns to be {WHOLE}, found '1000.0'")),
        (
            r#"{"t_ns":18446744073709551616,"key":"a"}"#,
            format!("expected t_ns to be {WHOLE}, found '1.8446744073709552e"),
        ),
        (r#"{"t_ns":"5","key":"a"}"#, format!("expected t_ns to be {WHOLE}, found '\"5\"'")),
        (r#"{"t_ns":null,"key":"a"}"#, format!("expected t_ns to be {WHOLE}, found 'null'")),
        (r#"{"key":"a"}"#, format!("expected t_ns to be {WHOLE}, found none")),
        (r#"{"t_ns":1}"#, "expected key to be a string, found none".into()),
        (r#"{"t_ns":1,"key":7}"#, "expected key to be a string, found '7'".into()),
        (r#"{"t_ns":1,"key":[97]}"#, "expected key to be a string, found '[97]'".into()),
        (r#"{"t_ns":1,"key":"a","cost":-2}"#, format!("expected cost to be {WHOLE}, found '-2'")),
        (r#"{"t_ns":1,"key":"a","cost":0.5}"#, format!("expected cost to be {WHOLE}, found '0.5'")),
        (r#"{"t_ns":1,"key":"a","cost":null}"#, format!("expected cost to be {WHOLE}, found 'null'")),
        (r#"{"t_ns":1,"t_ns":2,"key":"a"}"#, "expected each field once, found 'duplicate field `t_ns`".into()),
        (r#"{"t_ns":1,"key":"a""#, "expected a whole JSON object".into()),
        (r#"{"t_ns":1,"key":"a"} x"#, "expected a whole JSON object, found 'x'".into()),
        (r#"{"t_ns":01,"key":"a"}"#, "expected a whole JSON object".into()),
        ("{", "expected a whole JSON object".into()),
        (r#"[1,"a",1]"#, "column 1: expected a JSON object".into()),
        ("   7", "column 4: expected a JSON object".into()),
        ("", "column 1: expected a JSON object".into()),
        ("null", "column 1: expected a JSON object".into()),
    ] {
        let error = jsonl::read(line.as_bytes()).expect_err(line).to_string();
        assert!(error.contains(&text), "{line}: {error}");
    }
    // A value that is not UTF-8 does not hide which field is wrong.
    let error = jsonl::read(b"{\"t_ns\":-1,\"key\":\"\xff\"}").unwrap_err().to_string();
    assert!(error.contains("expected t_ns"), "{error}");
}

#[test]
fn the_deepest_line_is_refused_and_not_followed() {
    let deep = format!("{{\"t_ns\":1,\"key\":\"a\",\"x\":{}", "[".repeat(200_000));
    assert!(jsonl::read(deep.as_bytes()).is_err());
}
