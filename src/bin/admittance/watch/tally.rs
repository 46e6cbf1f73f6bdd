//! All that is known of the log so far.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use admittance::replay::{BadLine, FieldError, Format, Heard, Live, LiveError, Outcome, Unread};

use super::clock::Clock;
use super::feed;
use super::leaders::Leaders;
use super::limited::{AllLimited, SECOND};
use super::minute::Minute;

/// Why no more is heard.
pub(crate) enum Stopped {
    Unreadable(Box<BadLine>),
    Field(FieldError),
}

pub(super) struct Tally {
    pub(super) live: Live,
    pub(super) clock: Clock,
    pub(super) lines: Minute,
    pub(super) admitted: Minute,
    pub(super) refused: Minute,
    pub(super) limited: AllLimited,
    pub(super) by_lines: Leaders,
    pub(super) by_refused: Leaders,
    /// The last line that could not be read.
    pub(super) bad: Option<BadLine>,
    /// The first one.
    first_bad: Option<BadLine>,
    /// The second of the first line, since 1970.
    pub(super) first: Option<u64>,
    /// Whether the log has ended.
    pub(super) ended: bool,
    /// Line breaks passed.
    breaks: u64,
}

impl Tally {
    pub(super) fn new(live: Live) -> Self {
        Self {
            live,
            clock: Clock::default(),
            lines: Minute::default(),
            admitted: Minute::default(),
            refused: Minute::default(),
            limited: AllLimited::default(),
            by_lines: Leaders::default(),
            by_refused: Leaders::default(),
            bad: None,
            first_bad: None,
            first: None,
            ended: false,
            breaks: 0,
        }
    }

    /// Hears some whole lines, which came at `at`, and tells of each caller that is limited anew.
    ///
    /// # Errors
    ///
    /// The first line that cannot be read, where that was asked for; or that the format does not tell what was asked.
    pub(super) fn hear(&mut self, lines: &[u8], at: Instant, mut anew: impl FnMut(&Heard<'_>)) -> Result<(), Stopped> {
        if let Ok(since) = SystemTime::now().duration_since(UNIX_EPOCH) {
            self.live.set_wall_clock(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        }
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            self.breaks += 1;
            match self.live.line(line) {
                Ok(Some(heard)) => {
                    let second = heard.decided.time / SECOND;
                    self.first = Some(self.first.map_or(second, |first| first.min(second)));
                    self.lines.count(second);
                    self.by_lines.note(heard.decided.key, heard.lines);
                    if let Outcome::Admitted { .. } = heard.decided.outcome {
                        self.admitted.count(second);
                    } else {
                        self.refused.count(second);
                        self.by_refused.note(heard.decided.key, heard.refused);
                        if self.limited.note(&heard) {
                            anew(&heard);
                        }
                    }
                }
                Err(LiveError::Unreadable(error)) => {
                    let format = self.live.format().cloned().unwrap_or(Format::Combined);
                    let line = line.trim_ascii_end();
                    let bad = BadLine::new(feed::NAME.into(), self.breaks, line, format, error);
                    self.first_bad.get_or_insert_with(|| bad.clone());
                    self.bad = Some(bad.clone());
                    if self.live.is_strict() {
                        return Err(Stopped::Unreadable(Box::new(bad)));
                    }
                }
                Err(LiveError::Field(error)) => return Err(Stopped::Field(error)),
                // Nothing to decide; or counted, and told with the sums.
                Ok(None) | Err(_) => {}
            }
        }
        self.clock.hear(self.live.clock(), at);
        Ok(())
    }

    /// Forgets those who are not limited any more.
    pub(super) fn forget(&mut self, at: Instant) {
        if let Some(now) = self.clock.now(at) {
            self.limited.forget(now);
        }
    }

    /// What there is to say of a log that has ended, and of which nothing could be read.
    pub(super) fn unread(&self) -> Option<Unread> {
        let sums = self.live.sums();
        let first = self.first_bad.as_ref().filter(|_| self.ended && sums.unreadable == sums.lines)?;
        let known = self.live.format().filter(|_| self.live.is_format_known());
        Some(Unread::new(sums.lines, first.clone(), known.cloned()))
    }

    /// The log has ended.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.clock.stop();
    }
}
