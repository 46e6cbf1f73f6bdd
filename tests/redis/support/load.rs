//! Callers who ask until they are told to stop, what they are told, and how long that takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use admittance::redis::{FailureKind, SharedLimiter, SharedVerdict, StoreFailure};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{Account, is_strict};

/// A caller's pause between two calls: these tests are about what happens, not how often.
const PAUSE: Duration = Duration::from_millis(1);

/// What callers were told so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Decided by the store.
    pub(crate) store: u64,
    pub(crate) store_admitted: u64,
    /// By the store, of each name.
    pub(crate) admitted_of: Vec<u64>,
    /// Decided without it.
    pub(crate) degraded: u64,
    pub(crate) degraded_admitted: u64,
    /// Decisions of a kind of failure, in the order in which they appeared.
    pub(crate) kinds: Vec<(FailureKind, u64)>,
    /// The latest failure.
    pub(crate) last: Option<StoreFailure>,
    pub(crate) took: Vec<Duration>,
}

impl Seen {
    pub(crate) fn add(&mut self, name: usize, verdict: &SharedVerdict, took: Duration) {
        let admitted = u64::from(verdict.is_admitted());
        if let Some(failure) = verdict.degraded() {
            self.degraded += 1;
            self.degraded_admitted += admitted;
            self.last = Some(failure.clone());
            match self.kinds.iter_mut().find(|(kind, _)| *kind == failure.kind()) {
                Some((_, times)) => *times += 1,
                None => self.kinds.push((failure.kind(), 1)),
            }
        } else {
            self.store += 1;
            self.store_admitted += admitted;
            self.admitted_of[name] += admitted;
        }
        self.took.push(took);
    }

    pub(crate) fn of_kind(&self, kind: FailureKind) -> u64 {
        self.kinds.iter().find(|(seen, _)| *seen == kind).map_or(0, |(_, times)| *times)
    }

    pub(crate) fn asked(&self) -> u64 {
        self.store + self.degraded
    }

    /// Every call was answered by its deadline. On a machine that does other things too a task is sometimes not run for
    /// dozens of milliseconds, so half of the calls are held to less than twice the deadline, and each to a second more: a call
    /// that was sent again, or waited for a connection, would take twice its deadline each time. With `ADMITTANCE_STRICT`
    /// in the environment, on a machine of its own, all are held to 5 ms.
    pub(crate) fn were_in_time(&self, deadline: Duration) {
        let mut took = self.took.clone();
        took.sort_unstable();
        let [.., longest] = took[..] else { return };
        let median = took[took.len() / 2];
        let late = took.iter().filter(|took| **took > deadline + Duration::from_millis(5)).count();
        eprintln!("{} calls: median {median:?}, longest {longest:?}, {late} later than deadline + 5 ms", took.len());
        let (half, all) = if is_strict() {
            (deadline + Duration::from_millis(5), deadline + Duration::from_millis(5))
        } else {
            (deadline * 2, deadline + Duration::from_secs(1))
        };
        assert!(median < half, "half of the calls took {median:?} or more");
        assert!(longest <= all, "a call took {longest:?}");
    }
}

/// Callers at work.
pub(crate) struct Load {
    pub(crate) limiter: SharedLimiter<Account>,
    seen: watch::Receiver<Seen>,
    stop: Arc<AtomicBool>,
    callers: Vec<JoinHandle<()>>,
}

impl Load {
    /// So many callers, who ask for one token of each of these in turn.
    pub(crate) fn start(limiter: &SharedLimiter<Account>, callers: usize, names: &[Account]) -> Self {
        let (tell, seen) = watch::channel(Seen { admitted_of: vec![0; names.len()], ..Seen::default() });
        let (tell, stop) = (Arc::new(tell), Arc::new(AtomicBool::new(false)));
        let callers = (0..callers)
            .map(|caller| {
                let (limiter, tell, stop) = (limiter.clone(), Arc::clone(&tell), Arc::clone(&stop));
                let (names, from) = (names.to_vec(), caller * names.len() / callers);
                tokio::spawn(async move {
                    for (number, name) in names.iter().enumerate().cycle().skip(from) {
                        let begun = Instant::now();
                        let verdict = limiter.check(name, 1).await;
                        let took = begun.elapsed();
                        tell.send_modify(|seen| seen.add(number, &verdict, took));
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                        sleep(PAUSE).await;
                    }
                })
            })
            .collect();
        Self { limiter: limiter.clone(), seen, stop, callers }
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.borrow().clone()
    }

    /// Waits until callers were told as much, and how long that was. A minute at most, which is for what hangs: thousands of calls
    /// took more than ten seconds on a machine with other work.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&Seen) -> bool) -> Duration {
        let begun = Instant::now();
        let mut seen = self.seen.clone();
        if timeout(Duration::from_secs(60), seen.wait_for(is_so)).await.is_err() {
            let seen = self.seen();
            panic!("not {what}: {} by the store, {} without, {:?}", seen.store, seen.degraded, seen.kinds);
        }
        begun.elapsed()
    }

    /// Waits for so many more decisions by the store.
    pub(crate) async fn until_store(&self, more: u64) -> Duration {
        let before = self.seen().store;
        self.until("decided by the store", |seen| seen.store >= before + more).await
    }

    /// Waits for so many more decisions without the store.
    pub(crate) async fn until_degraded(&self, more: u64) -> Duration {
        let before = self.seen().degraded;
        self.until("decided without the store", |seen| seen.degraded >= before + more).await
    }

    /// Stops the callers; one that hangs or panics fails the test.
    pub(crate) async fn stop(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        for caller in self.callers {
            timeout(Duration::from_secs(10), caller).await.expect("a caller hangs").expect("a caller panicked");
        }
        self.seen.borrow().clone()
    }
}
