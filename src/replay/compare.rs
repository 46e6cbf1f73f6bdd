//! Two limits on one log: who is denied by one and not by the other.

use super::report::{Caller, Report};

/// What changes for callers from one limit to another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison<'r> {
    /// Callers that the second refuses at least once and the first did not, as the second has them.
    pub newly_denied: Vec<&'r Caller>,
    /// Callers that the first refused and the second does not, as the first has them.
    pub newly_spared: Vec<&'r Caller>,
    /// Callers that both refuse: as the first has them, and as the second does.
    pub still_denied: Vec<(&'r Caller, &'r Caller)>,
}

impl<'r> Comparison<'r> {
    /// From the first report to the second. They are of the same log, read for the same identity: callers are the same by
    /// their keys. Each list is in order of its reports. Linear in callers denied, but for one sort.
    #[must_use]
    pub fn of(first: &'r Report, second: &'r Report) -> Self {
        let mut before: Vec<&Caller> = first.denied.iter().collect();
        before.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        let find = |caller: &Caller| before.binary_search_by(|known| known.key.cmp(&caller.key)).map(|at| before[at]);
        let (mut newly_denied, mut still_denied) = (Vec::new(), Vec::new());
        for caller in &second.denied {
            match find(caller) {
                Ok(known) => still_denied.push((known, caller)),
                Err(_) => newly_denied.push(caller),
            }
        }
        let mut after: Vec<&[u8]> = second.denied.iter().map(|caller| &*caller.key).collect();
        after.sort_unstable();
        let newly_spared = first.denied.iter().filter(|caller| after.binary_search(&&*caller.key).is_err()).collect();
        Self { newly_denied, newly_spared, still_denied }
    }
}
