//! `admittance replay`.

mod detail;

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use admittance::replay::{Error, Format, Input, Replay, Summary, Unit};
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use crate::progress::Shown;
use crate::{args, complain, report, store};

/// Why it ended early.
pub(crate) enum Failure {
    Replay(Error),
    Decisions { path: PathBuf, error: io::Error },
    Overwrite { flag: &'static str, path: PathBuf, what: &'static str },
    Report { path: PathBuf, error: io::Error },
    Summary(io::Error),
    Threads(rayon::ThreadPoolBuildError),
    Store(store::Refused),
}

impl Failure {
    pub(crate) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Replay(Error::Write(error)) | Self::Summary(error) => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replay(error @ Error::Unreadable(_)) => write!(f, "{error}; stopped, because of --strict"),
            Self::Replay(error) => write!(f, "{error}"),
            Self::Decisions { path, error } => write!(f, "--decisions {}: {error}", path.display()),
            Self::Overwrite { flag, path, what } => {
                write!(
                    f,
                    "{flag} {}: is one of the {what}, and would be overwritten; name another file",
                    path.display()
                )
            }
            Self::Report { path, error } => write!(f, "--report {}: {error}", path.display()),
            Self::Summary(error) => write!(f, "the summary cannot be written: {error}"),
            Self::Threads(error) => write!(f, "--threads: {error}"),
            Self::Store(store::Refused::Store(failure)) => write!(f, "--store: {failure}"),
            Self::Store(store::Refused::Rule(error)) => write!(f, "--store: {error}"),
        }
    }
}

pub(crate) fn run(args: &args::Replay) -> Result<(), Failure> {
    let (trials, inputs) = (args.trials(), args.reading.inputs());
    let threads = args.reading.threads.map_or(0, usize::from);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::Threads)?;
    let to = Destination::of(args.decisions.as_deref());
    let decisions = if let Destination::File(path) = to { Some(path) } else { None };
    for (flag, path) in [("--decisions", decisions), ("--report", args.report.as_deref())] {
        let Some(path) = path else { continue };
        let what = if inputs.iter().any(|input| is_same_file(input, path)) {
            "logs"
        } else if args.policy_files().iter().any(|policy| is_same(policy, path)) {
            "policies"
        } else {
            continue;
        };
        return Err(Failure::Overwrite { flag, path: path.into(), what });
    }
    // Decisions that scroll by and a bar that stays would overwrite each other.
    let crowded = to == Destination::Stdout && io::stdout().is_terminal();
    let replay = &trials[0].replay;
    let shown = (!args.quiet && !crowded).then(|| Shown::start(replay.progress(), &inputs));
    if trials.len() > 1 || args.report.is_some() {
        return pool.install(|| detail::run(args, &trials, &inputs, shown));
    }
    let decided = pool.install(|| match &args.store {
        Some(url) => store::run(replay, &inputs, &replay.rule(), url).map(|(summary, told)| (summary, Some(told))),
        None => decide(replay, &inputs, to).map(|summary| (summary, None)),
    });
    drop(shown);
    let (summary, told) = decided?;

    // Standard error is then for the JSON alone, which has the bad lines too.
    if !(args.json && to == Destination::Stdout) {
        remarks(&summary);
    }
    tell(&summary, told.as_ref(), args.json, to).map_err(Failure::Summary)
}

/// Where decisions go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Destination<'a> {
    Nowhere,
    Stdout,
    File(&'a Path),
}

impl<'a> Destination<'a> {
    fn of(path: Option<&'a Path>) -> Self {
        match path {
            None => Self::Nowhere,
            Some(path) if path == Path::new("-") => Self::Stdout,
            Some(path) => Self::File(path),
        }
    }
}

fn decide(replay: &Replay, inputs: &[Input], to: Destination<'_>) -> Result<Summary, Failure> {
    let summary = match to {
        Destination::Nowhere => replay.run(inputs),
        Destination::Stdout => replay.run_to(inputs, &mut io::stdout().lock()),
        Destination::File(path) => {
            let file = File::create(path).map_err(|error| Failure::Decisions { path: path.into(), error })?;
            replay.run_to(inputs, &mut BufWriter::with_capacity(1 << 18, file))
        }
    };
    summary.map_err(|error| match (error, to) {
        (Error::Write(error), Destination::File(path)) => Failure::Decisions { path: path.into(), error },
        (error, _) => Failure::Replay(error),
    })
}

/// Whether a file that is to be written is one of the logs.
pub(crate) fn is_same_file(input: &Input, path: &Path) -> bool {
    matches!(input, Input::File(log) if is_same(log, path))
}

/// Whether two paths lead to one file, by links of either kind. What is not there is no file yet.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::fs::Metadata;
        use std::os::unix::fs::MetadataExt;

        // A hard link has a path of its own.
        let file = |path: &Path| path.metadata().ok().filter(Metadata::is_file).map(|it| (it.dev(), it.ino()));
        if file(one).is_some_and(|it| Some(it) == file(other)) {
            return true;
        }
    }
    let there = |path: &Path| path.canonicalize().ok();
    there(one).is_some_and(|it| Some(it) == there(other))
}

/// What should be known before the summary is believed.
fn remarks(summary: &Summary) {
    for bad in &summary.bad_lines {
        complain(format_args!("{bad}"));
    }
    let more = summary.unreadable - summary.bad_lines.len() as u64;
    if more > 0 {
        complain(format_args!("and {more} more lines that cannot be read"));
    }
    if summary.format == Some(Format::Jsonl) && summary.unit == Unit::Byte {
        complain(format_args!("--unit byte changes nothing for a trace: each line says its own cost"));
    }
}

/// The summary, and beside it what a store answered.
#[derive(Serialize)]
struct Both<'t> {
    #[serde(flatten)]
    summary: &'t Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<&'t store::Told>,
}

fn tell(summary: &Summary, store: Option<&store::Told>, json: bool, decisions: Destination<'_>) -> io::Result<()> {
    let mut text = Vec::new();
    if json {
        serde_json::to_writer_pretty(&mut text, &Both { summary, store })?;
        text.push(b'\n');
    } else {
        report::write(summary, &mut text)?;
        if let Some(told) = store {
            report::write_store(told, &mut text)?;
        }
    }
    // Where standard output has the decisions, a summary in it would spoil them.
    if decisions == Destination::Stdout { io::stderr().lock().write_all(&text) } else { print(&text) }
}

fn print(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text).and_then(|()| stdout.flush())
}
