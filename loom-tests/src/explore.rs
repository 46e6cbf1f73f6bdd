//! How a model is run.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs `model` in every interleaving, or in those with at most `bound` preemptions.
///
/// `LOOM_MAX_PREEMPTIONS` in the environment wins over `bound`, and `ADMITTANCE_LOOM_LONG` takes it away. Each run of the
/// model returns what it saw; `outcomes` is how many different ones there must be.
///
/// # Panics
///
/// When the model does, or when it saw fewer outcomes than it must.
pub fn check<O: Ord + Debug + Send + 'static>(
    bound: Option<usize>,
    outcomes: usize,
    model: impl Fn() -> O + Send + Sync + 'static,
) {
    let mut builder = loom::model::Builder::new();
    if builder.preemption_bound.is_none() && env::var_os("ADMITTANCE_LOOM_LONG").is_none() {
        builder.preemption_bound = bound;
    }
    // Loops of a few threads: far above what they need, so that reaching it means that one does not end.
    builder.max_branches = 10_000;
    // Not loom's: it is looked at between runs, not by the model.
    let seen = Arc::new(Mutex::new((0_u64, BTreeSet::new())));
    let noted = Arc::clone(&seen);
    builder.check(move || {
        let outcome = model();
        let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.0 += 1;
        noted.1.insert(outcome);
    });
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    println!("{} interleavings, {} outcomes", seen.0, seen.1.len());
    assert!(seen.1.len() >= outcomes, "saw only {:?} in {} interleavings", seen.1, seen.0);
}

/// Asserts that a model fails, and by its own assertion: one whose message has `message` in it.
///
/// # Panics
///
/// When the model holds on a broken loop, or fails for another reason.
pub fn refutes(message: &str, model: impl FnOnce()) {
    let failed = catch_unwind(AssertUnwindSafe(model)).expect_err("the model holds on a broken loop");
    let said = failed
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| failed.downcast_ref::<&str>().map(|said| (*said).to_owned()))
        .unwrap_or_default();
    assert!(said.contains(message), "the model failed, but said: {said}");
}
