//! Access logs of Application Load Balancers.

use admittance::replay::{Format, Reading, Unit};

use crate::support::{keys, records};

/// A line as the load balancer writes it, with what clients choose in it.
fn line(client: &str, request: &str, agent: &str) -> String {
    format!(
        "https 2015-05-17T10:00:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 {client} 10.0.0.1:80 0.086 0.048 0.037 200 200 \
         0 57 \"{request}\" \"{agent}\" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 \
         arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 \
         \"Root=1-58337281-1d84f3d73c47ec4e58577259\" \"www.example.com\" \"-\" 1 2015-05-17T09:59:59.364000Z \
         \"authenticate,forward\" \"-\" \"-\" \"10.0.0.1:80\" \"200\" \"-\" \"-\" TID_1234abcd\n"
    )
}

const GET: &str = "GET https://www.example.com:443/api/items?x=1 HTTP/1.1";

#[test]
fn lines_are_detected_and_read() {
    for (client, key) in [
        ("192.0.2.7:2817", "192.0.2.7"),
        ("[2001:db8::1]:2817", "2001:db8::/64"),
        ("2001:db8:1:2:3:4:5:6:443", "2001:db8:1:2::/64"),
    ] {
        let (read, summary) = records(Reading::new().unit(Unit::Byte), line(client, GET, "curl/7.46.0"));
        assert_eq!(read, [(key.into(), 186_641_000, 57)]);
        assert_eq!(summary.format, Some(Format::Alb));
    }
}

#[test]
fn every_documented_field_can_say_who_asked() {
    let log = line("192.0.2.7:2817", GET, "curl \\\"x\\\" [1]");
    for (field, key) in [
        ("client", "192.0.2.7"),
        ("client:port", "192.0.2.7:2817"),
        ("user_agent", "curl \\\"x\\\" [1]"),
        ("path", "/api/items"),
        ("domain_name", "www.example.com"),
        ("conn_trace_id", "TID_1234abcd"),
        ("address,target_status_code_list", "192.0.2.7 · 200"),
    ] {
        let reading = Reading::new().format(Format::Alb).identity(field.parse().unwrap());
        assert_eq!(keys(reading, &log).0, [key], "{field}");
    }
    let reading = Reading::new().format(Format::Alb).identity("chosen_cert_arn".parse().unwrap());
    assert!(keys(reading, &log).1[0].ends_with("expected chosen_cert_arn, to tell whose line it is, found '-'"));
}

#[test]
fn a_request_with_quotes_in_it_does_not_move_the_fields() {
    let log = line("192.0.2.7:2817", "GET https://h:443/a\"b\" HTTP/1.1", "x");
    let by = |field: &str| {
        let reading = Reading::new().format(Format::Alb).identity(field.parse().unwrap());
        keys(reading, &log)
    };
    // Where a quote and a space are in a request, what is behind them is not to be had; the address is.
    assert_eq!(by("address").0, ["192.0.2.7"]);
    assert_eq!(by("path").0, ["/a\"b"]);
}

#[test]
fn lines_that_cannot_be_read_say_where() {
    let whole = line("192.0.2.7:2817", GET, "x");
    for (log, said) in [
        (whole.replace("https 2015", "tcp 2015"), "1:1: expected http, https, h2, grpcs, ws or wss in the first field"),
        (whole.replace("T10:00:00", "T25:00:00"), "1:7: expected a time as RFC 3339 writes it"),
        (whole.replace(" 0 57 ", " 0 -1 "), "sent_bytes, a whole number"),
        (whole.replace(" 0 57 ", " 0 184467440737095516150 "), "sent_bytes, a whole number"),
        ("https".into(), "1:6: expected a time as RFC 3339 writes it"),
        ("h2 2015-05-17T10:00:00Z".into(), "1:24: expected address, to tell whose line it is, found none"),
        ("h2 2015-05-17T10:00:00Z \"elb".into(), "1:29: expected a closing quote, found the end of the line"),
        (whole.replace("192.0.2.7:2817", "-"), "expected address, to tell whose line it is, found '-'"),
    ] {
        let (_, errors) = keys(Reading::new().format(Format::Alb).unit(Unit::Byte), &log);
        assert!(errors.iter().any(|error| error.contains(said)), "{log}: {errors:?}");
    }
}
