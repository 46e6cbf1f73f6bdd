//! Counts of a processor's counter as nanoseconds: one multiplication.
//!
//! quanta knows how long a count is as `factor / 2ˢ` nanoseconds, and scales by a product of 128 bits and a shift of it by a
//! variable, some eight cycles. The same number as a fraction of 2⁶⁴ makes the shift a constant, the choice of the upper half:
//!
//! ```text
//! ⌊count · factor / 2ˢ⌋ = count · whole + ⌊count · part / 2⁶⁴⌋        whole + part / 2⁶⁴ = factor / 2ˢ
//! ```
//!
//! `whole` is 0 for a counter faster than 1 GHz, as those of x86 are. A quanta that counts by the system's clock has counts of
//! one nanosecond: `whole = 1`, `part = 0`.
//!
//! **How far off.** Not at all. `s` is the binary logarithm of the counts that calibration took, 30 or so; with `s` up to 63
//! (58, of a counter of 24 MHz) `part` holds every bit of quanta's ratio, and the two sides above are the same number, until
//! quanta's overflows.

use crate::sync::unlikely;

/// Nanoseconds of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ratio {
    whole: u64,
    /// Of 2⁶⁴.
    part: u64,
}

impl Ratio {
    /// The ratio by which `scale` makes counts to nanoseconds: it is asked twice.
    ///
    /// `scale` must be `⌊count · ratio⌋` wherever that fits in 64 bits, and a count be below 2³² nanoseconds (4 seconds).
    pub(super) fn of(scale: impl Fn(u64) -> u64) -> Self {
        // The largest power of two whose nanoseconds are sure to fit: `ratio < 2ⁱ`.
        let whole = scale(1 << 32) >> 32;
        let bits = u64::BITS - whole.leading_zeros();
        // A count of 2⁶⁴ cannot be asked about: half of it is.
        let part = if bits == 0 { scale(1 << 63) << 1 } else { scale(1 << (64 - bits)) << bits };
        Self { whole, part }
    }

    /// From one count to a later one, as [`nanos`](Self::nanos). One that is behind, as another core's may be by a hair,
    /// counts as the first.
    #[inline]
    pub(super) const fn between(self, start: u64, count: u64) -> u64 {
        if count < start {
            unlikely();
            return 0;
        }
        self.nanos(count - start)
    }

    /// So many counts, in nanoseconds, rounded down; `u64::MAX` where they are more.
    #[inline]
    const fn nanos(self, count: u64) -> u64 {
        let part = ((count as u128 * self.part as u128) >> 64) as u64;
        if self.whole == 0 { part } else { count.saturating_mul(self.whole).saturating_add(part) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::budget::HORIZON;

    /// What quanta does, without its overflow.
    fn exact(count: u64, factor: u64, shift: u32) -> u128 {
        (u128::from(count) * u128::from(factor)) >> shift
    }

    /// What quanta does.
    #[allow(clippy::cast_possible_truncation, reason = "as quanta does")]
    fn quanta(factor: u64, shift: u32) -> impl Fn(u64) -> u64 {
        move |count| exact(count, factor, shift) as u64
    }

    /// Ratios as quanta's calibration makes them: of counters from 1 MHz to 16 GHz, found in a microsecond to an hour.
    fn calibrated() -> impl Strategy<Value = (u64, u32)> {
        (1_000_000_u64..16_000_000_000, 1_000_u64..3_600_000_000_000).prop_filter_map("a count", |(hertz, nanos)| {
            let counts =
                u64::try_from(u128::from(hertz) * u128::from(nanos) / 1_000_000_000).ok().filter(|&n| n > 0)?;
            let power = counts.next_power_of_two();
            let factor = u64::try_from(u128::from(nanos) * u128::from(power) / u128::from(counts)).ok()?;
            Some((factor, power.trailing_zeros()))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// To the nanosecond, over the horizon and past it, and standing still where 64 bits end.
        #[test]
        fn it_is_quantas_own_and_saturates((factor, shift) in calibrated(), count: u64, bits in 0..64_u32) {
            let ratio = Ratio::of(quanta(factor, shift));
            let count = count >> bits;
            let exact = exact(count, factor, shift);
            prop_assert_eq!(u128::from(ratio.nanos(count)), exact.min(u64::MAX.into()), "{:?}", ratio);
            if exact <= HORIZON.into() {
                prop_assert_eq!(ratio.nanos(count), quanta(factor, shift)(count));
            }
        }

        #[test]
        fn it_never_goes_backwards((factor, shift) in calibrated(), count: u64, more: u64, bits in (0..64_u32, 0..64_u32)) {
            let ratio = Ratio::of(quanta(factor, shift));
            let before = count >> bits.0;
            let after = before.saturating_add(more >> bits.1);
            prop_assert!(ratio.nanos(before) <= ratio.nanos(after), "{:?}", ratio);
        }
    }

    #[test]
    fn a_count_behind_the_first_is_the_first() {
        let ratio = Ratio::of(|count| count);
        for (start, count, nanos) in [(7, 6, 0), (7, 7, 0), (7, 8, 1), (u64::MAX, 0, 0), (0, u64::MAX, u64::MAX)] {
            assert_eq!(ratio.between(start, count), nanos, "{start} to {count}");
        }
    }

    #[test]
    fn a_system_clock_has_counts_of_one_nanosecond() {
        let ratio = Ratio::of(|count| count);
        for count in [0, 1, 1 << 32, HORIZON, u64::MAX - 1, u64::MAX] {
            assert_eq!(ratio.nanos(count), count);
        }
    }

    #[test]
    fn whole_nanoseconds_and_halves_are_exact_to_the_last() {
        for (factor, shift, count, nanos) in [
            (1, 1, u64::MAX, u64::MAX / 2),
            (1 << 63, 63, u64::MAX, u64::MAX),
            (u64::MAX, 63, 1 << 63, u64::MAX),
            (u64::MAX, 63, u64::MAX, u64::MAX),
            (1, 63, u64::MAX, 1),
            (0, 0, u64::MAX, 0),
            (125 << 20, 20 + 1, 2, 125),
            // 24 MHz, past what 64 bits hold.
            (349_525_333, 23, u64::MAX / 8, u64::MAX),
        ] {
            assert_eq!(Ratio::of(quanta(factor, shift)).nanos(count), nanos, "{factor} / 2^{shift}");
        }
    }

    #[test]
    fn it_is_what_this_machines_quanta_says() {
        let clock = quanta::Clock::new();
        let ratio = Ratio::of(|count| clock.delta_as_nanos(0, count));
        // Every power of two and its neighbours, and steps of a large odd number, for as long as a clock lasts.
        let powers = (0..63).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let steps = (1..10_000_u64).map(|step| step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2);
        for count in powers.chain(steps) {
            let ours = ratio.nanos(count);
            // Past it quanta overflows, if its counter is a slow one.
            if ours <= HORIZON {
                assert_eq!(ours, clock.delta_as_nanos(0, count), "{count} counts, {ratio:?}");
            }
        }
    }
}
