//! `admittance retry`.

mod args;
mod table;
mod vectors;

use std::fmt;
use std::io::{self, Write};
use std::time::SystemTime;

use admittance::ManualClock;
use admittance::retry::{Backoff, Ends, Goes, Lenience, Response, Retry, RetryError, Schedule, SeededRandom, Signal};
use serde::Serialize;

use crate::complain;
pub(crate) use args::Retry as Args;
use vectors::Told;

/// Why it ended early.
pub(crate) enum Failure {
    /// The file, and what is wrong with it.
    Vectors(String),
    Planner(RetryError),
    Write(io::Error),
}

impl Failure {
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether it is the command line that is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, Self::Planner(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vectors(what) => f.write_str(what),
            Self::Planner(error) => {
                // The library's fields are the flags' names, but for what it says in two words.
                let said = error.to_string();
                write!(f, "--{}", said.strip_prefix("backoff ").unwrap_or(&said))
            }
            Self::Write(error) => write!(f, "the answer cannot be written: {error}"),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let lenience = args.lenient.iter().fold(Lenience::STRICT, |lenience, what| lenience.with((*what).into()));
    let mut text = Vec::new();
    if let Some(file) = &args.vectors {
        // What could be read before a line that cannot is told all the same.
        let result = vectors::tell(file, lenience, &mut text);
        write(&text)?;
        return result.map_err(Failure::Vectors);
    }
    let signal = signal(args, lenience);
    let schedule = schedule(args, signal.as_ref()).map_err(Failure::Planner)?;
    if args.json {
        let told = Answer::of(args, signal.as_ref(), &schedule);
        serde_json::to_writer_pretty(&mut text, &told).map_err(|error| Failure::Write(error.into()))?;
        text.push(b'\n');
    } else {
        table::write(args, signal.as_ref(), &schedule, &mut text).map_err(Failure::Write)?;
    }
    write(&text)
}

fn write(text: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text).and_then(|()| stdout.flush()).map_err(Failure::Write)
}

/// What the headers ask for.
fn signal(args: &Args, lenience: Lenience) -> Option<Signal> {
    let lines = args.headers.iter().map(|header| (header.name.as_str(), &*header.value));
    let wall = args.wall.map_or_else(SystemTime::now, |wall| wall.0);
    let signal = Response::new(503, wall, lines).signal(lenience);
    let is_said = args.headers.iter().any(|header| header.name.eq_ignore_ascii_case("retry-after"));
    if signal.is_none() && is_said {
        complain(format_args!("no Retry-After here can be read, which is as good as none"));
    }
    signal
}

fn schedule(args: &Args, signal: Option<&Signal>) -> Result<Schedule, RetryError> {
    let mut backoff = Backoff::new(args.backoff).factor(args.factor).jitter(args.jitter.into());
    if let Some(ceiling) = args.ceiling {
        backoff = backoff.ceiling(ceiling);
    }
    let (attempts, deadline) = args.bounds();
    // A preview draws nothing and reads no clock.
    let mut builder = Retry::builder_with(attempts, deadline, ManualClock::new(), SeededRandom::new(0))
        .backoff(backoff)
        .spread(args.spread);
    if let Some(longest) = args.longest_wait {
        builder = builder.longest_wait(longest);
    }
    Ok(builder.build()?.schedule(signal.map(Signal::wait)))
}

/// The answer as JSON.
#[derive(Serialize)]
struct Answer {
    /// What the server asks for; null where it asks for nothing that can be read.
    signal: Option<ToldSignal>,
    attempts: Vec<ToldAttempt>,
    worst_total_ns: u128,
    deadline_ns: u128,
    ends: &'static str,
}

#[derive(Serialize)]
struct ToldSignal {
    #[serde(flatten)]
    wait: Told,
    several: bool,
}

#[derive(Serialize)]
struct ToldAttempt {
    attempt: u32,
    earliest_ns: u128,
    latest_ns: u128,
    goes: &'static str,
}

impl Answer {
    fn of(args: &Args, signal: Option<&Signal>, schedule: &Schedule) -> Self {
        let attempts = schedule.attempts().iter().map(|row| ToldAttempt {
            attempt: row.attempt(),
            earliest_ns: row.earliest().as_nanos(),
            latest_ns: row.latest().as_nanos(),
            goes: match row.goes() {
                Goes::Always => "always",
                Goes::Perhaps => "perhaps",
                Goes::Never => "never",
            },
        });
        Self {
            signal: signal.map(|signal| ToldSignal { wait: Told::of(Some(signal)), several: signal.several() }),
            attempts: attempts.collect(),
            worst_total_ns: schedule.worst_total().as_nanos(),
            deadline_ns: args.bounds().1.as_nanos(),
            ends: match schedule.ends() {
                Ends::Attempts => "attempts",
                Ends::WaitTooLong => "longest_wait",
                Ends::Deadline => "deadline",
            },
        }
    }
}
