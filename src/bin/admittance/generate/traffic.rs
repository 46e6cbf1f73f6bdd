//! When, and who.
//!
//! Visits are a Poisson process at the highest rate of the day, thinned to the rate of the time of day. A caller that comes
//! in bursts comes one time in thirty-two, and then thirty-two times in the mean: bursts change neither its share nor the
//! rate. What is kept is the bursts that are not over.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::END;
use super::caller::{Callers, Own};
use super::draw::Draw;
use crate::args;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400;

/// Lines of a burst in the mean: from 1 to twice as many less 1.
const BURST: u32 = 32;

/// Between the lines of a burst, at most; half as long in the mean.
const BURST_GAP: u32 = 100_000_000;

/// How late a late line may be.
const LATE: u32 = 2_000_000_000;

/// The quietest hour.
const NIGHT: u64 = 4 * 3600;

/// A line: when, and who.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Nanoseconds since 1970.
    pub(super) time: u64,
    /// The caller's rank, from 0.
    pub(super) rank: u32,
}

/// A burst that is not over: when its next line comes, in which order it began, whose it is, and how many lines are left.
type Burst = Reverse<(u64, u64, u32, u32)>;

/// Lines in the order in which they are written.
#[derive(Debug)]
pub(super) struct Traffic {
    callers: Callers,
    start: u64,
    seed: u64,
    diurnal: f64,
    bursts: bool,
    late: f64,
    /// Nanoseconds between two visits in the mean, where there are most.
    gap: f64,
    visits: Draw,
    who: Draw,
    delays: Draw,
    /// When the next visit is.
    next: u64,
    /// The second of the day at hand, and what share of the highest rate is its.
    hour: (u64, f64),
    open: BinaryHeap<Burst>,
    began: u64,
}

impl Traffic {
    pub(super) fn new(args: &args::Generate) -> Self {
        let mut traffic = Self {
            callers: Callers::new(args.keys, args.zipf),
            start: args.start,
            seed: args.seed,
            diurnal: args.diurnal,
            bursts: args.bursts,
            late: args.late,
            #[allow(clippy::cast_precision_loss, reason = "a thousand million is a thousand million")]
            gap: SECOND as f64 / (args.rate * (1.0 + args.diurnal)),
            visits: Draw::new(args.seed, 0),
            who: Draw::new(args.seed, 1),
            delays: Draw::new(args.seed, 2),
            next: args.start,
            hour: (DAY, 1.0),
            open: BinaryHeap::new(),
            began: 0,
        };
        traffic.wait();
        traffic
    }

    /// The next line; `None` where time has ended.
    pub(super) fn next(&mut self) -> Option<Call> {
        let (written, rank) = loop {
            if self.open.peek().is_some_and(|Reverse((time, ..))| *time <= self.next) {
                break self.go_on();
            }
            if self.next >= END {
                return None;
            }
            let time = self.next;
            self.wait();
            if !self.is_awake(time) {
                continue;
            }
            let rank = self.callers.draw(&mut self.who);
            if !(self.bursts && Own::new(rank, self.seed).is_bursty()) {
                break (time, rank);
            }
            if self.who.below(BURST) == 0 {
                let left = 1 + self.who.below(2 * BURST - 1);
                self.open.push(Reverse((time, self.began, rank, left)));
                self.began += 1;
            }
        };
        let mut time = written;
        if self.late > 0.0 && self.delays.is(self.late) {
            time = time.saturating_sub(self.delays.below(LATE).into()).max(self.start);
        }
        Some(Call { time, rank })
    }

    /// The next line of the burst that is due.
    fn go_on(&mut self) -> (u64, u32) {
        let Reverse((time, began, rank, left)) = self.open.pop().expect("it was seen to be due");
        if left > 1 {
            let gap = 1 + u64::from(self.who.below(BURST_GAP));
            self.open.push(Reverse((time + gap, began, rank, left - 1)));
        }
        (time, rank)
    }

    #[allow(clippy::cast_sign_loss, reason = "a wait is not negative, and one beyond 2^64 is as good as that")]
    fn wait(&mut self) {
        self.next = self.next.saturating_add((self.visits.wait() * self.gap) as u64);
    }

    /// Whether a visit comes, by the time of day.
    fn is_awake(&mut self, time: u64) -> bool {
        if self.diurnal == 0.0 {
            return true;
        }
        let second = time / SECOND % DAY;
        if self.hour.0 != second {
            self.hour = (second, self.share_at(second));
        }
        self.visits.is(self.hour.1)
    }

    /// The rate of a second of the day, as a share of the highest one.
    #[allow(clippy::cast_precision_loss, reason = "seconds of a day")]
    fn share_at(&self, second: u64) -> f64 {
        let turn = (second + DAY - NIGHT) as f64 / DAY as f64;
        (1.0 - self.diurnal * libm::cos(turn * std::f64::consts::TAU)) / (1.0 + self.diurnal)
    }
}
