//! `admittance fit`.

mod plot;
mod policy;
mod tell;

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use admittance::replay::{Error, FitError, Fitted, Input};
use rayon::ThreadPoolBuilder;

use crate::progress::Shown;
use crate::replay::{is_same, is_same_file};
use crate::{args, complain};

/// Why it ended early.
pub(crate) enum Failure {
    Fit(FitError),
    Output { flag: &'static str, path: PathBuf, error: io::Error },
    Overwrite { flag: &'static str, path: PathBuf },
    SameOutput { path: PathBuf },
    Tell(io::Error),
    Threads(rayon::ThreadPoolBuildError),
}

impl Failure {
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Tell(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fit(FitError::Read(error @ Error::Unreadable(_))) => {
                write!(f, "{error}; stopped, because of --strict")
            }
            Self::Fit(error @ FitError::Refill { .. }) => write!(f, "--{error}"),
            Self::Fit(error) => write!(f, "{error}"),
            Self::Output { flag, path, error } => write!(f, "{flag} {}: {error}", path.display()),
            Self::Overwrite { flag, path } => {
                write!(f, "{flag} {}: is one of the logs, and would be overwritten; name another file", path.display())
            }
            Self::SameOutput { path } => {
                write!(f, "--policy-out and --plot are both {}: name two files", path.display())
            }
            Self::Tell(error) => write!(f, "the answer cannot be written: {error}"),
            Self::Threads(error) => write!(f, "--threads: {error}"),
        }
    }
}

pub(crate) fn run(args: &args::Fit) -> Result<(), Failure> {
    let (fit, inputs) = (args.fit(), args.reading.inputs());
    let outputs = [("--policy-out", &args.policy_out), ("--plot", &args.plot)];
    for (flag, path) in outputs {
        // Said before the log is read, not after.
        if let Some(path) = path.as_ref().filter(|path| inputs.iter().any(|input| is_same_file(input, path))) {
            return Err(Failure::Overwrite { flag, path: path.clone() });
        }
    }
    if let (Some(policy), Some(plot)) = (&args.policy_out, &args.plot)
        && (policy == plot || is_same(policy, plot))
    {
        // A device takes both.
        if !policy.metadata().is_ok_and(|there| !there.is_file()) {
            return Err(Failure::SameOutput { path: plot.clone() });
        }
    }
    let threads = args.reading.threads.map_or(0, usize::from);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::Threads)?;
    let shown = (!args.quiet).then(|| Shown::start(fit.progress(), &inputs));
    let fitted = pool.install(|| fit.run(&inputs));
    drop(shown);
    let fitted = fitted.map_err(Failure::Fit)?;

    remarks(&fitted);
    let logs: Vec<String> = inputs.iter().map(Input::name).collect();
    write("--policy-out", args.policy_out.as_deref(), || policy::text(&fitted, &logs))?;
    write("--plot", args.plot.as_deref(), || plot::svg(&fitted))?;
    let mut text = Vec::new();
    if args.json {
        serde_json::to_writer_pretty(&mut text, &fitted).map_err(|error| Failure::Tell(error.into()))?;
        text.push(b'\n');
    } else {
        tell::write(&fitted, &args::reading_again("fit"), &mut text).map_err(Failure::Tell)?;
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(&text).and_then(|()| stdout.flush()).map_err(Failure::Tell)
}

fn write(flag: &'static str, path: Option<&Path>, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    fs::write(path, text()).map_err(|error| Failure::Output { flag, path: path.into(), error })
}

/// What should be known before the answer is believed.
fn remarks(fitted: &Fitted) {
    for bad in &fitted.bad_lines {
        complain(format_args!("{bad}"));
    }
    let more = fitted.unreadable - fitted.bad_lines.len() as u64;
    if more > 0 {
        complain(format_args!("and {more} more lines that cannot be read"));
    }
    for refused in &fitted.refused {
        complain(format_args!("--refill {}: left out: {}", refused.refill, refused.error));
    }
}
