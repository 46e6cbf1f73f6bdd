//! What holds for every planner, every history and every draw.

use std::sync::Arc;
use std::time::Duration;

use admittance::retry::{
    Backoff, Body, Gate, Goes, Jitter, Outcome, Plan, Reason, Retry, RetryAt, Safety, SeededRandom, Wait,
};
use admittance::{Budget, ManualClock, TokenBucket};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{GET, Planner, answer, get, s, signal};

#[derive(Clone, Debug)]
struct Shape {
    attempts: u32,
    deadline: Duration,
    backoff: Backoff,
    spread: Duration,
    longest_wait: Duration,
    seed: u64,
}

fn jitters() -> impl Strategy<Value = Jitter> {
    prop_oneof![Just(Jitter::None), Just(Jitter::Full), Just(Jitter::Equal), Just(Jitter::Decorrelated)]
}

/// Durations around a second, and the ends.
fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => Just(Duration::from_nanos(1)),
        8 => (0..s(4)).prop_map(Duration::from_nanos),
        1 => Just(Duration::MAX),
    ]
}

prop_compose! {
    fn shapes()(
        attempts in 1..8_u32,
        deadline in prop_oneof![9 => (1..s(40)).prop_map(Duration::from_nanos), 1 => Just(Duration::MAX)],
        first in durations(),
        factor in 1..4_u32,
        ceiling in durations(),
        jitter in jitters(),
        spread in durations(),
        longest_wait in prop_oneof![1 => (1..s(9)).prop_map(Duration::from_nanos), 1 => Just(Duration::MAX)],
        seed: u64,
    ) -> Shape {
        let backoff = Backoff::new(first).factor(factor).ceiling(ceiling.max(first)).jitter(jitter);
        Shape { attempts, deadline, backoff, spread, longest_wait, seed }
    }
}

impl Shape {
    fn planner<'c>(&self, clock: &'c ManualClock) -> Planner<'c> {
        self.builder(clock).build().unwrap()
    }

    fn builder<'c>(&self, clock: &'c ManualClock) -> admittance::retry::RetryBuilder<&'c ManualClock, SeededRandom> {
        Retry::builder_with(self.attempts, self.deadline, clock, SeededRandom::new(self.seed))
            .backoff(self.backoff)
            .spread(self.spread)
            .longest_wait(self.longest_wait)
    }
}

/// What a server says: nothing, some seconds, something else.
fn values() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        2 => Just(None),
        6 => (0..12_u64).prop_map(|seconds| Some(seconds.to_string())),
        1 => Just(Some("+5".into())),
        1 => Just(Some("99999999999999999999".into())),
    ]
}

fn lines(value: Option<&String>) -> Vec<&str> {
    value.map(String::as_str).into_iter().collect()
}

/// An end, if the plan has none: as late as can be.
fn instant(plan: &Plan) -> u64 {
    plan.retry_at().map_or(u64::MAX, RetryAt::at)
}

proptest! {
    /// A whole call: never before the boundary, never after the deadline, never more than its attempts, no wait above the
    /// longest; a stop for time is one that the formula could not avoid, and it says when.
    #[test]
    fn calls_keep_every_bound(
        shape in shapes(),
        began in 0..s(5),
        answers in vec((values(), 400..600_u16, 0..s(2)), 12),
    ) {
        let clock = ManualClock::at(began);
        let retry = shape.planner(&clock);
        let mut call = get(&retry);
        let deadline = u64::try_from(shape.deadline.as_nanos()).map_or(u64::MAX, |deadline| began.saturating_add(deadline));
        let longest = u64::try_from(shape.longest_wait.as_nanos()).unwrap_or(u64::MAX);
        let spread = u64::try_from(shape.spread.as_nanos()).unwrap_or(u64::MAX);
        prop_assert_eq!(call.deadline(), deadline);
        let mut sent = 0;
        let mut plan = call.ready();
        for (value, status, took) in &answers {
            let now = clock.advance(Duration::ZERO);
            match plan {
                Plan::RetryAt(next) => {
                    prop_assert!(next.at() >= now && next.at() < deadline);
                    prop_assert!(next.at() - now <= longest);
                    prop_assert!(next.at() >= next.boundary() || next.wait().is_zero());
                    clock.set(next.at());
                }
                Plan::Stop(_) => break,
            }
            prop_assert!(call.ready().retry_at().is_some_and(|next| next.wait().is_zero()));
            sent += 1;
            prop_assert!(sent <= shape.attempts);
            clock.advance(Duration::from_nanos(*took));
            let now = clock.advance(Duration::ZERO);
            // Half of them are to be tried again.
            let status = if status % 2 == 0 { 429 } else { 503 };
            let said = lines(value.as_ref());
            plan = call.after(&answer(status, &said));
            let asked = signal(&said).map_or(0, |signal| signal.wait().nanos());
            let (low, high) = shape.backoff.range(sent);
            let [low, high] = [low, high].map(|backoff| u64::try_from(backoff.as_nanos()).unwrap());
            let soonest = now.saturating_add(asked.max(low));
            let latest = now.saturating_add(asked.max(high)).saturating_add(spread);
            match plan {
                Plan::RetryAt(next) => {
                    prop_assert_eq!(next.attempt(), sent + 1);
                    prop_assert!(next.boundary() >= now.saturating_add(asked));
                    prop_assert!((soonest..=latest).contains(&next.boundary()));
                    prop_assert!((next.boundary()..=latest).contains(&next.at()));
                }
                Plan::Stop(stop) => {
                    let resume = stop.resume_at().unwrap_or(u64::MAX);
                    prop_assert!((soonest..=latest).contains(&resume));
                    match stop.reason() {
                        Reason::Attempts => prop_assert_eq!(sent, shape.attempts),
                        Reason::WaitTooLong => prop_assert!(resume - now > longest),
                        Reason::Deadline => prop_assert!(resume >= deadline),
                        reason => prop_assert!(false, "{reason}"),
                    }
                }
            }
        }
    }

    /// The same history, but for one answer that asks for more: nothing goes earlier for it.
    #[test]
    fn a_longer_signal_never_gives_an_earlier_attempt(
        shape in shapes(),
        history in vec(values(), 0..4),
        short in prop::option::of(0..s(40) / s(1)),
        more in prop_oneof![4 => 0..4_u64, 1 => 0..100_u64],
        gated: bool,
    ) {
        let plan = |seconds: Option<u64>| {
            let clock = ManualClock::new();
            let gate = Arc::new(Gate::with_clock(8, Duration::from_secs(2), &clock).unwrap());
            let builder = shape.builder(&clock);
            let retry = if gated { builder.gate(gate) } else { builder }.build().unwrap();
            let mut call = get(&retry);
            for value in &history {
                if let Plan::RetryAt(next) = call.after(&answer(503, &lines(value.as_ref()))) {
                    clock.set(next.at());
                }
            }
            let seconds = seconds.map(|seconds| seconds.to_string());
            let plan = call.after(&answer(429, &lines(seconds.as_ref())));
            (instant(&plan), instant(&call.ready()))
        };
        let (short, long) = (plan(short), plan(Some(short.unwrap_or(0) + more)));
        prop_assert!(short.0 <= long.0 && short.1 <= long.1, "{short:?} {long:?}");
    }

    #[test]
    fn the_same_seed_makes_the_same_plans(shape in shapes(), values in vec(values(), 1..8)) {
        let run = || {
            let clock = ManualClock::new();
            let retry = shape.planner(&clock);
            // Two calls: the second's chance does not depend on what the first was told.
            let (mut first, mut second) = (get(&retry), get(&retry));
            let mut plans = Vec::new();
            for value in &values {
                plans.push([first.after(&answer(503, &lines(value.as_ref()))), second.after(&Outcome::Lost)]);
            }
            plans
        };
        prop_assert_eq!(run(), run());
    }

    /// Whatever stops a plan, budget and gate are as they were; a 429 alone speaks to all.
    #[test]
    fn a_plan_that_stops_changes_nothing(
        shape in shapes(),
        spent in 0..4_u64,
        value in values(),
        kind in 0..4_u8,
        once: bool,
        safe: bool,
    ) {
        let clock = ManualClock::new();
        let budget = Arc::new(TokenBucket::with_clock(Budget::new(3, 1, Duration::from_secs(60)).unwrap(), &clock));
        let gate = Arc::new(Gate::with_clock(8, Duration::from_secs(1), &clock).unwrap());
        let retry = shape.builder(&clock).budget(Arc::clone(&budget)).gate(Arc::clone(&gate)).build().unwrap();
        let _ = budget.try_acquire(spent);
        let before = budget.available();
        let said = lines(value.as_ref());
        let outcome = match kind {
            0 => answer(503, &said),
            1 => answer(302, &said),
            2 => answer(200, &said),
            _ => Outcome::Lost,
        };
        let body = if once { Body::Once } else { Body::Repeatable };
        let plan = retry.start(if safe { GET } else { Safety::NotSent }, body).after(&outcome);
        let cost = u64::from(plan.retry_at().is_some());
        prop_assert_eq!(budget.available(), before - cost);
        prop_assert_eq!(gate.held(), 0);
    }

    /// The schedule bounds every call whose answers come at once, and its verdicts hold.
    #[test]
    fn schedules_bound_what_happens(shape in shapes(), seconds in prop::option::of(0..9_u64)) {
        let clock = ManualClock::new();
        let retry = shape.planner(&clock);
        let schedule = retry.schedule(seconds.map(|seconds| Wait::Exactly(Duration::from_secs(seconds))));
        let text = seconds.map(|seconds| seconds.to_string());
        let mut call = get(&retry);
        let mut went = vec![0];
        while let Plan::RetryAt(next) = call.after(&answer(503, &lines(text.as_ref()))) {
            clock.set(next.at());
            went.push(next.at());
        }
        prop_assert_eq!(schedule.attempts().len(), shape.attempts as usize);
        for (number, row) in schedule.attempts().iter().enumerate() {
            match went.get(number) {
                Some(&at) => {
                    prop_assert!(row.goes() != Goes::Never, "{row:?} went at {at}");
                    prop_assert!((row.earliest()..=row.latest()).contains(&Duration::from_nanos(at)));
                    prop_assert!(Duration::from_nanos(at) <= schedule.worst_total());
                }
                None => prop_assert!(row.goes() != Goes::Always, "{row:?}"),
            }
        }
        prop_assert!(schedule.worst_total() <= shape.deadline);
    }

    /// Any bytes: no panic, and joined by commas they say what they say in lines of their own.
    #[test]
    fn any_bytes_are_read_or_passed_over(lines in vec(vec(any::<u8>(), 0..40), 0..4), date in vec(any::<u8>(), 0..40)) {
        let read = |lines: &[Vec<u8>]| {
            let lines = lines.iter().map(|line| ("retry-after", &**line)).chain([("date", &*date), ("age", &*date)]);
            admittance::retry::Response::new(503, crate::support::noon(), lines).signal(admittance::retry::Lenience::STRICT)
        };
        let apart = read(&lines);
        let joined = read(&[lines.join(&b',')]);
        prop_assert_eq!(apart.map(|signal| signal.wait()), joined.map(|signal| signal.wait()));
    }
}
