//! Random numbers, the same on every machine: the generator's output is promised, what is made of it is whole numbers and
//! IEEE's own operations, and logarithms are libm's in Rust rather than the system's.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A source of random numbers for one purpose.
#[derive(Debug)]
pub(super) struct Draw(pub(super) ChaCha8Rng);

/// 2⁻⁵³.
const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0;

impl Draw {
    /// Purposes of one seed have nothing to do with each other: what is drawn more of for one changes no other.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(purpose);
        Self(random)
    }

    /// Evenly from `0..bound`, to within 2⁻³² of each one's share.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(bound)) >> 32) as u32
    }

    /// True in this share of cases.
    pub(super) fn is(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// Evenly from 0 to less than 1.
    #[allow(clippy::cast_precision_loss, reason = "53 bits are what there is")]
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * UNIT
    }

    /// How long until the next event of a Poisson process with an event each unit of time in the mean.
    pub(super) fn wait(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }
}

/// A number's own bits, mixed until nothing is seen of it: the same number is always the same (the finalizer of
/// `MurmurHash3`).
pub(super) const fn mix(number: u64) -> u64 {
    let mut bits = number;
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}
