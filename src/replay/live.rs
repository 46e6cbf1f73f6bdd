//! Lines decided one at a time, as they are written: a log that is followed.
//!
//! # Memory
//!
//! A replay ends, and its keys with it. A log that is followed does not, and new callers come every day. So [`Live`] holds at
//! most so many keys ([`Live::keys_at_most`]). When a new one comes to a full house, those are let go whose bucket is full
//! again: a full bucket is the same as none, so a caller that comes back is decided as if it had been held. A key that
//! is not full again is never let go. Where too few are full, the line is not decided: [`LiveError::Full`], and counted.
//!
//! "Full again" is by the log's own clock, the latest time of any line, less a grace: a minute, or the most that any line was
//! late so far if that is longer. A line that is late by no more finds the bucket that it would have found. One that is
//! later than all before it, of a caller that was let go, is decided on a full bucket. A rule that is within a
//! nanosecond of exact stays so, and may answer otherwise within that nanosecond.
//!
//! # Lines ahead of their time
//!
//! One line that is dated years ahead would take the log's clock with it: all others would be late from then on, and every rate
//! nothing. Whoever follows a log as it is written says what time it is ([`Live::set_wall_clock`]), and then a line that is more than
//! [`Live::AHEAD`], ten minutes, later than both that and the log's clock is not decided and moves no clock:
//! [`LiveError::Ahead`], and counted. Where [`Live::BELIEVED`], eight, such lines come in a row, each within the ten minutes of the
//! one before, it is the log whose clock is ahead: from the eighth on they are believed. A log of the past, however far, is never
//! ahead.

use std::error;
use std::fmt;
use std::hash::BuildHasher;
use std::time::Duration;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::decided::Decided;
use super::format::{FieldError, Format, Reader, detect, guess};
use super::name::Name;
use super::reading::Reading;
use super::record::LineError;
use super::rule::{Outcome, State};
use super::source::LONGEST_LINE;
use crate::rule::Rule;

/// How many keys are held where nothing is said: up to 230 MB.
const KEYS: usize = 1_000_000;

/// How late a line may be, in nanoseconds, and still find its caller's bucket, whatever was seen before.
const GRACE: u64 = 60_000_000_000;

/// When keys are let go, it is this part of them at least, or it is not tried again until so many are full: a look at every key
/// is paid by as many lines as a sixteenth of them.
const PART: usize = 16;

/// A limit on a log that is still being written. [`Replay::live`](super::Replay::live) makes one.
///
/// Gives every line the decision that a replay of the same lines gives it (but for memory: `Live` lets go of keys that are full
/// again; and for lines ahead of their time, where it is said what time it is). Constant time a line, amortised; no threads.
///
/// ```
/// use admittance::replay::{Outcome, Replay};
/// use admittance::{Rule, Window};
///
/// let mut live = Replay::new(Rule::FixedWindow(Window::per_minute(1))).live();
/// live.line(br#"{"t_ns": 0, "key": "a"}"#)?;
/// let heard = live.line(br#"{"t_ns": 20000000000, "key": "a"}"#)?.expect("it is no empty line");
/// assert_eq!(heard.decided.outcome, Outcome::Denied { retry_after_ns: 40_000_000_000 });
/// assert_eq!((heard.lines, heard.refused), (2, 1));
/// assert!(live.line(b"what?").is_err());
/// assert_eq!(live.sums().unreadable, 1);
/// # Ok::<(), admittance::replay::LiveError>(())
/// ```
#[derive(Debug)]
pub struct Live {
    rule: Rule,
    reading: Reading,
    /// As soon as it is known.
    format: Option<Format>,
    /// What a line was read as before it was known.
    tried: Option<Format>,
    /// Of the format, as soon as it is known.
    reader: Option<Reader>,
    /// What told what is wrong with a line before it was known.
    guessed: Option<Reader>,
    hasher: DefaultHashBuilder,
    callers: HashTable<Caller>,
    most: usize,
    /// The latest time of any line that could be read.
    clock: Option<u64>,
    /// What time it is, where that was said.
    wall: Option<u64>,
    ahead: Ahead,
    grace: u64,
    /// Until when, by the clock, too few keys are full for another look.
    look_at: u64,
    sums: LiveSums,
}

/// Sums over the lines so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveSums {
    /// Lines that were not empty.
    pub lines: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Lines that are not on the routes that are asked about.
    pub outside: u64,
    /// Lines admitted.
    pub admitted: u64,
    /// Lines denied.
    pub denied: u64,
    /// Lines whose cost is above what the limit ever holds.
    pub never: u64,
    /// Lines that were earlier than their key's latest, and were decided at it.
    pub decided_late: u64,
    /// Lines that were not decided because as many keys were held as may be, and too few of them full again.
    pub undecided: u64,
    /// Lines that were not decided because they are dated too far ahead.
    pub ahead: u64,
    /// Keys that were let go, full again.
    pub let_go: u64,
}

/// Lines in a row that are too far ahead.
#[derive(Clone, Copy, Debug, Default)]
struct Ahead {
    run: u32,
    /// The time of the last of them.
    last: u64,
}

/// What a line came to, and what is known of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Heard<'l> {
    /// The decision.
    pub decided: Decided<'l>,
    /// When it was decided, in nanoseconds since 1970: the line's time, or its caller's latest if that is later. What it has to wait counts
    /// from here.
    pub at_ns: u64,
    /// The caller's lines so far, this one too; since it was last let go.
    pub lines: u64,
    /// Those of them that were refused: denied, or never admitted at their cost.
    pub refused: u64,
}

/// A line that was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LiveError {
    /// It cannot be read.
    Unreadable(LineError),
    /// The format that it is written in does not tell what is asked of it; nor will the next line.
    Field(FieldError),
    /// Its key is new, as many are held as may be, and too few of them are full again.
    #[non_exhaustive]
    Full {
        /// How many are held.
        keys: usize,
    },
    /// It is dated too far ahead to be believed.
    #[non_exhaustive]
    Ahead {
        /// Its time, in nanoseconds since 1970.
        time_ns: u64,
        /// By how much that is later than the log's clock and the time it is.
        by_ns: u64,
    },
}

/// One key.
#[derive(Debug)]
struct Caller {
    hash: u64,
    name: Name,
    state: State,
    lines: u64,
    refused: u64,
}

impl Live {
    /// How far ahead of both clocks a line may be and still be believed. Machines whose clocks are not set differ by less, and a log
    /// whose dates are of another time zone is believed as a whole.
    pub const AHEAD: Duration = Duration::from_secs(600);

    /// How many lines in a row, all as far ahead, are believed after all.
    pub const BELIEVED: u32 = 8;

    pub(super) fn new(rule: Rule, reading: Reading) -> Self {
        Self {
            rule,
            format: None,
            tried: None,
            reader: None,
            guessed: None,
            reading,
            hasher: DefaultHashBuilder::default(),
            callers: HashTable::new(),
            most: KEYS,
            clock: None,
            wall: None,
            ahead: Ahead::default(),
            grace: GRACE,
            look_at: 0,
            sums: LiveSums::default(),
        }
    }

    /// Holds at most so many keys, one at least; a million where nothing is said. Up to 230 bytes each, and what a name has
    /// above 22 bytes.
    #[must_use]
    pub fn keys_at_most(mut self, keys: usize) -> Self {
        self.most = keys.max(1);
        self
    }

    /// The rule that it decides by.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// Whether whoever asks for this reading wants to stop at a line that cannot be read. `Live` itself goes on.
    #[must_use]
    pub const fn is_strict(&self) -> bool {
        self.reading.strict
    }

    /// The sums so far.
    #[must_use]
    pub const fn sums(&self) -> LiveSums {
        self.sums
    }

    /// How many keys are held.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.callers.len()
    }

    /// The log's own clock: the latest time of a line that could be read, in nanoseconds since 1970. `None` before the first.
    #[must_use]
    pub const fn clock(&self) -> Option<u64> {
        self.clock
    }

    /// What lines are read as: said, or told from a line; before that, what the last one looks most like. `None` before the first.
    #[must_use]
    pub fn format(&self) -> Option<&Format> {
        self.format.as_ref().or(self.tried.as_ref())
    }

    /// Whether [`format`](Self::format) was said, or told from a line.
    #[must_use]
    pub const fn is_format_known(&self) -> bool {
        self.format.is_some()
    }

    /// Says what time it is, in nanoseconds since 1970, while the next lines come: what is dated too far ahead of it is then not
    /// [believed](Self::AHEAD). Where it is never said, every line is.
    pub const fn set_wall_clock(&mut self, now: u64) {
        self.wall = Some(now);
    }

    /// Decides the next line, with its break or without. `None` where there is nothing to decide: the line is empty, or
    /// not on the routes that are asked about.
    ///
    /// # Errors
    ///
    /// When the line cannot be read, its key is one too many, or it is ahead of its time: it is counted, and the next line may
    /// come. Or when the format
    /// does not tell what is asked; [`Reading::check`] asks before the first line, where the format is known.
    pub fn line<'l>(&'l mut self, line: &[u8]) -> Result<Option<Heard<'l>>, LiveError> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let too_long = line.len() > LONGEST_LINE;
        if !too_long && line.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        self.sums.lines += 1;
        let record = if too_long {
            Err(LineError::found(LONGEST_LINE, "a line of at most 1 MiB", "more".into()))
        } else {
            self.reader_for(line)?.read(line)
        };
        let record = record.map_err(|error| {
            self.sums.unreadable += 1;
            LiveError::Unreadable(error)
        })?;
        let Some(record) = record else {
            self.sums.outside += 1;
            return Ok(None);
        };
        self.decide(record.time, record.cost, &record.key).map(Some)
    }

    /// The log's reader as soon as a line has told its format, or what the line looks most like.
    fn reader_for(&mut self, line: &[u8]) -> Result<&mut Reader, LiveError> {
        if self.reader.is_none() {
            self.format = self.reading.format.clone().or_else(|| detect(line));
            let reader = self.format.as_ref().map(|format| Reader::new(format, &self.reading));
            self.reader = reader.transpose().map_err(LiveError::Field)?;
        }
        if let Some(reader) = &mut self.reader {
            return Ok(reader);
        }
        // The line cannot be read; who asked does not matter.
        let format = self.tried.insert(guess(line));
        Ok(self.guessed.insert(Reader::new(format, &Reading::new()).map_err(LiveError::Field)?))
    }

    fn decide(&mut self, time: u64, cost: u64, name: &[u8]) -> Result<Heard<'_>, LiveError> {
        if let Some(by) = self.is_ahead_by(time) {
            self.sums.ahead += 1;
            return Err(LiveError::Ahead { time_ns: time, by_ns: by });
        }
        // A line for which there is no room tells the time too: else a full house would stay full.
        let clock = self.clock.map_or(time, |clock| clock.max(time));
        self.clock = Some(clock);
        self.grace = self.grace.max(clock - time);
        let hash = self.hasher.hash_one(name);
        let is_it = |caller: &Caller| caller.hash == hash && *caller.name == *name;
        if self.callers.len() >= self.most && self.callers.find(hash, is_it).is_none() && !self.let_go(clock) {
            self.sums.undecided += 1;
            return Err(LiveError::Full { keys: self.callers.len() });
        }
        let rule = &self.rule;
        let caller = self
            .callers
            .entry(hash, is_it, |caller| caller.hash)
            .or_insert_with(|| Caller { hash, name: name.into(), state: State::new(time, rule), lines: 0, refused: 0 })
            .into_mut();
        let (outcome, late) = caller.state.decide(time, cost, rule);
        caller.lines += 1;
        let sums = &mut self.sums;
        sums.decided_late += u64::from(late);
        match outcome {
            Outcome::Admitted { .. } => sums.admitted += 1,
            Outcome::Denied { .. } => sums.denied += 1,
            Outcome::Never => sums.never += 1,
        }
        caller.refused += u64::from(!matches!(outcome, Outcome::Admitted { .. }));
        Ok(Heard {
            decided: Decided { time, key: &caller.name, cost, outcome },
            at_ns: caller.state.latest(),
            lines: caller.lines,
            refused: caller.refused,
        })
    }

    /// By how much a line is too far ahead to be believed.
    fn is_ahead_by(&mut self, time: u64) -> Option<u64> {
        const BOUND: u64 = Live::AHEAD.as_nanos() as u64;
        let wall = self.wall?;
        let by = time.saturating_sub(self.clock.map_or(wall, |clock| clock.max(wall)));
        let is_like_the_last = self.ahead.run > 0 && time.abs_diff(self.ahead.last) <= BOUND;
        let run = match (by > BOUND, is_like_the_last) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => self.ahead.run + 1,
        };
        let is_believed = run == 0 || run >= Self::BELIEVED;
        self.ahead = Ahead { run: if is_believed { 0 } else { run }, last: time };
        (!is_believed).then_some(by)
    }

    /// Lets go of keys that are full again. Whether there is room then.
    fn let_go(&mut self, clock: u64) -> bool {
        if clock < self.look_at {
            return false;
        }
        let sure = clock.saturating_sub(self.grace);
        let held = self.callers.len();
        let mut full_at = Vec::with_capacity(held);
        self.callers.retain(|caller| {
            let at = caller.state.full_at(&self.rule);
            let stays = at > sure;
            if stays {
                full_at.push(at);
            }
            stays
        });
        let gone = held - self.callers.len();
        self.sums.let_go += gone as u64;
        let part = (self.most / PART).max(1);
        if gone < part && !full_at.is_empty() {
            // When as many as would pay for another look are full.
            let place = part.min(full_at.len()) - 1;
            self.look_at = full_at.select_nth_unstable(place).1.saturating_add(self.grace);
        }
        self.callers.len() < self.most
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "{error}"),
            Self::Field(error) => write!(f, "{error}"),
            Self::Full { keys } => write!(f, "a new key, where {keys} are held and too few of them full again"),
            Self::Ahead { by_ns, .. } => {
                write!(f, "a line {} s ahead of the log's clock and of the time it is", by_ns / 1_000_000_000)
            }
        }
    }
}

impl error::Error for LiveError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            Self::Field(error) => Some(error),
            Self::Full { .. } | Self::Ahead { .. } => None,
        }
    }
}
