//! Shared budgets: what a call to the store costs over the least that one can cost, and what leases and batches save.
//!
//! Both sides in turn, on one server, one runtime and one kind of connection.

use std::time::{Duration, Instant};

use admittance::identity::Account;
use admittance::policy::{IdentityKind, OnExhausted, OnStoreFailure, Policy, Scope, Sharing, Unit};
use admittance::redis::{SharedLimiter, Store};
use admittance::{Budget, Overflow};
use admittance_benches::stats::Quartiles;
use redis::aio::MultiplexedConnection;
use tokio::runtime::Runtime;

use super::{Row, Target};
use crate::duel::{Effort, Outcome, Side};

/// Calls of one caller in a round, and callers who go at once.
const CALLS: u32 = 200;
const CALLERS: u32 = 16;

const CALL: Row = row(
    "redis_call_vs_bare_evalsha",
    "one check, and an EVALSHA of `return 1` on a connection of the same kind, one after the other",
    Some(Target::AtMost(1.25)),
);
const LEASED: Row = row(
    "redis_leased_throughput_vs_call",
    "sixteen callers of one identity, with leases of 10 000 and without",
    Some(Target::AtLeast(100.0)),
);
const BATCHED: Row =
    row("redis_batched_throughput_vs_call", "sixteen callers of one identity, put together and each for itself", None);
const P50: Row = row("redis_call_p50_ns", "the median latency of a check, one after the other", None);
const P99: Row = row("redis_call_p99_ns", "the latency of a check that 99 in 100 are below", None);

const fn row(key: &'static str, about: &'static str, target: Option<Target>) -> Row {
    Row { key, about, target, measure: |_| unreachable!("rows of a store are measured together") }
}

type Limiter = SharedLimiter<Account<&'static str>>;

/// Measures them all.
///
/// # Panics
///
/// When the store cannot be used, or a check was decided without it.
pub(crate) fn measure(url: &str, effort: Effort, mut add: impl FnMut(&'static Row, Outcome)) {
    let runtime = Runtime::new().expect("a runtime starts");
    let rounds = effort.rounds.min(200);
    let bench = runtime.block_on(Bench::new(url));
    let (mut calls, mut bares) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            calls.push(runtime.block_on(bench.call()));
            bares.push(runtime.block_on(bench.bare()));
        } else {
            bares.push(runtime.block_on(bench.bare()));
            calls.push(runtime.block_on(bench.call()));
        }
    }
    let mean = |round: &Vec<f64>| round.iter().sum::<f64>() / f64::from(CALLS);
    let sides = |of: &dyn Fn(&Vec<f64>) -> f64| {
        [side("check", 1, calls.iter().map(of)), side("EVALSHA of `return 1`", 1, bares.iter().map(of))]
    };
    let ratio = Quartiles::of(calls.iter().zip(&bares).map(|(call, bare)| mean(call) / mean(bare)));
    add(&CALL, outcome(sides(&mean), ratio, rounds));
    for (row, share) in [(&P50, 0.5), (&P99, 0.99)] {
        let of = |round: &Vec<f64>| at(round, share);
        add(row, outcome(sides(&of), Quartiles::of(calls.iter().map(of)), rounds));
    }

    let mut crowd = |row, name, limiter: &Limiter, calls: u32| {
        let mut rounds_of = (Vec::new(), Vec::new());
        for _ in 0..rounds.min(50) {
            rounds_of.0.push(runtime.block_on(together(limiter, calls)));
            rounds_of.1.push(runtime.block_on(together(&bench.limiter, CALLS)));
        }
        let ratio = Quartiles::of(rounds_of.0.iter().zip(&rounds_of.1).map(|(one, other)| other / one));
        let sides =
            [side(name, CALLERS, rounds_of.0.iter().copied()), side("check", CALLERS, rounds_of.1.iter().copied())];
        add(row, outcome(sides, ratio, rounds.min(50)));
    };
    crowd(&LEASED, "leased", &bench.leased, CALLS * 100);
    crowd(&BATCHED, "batched", &bench.batched, CALLS);
}

struct Bench {
    limiter: Limiter,
    leased: Limiter,
    batched: Limiter,
    connection: MultiplexedConnection,
    script: String,
}

impl Bench {
    async fn new(url: &str) -> Self {
        let store = Store::connect(url).await.expect("the store can be used");
        let patient = Sharing::new(OnStoreFailure::Deny).deadline(Duration::from_secs(10));
        let limiter = |name: &str, sharing| {
            let policy = Policy::builder(name)
                .unit(Unit::Request)
                .identity([IdentityKind::Account])
                .scope(Scope::shared(sharing))
                .rule(Budget::per_second(10_000_000).with_capacity(100_000_000))
                .on_exhausted(OnExhausted::Deny)
                .keys(1_000, Overflow::Deny)
                .build()
                .expect("it says everything");
            Limiter::new(policy, store.clone()).expect("it can be counted")
        };
        let client = redis::Client::open(url).expect("the store was opened");
        let mut connection = client.get_multiplexed_async_connection().await.expect("the store was connected to");
        let load = redis::cmd("SCRIPT").arg("LOAD").arg("return 1").query_async(&mut connection).await;
        Self {
            limiter: limiter("compare-call", patient),
            leased: limiter("compare-leased", patient.lease(10_000, Duration::from_secs(10))),
            batched: limiter("compare-batched", patient.batch(256.try_into().expect("it is not zero"))),
            script: load.expect("a script can be loaded"),
            connection,
        }
    }

    /// Nanoseconds of each call.
    async fn call(&self) -> Vec<f64> {
        let name = Account::new("one").expect("it has a name");
        let mut times = Vec::new();
        for _ in 0..CALLS {
            let begun = Instant::now();
            let verdict = self.limiter.check(&name, 1).await;
            times.push(nanos(begun.elapsed()));
            assert!(verdict.is_admitted() && verdict.degraded().is_none(), "{verdict:?}");
        }
        times
    }

    async fn bare(&self) -> Vec<f64> {
        let mut times = Vec::new();
        let mut connection = self.connection.clone();
        for _ in 0..CALLS {
            let begun = Instant::now();
            let one: i64 = redis::cmd("EVALSHA")
                .arg(&self.script)
                .arg(0)
                .query_async(&mut connection)
                .await
                .expect("the script was loaded");
            times.push(nanos(begun.elapsed()));
            assert_eq!(one, 1);
        }
        times
    }
}

/// Nanoseconds a call of many callers at once, of all of them together.
async fn together(limiter: &Limiter, calls: u32) -> f64 {
    let begun = Instant::now();
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let limiter = limiter.clone();
            tokio::spawn(async move {
                let name = Account::new("many").expect("it has a name");
                for _ in 0..calls {
                    let verdict = limiter.check(&name, 1).await;
                    assert!(verdict.is_admitted() && verdict.degraded().is_none(), "{verdict:?}");
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("no caller panics");
    }
    nanos(begun.elapsed()) / f64::from(CALLERS * calls)
}

#[allow(clippy::cast_precision_loss, reason = "a measurement has fewer digits")]
fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an index into a round")]
fn at(round: &[f64], share: f64) -> f64 {
    let mut sorted = round.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

fn side(name: &'static str, threads: u32, rounds: impl Iterator<Item = f64>) -> Side {
    Side { name, threads, ns: Quartiles::of(rounds), unevenness: 1.0 }
}

fn outcome(sides: [Side; 2], ratio: Quartiles, rounds: u32) -> Outcome {
    let rounds = rounds as usize;
    Outcome { sides, ratio, rounds, thrown_away: 0 }
}
