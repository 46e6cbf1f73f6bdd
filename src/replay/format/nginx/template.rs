//! A `log_format` of nginx, as it is written in its configuration, and lines split by it.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use memchr::memmem::Finder;

use crate::replay::format::date;
use crate::replay::record::LineError;
use crate::replay::spec::SpecError;

/// What stands between the quotes of nginx's `log_format`: literal text, and variables as `$name` or `${name}`.
///
/// `\"`, `\'`, `\\` and `\t` are what they are in nginx's configuration. Variables that are not known are read all the same. Two
/// with nothing between them cannot be told apart, and are an error.
///
/// ```
/// use admittance::replay::{Format, LogFormat, Replay};
/// use admittance::{Rule, Window};
///
/// let format: LogFormat = r#"$remote_addr - $remote_user [$time_local] "$request" $status $request_time"#.parse()?;
/// let log = br#"192.0.2.7 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 0.004"#;
/// let replay = Replay::new(Rule::FixedWindow(Window::per_minute(100))).format(Format::Nginx(format));
/// assert_eq!(replay.run_bytes(log, |decided| assert_eq!(decided.key, b"192.0.2.7"))?.admitted, 1);
///
/// let error = "$remote_addr$time_local".parse::<LogFormat>().unwrap_err();
/// assert!(error.to_string().starts_with("$remote_addr and $time_local have nothing between them"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LogFormat(Arc<Template>);

struct Template {
    /// As it was written.
    text: String,
    /// What a line begins with.
    begin: Vec<u8>,
    variables: Vec<Variable>,
}

/// A variable, and the text behind it.
#[derive(Debug)]
pub(super) struct Variable {
    name: String,
    /// Empty for a last one that goes on to the end of the line.
    until: Vec<u8>,
    find: Finder<'static>,
    shape: Shape,
}

impl Variable {
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// What a variable's value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Any,
    /// `17/May/2015:10:05:03 +0000`.
    Local,
    /// Digits, with a point among them or none; or `-`.
    Number,
}

/// More than any number of nginx has; a line of digits is not looked through at each of them.
const LONGEST_NUMBER: usize = 32;

impl LogFormat {
    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    pub(super) fn variables(&self) -> &[Variable] {
        &self.0.variables
    }

    /// A line of it, with these values.
    pub(crate) fn filled<'v>(&self, value: impl Fn(&str) -> &'v str) -> Vec<u8> {
        let mut line = self.0.begin.clone();
        for variable in self.variables() {
            line.extend_from_slice(value(&variable.name).as_bytes());
            line.extend_from_slice(&variable.until);
        }
        line
    }

    /// Finds where each variable is in a line.
    pub(super) fn split(&self, line: &[u8], places: &mut Vec<(usize, usize)>) -> Result<(), LineError> {
        let Template { begin, variables, .. } = &*self.0;
        places.clear();
        if !line.starts_with(begin) {
            return Err(lacks(0, line, begin, "at the beginning"));
        }
        let mut from = begin.len();
        for (number, variable) in variables.iter().enumerate() {
            let rest = &line[from..];
            let length = match variables.get(number + 1) {
                // The last goes on to the end, or to the text at the end.
                None => rest.strip_suffix(variable.until.as_slice()).map(<[u8]>::len),
                Some(next) => variable.length(rest, next),
            };
            let Some(length) = length else {
                let after = format!("behind ${}", variable.name);
                return Err(lacks(from, line, &variable.until, &after));
            };
            places.push((from, from + length));
            from += length + variable.until.len();
        }
        Ok(())
    }
}

impl Variable {
    /// How long the value is at the beginning of `rest`, where `next` is behind it.
    fn length(&self, rest: &[u8], next: &Self) -> Option<usize> {
        let first = self.find.find(rest)?;
        if next.shape == Shape::Any || next.fits(&rest[first + self.until.len()..]) {
            return Some(first);
        }
        // Where none fits, the first is as good a place as any to say so.
        let mut others = self.find.find_iter(&rest[first + 1..]).map(|at| first + 1 + at);
        Some(others.find(|at| next.fits(&rest[at + self.until.len()..])).unwrap_or(first))
    }

    /// Whether `rest` begins with a value of this shape and the text behind it.
    fn fits(&self, rest: &[u8]) -> bool {
        let length = match self.shape {
            Shape::Any => return true,
            Shape::Local => match rest {
                [_, _, b'/', _, _, _, b'/', _, _, _, _, b':', ..] => date::LENGTH,
                _ => return false,
            },
            Shape::Number if rest.first() == Some(&b'-') => 1,
            Shape::Number => {
                let digits =
                    rest.iter().take(LONGEST_NUMBER).take_while(|byte| byte.is_ascii_digit() || **byte == b'.');
                match digits.count() {
                    0 => return false,
                    length => length,
                }
            }
        };
        rest.get(length..).is_some_and(|behind| behind.starts_with(&self.until))
    }
}

#[cold]
fn lacks(from: usize, line: &[u8], text: &[u8], place: &str) -> LineError {
    let text = String::from_utf8_lossy(text);
    LineError::at(from, line, format!("'{text}' {place}, as the log format has it"))
}

impl FromStr for LogFormat {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        for (directive, what) in [
            ("log_format", "the name and the quotes do not belong here; write what is between the quotes alone"),
            ("escape=", "lines of nginx's escape=json are JSON; say --format json and --field time=PATH for them"),
            ("{\"", "a format that writes JSON is read as JSON; say --format json and --field time=PATH instead"),
        ] {
            if text.trim_start().starts_with(directive) {
                let start = text.len() - text.trim_start().len();
                return Err(SpecError::at(text, start..start + directive.len(), what));
            }
        }
        let mut begin = Vec::new();
        let mut variables: Vec<(String, Range<usize>, Vec<u8>)> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if rest.starts_with('$') {
                let (name, length) = name(rest).ok_or_else(|| {
                    let what = "a variable has a name of letters, digits and _ behind the $, as $status or ${status}";
                    SpecError::at(text, at..at + 1, what)
                })?;
                let place = at..at + length;
                if let Some((before, their, between)) = variables.last() {
                    if between.is_empty() {
                        let what = format!(
                            "${before} and ${name} have nothing between them, so where the first ends cannot be told"
                        );
                        return Err(SpecError::at(text, their.start..place.end, what));
                    }
                }
                variables.push((name.to_owned(), place, Vec::new()));
                at += length;
            } else {
                let (byte, length) = literal(rest);
                let before = variables.last_mut().map_or(&mut begin, |(_, _, until)| until);
                match byte {
                    Some(byte) => before.push(byte),
                    None => before.extend_from_slice(&rest.as_bytes()[..length]),
                }
                at += length;
            }
        }
        if variables.is_empty() {
            let what = "there is no variable in it, as in '$remote_addr [$time_local] \"$request\"'";
            return Err(SpecError::at(text, 0..text.len(), what));
        }
        let variables = variables.into_iter().map(|(name, _, until)| Variable {
            shape: match &*name {
                "time_local" => Shape::Local,
                "msec" | "status" | "body_bytes_sent" | "bytes_sent" => Shape::Number,
                _ => Shape::Any,
            },
            find: Finder::new(&until).into_owned(),
            name,
            until,
        });
        Ok(Self(Arc::new(Template { text: text.into(), begin, variables: variables.collect() })))
    }
}

/// The name of the variable at the beginning, and how much of the text it is.
fn name(text: &str) -> Option<(&str, usize)> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (name, length) = if let Some(rest) = text.strip_prefix("${") {
        let name = &rest[..rest.find('}')?];
        (name, name.len() + 3)
    } else {
        let rest = &text[1..];
        let name = &rest[..rest.find(|letter| !is_name(letter)).unwrap_or(rest.len())];
        (name, name.len() + 1)
    };
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, length))
}

/// A character of literal text: the byte it stands for, where it is escaped, and how much of the text it is.
fn literal(text: &str) -> (Option<u8>, usize) {
    match text.as_bytes() {
        [b'\\', escaped @ (b'"' | b'\'' | b'\\'), ..] => (Some(*escaped), 2),
        [b'\\', b't', ..] => (Some(b'\t'), 2),
        _ => (None, text.chars().next().map_or(1, char::len_utf8)),
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogFormat").field(&self.as_str()).finish()
    }
}

impl PartialEq for LogFormat {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for LogFormat {}
