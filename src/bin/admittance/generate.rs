//! `admittance gen`: a log of nobody's, to try things on.
//!
//! | file | holds |
//! |---|---|
//! | `traffic` | when, and who |
//! | `caller` | how unequal callers are, and what is each one's own |
//! | `site` | what is asked for, and what is answered |
//! | `line` | how it is written |
//! | `draw` | random numbers, the same on every machine |

mod caller;
mod draw;
mod line;
mod site;
mod traffic;

use std::fmt;
use std::io::{self, IsTerminal};

use crate::output::Output;
use crate::{args, progress};
use line::Writer;
use traffic::Traffic;

/// Logs end here, 2500-01-01: nanoseconds since 1970 still fit in 64 bits, and years in four digits.
pub(crate) const END: u64 = 16_725_225_600_000_000_000;

/// Written at once.
const CHUNK: usize = 1 << 20;

/// Why it ended early.
pub(crate) enum Failure {
    Write { to: Output, error: io::Error },
    TooLong { lines: u64 },
}

impl Failure {
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { to: Output::Stdout, error } => write!(f, "standard output: {error}"),
            Self::Write { to, error } => write!(f, "{to}: {error}"),
            Self::TooLong { lines } => {
                write!(
                    f,
                    "the log would go on past the year 2500: it ends after {lines} lines; say fewer --lines, or a higher --rate"
                )
            }
        }
    }
}

pub(crate) fn run(args: &args::Generate) -> Result<(), Failure> {
    let failed = |error| Failure::Write { to: args.output.clone(), error };
    let mut to = args.output.open().map_err(failed)?;
    // Lines that scroll by and a bar that stays would overwrite each other.
    let crowded = args.output == Output::Stdout && io::stdout().is_terminal();
    let bar = (!args.quiet && !crowded).then(|| progress::of_lines(args.lines));

    let (mut traffic, mut writer) = (Traffic::new(args), Writer::new(args));
    let mut text = Vec::with_capacity(CHUNK + 4096);
    for number in 0..args.lines {
        let Some(call) = traffic.next() else {
            to.write_all(&text).map_err(failed)?;
            return Err(Failure::TooLong { lines: number });
        };
        writer.write(call, &mut text);
        if text.len() >= CHUNK {
            to.write_all(&text).map_err(failed)?;
            text.clear();
            if let Some(bar) = &bar {
                progress::advance(bar, number);
            }
        }
    }
    to.write_all(&text).and_then(|()| to.flush()).map_err(failed)?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok(())
}
