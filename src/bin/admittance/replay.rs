//! `admittance replay`.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use admittance::replay::{Error, Input, Replay, Summary};
use rayon::ThreadPoolBuilder;

use crate::args;
use crate::progress::Shown;
use crate::report;

/// Why it ended early.
pub(crate) enum Failure {
    Replay(Error),
    Write { to: String, error: io::Error },
    Threads(rayon::ThreadPoolBuildError),
}

impl Failure {
    pub(crate) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Replay(Error::Write(error)) | Self::Write { error, .. } => crate::is_broken_pipe(error),
            Self::Replay(_) | Self::Threads(_) => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replay(error) => write!(f, "{error}"),
            Self::Write { to, error } => write!(f, "{to}: {error}"),
            Self::Threads(error) => write!(f, "--threads: {error}"),
        }
    }
}

pub(crate) fn run(args: &args::Replay) -> Result<(), Failure> {
    let (replay, inputs) = (args.replay(), args.inputs());
    let threads = args.threads.map_or(0, usize::from);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::Threads)?;
    let shown = (!args.quiet).then(|| Shown::start(replay.progress(), &inputs));
    let summary = pool.install(|| decide(&replay, &inputs, args.decisions.as_deref()));
    drop(shown);
    let summary = summary?;

    for bad in &summary.bad_lines {
        eprintln!("admittance: {bad}");
    }
    if summary.unreadable > summary.bad_lines.len() as u64 {
        eprintln!(
            "admittance: and {} more lines that cannot be read",
            summary.unreadable - summary.bad_lines.len() as u64
        );
    }
    tell(&summary, args).map_err(|error| Failure::Write { to: "summary".into(), error })
}

fn decide(replay: &Replay, inputs: &[Input], decisions: Option<&Path>) -> Result<Summary, Failure> {
    match decisions {
        None => replay.run(inputs),
        Some(path) if path == Path::new("-") => replay.run_to(inputs, &mut io::stdout().lock()),
        Some(path) => {
            let file = File::create(path)
                .map_err(|error| Failure::Write { to: format!("--decisions {}", path.display()), error })?;
            replay.run_to(inputs, &mut BufWriter::with_capacity(1 << 18, file))
        }
    }
    .map_err(Failure::Replay)
}

fn tell(summary: &Summary, args: &args::Replay) -> io::Result<()> {
    let mut text = Vec::new();
    if args.json {
        serde_json::to_writer_pretty(&mut text, &summary.to_json())?;
        text.push(b'\n');
    } else {
        report::write(summary, &mut text)?;
    }
    // Where standard output has the decisions, a summary in it would spoil them.
    if args.decisions.as_deref() == Some(Path::new("-")) {
        io::stderr().lock().write_all(&text)
    } else {
        io::stdout().lock().write_all(&text)
    }
}
