//! A file of cases, each answered on a line.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::time::SystemTime;

use admittance::retry::{Lenience, Response, Signal, Wait};
use serde::{Deserialize, Serialize};

use super::args::Wall;

/// A case: the lines of `Retry-After`, the client's wall clock, and perhaps `Date` and `Age`.
#[derive(Deserialize)]
struct Case {
    lines: Vec<String>,
    wall: Option<Wall>,
    date: Option<String>,
    age: Option<Age>,
}

/// An age as it stands in a header, or as a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Age {
    Number(u64),
    Text(String),
}

/// What a case comes to.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Told {
    WaitNs(u128),
    Reject(bool),
    Saturated(bool),
}

impl Told {
    pub(super) fn of(signal: Option<&Signal>) -> Self {
        match signal.map(Signal::wait) {
            None => Self::Reject(true),
            Some(Wait::Saturated) => Self::Saturated(true),
            Some(Wait::Exactly(wait)) => Self::WaitNs(wait.as_nanos()),
        }
    }
}

/// Answers every case of a file; of standard input where it is `-`. Or says which line cannot be read.
pub(super) fn tell(file: &OsString, lenience: Lenience, to: &mut Vec<u8>) -> Result<(), String> {
    let name = if file == "-" { OsStr::new("standard input") } else { file }.to_string_lossy();
    let input: Box<dyn BufRead> = if file == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(file).map_err(|error| format!("{name}: {error}"))?))
    };
    for (number, line) in input.split(b'\n').enumerate() {
        let line = line.map_err(|error| format!("{name}: {error}"))?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let case: Case = serde_json::from_slice(&line)
            .map_err(|error| format!("{name}:{}:{}: {error}", number + 1, error.column()))?;
        // Nothing but memory is written to.
        serde_json::to_writer(&mut *to, &case.answer(lenience)).map_err(|error| error.to_string())?;
        to.push(b'\n');
    }
    Ok(())
}

impl Case {
    fn answer(&self, lenience: Lenience) -> Told {
        let age = self.age.as_ref().map(|age| match age {
            Age::Number(age) => age.to_string(),
            Age::Text(age) => age.clone(),
        });
        let lines = self.lines.iter().map(|line| ("retry-after", line.as_bytes()));
        let others = [("date", self.date.as_deref()), ("age", age.as_deref())];
        let others = others.into_iter().filter_map(|(name, value)| Some((name, value?.as_bytes())));
        let wall = self.wall.as_ref().map_or_else(SystemTime::now, |wall| wall.0);
        Told::of(Response::new(503, wall, lines.chain(others)).signal(lenience).as_ref())
    }
}
