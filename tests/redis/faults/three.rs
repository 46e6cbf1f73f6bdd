//! Limiters of one server that differ in what happens while it is gone, and callers at work on each.

use std::time::Duration;

use admittance::Window;
use admittance::policy::{OnStoreFailure, Sharing};
use admittance::redis::{FailureKind, SharedLimiter, Store};

use crate::support::{Account, Load, Seen, Server, account, in_time, policy, some};

/// What a call may take, as where nothing else is said.
pub(crate) const DEADLINE: Duration = Sharing::DEADLINE;

/// So many a day, which no test uses up.
const LIMIT: u64 = 100_000;

/// One in so many of it for each process.
const ONE_IN: u32 = 5_000;
const SHARE: u64 = LIMIT / ONE_IN as u64;

const CALLERS: usize = 4;

pub(crate) struct Three {
    deny: Load,
    admit: Load,
    local: Load,
}

impl Three {
    /// Begins to ask, and waits until the store decides.
    pub(crate) async fn ask(url: &str) -> Self {
        let load = |name, on_failure| {
            let sharing = Sharing::new(on_failure).deadline(DEADLINE);
            let policy = policy(name, Window::per_day(LIMIT), sharing).build().unwrap();
            let limiter: SharedLimiter<Account> = SharedLimiter::new(policy, Store::open(url).unwrap()).unwrap();
            Load::start(&limiter, CALLERS, &[account("ann")])
        };
        let three = Self {
            deny: load("deny", OnStoreFailure::Deny),
            admit: load("admit", OnStoreFailure::Admit),
            local: load("local", OnStoreFailure::Local { one_in: some(ONE_IN) }),
        };
        three.are_served().await;
        three
    }

    pub(crate) fn loads(&self) -> [&Load; 3] {
        [&self.deny, &self.admit, &self.local]
    }

    /// Waits until the store decides for all; how long that took.
    pub(crate) async fn are_served(&self) -> Duration {
        let begun = std::time::Instant::now();
        for load in self.loads() {
            load.until_store(20).await;
        }
        begun.elapsed()
    }

    /// The store decides again within a second, by itself.
    pub(crate) async fn are_back(&self) {
        let took = self.are_served().await;
        eprintln!("back after {took:?}");
        in_time(took, Duration::from_secs(1));
    }

    /// Waits until all have been told of this kind of failure, by all their callers.
    pub(crate) async fn are_told(&self, kind: FailureKind) {
        for load in self.loads() {
            load.until(&format!("told of {kind:?}"), |seen| seen.of_kind(kind) >= CALLERS as u64).await;
        }
    }

    /// Waits until all are told of this kind of failure many times more.
    pub(crate) async fn are_still_told(&self, kind: FailureKind) {
        for load in self.loads() {
            let before = load.seen().of_kind(kind);
            load.until(&format!("told of {kind:?} again"), |seen| seen.of_kind(kind) >= before + 200).await;
        }
    }

    /// Stops asking. While the store was gone all was as each policy says, and all were answered in time.
    pub(crate) async fn stop(self) -> Vec<(SharedLimiter<Account>, Seen)> {
        let mut all = Vec::new();
        for load in [self.deny, self.admit, self.local] {
            let limiter = load.limiter.clone();
            let seen = load.stop().await;
            seen.were_in_time(DEADLINE);
            eprintln!("{} by the store, {} without: {:?}", seen.store, seen.degraded, seen.kinds);
            assert_eq!(limiter.stats().degraded, seen.degraded);
            assert_eq!(limiter.stats().calls, seen.asked());
            match limiter.policies()[0].scope().sharing().unwrap().on_store_failure() {
                OnStoreFailure::Deny => assert_eq!(seen.degraded_admitted, 0),
                OnStoreFailure::Admit => assert_eq!(seen.degraded_admitted, seen.degraded),
                OnStoreFailure::Local { .. } => assert_eq!(seen.degraded_admitted, seen.degraded.min(SHARE)),
            }
            all.push((limiter, seen));
        }
        all
    }
}

/// No call was sent twice: the server has seen no more than were made, no text but for those that it did not know by digest,
/// and what it counted is at least what was admitted, and at most what was asked.
pub(crate) fn nothing_was_sent_twice(server: &Server, all: &[(SharedLimiter<Account>, Seen)]) {
    let made: u64 = all.iter().map(|(limiter, _)| limiter.stats().calls).sum();
    let (by_digest, by_text) = (server.calls_of("evalsha"), server.calls_of("eval"));
    eprintln!("{made} calls made, {by_digest} arrived by digest, {by_text} by text");
    assert!(by_digest <= made, "{by_digest} arrived of {made} calls");
    let unknown = server.errors_of("NOSCRIPT");
    assert!(by_text <= unknown, "{by_text} by text, and {unknown} were not known");
    for (limiter, seen) in all {
        let counted: u64 = server.get(&limiter.keys_of(&account("ann"))[0]).map_or(0, |count| count.parse().unwrap());
        assert!((seen.store_admitted..=limiter.stats().calls).contains(&counted), "{counted} counted: {seen:?}");
    }
}
