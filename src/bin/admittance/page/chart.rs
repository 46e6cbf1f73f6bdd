//! Charts as SVG in the page: drawn by plotters twice, for wide screens and for narrow ones, and described in words.

mod axis;
mod demand;
mod frame;
mod level;
mod time;

pub(super) use demand::demand;
use frame::Frame;
pub(super) use level::level;
pub(super) use time::over_time;

use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;

/// Colours in the light; the style sheet has others for the dark, told by these.
const INK: RGBColor = RGBColor(0x33, 0x3A, 0x40);
const GRID: RGBColor = RGBColor(0xDD, 0xE2, 0xE6);
const ADMITTED: RGBColor = RGBColor(0x3B, 0x7D, 0xB8);
const DENIED: RGBColor = RGBColor(0xC8, 0x45, 0x2F);
const NEVER: RGBColor = RGBColor(0x7A, 0x4F, 0xA3);
const LEVEL: RGBColor = RGBColor(0x2E, 0x8B, 0x74);

/// What is drawn on.
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// A drawing that failed. SVG in memory cannot, but for a mistake in this program: then the page says so in its place.
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// How large a drawing is, in CSS pixels where it is as wide as its screen.
#[derive(Clone, Copy)]
struct Size {
    name: &'static str,
    width: u32,
    height: u32,
    /// How many labels an axis of time has room for.
    labels: u64,
}

const SIZES: [Size; 2] = [
    Size { name: "wide", width: 900, height: 300, labels: 8 },
    Size { name: "narrow", width: 360, height: 240, labels: 4 },
];

/// A figure: its title, its drawings, and beside them a table of the same numbers.
fn figure(
    id: &str,
    title: &str,
    description: &str,
    legend: &Markup,
    table: &Markup,
    draw: impl Fn(&Area<'_>, Size) -> Drawn,
) -> Markup {
    html! {
        figure id=(id) {
            figcaption { h3 { (title) } (legend) }
            @for size in SIZES {
                @match svg(&format!("{id}-{}", size.name), title, description, size, &draw) {
                    Ok(svg) => (PreEscaped(svg)),
                    Err(error) => p class="missing" { "This chart could not be drawn: " (error) },
                }
            }
            details { summary { "These numbers as a table" } div class="scroll" { (table) } }
        }
    }
}

/// What a colour means.
fn legend(entries: &[(&str, &str)]) -> Markup {
    html! {
        p class="legend" { @for (class, name) in entries { span { i class=(class) {} (name) } } }
    }
}

fn svg(
    id: &str,
    title: &str,
    description: &str,
    size: Size,
    draw: impl Fn(&Area<'_>, Size) -> Drawn,
) -> Result<String, String> {
    let mut drawn = String::new();
    {
        let area = SVGBackend::with_string(&mut drawn, (size.width, size.height)).into_drawing_area();
        draw(&area, size).and_then(|()| area.present()).map_err(|error| error.to_string())?;
    }
    // The library's own opening tag has a fixed size and no description.
    let body = drawn.split_once('>').map_or("", |(_, body)| body);
    let (width, height) = (size.width, size.height);
    let named = html! {
        title id={ (id) "-title" } { (title) }
        desc id={ (id) "-desc" } { (description) }
    };
    Ok(format!(
        "<svg class=\"{}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\" xmlns=\"http://www.w3.org/2000/svg\">{}{body}",
        size.name,
        named.into_string()
    ))
}
