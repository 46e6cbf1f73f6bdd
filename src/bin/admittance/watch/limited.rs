//! Who is limited now, or was in the last minute.

use std::collections::HashMap;

use admittance::replay::{Heard, Outcome};

use super::minute::Minute;

/// How many are listed at most, with about 400 bytes each.
const MOST: usize = 10_000;

pub(super) const SECOND: u64 = 1_000_000_000;

/// A caller that was refused.
pub(super) struct Limited {
    /// When what was denied last would pass, in nanoseconds since 1970.
    pub(super) until: u64,
    /// Whether what it asked for last is never admitted.
    pub(super) never: bool,
    /// Its refused lines of the last minute.
    pub(super) minute: Minute,
    /// All its refused lines.
    pub(super) refused: u64,
}

impl Limited {
    /// How long until what was denied would pass: `None` of what never does, 0 of what would pass now.
    pub(super) fn wait(&self, now: u64) -> Option<u64> {
        if self.never { None } else { Some(self.until.saturating_sub(now)) }
    }

    fn is_past(&self, now: u64) -> bool {
        self.until <= now && self.minute.sum(now / SECOND) == 0
    }
}

#[derive(Default)]
pub(super) struct AllLimited {
    callers: HashMap<Box<[u8]>, Limited>,
    /// Refused lines of callers for whom there was no more room.
    pub(super) unlisted: u64,
    /// When, in seconds since 1970, room was looked for.
    looked: Option<u64>,
}

impl AllLimited {
    /// Notes a decision. Whether its caller is limited anew: refused, and not in the minute before.
    pub(super) fn note(&mut self, heard: &Heard<'_>) -> bool {
        let (until, never) = match heard.decided.outcome {
            Outcome::Admitted { .. } => return false,
            Outcome::Denied { retry_after_ns } => (heard.at_ns.saturating_add(retry_after_ns), false),
            Outcome::Never => (0, true),
        };
        let (key, second) = (heard.decided.key, heard.at_ns / SECOND);
        if !self.callers.contains_key(key) && self.callers.len() >= MOST && !self.make_room(heard.at_ns) {
            self.unlisted += 1;
            return false;
        }
        let mut is_new = false;
        let limited = self.callers.entry(key.into()).or_insert_with(|| {
            is_new = true;
            Limited { until: 0, never: false, minute: Minute::default(), refused: 0 }
        });
        is_new |= limited.is_past(heard.at_ns);
        limited.until = if never { limited.until } else { until };
        limited.never = never;
        limited.minute.count(second);
        limited.refused = heard.refused.max(limited.refused + 1);
        is_new
    }

    /// Forgets those who are not limited any more. Once in a second of the log: it looks at each.
    fn make_room(&mut self, now: u64) -> bool {
        let second = Some(now / SECOND);
        if self.looked < second {
            self.looked = second;
            self.forget(now);
        }
        self.callers.len() < MOST
    }

    pub(super) fn forget(&mut self, now: u64) {
        self.callers.retain(|_, limited| !limited.is_past(now));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &Limited)> {
        self.callers.iter().map(|(key, limited)| (&**key, limited))
    }
}

#[cfg(test)]
mod tests {
    use admittance::replay::Replay;
    use admittance::{Rule, Window};

    use super::*;

    #[test]
    fn who_was_refused_in_the_minute_before_is_not_limited_anew() {
        let mut live = Replay::new(Rule::FixedWindow(Window::per_second(1))).live();
        let mut all = AllLimited::default();
        let anew = [(0, 1), (0, 1), (0, 1), (59, 1), (59, 1), (120, 1), (120, 1), (121, 9)].map(|(second, cost)| {
            let line = format!("{{\"t_ns\":{},\"key\":\"a\",\"cost\":{cost}}}", (1000 + second) * SECOND);
            all.note(&live.line(line.as_bytes()).unwrap().unwrap())
        });
        assert_eq!(anew, [false, true, false, false, false, false, true, false]);
        let (_, limited) = all.iter().next().unwrap();
        assert_eq!((limited.wait(1121 * SECOND), limited.refused, limited.minute.sum(1121)), (None, 5, 2));
        all.forget(1180 * SECOND);
        assert_eq!(all.iter().count(), 1);
        all.forget(1181 * SECOND);
        assert_eq!(all.iter().count(), 0);
    }

    #[test]
    fn no_more_are_listed_than_there_is_room_for_until_some_are_past() {
        let mut live = Replay::new(Rule::FixedWindow(Window::per_second(1))).live();
        let mut all = AllLimited::default();
        let mut never = |second: u64, key: usize| {
            let line = format!("{{\"t_ns\":{},\"key\":\"{key}\",\"cost\":2}}", second * SECOND);
            all.note(&live.line(line.as_bytes()).unwrap().unwrap());
            (all.callers.len(), all.unlisted)
        };
        let last = (0..MOST + 5).map(|key| never(100, key)).last();
        assert_eq!(last, Some((MOST, 5)));
        assert_eq!(never(159, MOST + 9), (MOST, 6));
        assert_eq!(never(160, MOST + 9), (1, 6));
    }
}
