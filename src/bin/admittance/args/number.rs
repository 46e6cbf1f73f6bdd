//! Numbers and durations on the command line: one way to write each, and one way to be told what would be right.
//!
//! clap says which flag it is and what was said. Its own parsers take a `+`, and say of `1e3` that a digit is invalid.

use std::ops::RangeInclusive;
use std::time::Duration;

use admittance::Per;

/// A whole number in digits alone: no sign, no fraction, no exponent.
pub(crate) fn whole<N: TryFrom<u64>>(
    range: RangeInclusive<u64>,
    example: &'static str,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = digits(text).filter(|number| range.contains(number)).and_then(|number| N::try_from(number).ok());
        let (least, most) = (range.start(), range.end());
        number.ok_or_else(|| {
            format!("it must be a whole number from {least} to {most}, in digits alone, as in {example}")
        })
    }
}

/// The same with k, M or G behind it, for thousands, millions and thousands of millions.
pub(crate) fn count(text: &str) -> Option<u64> {
    let (number, scale) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    digits(number)?.checked_mul(scale)
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A number in `least..=most`, with a fraction or an exponent as one likes.
pub(crate) fn between(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("it must be a number from {least} to {most}")),
    }
}

/// A duration that is not nothing, as `1m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    read(text).ok_or_else(|| {
        "it must be a whole number and a unit, from 1ns to 213503d, as in 1m (units: ns, us, ms, s, m, h, d)".into()
    })
}

/// A duration, which may be nothing: `0s`, `250ms`.
pub(crate) fn duration_or_none(text: &str) -> Result<Duration, String> {
    // Durations of the library begin at 1.
    let unit = text.trim_start_matches('0');
    let is_zero = unit.len() < text.len() && !unit.starts_with(|next: char| next.is_ascii_digit());
    let duration = if is_zero { read(&format!("1{unit}")).map(|_| Duration::ZERO) } else { read(text) };
    duration.ok_or_else(|| {
        "it must be a whole number and a unit, from 0s to 213503d, as in 250ms or 3s (units: ns, us, ms, s, m, h, d)"
            .into()
    })
}

/// What `1/1m` has behind its stroke.
fn read(text: &str) -> Option<Duration> {
    format!("1/{text}").parse::<Per>().map(|per| per.duration).ok()
}
