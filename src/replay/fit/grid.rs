//! Refills as people write them: one, two or five, with noughts, of the unit in which they are at least one.

use core::cmp::Ordering;
use core::time::Duration;

use crate::Per;

/// Tokens in each unit, up to one in the next: a day has 24 hours, and `50/1d` would be `2/1h` but for a hair.
const STEPS: [(u64, &[u64]); 3] =
    [(86_400, &[1, 2, 5, 10, 20]), (3_600, &[1, 2, 5, 10, 20, 50]), (60, &[1, 2, 5, 10, 20, 50])];

/// All of them, from one a day to five thousand million a second, the slowest first. A bucket holds each of them exactly.
pub(super) fn refills() -> Vec<Per> {
    let each = |tokens, seconds| Per { tokens, duration: Duration::from_secs(seconds) };
    let slow = STEPS.iter().flat_map(|&(unit, steps)| steps.iter().map(move |&tokens| each(tokens, unit)));
    let fast = (0..10).flat_map(|noughts| [1, 2, 5].map(|step| each(step * 10_u64.pow(noughts), 1)));
    slow.chain(fast).collect()
}

/// The slower first.
pub(super) fn by_rate(a: &Per, b: &Per) -> Ordering {
    // A duration is at most 2^64 ns where it is a refill's, and tokens are 64 bits: the products fit.
    let rate = |per: &Per, other: &Per| u128::from(per.tokens).saturating_mul(other.duration.as_nanos());
    rate(a, b).cmp(&rate(b, a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Resolution};

    #[test]
    fn refills_rise_to_two_and_a_half_times_at_most_and_are_exact() {
        let refills = refills();
        assert_eq!(refills.len(), 47);
        for pair in refills.windows(2) {
            assert_eq!(by_rate(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
            let half = Per { duration: pair[1].duration * 5 / 2, ..pair[1] };
            assert_ne!(by_rate(&pair[0], &half), Ordering::Less, "{pair:?}");
        }
        for refill in refills {
            let budget = Budget::new(1000, refill.tokens, refill.duration).unwrap();
            assert_eq!(budget.resolution(), Resolution::Exact, "{refill}");
        }
    }
}
