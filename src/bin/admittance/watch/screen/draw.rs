//! One picture.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Block, Cell, Paragraph, Row, Sparkline, Table};

use super::Chosen;
use crate::text::{grouped, instant};
use crate::watch::limited::SECOND;
use crate::watch::view::{Rate, View, wait};

/// What was refused.
const REFUSED: Color = Color::Red;

/// How wide a key may be told: an IPv6 address, at least.
const KEY: Constraint = Constraint::Fill(1);

pub(super) fn all(frame: &mut Frame<'_>, title: &str, view: &View, chosen: &mut Chosen) {
    let [head, rates, sums, bad, limited, top, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(3),
        Constraint::Length(1),
        Constraint::Length(view.bad.is_some().into()),
        Constraint::Fill(3),
        Constraint::Fill(2),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let [left, right] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(clock(view).width() as u16)]).areas(head);
    frame.render_widget(Line::from(title).bold(), left);
    frame.render_widget(clock(view), right);
    for (rate, area) in view.rates.iter().zip(rates.rows()) {
        draw_rate(frame, rate, view, area);
    }
    frame.render_widget(Line::from(format!("{}; {}", view.sums_text(), view.limited_text())), sums);
    if let Some(line) = &view.bad {
        frame.render_widget(Line::from(format!("unreadable: {line}")).yellow(), bad);
    }
    draw_limited(frame, view, chosen, limited);
    let [by_lines, by_refused] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(top);
    draw_top(frame, "Most requests", &view.top_lines, Style::new(), by_lines);
    draw_top(frame, "Most refusals", &view.top_refused, Style::new().fg(REFUSED), by_refused);
    frame.render_widget(keys(view, chosen), foot);
}

/// The log's own clock.
fn clock(view: &View) -> Line<'static> {
    let Some((latest, ago)) = view.latest else { return Line::from("no line yet") };
    let quiet = if ago.as_secs() > 0 { format!(" + {}s", ago.as_secs()) } else { String::new() };
    Line::from(format!("the log's clock: {}{quiet}", instant(latest - latest % SECOND)))
}

/// A rate of the last ten seconds, and the minute before now, all of them to one scale.
fn draw_rate(frame: &mut Frame<'_>, rate: &Rate, view: &View, area: Rect) {
    let [name, number, chart] =
        Layout::horizontal([Constraint::Length(11), Constraint::Length(11), Constraint::Fill(1)]).areas(area);
    let style = if rate.name.starts_with("refused") { Style::new().fg(REFUSED) } else { Style::new() };
    frame.render_widget(Line::from(rate.name), name);
    frame.render_widget(Line::from(format!("{:.1} ", rate.per_second)).right_aligned().style(style), number);
    // The newest are at the right.
    let from = rate.series.len().saturating_sub(usize::from(chart.width));
    let highest = view.rates.iter().flat_map(|rate| &rate.series).max().copied().unwrap_or_default();
    let line = Sparkline::default().data(&rate.series[from..]).max(highest.max(1)).style(style);
    frame.render_widget(line, chart);
}

fn draw_limited(frame: &mut Frame<'_>, view: &View, chosen: &mut Chosen, area: Rect) {
    let inside = usize::from(area.height.saturating_sub(3));
    chosen.row = chosen.row.min(view.limited.len().saturating_sub(inside.max(1)));
    let refused = grouped(view.refused_in_minute().into());
    let unlisted = match view.unlisted {
        0 => String::new(),
        lines => format!("; {} of callers not listed", grouped(lines.into())),
    };
    let title = format!(" Limited now: {} ({refused} refused in the last minute{unlisted}) ", view.held());
    let rows = view.limited.iter().skip(chosen.row).take(inside).map(|row| {
        let style = if row.wait == Some(0) { Style::new().dim() } else { Style::new() };
        let number = |count: u64| Cell::from(Line::from(grouped(count.into())).right_aligned());
        let passes = Cell::from(Line::from(wait(row.wait)).right_aligned());
        Row::new([Cell::from(row.key.clone()), number(row.minute), number(row.refused), passes]).style(style)
    });
    let head = ["last minute", "in all", "would pass in"].map(|name| Cell::from(Line::from(name).right_aligned()));
    let widths = [KEY, Constraint::Length(12), Constraint::Length(12), Constraint::Length(16)];
    let table = Table::new(rows, widths)
        .header(Row::new(std::iter::once(Cell::from("caller")).chain(head)).dim())
        .block(Block::bordered().title(title));
    frame.render_widget(table, area);
}

fn draw_top(frame: &mut Frame<'_>, title: &str, top: &[(String, u64)], style: Style, area: Rect) {
    let rows = top.iter().map(|(key, count)| {
        let count = Line::from(grouped((*count).into())).right_aligned().style(style);
        Row::new([Cell::from(key.as_str()), Cell::from(count)])
    });
    let table = Table::new(rows, [KEY, Constraint::Length(12)]).block(Block::bordered().title(format!(" {title} ")));
    frame.render_widget(table, area);
}

fn keys(view: &View, chosen: &Chosen) -> Paragraph<'static> {
    let mut said = String::new();
    if view.ended {
        said += "THE LOG HAS ENDED · ";
    }
    if chosen.paused {
        said += "PAUSED · ";
    }
    let sort = chosen.sort.name();
    Paragraph::new(
        Line::from(format!("{said}q quit · p pause · s sort (by {sort}) · ↑↓ move · times are the log's")).reversed(),
    )
}
