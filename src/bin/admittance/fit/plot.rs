//! The frontier as a plot: capacities against refills, both in powers of ten.
//!
//! Drawn by plotters as SVG. Its text is left to the viewer's fonts; sizes are guessed, so nothing here hangs on a width.

use std::fmt::Write;

use admittance::replay::{FitPoint, Fitted};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::tell::{callers, promise, refill, unit};
use crate::text::grouped;

const SIZE: (u32, u32) = (960, 600);
const LINE: RGBColor = RGBColor(0x1f, 0x5f, 0xa8);
const MARK: RGBColor = RGBColor(0xb8, 0x3a, 0x1e);
const GUIDE: RGBColor = RGBColor(0xdc, 0xdc, 0xdc);

/// The plot, with a title and a description for those who do not see it.
pub(super) fn svg(fitted: &Fitted) -> String {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        draw(fitted, &area).expect("a string takes everything");
    }
    // What plotters does not write: what a screen reader says.
    let names = format!(
        " role=\"img\" aria-labelledby=\"title desc\"><title id=\"title\">{}</title><desc id=\"desc\">{}</desc>",
        escaped(&title(fitted)),
        escaped(&description(fitted))
    );
    match svg.find("<svg").and_then(|start| Some(start + svg[start..].find('>')?)) {
        Some(end) => svg.replace_range(end..=end, &names),
        None => unreachable!("it begins with its own tag"),
    }
    svg
}

fn title(fitted: &Fitted) -> String {
    format!("Smallest capacity at each refill: {}", promise(fitted))
}

fn description(fitted: &Fitted) -> String {
    let mut text = format!("Capacity in {} against refill, from the slowest: ", unit(fitted));
    for (place, point) in fitted.frontier.iter().enumerate() {
        let comma = if place == 0 { "" } else { "; " };
        let mark = if place == fitted.suggested { " (suggested)" } else { "" };
        let _ = write!(text, "{comma}{}, capacity {}{mark}", refill(point), grouped(point.budget.capacity().into()));
    }
    text + "."
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[allow(clippy::cast_precision_loss, reason = "a place in a plot")]
fn place(point: &FitPoint) -> (f64, f64) {
    (point.refill.tokens as f64 / point.refill.duration.as_secs_f64(), point.budget.capacity() as f64)
}

fn draw<B: DrawingBackend>(
    fitted: &Fitted,
    area: &DrawingArea<B, plotters::coord::Shift>,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let places: Vec<(f64, f64)> = fitted.frontier.iter().map(place).collect();
    let range = |of: fn(&(f64, f64)) -> f64| {
        let (least, most) = places.iter().map(of).fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
        least / 1.6..most * 1.6
    };
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .caption(caption(fitted), ("sans-serif", 18))
        .x_label_area_size(48)
        .y_label_area_size(84)
        .build_cartesian_2d(range(|at| at.0).log_scale(), range(|at| at.1).log_scale())?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(0)
        .y_labels(0)
        .x_label_formatter(&|_| String::new())
        .y_label_formatter(&|_| String::new())
        .set_all_tick_mark_size(0)
        .axis_desc_style(("sans-serif", 15))
        .x_desc("refill")
        .y_desc(format!("capacity, {}", unit(fitted)))
        .draw()?;
    let text = |size: u32, color: RGBColor, to: HPos, at: VPos| {
        ("sans-serif", size).into_font().color(&color).pos(Pos::new(to, at))
    };
    // Powers of ten of a second's tokens are nobody's rates: the guides are at whole ones of a day, an hour and so on.
    let (rates, capacities) = (range(|at| at.0), range(|at| at.1));
    for (rate, name) in guides().into_iter().filter(|(rate, _)| rates.contains(rate)) {
        let (foot, top) = ((rate, capacities.start), (rate, capacities.end));
        chart.draw_series([PathElement::new([foot, top], GUIDE)])?;
        let style = text(14, BLACK, HPos::Center, VPos::Top);
        chart.draw_series([EmptyElement::at(foot) + Text::new(name, (0, 8), style)])?;
    }
    let steps = (0..20).flat_map(|noughts| [1, 2, 5].map(|step: u128| step * 10_u128.pow(noughts)));
    #[allow(clippy::cast_precision_loss, reason = "a place in a plot")]
    for (capacity, at) in steps.map(|step| (step, step as f64)).filter(|(_, at)| capacities.contains(at)) {
        let (left, right) = ((rates.start, at), (rates.end, at));
        chart.draw_series([PathElement::new([left, right], GUIDE)])?;
        let style = text(14, BLACK, HPos::Right, VPos::Center);
        chart.draw_series([EmptyElement::at(left) + Text::new(grouped(capacity), (-8, 0), style)])?;
    }
    chart.draw_series([PathElement::new(places.clone(), LINE.stroke_width(2))])?;
    chart.draw_series(places.iter().map(|at| Circle::new(*at, 4, LINE.filled())))?;
    let suggested = places[fitted.suggested];
    chart.draw_series([Circle::new(suggested, 9, MARK.stroke_width(3))])?;
    // The curve falls: there is room above to the right of each point, and below to the left.
    let pixels: Vec<(i32, i32)> = places.iter().map(|at| chart.backend_coord(at)).collect();
    for place in labelled(&pixels, fitted.suggested) {
        let (point, at) = (&fitted.frontier[place], places[place]);
        let (color, name) = if place == fitted.suggested { (MARK, "suggested: ") } else { (BLACK, "") };
        let capacity = text(14, color, HPos::Left, VPos::Bottom);
        let refill = text(13, color, HPos::Right, VPos::Top);
        chart.draw_series([EmptyElement::at(at)
            + Text::new(grouped(point.budget.capacity().into()), (7, -5), capacity)
            + Text::new(format!("{name}{}", point.refill), (-9, 5), refill)])?;
    }
    area.present()
}

/// Whose labels are written: the suggested one's, and those of the others that are not over one that is. The description has
/// them all.
fn labelled(pixels: &[(i32, i32)], suggested: usize) -> Vec<usize> {
    let mut written = vec![suggested];
    for (place, (x, y)) in pixels.iter().enumerate() {
        let near = |other: &usize| x.abs_diff(pixels[*other].0) < 46 && y.abs_diff(pixels[*other].1) < 14;
        if !written.iter().any(near) {
            written.push(place);
        }
    }
    written
}

fn caption(fitted: &Fitted) -> String {
    let (_, many) = callers(fitted);
    format!(
        "Smallest token buckets that spare {} of {}",
        fitted.spare,
        match fitted.of {
            admittance::replay::Of::Callers => format!("{} {many}", grouped(fitted.callers.into())),
            admittance::replay::Of::Requests => format!("{} requests", grouped(fitted.requests.into())),
        }
    )
}

/// Where the guides are: rates a second, as they are called.
fn guides() -> Vec<(f64, String)> {
    let slow = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "m")]
        .into_iter()
        .flat_map(|(seconds, unit)| [1, 10].map(|tokens| (f64::from(tokens) / seconds, format!("{tokens}/{unit}"))));
    let fast =
        (0..10).map(|noughts| 10_u32.pow(noughts)).map(|rate| (f64::from(rate), format!("{}/s", grouped(rate.into()))));
    slow.chain(fast).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_not_written_over_each_other_and_the_suggested_one_always_is() {
        let pixels = [(0, 0), (40, 5), (60, 5), (75, 40), (300, 40), (310, 45)];
        assert_eq!(labelled(&pixels, 1), [1, 3, 4]);
        assert_eq!(labelled(&pixels, 5), [5, 0, 2, 3]);
    }
}
