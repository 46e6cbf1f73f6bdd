//! `admittance replay`.

mod detail;
mod remarks;

use std::fmt;
use std::io::{self, IsTerminal};

use admittance::replay::{Error, Input, Replay, Summary, Unread};
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use crate::output::{Output, Outputs, Unwritable};
use crate::progress::Shown;
use crate::{args, report, store, text};
use remarks::remark;

/// Why it ended early.
pub(crate) enum Failure {
    Replay(Error),
    Unread(Box<Unread>),
    Output { flag: &'static str, to: Output, error: io::Error },
    Unwritable(Unwritable),
    Summary(io::Error),
    Threads(rayon::ThreadPoolBuildError),
    Store(store::Refused),
}

impl Failure {
    pub(crate) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Replay(Error::Write(error))
            | Self::Summary(error)
            | Self::Output { to: Output::Stdout, error, .. } => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replay(error @ Error::Unreadable(_)) => write!(f, "{error}; stopped, because of --strict"),
            Self::Replay(error) => write!(f, "{error}"),
            Self::Unread(unread) => write!(f, "{}", text::unread(unread)),
            Self::Output { flag, to, error } => write!(f, "{flag} {to}: {error}"),
            Self::Unwritable(why) => write!(f, "{why}"),
            Self::Summary(error) => write!(f, "the summary cannot be written: {error}"),
            Self::Threads(error) => write!(f, "--threads: {error}"),
            Self::Store(store::Refused::Unopened(why)) => write!(f, "{why}"),
            Self::Store(store::Refused::Store(failure)) => write!(f, "--store: {failure}"),
            Self::Store(store::Refused::Rule(error)) => write!(f, "--store: {error}"),
        }
    }
}

pub(crate) fn run(args: &args::Replay) -> Result<(), Failure> {
    let (trials, inputs) = (args.trials(), args.reading.inputs());
    let threads = args.reading.threads.map_or(0, usize::from);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::Threads)?;
    let outputs = args.outputs();
    let outputs = Outputs(&outputs);
    outputs.check(&inputs, args.policy_files()).map_err(Failure::Unwritable)?;
    // Decisions that scroll by and a bar that stays would overwrite each other.
    let crowded = args.decisions == Some(Output::Stdout) && io::stdout().is_terminal();
    let replay = &trials[0].replay;
    let shown = (!args.quiet && !crowded).then(|| Shown::start(replay.progress(), &inputs));
    if trials.len() > 1 || args.report.is_some() {
        return pool.install(|| detail::run(args, &trials, &inputs, shown));
    }
    let decided = pool.install(|| match &args.store {
        Some(url) => {
            let store = args.trust.open(&[url]).map_err(store::Refused::Unopened)?;
            store::run(replay, &inputs, &replay.rule(), store).map(|(summary, told)| (summary, Some(told)))
        }
        None => decide(replay, &inputs, args.decisions.as_ref()).map(|summary| (summary, None)),
    });
    drop(shown);
    let (summary, told) = decided?;
    readable(&summary)?;

    // Standard error is then for the JSON alone, which has the bad lines too.
    if !(args.json && outputs.has_stdout()) {
        remark([(&trials[0], &summary)]);
    }
    tell(&summary, told.as_ref(), args.json, outputs).map_err(Failure::Summary)
}

fn decide(replay: &Replay, inputs: &[Input], to: Option<&Output>) -> Result<Summary, Failure> {
    let Some(to) = to else { return replay.run(inputs).map_err(Failure::Replay) };
    let failed = |error| Failure::Output { flag: "--decisions", to: to.clone(), error };
    let mut decisions = to.open().map_err(failed)?;
    replay.run_to(inputs, &mut *decisions).map_err(|error| match (error, to) {
        (Error::Write(error), Output::File(_)) => failed(error),
        (error, _) => Failure::Replay(error),
    })
}

/// That there was a line that could be read, or none at all.
fn readable(summary: &Summary) -> Result<(), Failure> {
    Unread::of(summary).map_or(Ok(()), |unread| Err(Failure::Unread(Box::new(unread))))
}

/// The summary, and beside it what a store answered.
#[derive(Serialize)]
struct Both<'t> {
    #[serde(flatten)]
    summary: &'t Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<&'t store::Told>,
}

fn tell(summary: &Summary, store: Option<&store::Told>, json: bool, outputs: Outputs<'_>) -> io::Result<()> {
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
    outputs.tell(&text)
}
