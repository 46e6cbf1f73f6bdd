//! A log of which nothing can be read is an error that helps; one that is empty is not.

use crate::program::{access, file, quiet, run};

const LOG: &str = "time,who\n10:05,ann\n10:06,bob\n";

#[test]
fn the_format_the_first_line_and_a_right_one_are_said_by_every_reader() {
    let expected = "none of the log's 3 lines can be read as combined, which they look most like\n  \
        standard input:1:9: expected a space after the address, found the end of the line\n  \
        the line: time,who\n  \
        as combined: 192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 512 \"-\" \"curl/8.5.0\"\n\
        How is it written? Say --format combined, jsonl, alb or caddy, --log-format for nginx's own, --field for JSON of \
        your own.\n";
    let page = file("unread.html", "an older page");
    for args in [
        &["replay", "-", "--window", "1/1s"][..],
        &["replay", "-", "--window", "1/1s", "--json"],
        &["replay", "-", "--window", "1/1s", "--decisions", "-"],
        &["replay", "-", "--window", "1/1s", "--sort"],
        &["replay", "-", "--window", "1/1s", "--report", &page],
        &["fit", "-"],
        &["fit", "-", "--json"],
    ] {
        let run = run(args, LOG);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{args:?}");
        assert_eq!(run.stderr, format!("admittance: {expected}"), "{args:?}");
    }
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "an older page");
    // Who follows a log has the sums first.
    let watched = run(&["watch", "--window", "1/1s"], LOG);
    assert_eq!((watched.code, watched.stderr), (1, format!("admittance: {expected}")));
    assert!(
        watched.stdout.starts_with("no line yet 3 lines: 0 admitted, 0 denied, 3 unreadable; "),
        "{}",
        watched.stdout
    );
}

#[test]
fn each_format_says_itself() {
    let nginx = "$remote_addr|$msec|$request";
    for (flags, log, format, example) in [
        (&["--format", "combined"][..], LOG, "combined", "192.0.2.7 - - ["),
        (&["--format", "jsonl"], LOG, "jsonl", "{\"t_ns\":1431857103000000000,\"key\":\"192.0.2.7\",\"cost\":1}"),
        (&["--format", "alb"], LOG, "alb", "https 2015-05-17T10:05:03.250000Z app/lb/1 192.0.2.7:2817 "),
        (&["--format", "caddy"], LOG, "caddy", "{\"level\":\"info\",\"ts\":1431857103.25,\"request\":{\"remote_ip\":"),
        (&["--log-format", nginx], LOG, "nginx", "192.0.2.7|1431857103.250|GET / HTTP/1.1\n"),
        (
            &["--field", "time=at:ms", "--field", "key=user.id"],
            LOG,
            "json",
            "{\"at\":1431857103250,\"user\":{\"id\":\"ann\"}}\n",
        ),
        (&[], "{\"time\":5}\n", "jsonl", "{\"t_ns\":"),
        (&[], "{\"ts\":\"?\",\"request\":{}}\n", "caddy", "{\"level\":"),
    ] {
        for command in [&["replay", "-", "--window", "1/1s"][..], &["fit", "-"], &["watch", "--window", "1/1s"]] {
            let args = [command, flags].concat();
            let run = run(&args, log);
            assert_eq!(run.code, 1, "{args:?}: {}", run.stderr);
            let head = run.stderr.lines().next().unwrap();
            assert!(
                head.contains(&format!(" can be read as {format}"))
                    || head.contains(&format!(" cannot be read as {format}")),
                "{args:?}: {head}"
            );
            assert_eq!(head.ends_with("most like"), flags.is_empty(), "{args:?}: {head}");
            assert!(run.stderr.contains(&format!("\n  the line: {}\n", log.lines().next().unwrap())), "{}", run.stderr);
            assert!(run.stderr.contains(&format!("\n  as {format}: {example}")), "{args:?}: {}", run.stderr);
        }
    }
}

/// A line that speaks to the terminal does not, in the message.
#[test]
fn the_first_line_is_told_printable_and_not_whole() {
    let run = run(&["replay", "-", "--window", "1/1s"], format!("\x1b[2J{}\n", "a".repeat(5000)));
    assert!(run.stderr.contains(&format!("\n  the line: \\u{{1b}}[2J{}…\n", "a".repeat(196))), "{}", run.stderr);
}

#[test]
fn an_empty_log_and_one_of_other_routes_are_no_failure() {
    for log in ["", "\n\n  \n"] {
        assert!(quiet(&["replay", "-", "--window", "1/1s"], log).ends_with("  lines     0\n  decided   nothing\n"));
        let json: serde_json::Value =
            serde_json::from_str(&quiet(&["replay", "-", "--window", "1/1s", "--json"], log)).unwrap();
        assert_eq!(json["lines"], 0);
        quiet(&["watch", "--window", "1/1s"], log);
    }
    // Of several files one may be something else.
    let (good, bad) = (file("readable.log", access("a", 0, 1)), file("unreadable.log", LOG));
    let both = run(&["replay", &bad, &good, "--window", "1/1s"], "");
    assert_eq!((both.code, both.stderr.lines().count()), (0, 3), "{}", both.stderr);
    assert!(both.stdout.contains("  lines     4, 3 of them unreadable\n"), "{}", both.stdout);
    let routes = "version = 1\n[[policy]]\nname = \"api\"\nunit = \"request\"\nidentity = \"address\"\n\
        scope = { store = \"process\", routes = [\"/api\"] }\nrule = { window = \"1/1s\" }\non_exhausted = \"deny\"\n\
        max_keys = 100\noverflow = \"deny\"\n";
    let routes = file("unread.toml", routes);
    quiet(&["replay", &good, "--policy", &routes], "");
}
