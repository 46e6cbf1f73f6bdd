//! Admitted and denied over time, stacked.

use admittance::replay::{Bar, Summary};
use maud::{Markup, html};
use plotters::style::RGBColor;

use super::{ADMITTED, Area, DENIED, Drawn, Frame, NEVER, Size, axis, figure, legend};
use crate::page::number;
use crate::text::{instant, span};

/// The figure; nothing where there are no two bars to compare.
pub(in crate::page) fn over_time(id: &str, summary: &Summary) -> Markup {
    let bars = &summary.timeline;
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return Markup::default() };
    if bars.len() < 2 {
        return Markup::default();
    }
    let busiest = bars.iter().max_by_key(|bar| bar.lines).unwrap_or(first);
    let worst = bars.iter().max_by_key(|bar| bar.denied).unwrap_or(first);
    let length = span(first.length_ns);
    let most_denied = match worst.denied {
        0 => String::new(),
        denied => format!(" The most denied were {}, at {}.", number(denied), instant(worst.from_ns)),
    };
    let description = format!(
        "Requests in each {length} from {} to {}. The busiest had {}, at {}.{most_denied}",
        instant(first.from_ns),
        instant(last.from_ns.saturating_add(last.length_ns)),
        number(busiest.lines),
        instant(busiest.from_ns),
    );
    let mut entries = vec![("admitted", "admitted"), ("denied", "denied")];
    if summary.never > 0 {
        entries.push(("never", "never admitted: costs more than the limit holds"));
    }
    let title = format!("Admitted and denied over time, in each {length}");
    figure(id, &title, &description, &legend(&entries), &table(bars), |area, size| draw(area, size, bars))
}

fn table(bars: &[Bar]) -> Markup {
    html! {
        table {
            thead { tr { th { "from" } th { "admitted" } th { "denied" } th { "never" } } }
            tbody { @for bar in bars { tr {
                th scope="row" { (instant(bar.from_ns)) }
                td { (number(admitted(bar))) } td { (number(bar.denied)) } td { (number(bar.never)) }
            } } }
        }
    }
}

/// How high a part of the stack reaches.
type Height = fn(&Bar) -> u64;

fn admitted(bar: &Bar) -> u64 {
    bar.lines - bar.denied - bar.never
}

#[allow(clippy::cast_precision_loss, reason = "a place in a drawing")]
fn draw(area: &Area<'_>, size: Size, bars: &[Bar]) -> Drawn {
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return Ok(()) };
    let from = first.from_ns;
    let until = last.from_ns.saturating_add(last.length_ns);
    let most = bars.iter().map(|bar| bar.lines).max().unwrap_or(0);
    let mut frame = Frame::on(area, &axis::of_time(from, until, size.labels), &axis::of_counts(most))?;
    let at = |time: u64| (time - from) as f64;
    // From the back to the front: each reaches from the axis to the top of its part of the stack.
    let stack: [(RGBColor, Height); 3] =
        [(NEVER, |bar| bar.lines), (DENIED, |bar| admitted(bar) + bar.denied), (ADMITTED, admitted)];
    for (colour, height) in stack {
        let mut outline = vec![(0.0, 0.0)];
        for bar in bars {
            let height = height(bar) as f64;
            outline.extend([(at(bar.from_ns), height), (at(bar.from_ns.saturating_add(bar.length_ns)), height)]);
        }
        outline.push((at(until), 0.0));
        frame.fill(outline, colour)?;
    }
    Ok(())
}
