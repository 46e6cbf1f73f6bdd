//! A line that would be right, of each format: to be held beside one that is not.

use serde_json::{Map, Value};

use super::fields::{Fields, TimeUnit};
use super::nginx::LogFormat;

pub(super) const COMBINED: &str =
    r#"192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8.5.0""#;

pub(super) const JSONL: &str = r#"{"t_ns":1431857103000000000,"key":"192.0.2.7","cost":1}"#;

pub(super) const CADDY: &str = r#"{"level":"info","ts":1431857103.25,"request":{"remote_ip":"192.0.2.7","method":"GET","uri":"/"},"size":512,"status":200}"#;

pub(super) const ALB: &str = r#"https 2015-05-17T10:05:03.250000Z app/lb/1 192.0.2.7:2817 10.0.0.1:80 0.001 0.004 0.000 200 200 34 512 "GET https://example.com:443/ HTTP/1.1" "curl/8.5.0" - -"#;

/// With what nginx would write for its variables.
pub(super) fn nginx(format: &LogFormat) -> String {
    let value = |name: &str| match name {
        "remote_addr" | "realip_remote_addr" | "http_x_forwarded_for" | "http_x_real_ip" => "192.0.2.7",
        "time_local" => "17/May/2015:10:05:03 +0000",
        "time_iso8601" => "2015-05-17T10:05:03+00:00",
        "msec" => "1431857103.250",
        "request" => "GET / HTTP/1.1",
        "request_uri" | "uri" | "document_uri" => "/",
        "request_method" => "GET",
        "status" => "200",
        "body_bytes_sent" | "bytes_sent" => "512",
        "request_time" => "0.004",
        "http_user_agent" => "curl/8.5.0",
        "host" | "server_name" => "example.com",
        "server_protocol" => "HTTP/1.1",
        "remote_user" => "ann",
        _ => "x",
    };
    String::from_utf8_lossy(&format.filled(value)).into_owned()
}

/// With each of the fields in its place.
pub(super) fn json(fields: &Fields) -> String {
    let mut line = Value::Object(Map::new());
    let time = match fields.unit {
        Some(TimeUnit::Seconds) => 1_431_857_103.into(),
        Some(TimeUnit::Millis) => 1_431_857_103_250_u64.into(),
        Some(TimeUnit::Micros) => 1_431_857_103_250_000_u64.into(),
        Some(TimeUnit::Nanos) => 1_431_857_103_250_000_000_u64.into(),
        Some(TimeUnit::Rfc3339) | None => "2015-05-17T10:05:03Z".into(),
    };
    for (path, value) in [
        (Some(&fields.time), time),
        (fields.key.as_ref(), "ann".into()),
        (fields.address.as_ref(), "192.0.2.7".into()),
        (fields.cost.as_ref(), 1.into()),
        (fields.route.as_ref(), "/".into()),
    ] {
        let Some(path) = path else { continue };
        let place = path.iter().fold(&mut line, |place, name| {
            // One field within another cannot be both; the later one is.
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            match place {
                Value::Object(members) => members.entry(name.as_str()).or_insert(Value::Null),
                _ => unreachable!("it was made an object"),
            }
        });
        *place = value;
    }
    line.to_string()
}

#[cfg(test)]
mod tests {
    use crate::replay::format::{Fields, Format, Reader};
    use crate::replay::reading::Reading;

    #[test]
    fn each_is_read_as_its_format() {
        let nginx = r#"$remote_addr\t$http_x_y [$time_local] "$request" $status ${body_bytes_sent}s"#;
        let msec = "at $msec: $uri by $remote_addr";
        for format in [
            Format::Combined,
            Format::Jsonl,
            Format::Caddy,
            Format::Alb,
            Format::Nginx(nginx.parse().unwrap()),
            Format::Nginx(msec.parse().unwrap()),
            Format::Json(Fields::new(["time=ts:ms", "key=user.id", "cost=rows"]).unwrap()),
            Format::Json(Fields::new(["time=at", "address=a.b.c", "route=a.d"]).unwrap()),
        ] {
            let example = format.example();
            let mut reader = Reader::new(&format, &Reading::new()).unwrap();
            let record = reader.read(example.as_bytes()).expect(&example).unwrap();
            assert_eq!(record.time / 1_000_000_000, 1_431_857_103, "{example}");
            assert!(matches!(&*record.key, b"192.0.2.7" | b"ann"), "{example}");
        }
    }
}
