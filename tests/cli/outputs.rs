//! `-` is standard output wherever a file is written.

use std::process::{Command, Output as Ran};
use std::{fs, path::PathBuf};

use crate::program::{access, file, run};

/// Runs the program in a folder of its own, where a file named `-` would be seen.
fn ran(folder: &str, args: &[&str]) -> (Ran, PathBuf) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("outputs").join(folder);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_admittance")).args(args).current_dir(&folder).output().unwrap();
    (ran, folder)
}

#[test]
fn a_dash_is_standard_output_and_what_else_is_told_goes_to_standard_error() {
    let log = file("dash.log", access("192.0.2.1", 0, 5).repeat(3));
    let limit = ["--capacity", "2", "--refill", "1/1s"];
    for (number, (args, begins, told)) in [
        (&[&["replay", &log, "--report", "-"], &limit[..]].concat()[..], "<!DOCTYPE html>", "Token bucket for each"),
        (&[&["replay", &log, "--decisions", "-"], &limit[..]].concat(), "{\"t_ns\":", "Token bucket for each"),
        (&[&["replay", &log, "--report", "-", "--json"], &limit[..]].concat(), "<!DOCTYPE html>", "{\n"),
        (&["fit", &log, "--policy-out", "-"], "# Suggested by `admittance fit", "Smallest token buckets"),
        (&["fit", &log, "--plot", "-"], "<svg ", "Smallest token buckets"),
        (&["fit", &log, "--plot", "-", "--json"], "<svg ", "{\n"),
        (&["gen", "--lines", "3", "--output", "-"], "", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let (ran, folder) = ran(&format!("dash-{number}"), args);
        let [stdout, stderr] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(ran.status.code(), Some(0), "{args:?}: {stderr}");
        assert!(!stdout.is_empty() && stdout.starts_with(begins), "{args:?}: {stdout}");
        assert!(stderr.starts_with(told), "{args:?}: {stderr}");
        if args.contains(&"--json") {
            serde_json::from_str::<serde_json::Value>(&stderr).unwrap();
        }
        // Nothing of the one in the other, and no file of that name.
        assert!(!stdout.contains("\n  lines     "), "{args:?}: {stdout}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{args:?}");
    }
}

/// What goes to standard output is what would be in the file.
#[test]
fn a_policy_goes_from_one_command_to_the_next() {
    let log = access("192.0.2.1", 0, 5).repeat(3);
    let policy = run(&["fit", "-", "--policy-out", "-"], &log);
    let path = file("piped.toml", "");
    assert_eq!(run(&["fit", "-", "--policy-out", &path], &log).stdout, policy.stderr);
    assert_eq!(fs::read_to_string(&path).unwrap(), policy.stdout);
    assert_eq!(run(&["policy", "check", "-"], &policy.stdout).code, 0);
}

#[test]
fn two_outputs_that_would_be_mixed_are_refused() {
    let log = file("mixed.log", access("192.0.2.1", 0, 5));
    let both = run(&["fit", &log, "--policy-out", "-", "--plot", "-"], "");
    assert_eq!((both.code, both.stdout.as_str()), (1, ""));
    assert_eq!(
        both.stderr,
        "admittance: --policy-out and --plot are both standard output: name a file for one of them\n"
    );
    let pages = run(&["man", "--out", "-"], "");
    assert_eq!((pages.code, pages.stdout.as_str()), (2, ""));
    assert!(pages.stderr.contains("standard output is no folder; leave --out out"), "{}", pages.stderr);
}

/// `… --report - | head -1`.
#[test]
fn whoever_stops_reading_a_page_hears_nothing_more() {
    use std::process::Stdio;

    let mut child = crate::program::command(&["replay", "examples/access.log", "--window", "1/1s", "--report", "-"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = child.wait_with_output().unwrap();
    let remarks = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(0), "{remarks}");
    assert!(!remarks.contains("roken pipe"), "{remarks}");
}

#[cfg(unix)]
#[test]
fn a_file_of_that_name_can_still_be_said() {
    let log = file("named.log", access("192.0.2.1", 0, 5));
    let (ran, folder) = ran("named", &["replay", &log, "--window", "1/1s", "--report", "./-"]);
    assert_eq!(ran.status.code(), Some(0));
    assert!(fs::read_to_string(folder.join("-")).unwrap().starts_with("<!DOCTYPE html>"));
}
