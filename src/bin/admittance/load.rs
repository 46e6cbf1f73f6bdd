//! `admittance load`: a shared store driven with a policy.
#![allow(clippy::cast_precision_loss, reason = "rates and latencies are told to three digits")]

use std::fmt;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use admittance::identity::{Account, Address, Credential, Identity, Pepper, Session, Tenant};
use admittance::policy::{IdentityKind, Policy};
use admittance::redis::{DecidedBy, SharedError, SharedLimiter, StoreFailure};
use hdrhistogram::Histogram;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::args::{Load, Unopened};

/// Why nothing was driven.
pub(crate) enum Failure {
    Store(StoreFailure),
    Unopened(Unopened),
    Policy(SharedError),
    Kinds(String),
    System(io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(failure) => write!(f, "--store: {failure}"),
            Self::Unopened(why) => write!(f, "{why}"),
            Self::Policy(error) => write!(f, "--policy: {error}"),
            Self::Kinds(kinds) => write!(
                f,
                "--policy: identity: there are no made-up identities of {kinds}; say one kind, or tenant and account"
            ),
            Self::System(error) => write!(f, "{error}"),
        }
    }
}

pub(crate) fn run(args: &Load) -> Result<(), Failure> {
    let policy = &args.policy();
    match policy.identity() {
        [IdentityKind::Account] => drive(args, policy, |number| Account::new(name(number)).expect(NAMED)),
        [IdentityKind::Tenant] => drive(args, policy, |number| Tenant::new(name(number)).expect(NAMED)),
        [IdentityKind::Session] => drive(args, policy, |number| Session::new(name(number)).expect(NAMED)),
        [IdentityKind::Credential] => {
            let pepper = Pepper::new(*b"no real secret..");
            drive(args, policy, move |number| Credential::new(name(number), &pepper).expect(NAMED))
        }
        [IdentityKind::Address] => drive(args, policy, |number| Address::new(Ipv4Addr::from_bits(number).into())),
        [IdentityKind::Tenant, IdentityKind::Account] => drive(args, policy, |number| {
            (Tenant::new(name(number / 100)).expect(NAMED), Account::new(name(number)).expect(NAMED))
        }),
        kinds => Err(Failure::Kinds(kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" and "))),
    }
}

fn name(number: u32) -> String {
    format!("load-{number}")
}

const NAMED: &str = "it has a name";

/// What one caller saw.
struct Seen {
    admitted: u64,
    denied: u64,
    never: u64,
    degraded: u64,
    by_lease: u64,
    by_memory: u64,
    failure: Option<StoreFailure>,
    /// Of every call, in nanoseconds.
    latency: Histogram<u64>,
}

impl Seen {
    fn new() -> Self {
        let latency = Histogram::new_with_bounds(1, 600_000_000_000, 3).expect("the bounds are fine");
        Self { admitted: 0, denied: 0, never: 0, degraded: 0, by_lease: 0, by_memory: 0, failure: None, latency }
    }

    fn merge(&mut self, other: Self) {
        self.admitted += other.admitted;
        self.denied += other.denied;
        self.never += other.never;
        self.degraded += other.degraded;
        self.by_lease += other.by_lease;
        self.by_memory += other.by_memory;
        self.failure = self.failure.take().or(other.failure);
        self.latency.add(other.latency).expect("they have the same bounds");
    }
}

fn drive<I>(args: &Load, policy: &Policy, identity: impl Fn(u32) -> I + Send + Sync + 'static) -> Result<(), Failure>
where
    I: Identity + Send + Sync + 'static,
{
    let runtime = tokio::runtime::Runtime::new().map_err(Failure::System)?;
    let (seen, calls, lasted) = runtime.block_on(async {
        let limiters = limiters::<I>(args, policy).await?;
        let identity = Arc::new(identity);
        let begun = Instant::now();
        let ends = begun + Duration::from_secs(args.seconds.into());
        let mut callers = JoinSet::new();
        for caller in 0..args.callers {
            let limiter = limiters[caller as usize % limiters.len()].clone();
            let (identity, cost, identities) = (Arc::clone(&identity), args.cost, args.identities);
            callers.spawn(async move {
                let mut seen = Seen::new();
                let mut number = caller % identities;
                while Instant::now() < ends {
                    call(&limiter, &identity(number), cost, &mut seen).await;
                    number = (number + 1) % identities;
                }
                seen
            });
        }
        let mut seen = Seen::new();
        while let Some(caller) = callers.join_next().await {
            seen.merge(caller.map_err(|error| Failure::System(error.into()))?);
        }
        let lasted = begun.elapsed();
        let calls = limiters.iter().map(|limiter| limiter.stats().calls).sum();
        for limiter in &limiters {
            limiter.give_back_leases().await;
        }
        Ok((seen, calls, lasted))
    })?;
    tell(args, policy, &seen, calls, lasted).map_err(Failure::System)
}

async fn limiters<I: Identity>(args: &Load, policy: &Policy) -> Result<Vec<SharedLimiter<I>>, Failure> {
    let own = format!("admittance-load-{}", std::process::id());
    let prefix = args.prefix.as_deref().unwrap_or(&own);
    let mut limiters = Vec::new();
    for _ in 0..if args.separate { args.callers } else { 1 } {
        let store = args.trust.open(&args.store).map_err(Failure::Unopened)?;
        let store = store.with_prefix(prefix).map_err(Failure::Store)?;
        store.ready().await.map_err(Failure::Store)?;
        limiters.push(SharedLimiter::new(policy.clone(), store).map_err(Failure::Policy)?);
    }
    Ok(limiters)
}

async fn call<I: Identity>(limiter: &SharedLimiter<I>, identity: &I, cost: u64, seen: &mut Seen) {
    let begun = Instant::now();
    let verdict = limiter.check(identity, cost).await;
    let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    seen.latency.saturating_record(took);
    let decision = verdict.decision();
    match decision {
        admittance::Decision::Admitted(_) => seen.admitted += 1,
        admittance::Decision::Denied(_) => seen.denied += 1,
        admittance::Decision::Never => seen.never += 1,
    }
    match verdict.decided_by() {
        DecidedBy::Lease => seen.by_lease += 1,
        DecidedBy::Memory => seen.by_memory += 1,
        DecidedBy::Degraded(failure) => {
            seen.degraded += 1;
            seen.failure.get_or_insert_with(|| failure.clone());
        }
        DecidedBy::Store | DecidedBy::Capacity => {}
    }
    if took < 1_000 {
        // A decision that waits for nobody lets nobody else on either.
        tokio::task::coop::consume_budget().await;
    }
}

/// What is told as JSON. Times are in nanoseconds.
#[derive(Serialize)]
struct Told<'t> {
    policy: &'t str,
    callers: u32,
    identities: u32,
    seconds: f64,
    calls: u64,
    calls_to_the_store: u64,
    admitted: u64,
    denied: u64,
    never: u64,
    degraded: u64,
    by_lease: u64,
    by_memory: u64,
    first_failure: Option<String>,
    calls_per_second: f64,
    latency: Latency,
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names, reason = "they are names of a JSON object, and say their unit")]
struct Latency {
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    p99_9_ns: u64,
    max_ns: u64,
}

fn tell(args: &Load, policy: &Policy, seen: &Seen, to_the_store: u64, lasted: Duration) -> io::Result<()> {
    let calls = seen.admitted + seen.denied + seen.never;
    let at = |quantile| seen.latency.value_at_quantile(quantile);
    let told = Told {
        policy: policy.name(),
        callers: args.callers,
        identities: args.identities,
        seconds: lasted.as_secs_f64(),
        calls,
        calls_to_the_store: to_the_store,
        admitted: seen.admitted,
        denied: seen.denied,
        never: seen.never,
        degraded: seen.degraded,
        by_lease: seen.by_lease,
        by_memory: seen.by_memory,
        first_failure: seen.failure.as_ref().map(ToString::to_string),
        calls_per_second: calls as f64 / lasted.as_secs_f64(),
        latency: Latency {
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            max_ns: seen.latency.max(),
        },
    };
    let mut to = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut to, &told)?;
        return writeln!(to);
    }
    let Told { calls, admitted, denied, never, degraded, by_lease, by_memory, latency, .. } = &told;
    let micros = |nanos: u64| format!("{:.1} us", nanos as f64 / 1_000.0);
    writeln!(to, "{policy}\n")?;
    writeln!(to, "  callers     {} as {} identities, for {:.1} s", args.callers, args.identities, told.seconds)?;
    writeln!(to, "  decisions   {calls}, {:.0} a second; {to_the_store} calls to the store", told.calls_per_second)?;
    writeln!(to, "  admitted    {admitted}, {by_lease} of them of leases")?;
    writeln!(to, "  denied      {denied}, {by_memory} of them remembered; {never} never")?;
    writeln!(to, "  degraded    {degraded}, decided without the store")?;
    if let Some(failure) = &told.first_failure {
        writeln!(to, "              the first: {failure}")?;
    }
    writeln!(
        to,
        "  latency     p50 {}, p90 {}, p99 {}, p99.9 {}, max {}",
        micros(latency.p50_ns),
        micros(latency.p90_ns),
        micros(latency.p99_ns),
        micros(latency.p99_9_ns),
        micros(latency.max_ns)
    )?;
    to.flush()
}
