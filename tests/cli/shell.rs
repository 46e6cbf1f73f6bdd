//! Completions, pages for `man`, and what each command's help has to say.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io::Write};

use crate::program::{file, quiet, run};

/// Every command, as it is called.
const COMMANDS: [&[&str]; 9] = [
    &["replay"],
    &["watch"],
    &["fit"],
    &["gen"],
    &["load"],
    &["retry"],
    &["policy", "check"],
    &["completions"],
    &["man"],
];

/// Runs a program of the system on some input; `None` where it is not there.
fn system(program: &str, args: &[&str], stdin: &str) -> Option<(String, String, bool)> {
    let spawned =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = spawned else {
        println!("{program} is not there: not looked at");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    let text = stdin.to_owned();
    let writer = std::thread::spawn(move || drop(input.write_all(text.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some((text(output.stdout), text(output.stderr), output.status.success()))
}

/// The long flags that a command's help has.
fn flags(command: &[&str]) -> Vec<String> {
    let help = quiet(&[command, &["--help"]].concat(), "");
    let flags: Vec<String> = help
        .lines()
        .filter_map(|line| line.trim_start().split("--").nth(1).filter(|_| line.trim_start().starts_with('-')))
        .map(|rest| rest.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '-').collect())
        .collect();
    assert!(flags.contains(&"help".to_owned()), "{help}");
    flags
}

#[test]
fn bash_takes_its_completions_and_completes_commands_and_flags() {
    let script = quiet(&["completions", "bash"], "");
    let Some((_, errors, is_right)) = system("bash", &["-n"], &script) else { return };
    assert!(is_right && errors.is_empty(), "{errors}");
    let path = file("completions.bash", &script);
    let completed = |words: &str, last: &str, before: &str| -> Vec<String> {
        let ask = format!(
            "source {path}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _admittance admittance '{last}' '{before}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let (told, errors, _) = system("bash", &["-c", &ask], "").expect("it was there just now");
        assert_eq!(errors, "");
        told.lines().map(String::from).collect()
    };
    assert_eq!(completed("admittance re", "re", "admittance"), ["replay", "retry"]);
    assert_eq!(completed("admittance wa", "wa", "admittance"), ["watch"]);
    assert_eq!(completed("admittance watch --exit", "--exit", "watch"), ["--exit-at-end"]);
    assert_eq!(completed("admittance completions po", "po", "completions"), ["powershell"]);
    for command in COMMANDS {
        let words = format!("admittance {} --", command.join(" "));
        let told = completed(&words, "--", command.last().unwrap());
        for flag in flags(command) {
            assert!(told.contains(&format!("--{flag}")), "--{flag} of {command:?} is not in {told:?}");
        }
    }
}

#[test]
fn each_shell_has_completions_of_its_own() {
    for (shell, sign) in [
        ("bash", "complete -F _admittance"),
        ("zsh", "#compdef admittance"),
        ("fish", "complete -c admittance"),
        ("elvish", "set edit:completion:arg-completer[admittance]"),
        ("powershell", "Register-ArgumentCompleter -Native -CommandName 'admittance'"),
    ] {
        let script = quiet(&["completions", shell], "");
        assert!(script.contains(sign) && script.contains("exit-at-end"), "{shell}: {script}");
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn every_command_has_a_page_with_all_its_flags_that_man_can_read() {
    let folder = folder("man").join("man1");
    quiet(&["man", "--out", folder.to_str().unwrap()], "");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    for command in COMMANDS {
        let name = format!("admittance-{}.1", command.join("-"));
        // Hyphens are written so that they can be copied.
        let page = read(&name).replace("\\-", "-");
        for flag in flags(command) {
            // Not in the synopsis alone.
            let (_, options) = page.split_once(".SH OPTIONS").expect("each has --help at least");
            assert!(options.contains(&format!("\\fB--{flag}\\fR")), "--{flag} is not in {name}");
        }
        assert!(page.contains("Exit codes:") && page.contains(".SH \"EXAMPLES AND NOTES\"\n.nf\n"), "{page}");
    }
    let main = read("admittance.1");
    assert_eq!(quiet(&["man"], ""), main);
    // No page is named that is not there.
    let told: Vec<&str> = main.lines().filter_map(|line| line.strip_suffix("(1)")).collect();
    assert_eq!(told.len(), 9, "{main}");
    for name in told {
        assert!(folder.join(format!("{}.1", name.replace("\\-", "-"))).exists(), "{name}");
    }
    for page in fs::read_dir(&folder).unwrap() {
        let path = page.unwrap().path();
        let path = path.to_str().unwrap();
        let Some((text, warnings, is_right)) = system("groff", &["-Tutf8", "-P-cbou", "-man", "-ww", path], "") else {
            return;
        };
        assert!(is_right && warnings.is_empty() && text.contains("DESCRIPTION"), "{path}: {warnings}");
    }
    // Examples stand as they were written, a line each.
    let path = folder.join("admittance-replay.1");
    let (text, ..) = system("groff", &["-Tascii", "-P-cbou", "-man", path.to_str().unwrap()], "").unwrap();
    let help = quiet(&["replay", "--help"], "");
    let examples: Vec<&str> = help.lines().skip_while(|line| *line != "Examples:").take(6).collect();
    assert_eq!(examples.len(), 6, "{help}");
    for line in examples {
        assert!(text.lines().any(|told| told.trim() == line.trim()), "'{line}' is not in\n{text}");
    }
}

#[test]
fn a_page_that_cannot_be_written_is_named() {
    let taken = file("taken", "");
    let run = run(&["man", "--out", &taken], "");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with(&format!("admittance: --out {taken}: ")), "{}", run.stderr);
}

#[test]
fn each_commands_help_has_examples_and_exit_codes() {
    for command in COMMANDS {
        let help = quiet(&[command, &["--help"]].concat(), "");
        let (before, codes) = help.split_once("\nExit codes:\n").unwrap_or_else(|| panic!("{help}"));
        assert!(["  0  ", "  1  ", "  2  "].iter().all(|code| codes.contains(code)), "{help}");
        let (_, examples) = before.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{help}"));
        assert!(examples.contains(&format!("admittance {}", command.join(" "))), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 120), "{help}");
    }
}
