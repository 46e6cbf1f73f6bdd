//! Caddy's log as JSON.

use admittance::replay::{Format, Reading, Unit, json};

use crate::support::{TEN, keys, records};

/// A line as Caddy writes it.
fn line(ts: &str, who: &str, uri: &str) -> String {
    format!(
        "{{\"level\":\"info\",\"ts\":{ts},\"logger\":\"http.log.access.log0\",\"msg\":\"handled request\",\"request\":{{{who},\
         \"remote_port\":\"41342\",\"proto\":\"HTTP/2.0\",\"method\":\"GET\",\"host\":\"localhost\",\"uri\":\"{uri}\",\
         \"headers\":{{\"User-Agent\":[\"curl/7.82.0\"],\"X-Tenant\":[\"acme\",\"b\"]}},\"tls\":{{\"resumed\":false}}}},\
         \"bytes_read\":0,\"user_id\":\"\",\"duration\":0.000929675,\"size\":10900,\"status\":200}}\n"
    )
}

const WHO: &str = r#""remote_ip":"10.0.0.1","client_ip":"2001:db8::7""#;

#[test]
fn lines_are_detected_and_read() {
    for (ts, nanos) in [
        ("1431856800.5241024", 524_102_400),
        ("1431856800", 0),
        ("1431856800.1234567890123", 123_456_789),
        ("\"2015-05-17T10:00:00.250Z\"", 250_000_000),
        ("\"2015-05-17T12:00:00.250+0200\"", 250_000_000),
    ] {
        let (read, summary) = records(Reading::new().unit(Unit::Byte), line(ts, WHO, "/a"));
        assert_eq!(read, [("2001:db8::/64".into(), nanos, 10_900)], "{ts}");
        assert_eq!(summary.format, Some(Format::Caddy));
    }
    assert_eq!(
        json::Reader::for_caddy(Unit::Request).unwrap().read(line("1431856800", WHO, "/").as_bytes()).unwrap().time,
        TEN
    );
}

#[test]
fn older_versions_say_the_address_elsewhere() {
    for (who, key) in [
        (r#""remote_ip":"10.0.0.1""#, "10.0.0.1"),
        (r#""remote_addr":"192.0.2.7:4711""#, "192.0.2.7"),
        (r#""remote_addr":"[2001:db8::7]:4711""#, "2001:db8::/64"),
        (r#""client_ip":null,"remote_ip":"10.0.0.1""#, "10.0.0.1"),
    ] {
        assert_eq!(keys(Reading::new(), line("1", who, "/")).0, [key]);
    }
}

#[test]
fn any_member_says_who_asked() {
    for (field, key) in [
        ("request.headers.X-Tenant.0", "acme"),
        ("request.host,request.headers.X-Tenant.1", "localhost · b"),
        ("path", "/a"),
        ("status", "200"),
    ] {
        let reading = Reading::new().identity(field.parse().unwrap());
        assert_eq!(keys(reading, line("1", WHO, "/a?b=c")).0, [key]);
    }
    let (_, said) = keys(Reading::new().identity("user_id".parse().unwrap()), line("1", WHO, "/"));
    assert!(said[0].ends_with("expected user_id, to tell whose line it is, found nothing in it"), "{said:?}");
    let (_, said) = keys(Reading::new().format(Format::Caddy), "{\"ts\":1}\n{\"request\":{}}");
    assert!(said[0].contains("expected address, to tell whose line it is, found none"), "{said:?}");
    assert!(said[1].contains("expected ts to be the time, found none"), "{said:?}");
}
