//! Order statistics: unlike a mean they do not care that the scheduler took a round away.

use serde::Serialize;

/// The quartiles of a set of measurements.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quartiles {
    /// A quarter is below.
    pub q1: f64,
    /// Half is below.
    pub median: f64,
    /// Three quarters are below.
    pub q3: f64,
}

impl Quartiles {
    /// Of `values`, interpolated between neighbours.
    ///
    /// # Panics
    ///
    /// When there are no values, or one is not a number.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(|a, b| a.partial_cmp(b).expect("a measurement is a number"));
        Self { q1: quantile(&values, 0.25), median: quantile(&values, 0.5), q3: quantile(&values, 0.75) }
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an index into a vector of rounds")]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, part) = (place as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * part
}

#[cfg(test)]
mod tests {
    use super::Quartiles;

    #[test]
    fn quartiles_fall_between_neighbours() {
        assert_eq!(bits(Quartiles::of([4.0, 1.0, 3.0, 2.0])), [1.75, 2.5, 3.25].map(f64::to_bits));
    }

    #[test]
    fn one_value_is_all_its_quartiles() {
        assert_eq!(bits(Quartiles::of([7.0])), [7.0_f64.to_bits(); 3]);
    }

    /// Quarters are exact in binary.
    fn bits(Quartiles { q1, median, q3 }: Quartiles) -> [u64; 3] {
        [q1, median, q3].map(f64::to_bits)
    }
}
