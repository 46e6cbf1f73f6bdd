//! `admittance replay --report`, and several policies side by side.

use std::collections::BTreeSet;
use std::fs;

use crate::program::{access, file, quiet, run};

/// Ten minutes in which one address asks four times a second for ten seconds, and another once a minute.
fn log() -> String {
    let burst = (0..40).map(|number| access("192.0.2.1", 60 + number / 4, 5));
    let calm = (0..10).map(|minute| access("192.0.2.2", minute * 60, 5));
    calm.chain(burst).collect()
}

fn policy(name: &str, rule: &str) -> String {
    format!(
        "[[policy]]\nname = \"{name}\"\nunit = \"request\"\nidentity = \"address\"\nscope = {{ store = \"process\" }}\n\
         rule = {{ {rule} }}\non_exhausted = \"deny\"\nmax_keys = 1000\noverflow = \"deny\"\n"
    )
}

fn policies(name: &str, policies: &[String]) -> String {
    file(name, format!("version = 1\n\n{}", policies.join("\n")))
}

/// The page of a replay with these arguments, of a log in a file.
fn page(name: &str, log: impl AsRef<[u8]>, args: &[&str]) -> String {
    let (log, page) = (file(&format!("{name}.log"), log), file(&format!("{name}.html"), "an older page"));
    quiet(&[&["replay", &log, "--report", &page], args].concat(), "");
    fs::read_to_string(page).unwrap()
}

/// What stands between two texts, as often as they come.
fn between<'t>(text: &'t str, from: &'t str, to: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(from).skip(1).filter_map(move |rest| rest.split_once(to).map(|(inner, _)| inner))
}

#[test]
fn a_page_says_first_what_would_have_been_denied() {
    let page = page("first", log(), &["--capacity", "10", "--refill", "1/1s"]);
    // Ten at once, and one in each of the nine seconds after the first.
    let headline = "21 of 50 requests, 1 of 2 addresses, would have been denied";
    assert!(page.contains(&format!("<h1>{headline}</h1>")), "{page}");
    assert!(page.contains(&format!("<title>{headline}</title>")));
    assert!(page.contains("Token bucket for each address: capacity 10, refill 1 per 1s."));
    // Who, when, for how long, and how much would have been enough: 40 asked, 9 came back meanwhile.
    let row = between(&page, "<th scope=\"row\">192.0.2.1</th>", "</tr>").last().unwrap();
    let cells: Vec<&str> = between(row, "<td", "</td>").filter_map(|cell| Some(cell.split_once('>')?.1)).collect();
    assert_eq!(
        cells,
        ["21", "52.5%", "40", "2015-05-17T10:01:03Z", "2015-05-17T10:01:09Z", "7s", "1×", "7s", "31"],
        "{row}"
    );
    assert!(page.contains("1 for half of all addresses, 31 for 99 % of them"));
}

#[test]
fn a_page_stands_alone() {
    let page = page("alone", log(), &["--capacity", "10", "--refill", "1/1s"]);
    let without_names = page.replace("http://www.w3.org/2000/svg", "");
    for outside in
        ["http:", "https:", "//", "src=", "href=", "url(", "@import", "<script", "<link", "<img", "<iframe", " on"]
    {
        // A handler's attribute, not the word in a text.
        let found = if outside == " on" {
            between(&without_names, " on", "=").any(|name| name.len() < 12 && !name.contains(' '))
        } else {
            without_names.contains(outside)
        };
        assert!(!found, "{outside}");
    }
}

#[test]
fn every_chart_is_told_in_words_and_in_a_table_too() {
    let page = page("charts", log(), &["--capacity", "10", "--refill", "1/1s"]);
    let drawings: Vec<&str> = between(&page, "<svg ", "</svg>").collect();
    // Over time, the level twice, demand: each for wide screens and for narrow ones.
    assert_eq!(drawings.len(), 8);
    assert_eq!(page.matches("<details>").count(), 4);
    for drawing in &drawings {
        let names = between(drawing, "aria-labelledby=\"", "\"").next().unwrap();
        for (name, tag) in names.split(' ').zip(["title", "desc"]) {
            let opening = format!("<{tag} id=\"{name}\">");
            let text = between(drawing, &opening, "</").next().unwrap();
            assert!(text.len() > 20, "{tag}: {text}");
        }
        assert!(drawing.contains("role=\"img\"") && drawing.contains("viewBox"));
        assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{drawing}");
    }
    let ids: Vec<&str> = between(&page, " id=\"", "\"").collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    // The table of the level has the burst, and the refill ten seconds later.
    let closer = between(&page, "<figure id=\"p0-closer\">", "</figure>").next().unwrap();
    assert!(closer.contains("192.0.2.1 closer"));
    assert!(closer.contains("21 of them denied"), "{closer}");
}

#[test]
fn a_key_is_text_and_never_markup() {
    let trace: String =
        (0..3).map(|_| "{\"t_ns\":5,\"key\":\"<script>alert('a&b')</script>\\u0007\"}\n".to_owned()).collect();
    let page = page("markup", trace, &["--capacity", "1", "--refill", "1/1s"]);
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert("));
    assert!(page.contains("2 of 3 requests, 1 of 1 keys, would have been denied"));
}

#[test]
fn an_empty_log_and_one_without_denials_are_pages_too() {
    let page_of_nothing = page("nothing", "", &["--window", "1/1m"]);
    assert!(page_of_nothing.contains("0 of 0 requests, 0 of 0 addresses, would have been denied"));
    let nobody = page("nobody", log(), &["--capacity", "100", "--refill", "1/1s"]);
    assert!(nobody.contains("Nobody would have been denied."));
    // A caller may be followed all the same.
    let followed = page("followed", log(), &["--capacity", "100", "--refill", "1/1s", "--key", "192.0.2.2"]);
    assert!(followed.contains("What was left of the limit for 192.0.2.2"));
    let stranger = page("stranger", log(), &["--capacity", "100", "--refill", "1/1s", "--key", "192.0.2.3"]);
    assert!(stranger.contains("192.0.2.3 is not in the log."));
}

#[test]
fn what_is_read_once_is_not_followed_and_the_page_says_so() {
    let path = file("once.html", "");
    quiet(&["replay", "-", "--window", "10/1m", "--report", &path], log());
    let page = fs::read_to_string(path).unwrap();
    assert!(page.contains("The level of 192.0.2.1 is not drawn: that takes reading the log twice"));
    assert!(page.contains("30 of 50 requests"));
}

#[test]
fn a_page_does_not_replace_a_log() {
    let path = file("both.log", log());
    let run = run(&["replay", &path, "--window", "10/1m", "--report", &path], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("--report") && run.stderr.contains("is one of the logs"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&path).unwrap(), log());
    let run = crate::program::run(&["replay", &path, "--window", "10/1m", "--report", "/nowhere/page.html"], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("--report /nowhere/page.html: "), "{}", run.stderr);
}

/// Whatever is written, nothing that was read is lost.
#[cfg(unix)]
#[test]
fn nothing_that_is_read_is_overwritten() {
    let kept = |path: &str, text: &str| assert_eq!(fs::read_to_string(path).unwrap(), text, "{path}");
    let linked = |path: &str| {
        let link = format!("{path}.link");
        let _ = fs::remove_file(&link);
        fs::hard_link(path, &link).unwrap();
        link
    };
    let refused = |args: &[&str], said: &str| {
        let run = run(args, "");
        assert_eq!(run.code, 1, "{args:?}");
        assert!(run.stderr.contains(said), "{args:?}: {}", run.stderr);
    };
    let path = file("linked.log", log());
    let link = linked(&path);
    for flag in ["--report", "--decisions"] {
        refused(&["replay", &path, "--window", "10/1m", flag, &link], "is one of the logs");
    }
    for flag in ["--plot", "--policy-out"] {
        refused(&["fit", &path, flag, &link], "is one of the logs");
    }
    kept(&path, &log());

    let text = format!("version = 1\n\n{}", policy("kept", "window = \"1/10m\""));
    let limits = file("kept.toml", &text);
    for flag in ["--report", "--decisions"] {
        for to in [&limits, &linked(&limits)] {
            refused(&["replay", &path, "--policy", &limits, flag, to], "is one of the policies");
        }
    }
    kept(&limits, &text);

    let both = file("both.out", "");
    refused(&["fit", &path, "--plot", &both, "--policy-out", &both], "--policy-out and --plot are both");

    // What stands beside the page is somebody's too.
    let (page, beside) = (file("beside.html", ""), file("beside.html.part", log()));
    quiet(&["replay", &beside, "--window", "10/1m", "--report", &page], "");
    kept(&beside, &log());
    // And a link to a page stays one.
    let link = format!("{page}.symlink");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&page, &link).unwrap();
    fs::write(&page, "old").unwrap();
    quiet(&["replay", &path, "--window", "10/1m", "--report", &link], "");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
}

/// A cost above the capacity is refused at every instant: its caller feels that more than any.
#[test]
fn what_is_never_admitted_counts_for_its_caller() {
    let trace = "{\"t_ns\":0,\"key\":\"large\",\"cost\":3}\n{\"t_ns\":1,\"key\":\"small\",\"cost\":1}\n";
    let both = policies(
        "sizes.toml",
        &[policy("two", "capacity = 2, refill = \"1/1s\""), policy("four", "capacity = 4, refill = \"1/1s\"")]
            .map(|policy| policy.replace("\"address\"", "\"account\"")),
    );
    let args = ["replay", "-", "--policy", &both, "--identity", "account=key"];
    let told = quiet(&args, trace);
    for said in [
        "  keys denied or never admitted     1 of 2     0 of 2\n",
        "four instead of two\n  newly denied or never admitted keys: 0\n  newly spared keys: 1\n    large                   never admitted 1 of 1, whatever the wait\n",
    ] {
        assert!(told.contains(said), "{said}\n{told}");
    }
    let page = page("never", trace, &["--capacity", "2", "--refill", "1/1s"]);
    assert!(page.contains("<h1>1 of 2 requests, 1 of 2 keys, would have been denied or never admitted</h1>"), "{page}");
    assert!(page.contains("<th scope=\"row\">large</th><td>0</td><td>1</td><td>100%</td>"), "{page}");
    assert!(!page.contains("longest time at the limit"), "{page}");
}

/// An address is nobody's account: who is denied by one and who by the other are not the same callers.
#[test]
fn policies_of_different_identities_are_not_held_against_each_other() {
    let rule = "capacity = 10, refill = \"1/1s\"";
    let both = [policy("addresses", rule), policy("accounts", rule).replace("\"address\"", "\"account\"")];
    let both = policies("kinds.toml", &both);
    let page = file("kinds.html", "");
    let args = ["replay", "-", "--policy", &both, "--identity", "account=agent", "--report", &page];
    let told = quiet(&args, log());
    let said = "accounts instead of addresses\n  not compared caller by caller: one is for each address, the other for each agent\n";
    assert!(told.ends_with(said), "{told}");
    assert!(told.contains("  callers denied "), "{told}");
    let page = fs::read_to_string(&page).unwrap();
    assert!(
        page.contains("Not compared caller by caller: one is for each address, the other for each agent."),
        "{page}"
    );
    assert!(page.contains("<th scope=\"row\">callers denied</th>") && !page.contains("Newly"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&quiet(&[&args[..6], &["--json"]].concat(), log())).unwrap();
    assert_eq!((json["limits"].as_array().unwrap().len(), &json["compared"]), (2, &serde_json::json!([])));
}

#[test]
fn the_summary_is_the_same_with_a_page() {
    let (log, page) = (file("same.log", log()), file("same.html", ""));
    let limit = ["--capacity", "10", "--refill", "1/1s"];
    for json in [&["--json"][..], &[]] {
        let plain = quiet(&[&["replay", &log], &limit[..], json].concat(), "");
        assert_eq!(plain, quiet(&[&["replay", &log, "--report", &page], &limit[..], json].concat(), ""));
    }
}

#[test]
fn policies_are_told_side_by_side_against_the_first() {
    let strict = policies("strict.toml", &[policy("strict", "capacity = 10, refill = \"1/1s\"")]);
    let others = policies(
        "others.toml",
        &[policy("loose", "capacity = 50, refill = \"1/1s\""), policy("none", "window = \"1/10m\"")],
    );
    let args = ["replay", "-", "--policy", &strict, "--policy", &others];
    let told = quiet(&args, log());
    for said in [
        "strict: Token bucket for each address: capacity 10, refill 1 per 1s",
        "none: Fixed window for each address: 1 in each 10m",
        "loose instead of strict\n  newly denied addresses: 0\n  newly spared addresses: 1\n    192.0.2.1 ",
        "none instead of strict\n  newly denied addresses: 1\n    192.0.2.2 ",
        "denied by both: 1",
    ] {
        assert!(told.contains(said), "{said}\n{told}");
    }
    let json: serde_json::Value = serde_json::from_str(&quiet(&[&args[..], &["--json"]].concat(), log())).unwrap();
    let denied = |at: usize| json["limits"][at]["denied"].as_u64().unwrap();
    // The window: one of each address.
    assert_eq!((denied(0), denied(1), denied(2)), (21, 0, 48));
    assert_eq!(json["limits"][0]["spares_999"], 31);
    assert_eq!(json["compared"][0]["newly_spared"][0]["peak"], 31);
    assert_eq!(json["compared"][1]["newly_denied"][0]["key"], "192.0.2.2");
    assert_eq!(json["compared"][1]["still_denied"], 1);

    let path = file("sides.html", "");
    quiet(&[&args[..], &["--report", &path]].concat(), log());
    let page = fs::read_to_string(path).unwrap();
    assert!(page.contains("3 limits on standard input"));
    assert!(page.contains("none instead of strict") && page.contains("Newly denied addresses: 1"));

    // One of them alone is as it ever was.
    let one = quiet(&["replay", "-", "--policy", &others, "--name", "loose"], log());
    assert_eq!(one, quiet(&["replay", "-", "--capacity", "50", "--refill", "1/1s"], log()));
}

/// What is read off an answer names the caller again: several fields, bytes that are no text, and what a shell must quote.
#[test]
fn a_key_is_named_as_it_is_shown() {
    let line = |user: &[u8], agent: &[u8]| {
        let head =
            [b"192.0.2.7 - ".as_slice(), user, b" [17/May/2015:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \""];
        [&head.concat(), agent, b"\"\n"].concat()
    };
    for (name, user, agent, identity, shown) in [
        ("pair", &b"ann"[..], &b"curl/8"[..], "user,agent", "ann · curl/8"),
        ("bytes", b"an\xff\xe9", b"x", "user", r"an\xff\xe9"),
        ("both", b"a\xff", b"c\xc2\xb7d", "user,agent", r"a\xff · c\u{b7}d"),
        ("domain", br"EXAMPLE\ann", b"x", "user", r"EXAMPLE\\ann"),
        ("dash", b"-n", b"x", "user", "-n"),
    ] {
        // Somebody else is denied most.
        let log =
            file(&format!("named-{name}.log"), [line(user, agent).repeat(2), line(b"worst", b"w").repeat(9)].concat());
        let args = ["replay", &log, "--window", "1/1h", "--identity", identity];
        let told = quiet(&args, "");
        assert!(told.contains(&format!("\n  {shown} ")), "{name}: {told}");
        let json: serde_json::Value = serde_json::from_str(&quiet(&[&args[..], &["--json"]].concat(), "")).unwrap();
        let denied = &json["most_denied"][1];
        assert_eq!(denied["named"].as_str().or(denied["key"].as_str()), Some(shown), "{name}");
        let page = quiet_page(&[&args[..], &["--report", "-", "--key", shown]].concat());
        assert!(page.contains(&format!("What was left of the limit for {shown}</")), "{name}: {page}");
    }
    let wrong = run(&["replay", "x", "--window", "1/1h", "--report", "-", "--key", r"EXAMPLE\ann"], "");
    assert_eq!(wrong.code, 2);
    let said = "'--key <KEY>': '\\' begins no escape here; write \\\\ for itself";
    assert!(wrong.stderr.contains(said), "{}", wrong.stderr);
}

/// A page that goes to standard output.
fn quiet_page(args: &[&str]) -> String {
    let run = run(args, "");
    assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
    run.stdout
}

/// A name that is cut short in the table is whole in what the table says of it.
#[test]
fn a_long_key_can_be_named_too() {
    let long = format!("{}{}", "a".repeat(60), r"\\");
    let log = format!("{{\"t_ns\":0,\"key\":\"{long}\"}}\n").repeat(2);
    let page = page("long", log, &["--window", "1/1h"]);
    assert!(page.contains(&format!("<th scope=\"row\" title=\"{long}\">{}…</th>", "a".repeat(47))), "{page}");
}

/// What is denied and what is never admitted are told apart, and added up, in the same words in the terminal and on the page.
#[test]
fn the_terminal_and_the_page_agree_about_what_is_denied_and_what_is_never_admitted() {
    let call = |key: &str, cost: u64| format!("{{\"t_ns\":0,\"key\":\"{key}\",\"cost\":{cost}}}\n");
    let trace = call("a", 1).repeat(5) + &call("a", 9).repeat(2) + &call("b", 1) + &call("c", 9);
    let told = quiet(&["replay", "-", "--window", "2/1s"], &trace);
    for line in [
        "  denied    3   33.3%",
        "  never     3   33.3%   of 2 keys: more than the limit ever holds, up to 9",
        "Denied most                    denied        never     of lines",
        "  a                                 3            2            7   42.9%  ████████████████",
    ] {
        assert!(told.lines().any(|found| found == line), "{line}\nis not in\n{told}");
    }
    let page_of_it = page("apart", &trace, &["--window", "2/1s"]);
    for said in [
        "<h1>6 of 9 requests, 2 of 3 keys, would have been denied or never admitted</h1>",
        "<p class=\"limit\">3 requests denied, and 3 never admitted: they cost more than the limit ever holds.</p>",
        "<h3>Denied or never admitted most</h3>",
        "<th>denied</th><th>never admitted</th><th>share</th><th>of requests</th><th>first denied or never admitted</th>",
        "<th scope=\"row\">a</th><td>3</td><td>2</td><td>71.4%</td><td>7</td>",
        "<th scope=\"row\">c</th><td>0</td><td>1</td><td>100%</td><td>1</td>",
    ] {
        assert!(page_of_it.contains(said), "{said}\nis not in\n{page_of_it}");
    }
    // Where there is nothing of the kind, there is no column for it.
    let plain = page("plain", log(), &["--capacity", "10", "--refill", "1/1s"]);
    assert!(plain.contains("<th>denied</th><th>share</th><th>of requests</th><th>first denied</th>"), "{plain}");
    assert!(!quiet(&["replay", "-", "--window", "2/1s"], call("a", 1).repeat(5)).contains("never"));
}

#[test]
fn a_comparison_names_as_many_callers_as_are_asked_for_and_says_how_many_it_leaves_off() {
    let both = policies("top.toml", &[policy("loose", "window = \"9/1h\""), policy("strict", "window = \"1/1h\"")]);
    let log: String = (0..25).map(|caller| access(&format!("192.0.2.{caller}"), 0, 5).repeat(2)).collect();
    let args = ["replay", "-", "--policy", &both];
    for (top, named, left_off) in
        [(&[][..], 10, 15), (&["--top", "3"], 3, 22), (&["--top", "all"], 25, 0), (&["--top", "0"], 0, 25)]
    {
        let told = quiet(&[&args[..], top].concat(), &log);
        assert_eq!(told.matches("denied 1 of 2").count(), named, "{told}");
        let more = format!("\n    and {left_off} more; --top all names them\n");
        assert_eq!(told.contains(&more), left_off > 0, "{told}");
        let json = quiet(&[&args[..], top, &["--json"]].concat(), &log);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let compared = &json["compared"][0];
        assert_eq!(compared["newly_denied"].as_array().unwrap().len(), named);
        assert_eq!(
            (&compared["newly_denied_left_off"], &compared["newly_spared_left_off"]),
            (&left_off.into(), &0.into())
        );
        let turned =
            policies("turned.toml", &[policy("strict", "window = \"1/1h\""), policy("loose", "window = \"9/1h\"")]);
        let json = quiet(&[&["replay", "-", "--policy", &turned], top, &["--json"]].concat(), &log);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let compared = &json["compared"][0];
        assert_eq!(compared["newly_spared"].as_array().unwrap().len(), named);
        assert_eq!(
            (&compared["newly_denied_left_off"], &compared["newly_spared_left_off"]),
            (&0.into(), &left_off.into())
        );
    }
    for wrong in ["-1", "some", "1e3", "+3"] {
        let run = run(&[&args[..], &["--top", wrong]].concat(), "");
        assert_eq!(run.code, 2);
        assert!(
            run.stderr.contains(&format!(
                "invalid value '{wrong}' for '--top <N|all>': it must be a whole number from 0 to "
            )),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("; or all"), "{}", run.stderr);
    }
}
