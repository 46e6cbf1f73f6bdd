//! How callers' peak demands are spread about the limit.

use admittance::replay::Peaks;
use maud::{Markup, html};

use super::{ADMITTED, Area, DENIED, Drawn, Frame, Size, axis, figure, legend};
use crate::page::{Words, number};

/// Callers whose peak demand lies between two multiples of the limit.
pub(in crate::page) struct Band {
    /// More than this many tokens…
    above: u64,
    /// … and at most this many.
    most: u64,
    callers: u64,
    is_within: bool,
}

/// Halvings below the limit, doublings above it; the first and the last are open. Bands of the same whole tokens are one.
pub(in crate::page) fn bands(peaks: &Peaks, limit: u64) -> Vec<Band> {
    let mut bounds: Vec<u64> = [16, 8, 4, 2, 1].map(|part| limit / part).into();
    bounds.extend([2, 4, 8, 16].map(|times| limit.saturating_mul(times)));
    bounds.push(u64::MAX);
    bounds.dedup();
    // A demand of nothing belongs to the lowest band that there is.
    bounds.retain(|&most| most > 0);
    let mut above = None;
    bounds
        .into_iter()
        .map(|most| {
            let callers =
                peaks.between(above.unwrap_or(0), most) + if above.is_none() { peaks.of_nothing() } else { 0 };
            let band = Band { above: above.unwrap_or(0), most, callers: callers as u64, is_within: most <= limit };
            above = Some(most);
            band
        })
        .collect()
}

/// The figure; nothing of no callers.
pub(in crate::page) fn demand(id: &str, peaks: &Peaks, limit: u64, words: &Words) -> Markup {
    let bands = bands(peaks, limit);
    let Some(largest) = peaks.largest() else { return Markup::default() };
    let spared = |thousandths| peaks.spares(thousandths).map_or_else(String::new, number);
    let description = format!(
        "The smallest {} under which nobody is denied, at this {}: {} for half of all {}, {} for 99 % of them, {} for 99.9 %, \
         {} for every one. The limit is {}.",
        words.capacity,
        words.refill,
        spared(500),
        words.callers,
        spared(990),
        spared(999),
        number(largest),
        number(limit),
    );
    let entries = [("admitted", "never denied"), ("denied", "denied")];
    let title = format!("How much {} ask for at once, against the limit of {}", words.callers, number(limit));
    html! {
        (figure(id, &title, &description, &legend(&entries), &table(&bands, words), |area, size| draw(area, size, &bands)))
        p class="reading" { (description) }
    }
}

impl Band {
    fn name(&self) -> String {
        match (self.above, self.most) {
            (above, u64::MAX) => format!("> {}", number(above)),
            (above, most) if most - above == 1 => number(most),
            (above, most) => format!("{}–{}", number(above + 1), number(most)),
        }
    }
}

fn table(bands: &[Band], words: &Words) -> Markup {
    html! {
        table {
            thead { tr { th { "peak demand in tokens" } th { (words.callers) } th { "" } } }
            tbody { @for band in bands { tr {
                th scope="row" { (band.name()) }
                td { (number(band.callers)) }
                td { (if band.is_within { "never denied" } else { "denied" }) }
            } } }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a place in a drawing")]
fn draw(area: &Area<'_>, size: Size, bands: &[Band]) -> Drawn {
    let most = bands.iter().map(|band| band.callers).max().unwrap_or(0);
    let every = if size.labels < 5 { 3 } else { 1 };
    let marks = axis::Marks {
        end: bands.len() as f64,
        at: bands
            .iter()
            .enumerate()
            .map(|(place, band)| {
                let text = if place % every == 0 { band.name() } else { String::new() };
                (place as f64 + 0.5, text)
            })
            .collect(),
    };
    // Room for the numbers above the bars.
    let mut frame = Frame::on(area, &marks, &axis::of_counts(most + most / 10 + 1))?;
    for (place, band) in bands.iter().enumerate() {
        let (left, right) = (place as f64 + 0.12, place as f64 + 0.88);
        let top = band.callers as f64;
        let outline = vec![(left, 0.0), (left, top), (right, top), (right, 0.0)];
        frame.fill(outline, if band.is_within { ADMITTED } else { DENIED })?;
        frame.text_above(number(band.callers), (place as f64 + 0.5, top))?;
    }
    Ok(())
}
