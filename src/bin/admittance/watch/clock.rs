//! The log's own clock. It runs on between lines, so that waits and minutes pass; when the log ends it stands still.

use std::time::{Duration, Instant};

#[derive(Default)]
pub(super) struct Clock {
    /// The latest time of the log, in nanoseconds since 1970, and when it was heard.
    latest: Option<(u64, Instant)>,
    stands: bool,
}

impl Clock {
    /// Notes the log's latest time so far.
    pub(super) fn hear(&mut self, latest: Option<u64>, at: Instant) {
        if self.latest.map(|(latest, _)| latest) != latest {
            self.latest = latest.map(|latest| (latest, at));
        }
    }

    /// The log has ended.
    pub(super) fn stop(&mut self) {
        self.stands = true;
    }

    /// The latest time of the log, and how long ago that was.
    pub(super) fn latest(&self, at: Instant) -> Option<(u64, Duration)> {
        let (latest, heard) = self.latest?;
        Some((latest, if self.stands { Duration::ZERO } else { at.saturating_duration_since(heard) }))
    }

    /// What time it is in the log, in nanoseconds since 1970.
    pub(super) fn now(&self, at: Instant) -> Option<u64> {
        let (latest, ago) = self.latest(at)?;
        Some(latest.saturating_add(u64::try_from(ago.as_nanos()).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_on_from_the_latest_line_and_stands_at_the_end() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut clock = Clock::default();
        clock.hear(None, start);
        assert_eq!(clock.now(start + second), None);
        clock.hear(Some(5), start);
        assert_eq!(clock.now(start + second), Some(1_000_000_005));
        // More lines of the same time.
        clock.hear(Some(5), start + second);
        assert_eq!(clock.now(start + second), Some(1_000_000_005));
        clock.hear(Some(7), start + second);
        assert_eq!(clock.now(start + second), Some(7));
        clock.stop();
        assert_eq!(clock.now(start + 9 * second), Some(7));
    }
}
