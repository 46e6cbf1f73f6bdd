//! Many keys at once.

use core::hash::Hash;
use core::hint::black_box;

use super::{Keyed, Tier};
use crate::clock::Clock;
use crate::decision::Decision;

/// Keys whose memory is on its way at a time: more than a core has misses in flight, few enough to stay in its first cache.
const AHEAD: usize = 32;

impl<K: Hash + ?Sized, C: Clock> Keyed<K, C> {
    /// Checks many keys at one instant, and tells the decisions in order: as [`check`](Self::check) on each, with one reading
    /// of the clock and with the table's memory asked for ahead, which in a large table is most of the time.
    ///
    /// Not all or nothing: each is decided on its own, and a key that comes twice is charged twice.
    ///
    /// ```
    /// use admittance::{Budget, Keyed, Overflow};
    ///
    /// let callers = Keyed::<str>::builder(Budget::per_hour(2), 1_000, Overflow::Deny).build()?;
    /// let mut admitted = 0;
    /// callers.check_many([("ann", 1), ("bob", 2), ("ann", 1), ("ann", 1)], |decision| {
    ///     admitted += u32::from(decision.is_admitted());
    /// });
    /// assert_eq!(admitted, 3);
    /// # Ok::<(), admittance::KeyedError>(())
    /// ```
    pub fn check_many<'k>(&self, requests: impl IntoIterator<Item = (&'k K, u64)>, tell: impl FnMut(Decision))
    where
        K: 'k,
    {
        self.check_hashed(requests.into_iter().map(|(key, cost)| (self.hash(key), cost)), Tier(0), tell);
    }
}

impl<K: ?Sized, C: Clock> Keyed<K, C> {
    /// As [`check_many`](Self::check_many), by hash.
    pub(crate) fn check_hashed(
        &self,
        mut requests: impl Iterator<Item = (u64, u64)>,
        tier: Tier,
        mut tell: impl FnMut(Decision),
    ) {
        let now = self.clock.now();
        let mut ahead = [(0, 0); AHEAD];
        loop {
            let mut count = 0;
            for (place, request) in ahead.iter_mut().zip(&mut requests) {
                *place = request;
                count += 1;
            }
            // Nothing waits for these loads, so the next key's begins before this one's has ended. A loop of their own, so
            // that many of them are in the processor's sight at once.
            black_box(ahead[..count].iter().fold(0, |touched, &(hash, _)| touched ^ self.table.touch(hash)));
            if count == 0 {
                return;
            }
            for &(hash, cost) in &ahead[..count] {
                let step = move |word, rule: &crate::rule::Rule| rule.acquire(word, cost, now);
                tell(self.table.apply(hash, tier.0.into(), now, step));
            }
        }
    }
}
