//! Axes with marks of our own, and what is drawn between them.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::{Area, Drawn, GRID, INK};

/// A chart with its axes drawn, in coordinates that begin at 0.
pub(super) struct Frame<'a>(ChartContext<'a, SVGBackend<'a>, Cartesian2d<Marks, Marks>>);

/// The marks of an axis, in order: where, and what they say. The axis ends at `end`.
#[derive(Clone)]
pub(super) struct Marks {
    pub(super) end: f64,
    pub(super) at: Vec<(f64, String)>,
}

impl Ranged for Marks {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range()).map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.at.iter().map(|(place, _)| *place).collect()
    }

    fn range(&self) -> Range<f64> {
        0.0..self.end
    }
}

impl ValueFormatter<f64> for Marks {
    /// What the nearest mark says: this is asked at marks alone.
    fn format_ext(&self, place: &f64) -> String {
        let near = |(at, _): &&(f64, String)| (at - place).abs();
        self.at.iter().min_by(|a, b| near(a).total_cmp(&near(b))).map(|(_, text)| text.clone()).unwrap_or_default()
    }
}

impl<'a> Frame<'a> {
    pub(super) fn on(area: &Area<'a>, x: &Marks, y: &Marks) -> Result<Self, DrawingAreaErrorKind<std::io::Error>> {
        // Numbers are as wide as their digits; labels of time are centred on their marks.
        let widest = y.at.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(1);
        let last = x.at.last().map_or(0, |(_, text)| text.chars().count());
        let mut chart = ChartBuilder::on(area)
            .margin_top(12)
            .margin_right((4 * u32::try_from(last).unwrap_or(0)).saturating_sub(20).clamp(28, 80))
            .x_label_area_size(28)
            .y_label_area_size(18 + 8 * u32::try_from(widest).unwrap_or(8))
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", 13).into_font().color(&INK))
            .draw()?;
        Ok(Self(chart))
    }

    /// A filled outline.
    pub(super) fn fill(&mut self, outline: Vec<(f64, f64)>, colour: impl Color) -> Drawn {
        self.0.draw_series(std::iter::once(Polygon::new(outline, colour.filled())))?;
        Ok(())
    }

    /// A line through points, so many pixels thick.
    pub(super) fn line(&mut self, points: Vec<(f64, f64)>, colour: RGBColor, width: u32) -> Drawn {
        self.0.draw_series(std::iter::once(PathElement::new(points, colour.stroke_width(width))))?;
        Ok(())
    }

    /// A text centred above a point.
    pub(super) fn text_above(&mut self, text: String, at: (f64, f64)) -> Drawn {
        use plotters::style::text_anchor::{HPos, Pos, VPos};

        let style = ("sans-serif", 13).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Bottom));
        self.0.draw_series(std::iter::once(Text::new(text, at, style)))?;
        Ok(())
    }
}
