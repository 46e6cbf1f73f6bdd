//! `admittance watch`: a log followed, and who is limited now.

mod clock;
mod feed;
mod leaders;
mod limited;
mod minute;
mod plain;
mod screen;
mod tally;
mod view;

use std::fmt;
use std::io::{self, IsTerminal};

use admittance::replay::Unread;

use crate::args;
use crate::text::unread as unread_text;
use tally::{Stopped, Tally};

/// Why it ended early.
pub(crate) enum Failure {
    Read(io::Error),
    Stopped(Stopped),
    Unread(Box<Unread>),
    Terminal(io::Error),
    Write(io::Error),
}

impl Failure {
    /// Of a log that has ended, and of which nothing could be read.
    fn of_nothing(tally: &Tally) -> Result<(), Self> {
        tally.unread().map_or(Ok(()), |unread| Err(Self::Unread(Box::new(unread))))
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "{}: {error}", feed::NAME),
            Self::Stopped(Stopped::Unreadable(bad)) => write!(f, "{bad}; stopped, because of --strict"),
            Self::Stopped(Stopped::Field(error)) => write!(f, "{}: {error}", feed::NAME),
            Self::Unread(unread) => write!(f, "{}", unread_text(unread)),
            Self::Terminal(error) => write!(f, "the terminal: {error}; --plain writes lines of text instead"),
            Self::Write(error) => write!(f, "standard output: {error}"),
        }
    }
}

pub(crate) fn run(args: &args::Watch) -> Result<(), Failure> {
    let trial = args.trial();
    if io::stdin().is_terminal() {
        args::Watch::refuse_terminal();
    }
    let callers = usize::try_from(args.callers).unwrap_or(usize::MAX);
    let tally = Tally::new(trial.replay.live().keys_at_most(callers));
    if args.plain || !io::stdout().is_terminal() {
        plain::run(tally)
    } else {
        screen::run(tally, &trial.name, args.exit_at_end)
    }
}
