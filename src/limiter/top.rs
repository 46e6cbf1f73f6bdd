//! Who is denied most, in bounded memory.

use core::fmt;
use std::borrow::ToOwned;
use std::string::String;
use std::sync::{Mutex, PoisonError};
use std::vec::Vec;

/// The labels that were denied most often: at most so many, whoever comes.
///
/// A table knows no keys, so the labels are the caller's own: whatever may be shown to people. Tell it of each denial:
///
/// ```
/// use admittance::limiter::TopDenied;
/// use admittance::{Budget, Keyed, Overflow};
///
/// let callers = Keyed::<str>::builder(Budget::per_hour(1), 1_000, Overflow::Deny).build()?;
/// let top = TopDenied::new(10);
/// for caller in ["ann", "bob", "ann", "ann"] {
///     if callers.check(caller, 1).is_denied() {
///         top.record(caller);
///     }
/// }
/// assert_eq!(top.list()[0].label, "ann");
/// assert_eq!(top.list()[0].count, 2);
/// # Ok::<(), admittance::KeyedError>(())
/// ```
///
/// # What the counts are
///
/// The *space-saving* algorithm (Metwally, Agrawal and El Abbadi, 2005): a label that finds the list full takes the place of
/// the least, and its count. So a count is never too low and too high by [`Denied::error`] at most, and whoever had more than
/// one in `capacity` of all denials is in the list.
///
/// Takes a lock, and looks at each label of the list: for lists of tens, not of thousands.
pub struct TopDenied {
    capacity: usize,
    list: Mutex<Vec<Denied>>,
}

/// One label of a [`TopDenied`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denied {
    /// The caller's own label.
    pub label: String,
    /// Denials: these at most, and `count - error` at least.
    pub count: u64,
    /// What it may have been given too much.
    pub error: u64,
}

impl TopDenied {
    /// A list of so many labels at most; of one at least.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self { capacity, list: Mutex::new(Vec::with_capacity(capacity)) }
    }

    /// Notes a denial.
    pub fn record(&self, label: &str) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = list.iter_mut().find(|denied| denied.label == label) {
            known.count = known.count.saturating_add(1);
        } else if list.len() < self.capacity {
            list.push(Denied { label: label.to_owned(), count: 1, error: 0 });
        } else if let Some(least) = list.iter_mut().min_by_key(|denied| denied.count) {
            least.label.clear();
            least.label.push_str(label);
            least.error = least.count;
            least.count = least.count.saturating_add(1);
        }
    }

    /// The labels, those denied most first.
    #[must_use]
    pub fn list(&self) -> Vec<Denied> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner).clone();
        list.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.label.cmp(&other.label)));
        list
    }

    /// Begins anew, for the next hour's list.
    pub fn clear(&self) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl fmt::Debug for TopDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopDenied").field("capacity", &self.capacity).field("list", &self.list()).finish()
    }
}
