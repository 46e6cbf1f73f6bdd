//! A log that has lines, and none of them can be read: it is most often not of the format that it was taken for.

use std::fmt;

use super::format::Format;
use super::summary::{BadLine, Summary};

/// A log of which nothing could be read.
///
/// ```
/// use admittance::replay::{Replay, Unread};
/// use admittance::{Rule, Window};
///
/// let replay = Replay::new(Rule::FixedWindow(Window::per_minute(100)));
/// let summary = replay.run_bytes(b"time,who\n10:05,ann\n", |_| {})?;
/// let unread = Unread::of(&summary).expect("it is no log");
/// assert!(unread.to_string().starts_with("none of the log's 2 lines can be read as combined, which they look most like\n"));
/// assert!(Unread::of(&replay.run_bytes(b"", |_| {})?).is_none());
/// # Ok::<(), admittance::replay::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unread {
    /// How many lines it has.
    pub lines: u64,
    /// The first of them.
    pub first: BadLine,
    /// What they were read as.
    pub format: Format,
    /// Whether that was said, or told from a line; otherwise it is what they look most like.
    pub is_known: bool,
}

impl Unread {
    /// Of a replay; `None` where a line could be read, or there was none. A line of another route was read.
    #[must_use]
    pub fn of(summary: &Summary) -> Option<Self> {
        let first = summary.bad_lines.first().filter(|_| summary.unreadable == summary.lines)?;
        Some(Self::new(summary.lines, first.clone(), summary.format.clone()))
    }

    /// Of so many lines that cannot be read; the format is `None` where it is not known.
    #[must_use]
    pub fn new(lines: u64, first: BadLine, format: Option<Format>) -> Self {
        let is_known = format.is_some();
        Self { lines, format: format.unwrap_or_else(|| first.format.clone()), first, is_known }
    }
}

/// In four lines: what, where and why, the first line, and one that would be right.
impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (format, first) = (&self.format, &self.first);
        match self.lines {
            1 => write!(f, "the log's only line cannot be read as {format}")?,
            lines => write!(f, "none of the log's {lines} lines can be read as {format}")?,
        }
        if !self.is_known {
            let (they, s) = if self.lines == 1 { ("it", "s") } else { ("they", "") };
            write!(f, ", which {they} look{s} most like")?;
        }
        write!(f, "\n  {first}\n  the line: {}\n  as {format}: {}", first.text, format.example())
    }
}

impl std::error::Error for Unread {}
