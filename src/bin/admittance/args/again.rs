//! What was said of logs on this command line, to be said again on another.

use std::ffi::OsStr;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory};

use super::{Args, reading};

/// The logs of a subcommand and how they are read, as a shell takes them: `access.log --identity user`. Only what was said.
pub(crate) fn reading_again(subcommand: &str) -> String {
    let mut command = Args::command();
    command.build();
    // They were parsed before: this is never an error.
    let Ok(all) = command.clone().try_get_matches_from(std::env::args_os()) else { return String::new() };
    let (Some(said), Some(known)) = (all.subcommand_matches(subcommand), command.find_subcommand(subcommand)) else {
        return String::new();
    };
    let logs = said.get_raw("logs").into_iter().flatten().map(path);
    let is_of_reading = |arg: &&Arg| arg.get_help_heading() == Some(reading::HEADING);
    let flags = known.get_arguments().filter(is_of_reading).flat_map(|arg| flag(arg, said));
    logs.chain(flags).collect::<Vec<_>>().join(" ")
}

/// A flag, once for each time that it was said.
fn flag(arg: &Arg, said: &ArgMatches) -> Vec<String> {
    let (id, Some(long)) = (arg.get_id().as_str(), arg.get_long()) else { return Vec::new() };
    if said.value_source(id) != Some(ValueSource::CommandLine) {
        return Vec::new();
    }
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return vec![format!("--{long}")];
    }
    said.get_raw(id).into_iter().flatten().map(|value| format!("--{long} {}", quoted(value))).collect()
}

/// A log that is not taken for a flag. `-` is standard input.
fn path(log: &OsStr) -> String {
    let text = quoted(log);
    let is_like_a_flag = text != "-" && log.to_string_lossy().starts_with('-');
    if is_like_a_flag { format!("./{text}") } else { text }
}

/// As a shell takes it, whole, and with nothing in it that speaks to the terminal.
fn quoted(value: &OsStr) -> String {
    let text = value.to_string_lossy();
    let is_plain = |letter: char| letter.is_alphanumeric() || "./_-+,:@%=".contains(letter);
    // Of what can be seen, these alone are escaped.
    let is_seen = |letter: char| "'\"\\".contains(letter) || letter.escape_debug().len() == 1;
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into()
    } else if text.chars().all(is_seen) {
        format!("'{}'", text.replace('\'', r"'\''"))
    } else {
        let mut inner = String::new();
        for letter in text.chars() {
            match letter {
                '\'' | '\\' => inner.extend(['\\', letter]),
                seen if is_seen(seen) => inner.push(seen),
                unseen => {
                    // Three digits always: what comes next is not taken for one more.
                    inner.extend(unseen.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\{byte:03o}")));
                }
            }
        }
        format!("$'{inner}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_it_as_it_was() {
        for (value, shown) in [
            ("access.log", "access.log"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            (r#"$a "$b" \"#, r#"'$a "$b" \'"#),
            ("a\u{1b}[1m's\n0", r"$'a\033[1m\'s\0120'"),
        ] {
            assert_eq!(quoted(OsStr::new(value)), shown);
        }
        let long = "a long name ".repeat(20);
        assert_eq!(quoted(OsStr::new(&long)), format!("'{long}'"));
        let logs = ["-", "-x.log", "-x y"].map(|log| path(OsStr::new(log)));
        assert_eq!(logs, ["-", "./-x.log", "./'-x y'"]);
    }
}
