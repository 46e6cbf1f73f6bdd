//! Numbers as blocks of text.

use std::io::{self, Write};

use admittance::replay::Bar;

use crate::text::{grouped, instant, span};

/// Eighths of a block, growing upwards.
const UP: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Eighths of a block, growing to the right.
const RIGHT: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// How many columns a chart has at most: a terminal's 80, less the margin.
const COLUMNS: usize = 70;

/// How many lines of text it is high.
const ROWS: u64 = 6;

/// Denials over time, and all lines below them, each to its own scale.
pub(super) fn over_time(bars: &[Bar], to: &mut impl Write) -> io::Result<()> {
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return Ok(()) };
    if bars.len() == 1 {
        // One column says nothing that the numbers do not.
        return Ok(());
    }
    let most = |count: fn(&Bar) -> u64| bars.iter().map(count).max().unwrap_or(0);
    let (denied, lines) = (most(|bar| bar.denied), most(|bar| bar.lines));
    let wide = (COLUMNS / bars.len()).max(1);
    let margin = grouped(denied.into()).chars().count().max("lines".len()) + 2;
    writeln!(to, "\nDenied over time, a column {}", span(first.length_ns))?;
    for row in (0..ROWS).rev() {
        let label = if row == ROWS - 1 { grouped(denied.into()) } else { String::new() };
        let cells = bars.iter().map(|bar| eighths(bar.denied, denied, ROWS).saturating_sub(8 * row));
        writeln!(to, "{label:>margin$} │{}", columns(cells, wide))?;
    }
    writeln!(to, "{:>margin$} └{}", 0, "─".repeat(wide * bars.len()))?;
    let cells = bars.iter().map(|bar| eighths(bar.lines, lines, 1));
    writeln!(to, "{:>margin$}  {}  at most {}", "lines", columns(cells, wide), grouped(lines.into()))?;
    let (from, until) = (instant(first.from_ns), instant(last.from_ns.saturating_add(last.length_ns)));
    let between = (wide * bars.len()).saturating_sub(from.chars().count()).max(until.chars().count() + 1);
    writeln!(to, "{:>margin$}  {from}{until:>between$}", "")
}

/// A bar to the right, of at most `width` blocks.
pub(super) fn across(part: u64, whole: u64, width: u64) -> String {
    let eighths = eighths(part, whole, width);
    let full = usize::try_from(eighths / 8).unwrap_or(0);
    let rest = RIGHT[(eighths % 8) as usize];
    format!("{}{rest}", "█".repeat(full)).trim_end().to_owned()
}

fn columns(cells: impl Iterator<Item = u64>, wide: usize) -> String {
    let text: String = cells.flat_map(|cell| std::iter::repeat_n(UP[cell.min(8) as usize], wide)).collect();
    text.trim_end().to_owned()
}

/// How many eighths of `blocks` blocks `part` is of `whole`; one at least where it is not nothing.
fn eighths(part: u64, whole: u64, blocks: u64) -> u64 {
    let eighths = (u128::from(part) * 8 * u128::from(blocks)).div_ceil(u128::from(whole.max(1)));
    u64::try_from(eighths).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share_and_never_nothing_for_something() {
        assert_eq!(across(0, 10, 4), "");
        assert_eq!(across(1, 1_000_000, 4), "▏");
        assert_eq!(across(5, 10, 4), "██");
        assert_eq!(across(10, 10, 4), "████");
        assert_eq!(across(u64::MAX, u64::MAX, 4), "████");
        assert_eq!(across(0, 0, 4), "");
    }

    #[test]
    fn a_chart_has_a_column_a_bar_and_its_tallest_is_full() {
        let bars: Vec<Bar> = (0..30)
            .map(|number| Bar { from_ns: number * 60, length_ns: 60, lines: 100, denied: number, never: 0 })
            .collect();
        let mut text = Vec::new();
        over_time(&bars, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert!(rows[0].starts_with("     29 │") && rows[0].ends_with("██"), "{text}");
        // The bar of no denials is empty, and every other one is seen in the lowest row.
        let lowest = rows[5].split_once('│').unwrap().1;
        assert_eq!(lowest.chars().count(), 60);
        assert!(lowest.starts_with("  ▂▂"), "{text}");
    }
}
