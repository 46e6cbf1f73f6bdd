//! The smallest budgets that would have spared most callers, exactly, by each caller's token-bucket envelope.
//!
//! | file | holds |
//! |---|---|
//! | `share` | 99.9 %, as a fraction |
//! | `gather` | the stage that keeps every caller's lines |
//! | `need` | what a refill would have taken of each caller, and of the share |
//! | `grid` | refills as people write them |
//! | `frontier` | which refills are tried and told, and which is suggested |
//! | `fitted`, `error` | what is told |

mod error;
mod fitted;
mod frontier;
mod gather;
mod grid;
mod need;
mod share;

pub use error::FitError;
pub use fitted::{Checked, Demanding, FitPoint, Fitted, Refused};
pub use share::{Of, Share, ShareError};

use core::time::Duration;

use super::engine::{Parsing, drive};
use super::progress::Progress;
use super::reading::Reading;
use super::source::Input;
use super::unread::Unread;
use crate::Per;
use gather::Gathering;
use need::Callers;

/// Which limit fits a log: of a token bucket, for each of some refills, the smallest capacity under which a share of the
/// callers would never have been denied.
///
/// A caller is a key of its own budget. At a refill of `p` tokens per `d` ns, what is missing from its bucket, the backlog,
/// grows by each line's cost and shrinks by `p/d` a nanosecond, down to nothing; the smallest capacity that never denies
/// the caller is its largest backlog, rounded up. (In traffic theory, the burst of its token-bucket envelope.) That is
/// worked out in whole numbers from each caller's lines, at the instants at which [`Replay`](super::Replay) decides them, not by
/// trying replays: what is found is the smallest, and a replay with it denies none of the callers it spares. Where the budget is
/// [within a nanosecond](crate::Budget::resolution) of exact, a caller whose line came within a nanosecond of its tokens may
/// be denied all the same; the refills chosen here are exact.
///
/// From refill to refill, capacities fall as refills rise: a frontier, of which each point spares the share. The one that is
/// suggested lets one caller do least in [`over`](Self::over) a minute (or another time): its capacity and what is refilled
/// meanwhile.
///
/// ```
/// use admittance::replay::{Fit, Input};
///
/// // Nine callers of a request a minute, and one that sends fifty at once.
/// let minute = 60_000_000_000_u64;
/// let mut trace = String::new();
/// for number in 0..90 {
///     trace += &format!("{{\"t_ns\":{},\"key\":\"{}\"}}\n", number / 9 * minute, number % 9);
/// }
/// trace += &"{\"t_ns\":0,\"key\":\"greedy\"}\n".repeat(50);
///
/// let fit = Fit::new().spare("90%".parse()?).refills(["1/1m".parse()?, "1/2m".parse()?]);
/// let fitted = fit.run(&[Input::Bytes(trace.into_bytes().into())])?;
/// let capacities: Vec<u64> = fitted.frontier.iter().map(|point| point.budget.capacity()).collect();
/// // From the slowest on: at one in two minutes, half of ten requests are missing in the end.
/// assert_eq!(capacities, [6, 1]);
/// assert_eq!(fitted.frontier[1].most_demanding[0].capacity, 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Memory and time
///
/// Every line's time and cost are kept, for refills that are chosen after they were seen: 16 bytes a line, and up to as many
/// again while it grows, beside the callers. Time is linear in lines, some sixty times where refills are chosen and twice for each
/// that is asked for, in parallel over the callers on rayon's current thread pool.
#[derive(Clone, Debug)]
#[must_use = "a fit does nothing until it is run"]
pub struct Fit {
    reading: Reading,
    sort: bool,
    spare: Share,
    of: Of,
    over: Duration,
    points: usize,
    refills: Vec<Per>,
    progress: Progress,
}

impl Default for Fit {
    fn default() -> Self {
        Self::new()
    }
}

impl Fit {
    /// How many points are told of at most, where nothing else is said.
    pub const POINTS: usize = 12;

    /// Spares 99.9 % of the callers, at refills chosen from the data; lines decided as they come, requests counted.
    pub fn new() -> Self {
        Self {
            reading: Reading::new(),
            sort: false,
            spare: Share::MOST,
            of: Of::Callers,
            over: Duration::from_secs(60),
            points: Self::POINTS,
            refills: Vec::new(),
            progress: Progress::default(),
        }
    }

    /// How lines are read.
    pub fn reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// As a replay that decides in order of time: [`Replay::sort`](super::Replay::sort).
    pub fn sort(mut self, sort: bool) -> Self {
        self.sort = sort;
        self
    }

    /// The share that is spared.
    pub fn spare(mut self, spare: Share) -> Self {
        self.spare = spare;
        self
    }

    /// Of what it is the share.
    pub fn of(mut self, of: Of) -> Self {
        self.of = of;
        self
    }

    /// The time in which the suggested budget lets one caller do least.
    pub fn over(mut self, over: Duration) -> Self {
        self.over = over;
        self
    }

    /// How many points are told of at most; two at least. Those between which capacities differ least are left out first.
    pub fn points(mut self, points: usize) -> Self {
        self.points = points.max(2);
        self
    }

    /// These refills, and all of them, instead of such as are chosen from the data.
    pub fn refills(mut self, refills: impl IntoIterator<Item = Per>) -> Self {
        self.refills = refills.into_iter().collect();
        self
    }

    /// What shows how far the reading is, from another thread.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Reads all inputs, one after the other, and fits.
    ///
    /// # Errors
    ///
    /// When an input cannot be read, or when strict and a line cannot; when no line can be read; when a refill that was
    /// asked for cannot be; and when at no refill a budget can have the capacity that it would take.
    pub fn run(&self, inputs: &[Input]) -> Result<Fitted, FitError> {
        let mut run = Parsing::new(&self.reading, inputs, Some(&self.progress), Gathering::default());
        drive(&self.reading, inputs, &self.progress, |block| run.block(block))?;
        let Parsing { format, seen, stage, .. } = run;
        let callers = Callers::new(stage.finish(self.sort), self.spare, self.of);
        if callers.is_empty() {
            return Err(match seen.bad_lines.into_iter().next() {
                Some(first) if seen.unreadable == seen.lines => Unread::new(seen.lines, first, format).into(),
                _ if seen.lines == 0 => FitError::Empty,
                _ => FitError::Outside { lines: seen.outside },
            });
        }
        let found = frontier::find(&callers, &self.refills, self.points, self.over)?;
        Ok(Fitted::new((self.reading.unit, format, self.over), seen, &callers, found))
    }
}
