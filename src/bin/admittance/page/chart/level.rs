//! One caller's level over time.

use admittance::replay::Level;
use maud::{Markup, html};
use plotters::style::Color;

use super::{Area, DENIED, Drawn, Frame, INK, LEVEL, Size, axis, figure, legend};
use crate::page::{Words, number};
use crate::text::{instant, printable, span};

/// The figure; nothing where there is nothing to follow.
pub(in crate::page) fn level(
    id: &str,
    title: &str,
    key: &[u8],
    levels: &[Level],
    capacity: u64,
    words: &Words,
) -> Markup {
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else { return Markup::default() };
    let who = printable(key);
    let empty = levels.iter().filter(|level| level.lowest == 0).count();
    let denied: u64 = levels.iter().map(|level| level.denied).sum();
    let lines: u64 = levels.iter().map(|level| level.lines).sum();
    let description = format!(
        "Tokens left for {who} from {} to {}, out of {}: {} requests, {} of them denied; empty in {empty} of {} \
         stretches of {}.",
        instant(first.from_ns),
        instant(last.from_ns.saturating_add(last.length_ns)),
        number(capacity),
        number(lines),
        number(denied),
        levels.len(),
        span(first.length_ns),
    );
    let entries =
        [("level", "between the most and the fewest tokens left"), ("full", words.full), ("denied", "denied in it")];
    figure(id, title, &description, &legend(&entries), &table(levels), |area, size| draw(area, size, levels, capacity))
}

/// Only stretches in which something was asked for: what lies between refills.
fn table(levels: &[Level]) -> Markup {
    html! {
        table {
            thead { tr { th { "from" } th { "requests" } th { "denied" } th { "fewest left" } th { "most left" } } }
            tbody { @for level in levels.iter().filter(|level| level.lines > 0) { tr {
                th scope="row" { (instant(level.from_ns)) }
                td { (number(level.lines)) } td { (number(level.denied)) }
                td { (number(level.lowest)) } td { (number(level.highest)) }
            } } }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a place in a drawing")]
fn draw(area: &Area<'_>, size: Size, levels: &[Level], capacity: u64) -> Drawn {
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else { return Ok(()) };
    let (from, until) = (first.from_ns, last.from_ns.saturating_add(last.length_ns));
    let mut frame = Frame::on(area, &axis::of_time(from, until, size.labels), &axis::of_counts(capacity))?;
    let at = |time: u64| (time - from) as f64;
    let edges = |level: &Level| [at(level.from_ns), at(level.from_ns.saturating_add(level.length_ns))];
    let edge = |height: fn(&Level) -> u64| {
        levels.iter().flat_map(move |level| edges(level).map(|x| (x, height(level) as f64))).collect::<Vec<_>>()
    };
    let (highest, lowest) = (edge(|level| level.highest), edge(|level| level.lowest));
    // What was there all the time, paler; then the band that it moved in. A level that does not move is a line.
    let end = at(until);
    frame.fill([&[(0.0, 0.0)], &*lowest, &[(end, 0.0)]].concat(), LEVEL.mix(0.3))?;
    frame.fill(highest.iter().chain(lowest.iter().rev()).copied().collect(), LEVEL.to_rgba())?;
    frame.line(highest, LEVEL, 2)?;
    let full = capacity as f64;
    frame.line(vec![(0.0, full), (at(until), full)], INK, 1)?;
    for level in levels.iter().filter(|level| level.denied > 0) {
        // Wide enough to be seen, where a stretch is a pixel.
        let [begin, _] = edges(level);
        frame.line(vec![(begin, 0.0), (begin + end / 200.0, 0.0)], DENIED, 7)?;
    }
    Ok(())
}
