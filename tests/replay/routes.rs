//! Lines that are not on a policy's routes are passed over, and counted.

use admittance::policy::Scope;
use admittance::replay::{Fields, Format, Reading, Replay};

use crate::support::{bucket, decide, keys};

fn line(user: &str, request: &str) -> String {
    format!("192.0.2.7 - {user} [17/May/2015:10:00:00 +0000] \"{request}\" 200 5\n")
}

fn on(routes: &[&str]) -> Reading {
    Reading::new().scope(&Scope::process().routes(routes.iter().copied()))
}

#[test]
fn only_lines_on_the_routes_are_decided() {
    let paths =
        ["/api", "/api/", "/api/users?id=1", "/apix", "/", "/API", "/v2/x", "/?/api", "https://h.example/api/a"];
    let mut log: String = paths.iter().map(|path| line("-", &format!("GET {path} HTTP/1.1"))).collect();
    log += &line("-", "OPTIONS * HTTP/1.1");
    log += &line("-", "\\x16\\x03");
    log += &line("-", "");
    log += "not a line\n";
    for (routes, decided) in
        [(&["/api"][..], 4), (&["/api/"], 4), (&["/api", "/v2"], 5), (&["/"], 9), (&["/none"], 0), (&[], 12)]
    {
        let (decisions, summary) = decide(&Replay::new(bucket(1, 1)).reading(on(routes)), &log);
        assert_eq!(decisions.len(), decided, "{routes:?}");
        assert_eq!((summary.lines, summary.unreadable, summary.outside), (13, 1, 12 - decided as u64), "{routes:?}");
        assert_eq!(summary.admitted + summary.denied, decided as u64);
    }
    let (_, summary) = decide(&Replay::new(bucket(1, 1)).reading(on(&["/api"])), &log);
    assert_eq!(serde_json::to_value(&summary).unwrap()["outside"], 8);
}

#[test]
fn who_asked_matters_only_on_the_routes() {
    let log = line("-", "GET /health HTTP/1.1") + &line("-", "GET /api HTTP/1.1") + &line("ann", "GET /api HTTP/1.1");
    let (read, said) = keys(on(&["/api"]).identity("user".parse().unwrap()), log);
    assert_eq!((read, said.len()), (vec!["ann".to_owned()], 1));
    assert!(said[0].starts_with("bytes:2:"), "{said:?}");
}

#[test]
fn every_format_that_tells_of_requests_has_routes() {
    let nginx = |text: &str| Format::Nginx(text.parse().unwrap());
    let json = |specs: &[&str]| Format::Json(Fields::new(specs).unwrap());
    let alb = "h2 2015-05-17T10:00:00Z e a:1 t:80 0 0 0 200 200 1 2 \"GET https://h:443PATH?x HTTP/2.0\" \"a\"";
    for (format, line) in [
        (nginx("$remote_addr $msec $request_uri"), "a 1 PATH?x"),
        (nginx("$remote_addr $msec \"$request\""), "a 1 \"GET PATH?x HTTP/1.1\""),
        (nginx("$remote_addr $msec $uri"), "a 1 PATH"),
        (json(&["time=t", "key=k", "route=r"]), r#"{"t":1,"k":"a","r":"PATH?x"}"#),
        (Format::Caddy, r#"{"ts":1,"request":{"remote_ip":"a","uri":"PATH?x"}}"#),
        (Format::Alb, alb),
    ] {
        let log = ["/api/x", "/apix"].map(|path| line.replace("PATH", path)).join("\n");
        let (decisions, summary) = decide(&Replay::new(bucket(9, 1)).reading(on(&["/api"]).format(format)), &log);
        assert_eq!((decisions.len(), summary.outside), (1, 1), "{line}: {:?}", summary.bad_lines);
    }
    for (format, said) in [
        (nginx("$remote_addr $msec"), "has no field 'path'; it has remote_addr, msec"),
        (
            json(&["time=t", "key=k"]),
            "a JSON log has no field 'path'; it has the path of any member, and what is said to be key=PATH",
        ),
        (Format::Jsonl, "a trace has no routes"),
    ] {
        let error = on(&["/api"]).format(format).check().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    // A line that does not say where is not one of another route.
    let reading = on(&["/api"]).format(json(&["time=t", "key=k", "route=r"]));
    assert!(
        keys(reading, r#"{"t":1,"k":"a"}"#).1[0].ends_with("expected path, to tell on which route it is, found none")
    );
}
