//! Who the client is behind proxies, and what is said of a limit in header fields.
#![cfg(feature = "http")]

use std::net::IpAddr;
use std::time::{Duration, UNIX_EPOCH};

use admittance::http::{
    ClientAddress, Dialect, Forwarding, Problem, Quota, RateLimitFields, Reset, Standing, cors_expose,
    retry_after_seconds,
};
use admittance::identity::Address;
use admittance::policy::{IdentityKind, Unit};
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;

fn behind(header: Forwarding) -> ClientAddress {
    ClientAddress::behind(["10.0.0.0/8".parse().unwrap()], header)
}

fn headers(header: Forwarding, lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(header.name(), HeaderValue::from_bytes(line.as_bytes()).unwrap());
    }
    headers
}

fn client(peer: &str, header: Forwarding, lines: &[&str]) -> String {
    behind(header).address(peer.parse().unwrap(), &headers(header, lines)).to_string()
}

#[test]
fn x_forwarded_for_is_believed_of_trusted_peers_and_read_from_the_right() {
    for (peer, lines, expected) in [
        ("203.0.113.7", &["6.6.6.6"][..], "203.0.113.7"),
        ("10.0.0.1", &["6.6.6.6, 198.51.100.4"], "198.51.100.4"),
        ("10.0.0.1", &["6.6.6.6", "203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", &["203.0.113.9, 10.0.0.2", "10.0.0.3"], "203.0.113.9"),
        ("10.0.0.1", &["unknown, 1.2.3.4"], "1.2.3.4"),
        ("10.0.0.1", &["1.2.3.4, unknown"], "10.0.0.1"),
        ("10.0.0.1", &["1.2.3.4, unknown, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", &["1.2.3.4:5678"], "1.2.3.4"),
        ("10.0.0.1", &["1.2.3.4:99999"], "10.0.0.1"),
        ("10.0.0.1", &["9.9.9.9,\t1.2.3.4 "], "1.2.3.4"),
        ("10.0.0.1", &["1.2.3.4, , ,"], "1.2.3.4"),
        ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", &["1.2.3.4, ::ffff:10.0.0.2"], "1.2.3.4"),
        ("::ffff:10.0.0.1", &["::ffff:1.2.3.4"], "1.2.3.4"),
        ("10.0.0.1", &["2001:db8:cafe::17"], "2001:db8:cafe::/64"),
        ("10.0.0.1", &["[2001:db8:cafe::17]:4711"], "2001:db8:cafe::/64"),
        ("10.0.0.1", &["1.2.3.4, évil"], "10.0.0.1"),
        ("10.0.0.1", &["1.2.3.4 5.6.7.8"], "10.0.0.1"),
        ("10.0.0.1", &["01.2.3.4"], "10.0.0.1"),
        ("10.0.0.1", &[], "10.0.0.1"),
        ("10.0.0.1", &[""], "10.0.0.1"),
    ] {
        assert_eq!(client(peer, Forwarding::XForwardedFor, lines), expected, "{peer} and {lines:?}");
    }
}

#[test]
fn forwarded_is_read_as_rfc_7239_writes_it() {
    for (lines, expected) in [
        (&["for=\"[2001:db8:cafe::17]:4711\""][..], "2001:db8:cafe::/64"),
        (&["for=1.2.3.4, for=_obf"], "10.0.0.1"),
        (&["for=1.2.3.4, for=unknown"], "10.0.0.1"),
        (&["For=6.6.6.6, proto=https;FOR=1.2.3.4;by=10.0.0.9"], "1.2.3.4"),
        (&["for=\"1.2.3.4:80\""], "1.2.3.4"),
        (&["for=\"1.2.3.4:_port\""], "1.2.3.4"),
        (&["for=6.6.6.6", "for=1.2.3.4, for=10.0.0.2"], "1.2.3.4"),
        // A comma and a quote within quotes end nothing.
        (&["for=1.2.3.4;host=\"a, for=6.6.6.6, \\\"b\""], "1.2.3.4"),
        (&["for=1.2.3.4, by=10.0.0.2"], "10.0.0.1"),
        (&["for=1.2.3.4;for=5.6.7.8"], "10.0.0.1"),
        (&["for=2001:db8::1"], "10.0.0.1"),
    ] {
        assert_eq!(client("10.0.0.1", Forwarding::Forwarded, lines), expected, "{lines:?}");
    }
    // The other family is the client's own to write.
    let other = headers(Forwarding::XForwardedFor, &["6.6.6.6"]);
    let peer: IpAddr = "10.0.0.1".parse().unwrap();
    assert_eq!(behind(Forwarding::Forwarded).ip(peer, &other), peer);
    assert_eq!(ClientAddress::peer().ip(peer, &other), peer);
}

#[test]
fn networks_are_trusted_however_they_are_written() {
    for (network, trusts) in [
        ("::ffff:10.0.0.0/104", true),
        ("::ffff:10.0.0.1/128", true),
        // With bits past its length.
        ("10.9.9.9/8", true),
        ("0.0.0.0/0", true),
        ("::ffff:11.0.0.0/104", false),
        // No IPv4 address is in a network that is wider than all of theirs.
        ("::fffe:0:0/95", false),
        ("::/0", false),
    ] {
        let client = ClientAddress::behind([network.parse().unwrap()], Forwarding::XForwardedFor);
        let lines = headers(Forwarding::XForwardedFor, &["2001:db8::1, 1.2.3.4"]);
        for peer in ["10.0.0.1", "::ffff:10.0.0.1"] {
            let ip = client.ip(peer.parse().unwrap(), &lines).to_string();
            // Everybody of IPv4 is in the one network.
            let named = if network == "0.0.0.0/0" { "2001:db8::1" } else { "1.2.3.4" };
            assert_eq!(ip, if trusts { named } else { "10.0.0.1" }, "{network} and {peer}");
        }
    }
}

#[test]
fn addresses_are_one_clients_by_bits_and_prefix() {
    let of = |peer: &str| ClientAddress::peer().address(peer.parse().unwrap(), &HeaderMap::new());
    assert_eq!(of("::ffff:1.2.3.4"), of("1.2.3.4"));
    assert_eq!(of("2001:db8::1"), of("2001:db8::2"));
    assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
    assert_ne!(of("1.2.3.4"), of("1.2.3.5"));
    let wide = ClientAddress::peer().with_ipv6_prefix(48).unwrap();
    let of = |peer: &str| wide.address(peer.parse().unwrap(), &HeaderMap::new());
    assert_eq!(of("2001:db8::1"), of("2001:db8:0:1::1"));
    assert!(ClientAddress::peer().with_ipv6_prefix(0).is_err());
}

#[test]
fn hops_are_counted_from_the_right() {
    let of = |hops: u8, lines: &[&str]| {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let client = ClientAddress::behind_hops(hops.try_into().unwrap(), trusted, Forwarding::XForwardedFor);
        client.ip("10.0.0.1".parse().unwrap(), &headers(Forwarding::XForwardedFor, lines)).to_string()
    };
    assert_eq!(of(1, &["6.6.6.6, 1.2.3.4, 192.0.2.9"]), "192.0.2.9");
    assert_eq!(of(2, &["6.6.6.6, 1.2.3.4, 192.0.2.9"]), "1.2.3.4");
    assert_eq!(of(2, &["6.6.6.6, 1.2.3.4", "192.0.2.9"]), "1.2.3.4");
    assert_eq!(of(9, &["1.2.3.4"]), "1.2.3.4", "of fewer the leftmost");
}

proptest! {
    /// Whatever an attacker puts on the left, the answer is the one without it, unless all on its right is trusted.
    #[test]
    fn what_stands_left_of_a_client_changes_nothing(left in prop::collection::vec(any::<u8>(), 0..60), forwarded: bool) {
        let left: Vec<u8> = left.into_iter().filter(|byte| HeaderValue::from_bytes(&[*byte]).is_ok()).collect();
        let (header, right) = if forwarded {
            (Forwarding::Forwarded, "for=198.51.100.4, for=10.0.0.2")
        } else {
            (Forwarding::XForwardedFor, "198.51.100.4, 10.0.0.2")
        };
        let mut lines = HeaderMap::new();
        lines.append(header.name(), HeaderValue::from_bytes(&left).unwrap());
        lines.append(header.name(), HeaderValue::from_static(right));
        let peer = "10.0.0.1".parse().unwrap();
        prop_assert_eq!(behind(header).ip(peer, &lines), "198.51.100.4".parse::<IpAddr>().unwrap());
        // And any bytes at all are read without a panic.
        lines.remove(header.name());
        lines.append(header.name(), HeaderValue::from_bytes(&left).unwrap());
        let _: Address = behind(header).address(peer, &lines);
    }
}

#[test]
fn a_wait_is_rounded_up_and_at_least_a_second() {
    for (nanos, seconds) in
        [(0, 1), (1, 1), (999_999_999, 1), (1_000_000_000, 1), (1_000_000_001, 2), (59_000_000_001, 60)]
    {
        assert_eq!(retry_after_seconds(Duration::from_nanos(nanos)), seconds, "{nanos}");
    }
    assert_eq!(retry_after_seconds(Duration::MAX), u64::MAX);
}

fn quotas() -> [Quota; 2] {
    [
        Quota::new("burst", 10, Duration::from_millis(1_500)).unwrap(),
        Quota::new("daily", 1_000, Duration::from_secs(86_400)).unwrap(),
    ]
}

#[test]
fn each_dialect_writes_its_own_fields() {
    let standing = Standing { binding: 1, remaining: 3, reset_after: Duration::from_millis(4_001) };
    let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
    for (dialect, expected) in [
        (
            Dialect::DraftList,
            &[("ratelimit-policy", "\"burst\";q=10;w=2, \"daily\";q=1000;w=86400"), ("ratelimit", "\"daily\";r=3;t=5")]
                [..],
        ),
        (
            Dialect::DraftDictionary,
            &[("ratelimit-policy", "10;w=2, 1000;w=86400"), ("ratelimit", "limit=1000, remaining=3, reset=5")],
        ),
        (
            Dialect::DraftThreeFields,
            &[
                ("ratelimit-policy", "10;w=2, 1000;w=86400"),
                ("ratelimit-limit", "1000"),
                ("ratelimit-remaining", "3"),
                ("ratelimit-reset", "5"),
            ],
        ),
        (
            Dialect::Legacy { reset: Reset::Seconds },
            &[("x-ratelimit-limit", "1000"), ("x-ratelimit-remaining", "3"), ("x-ratelimit-reset", "5")],
        ),
        (
            Dialect::Legacy { reset: Reset::UnixTime },
            &[("x-ratelimit-limit", "1000"), ("x-ratelimit-remaining", "3"), ("x-ratelimit-reset", "1000005")],
        ),
    ] {
        let fields = RateLimitFields::new(dialect, quotas()).unwrap();
        let mut headers = HeaderMap::new();
        fields.write_at(&mut headers, standing, now);
        assert_eq!(headers.len(), expected.len(), "{dialect:?}: {headers:?}");
        for (name, value) in expected {
            assert_eq!(headers[*name], *value, "{dialect:?}");
        }
        let exposed = cors_expose(dialect);
        let exposed: Vec<_> = exposed.to_str().unwrap().split(',').map(|name| name.trim().to_lowercase()).collect();
        for name in headers.keys().map(HeaderName::as_str) {
            assert!(exposed.iter().any(|exposed| exposed == name), "{dialect:?}: {name} of {exposed:?}");
        }
        assert!(exposed.iter().any(|name| name == "retry-after"), "{exposed:?}");
    }
}

#[test]
fn what_fields_cannot_say_is_clamped_or_refused() {
    let huge = Quota::new("huge", u64::MAX, Duration::MAX).unwrap();
    let fields = RateLimitFields::new(Dialect::DraftList, [huge]).unwrap();
    let mut headers = HeaderMap::new();
    fields.write(&mut headers, Standing { binding: 0, remaining: u64::MAX, reset_after: Duration::MAX });
    assert_eq!(headers["ratelimit"], "\"huge\";r=999999999999999;t=999999999999999");
    assert_eq!(headers["ratelimit-policy"], "\"huge\";q=999999999999999;w=999999999999999");
    for name in ["", "Big", "a b", "a\"b", "é", "1st"] {
        assert!(Quota::new(name, 1, Duration::from_secs(1)).is_err(), "{name}");
    }
    let [one, _] = quotas();
    assert!(RateLimitFields::new(Dialect::DraftList, [one.clone(), one]).is_err());
    assert!(RateLimitFields::new(Dialect::DraftList, []).is_err());
}

#[test]
fn problems_are_json_of_their_status() {
    let [burst, _] = quotas();
    let bytes = burst.clone().with_unit(Unit::Byte).unwrap();
    for (problem, status) in [
        (Problem::quota_exceeded([&burst], Duration::from_millis(1)), 429),
        (Problem::never(&burst, 11), 422),
        (Problem::never(&bytes, 11), 413),
        (Problem::degraded(&burst), 503),
        (Problem::unidentified(&burst, IdentityKind::Account), 401),
    ] {
        assert_eq!(problem.status().as_u16(), status);
        let json: serde_json::Value = serde_json::from_str(problem.body()).unwrap();
        assert_eq!((&json["status"], json["detail"].as_str().unwrap().is_empty()), (&status.into(), false));
        if status == 429 {
            assert_eq!(json["violated-policies"], serde_json::json!(["burst"]));
            assert_eq!(json["type"], "https://iana.org/assignments/http-problem-types#quota-exceeded");
        }
    }
}
