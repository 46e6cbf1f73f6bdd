//! A log decided in a store as well.

use std::io;

use admittance::redis::{SharedError, Store, StoreFailure, Trial, Trying};
use admittance::replay::{Decided, Input, Outcome, Replay, Summary, key};
use admittance::{Decision, Rule};
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::args::Unopened;
use crate::replay::Failure;

/// Lines that are decided at a time.
const AT_A_TIME: usize = 8_192;

/// What the store answered.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Told {
    pub(crate) admitted: u64,
    pub(crate) denied: u64,
    pub(crate) never: u64,
    /// Lines whose answer is not the core's.
    pub(crate) differ: u64,
    /// The first of them, in words.
    pub(crate) first_difference: Option<String>,
    pub(crate) seconds: f64,
}

/// Replays as always, and decides each line in the store too.
pub(crate) fn run(replay: &Replay, inputs: &[Input], rule: &Rule, store: Store) -> Result<(Summary, Told), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Summary)?;
    let trial = runtime.block_on(async {
        store.ready().await?;
        Trial::new(store, rule).map_err(Refused::Rule)
    })?;
    let mut trying = InStore { runtime, trial, told: Told::default(), waiting: Vec::new(), failed: None };
    let replayed = replay.run_with(inputs, |decided| trying.take(&decided));
    if trying.failed.is_none() && replayed.is_ok() {
        trying.decide();
    }
    let InStore { runtime, trial, told, failed, .. } = trying;
    let cleaned = runtime.block_on(trial.clean());
    if let Some(failure) = failed {
        return Err(Refused::Store(failure).into());
    }
    let summary = replayed.map_err(Failure::Replay)?;
    cleaned.map_err(Refused::Store)?;
    Ok((summary, told))
}

/// Why a store does not decide a log.
#[derive(Debug)]
pub(crate) enum Refused {
    Unopened(Unopened),
    Store(StoreFailure),
    Rule(SharedError),
}

impl From<StoreFailure> for Refused {
    fn from(failure: StoreFailure) -> Self {
        Self::Store(failure)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Store(refused)
    }
}

struct InStore {
    runtime: Runtime,
    trial: Trial,
    told: Told,
    waiting: Vec<(Trying, Outcome)>,
    failed: Option<StoreFailure>,
}

impl InStore {
    fn take(&mut self, decided: &Decided<'_>) -> io::Result<()> {
        let trying = Trying { key: decided.key.to_vec(), time: decided.time, cost: decided.cost };
        self.waiting.push((trying, decided.outcome));
        if self.waiting.len() == AT_A_TIME {
            self.decide();
        }
        if self.failed.is_some() { Err(io::Error::other("the store failed")) } else { Ok(()) }
    }

    fn decide(&mut self) {
        let (trying, core): (Vec<_>, Vec<_>) = self.waiting.drain(..).unzip();
        let begun = std::time::Instant::now();
        let decisions = match self.runtime.block_on(self.trial.decide(&trying)) {
            Ok(decisions) => decisions,
            Err(failure) => {
                self.failed = Some(failure);
                return;
            }
        };
        self.told.seconds += begun.elapsed().as_secs_f64();
        for ((trying, core), decision) in trying.iter().zip(core).zip(decisions) {
            match decision {
                Decision::Admitted(_) => self.told.admitted += 1,
                Decision::Denied(_) => self.told.denied += 1,
                Decision::Never => self.told.never += 1,
            }
            let stores = Outcome::from(decision);
            if !is_same(core, stores) {
                self.told.differ += 1;
                self.told.first_difference.get_or_insert_with(|| {
                    let key = key::shown(&trying.key);
                    format!(
                        "'{key}' at {} ns for {}: the core says {core:?}, the store {stores:?}",
                        trying.time, trying.cost
                    )
                });
            }
        }
    }
}

/// The same answer; a wait in whole microseconds, rounded up.
fn is_same(core: Outcome, stores: Outcome) -> bool {
    match (core, stores) {
        (Outcome::Denied { retry_after_ns: core }, Outcome::Denied { retry_after_ns: stores }) => {
            core.div_ceil(1_000) == stores.div_ceil(1_000)
        }
        _ => core == stores,
    }
}
