//! `admittance fit`.

mod plot;
mod policy;
mod tell;

use std::fmt;
use std::io;

use admittance::replay::{Error, FitError, Fitted, Input};
use rayon::ThreadPoolBuilder;

use crate::output::{Output, Outputs, Unwritable};
use crate::progress::Shown;
use crate::{args, complain, text};

/// Why it ended early.
pub(crate) enum Failure {
    Fit(FitError),
    Output { flag: &'static str, to: Output, error: io::Error },
    Unwritable(Unwritable),
    Tell(io::Error),
    Threads(rayon::ThreadPoolBuildError),
}

impl Failure {
    pub(crate) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Tell(error) | Self::Output { to: Output::Stdout, error, .. } => {
                error.kind() == io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fit(FitError::Read(error @ Error::Unreadable(_))) => {
                write!(f, "{error}; stopped, because of --strict")
            }
            Self::Fit(FitError::Unread(unread)) => write!(f, "{}", text::unread(unread)),
            Self::Fit(error @ FitError::Refill { .. }) => write!(f, "--{error}"),
            Self::Fit(error) => write!(f, "{error}"),
            Self::Output { flag, to, error } => write!(f, "{flag} {to}: {error}"),
            Self::Unwritable(why) => write!(f, "{why}"),
            Self::Tell(error) => write!(f, "the answer cannot be written: {error}"),
            Self::Threads(error) => write!(f, "--threads: {error}"),
        }
    }
}

pub(crate) fn run(args: &args::Fit) -> Result<(), Failure> {
    let (fit, inputs) = (args.fit(), args.reading.inputs());
    let outputs = [("--policy-out", args.policy_out.as_ref()), ("--plot", args.plot.as_ref())];
    let outputs = Outputs(&outputs);
    // Said before the log is read, not after.
    outputs.check(&inputs, &[]).map_err(Failure::Unwritable)?;
    let threads = args.reading.threads.map_or(0, usize::from);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::Threads)?;
    let shown = (!args.quiet).then(|| Shown::start(fit.progress(), &inputs));
    let fitted = pool.install(|| fit.run(&inputs));
    drop(shown);
    let fitted = fitted.map_err(Failure::Fit)?;

    // Standard error is then for the JSON alone.
    if !(args.json && outputs.has_stdout()) {
        remarks(&fitted);
    }
    let logs: Vec<String> = inputs.iter().map(Input::name).collect();
    write("--policy-out", args.policy_out.as_ref(), || policy::text(&fitted, &logs))?;
    write("--plot", args.plot.as_ref(), || plot::svg(&fitted))?;
    let mut text = Vec::new();
    if args.json {
        serde_json::to_writer_pretty(&mut text, &fitted).map_err(|error| Failure::Tell(error.into()))?;
        text.push(b'\n');
    } else {
        tell::write(&fitted, &args::reading_again("fit"), &mut text).map_err(Failure::Tell)?;
    }
    outputs.tell(&text).map_err(Failure::Tell)
}

fn write(flag: &'static str, to: Option<&Output>, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(to) = to else { return Ok(()) };
    to.write(text().as_bytes()).map_err(|error| Failure::Output { flag, to: to.clone(), error })
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
