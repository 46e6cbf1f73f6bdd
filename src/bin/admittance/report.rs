//! The summary for people.

use std::io::{self, Write};
use std::time::Duration;

use admittance::Resolution;
use admittance::replay::{Bar, Summary, Unit};
use jiff::{SignedDuration, Timestamp};

pub(crate) fn write(summary: &Summary, to: &mut impl Write) -> io::Result<()> {
    let decided = summary.decided();
    let resolution = match summary.rule.resolution() {
        Resolution::Exact => "exact",
        Resolution::WithinOneNanosecond => "within one nanosecond of exact",
    };
    writeln!(to, "{}, {resolution}", summary.rule)?;
    writeln!(to)?;
    write!(to, "lines      {}", grouped(summary.lines.into()))?;
    if summary.unreadable > 0 {
        write!(to, ", of which {} cannot be read", grouped(summary.unreadable.into()))?;
    }
    writeln!(to)?;
    if summary.out_of_order > 0 {
        let (out, late) = (grouped(summary.out_of_order.into()), grouped(summary.decided_late.into()));
        writeln!(to, "order      {out} earlier than the line before, {late} decided at their key's latest time")?;
    }
    if let Some((first, last)) = summary.span {
        writeln!(to, "span       {} to {} ({})", instant(first), instant(last), span(last - first))?;
    }
    writeln!(
        to,
        "keys       {}, of which {} were denied",
        grouped(summary.keys.into()),
        grouped(summary.keys_denied.into())
    )?;
    if decided == 0 {
        return writeln!(to, "nothing to decide");
    }
    for (name, count) in [("admitted", summary.admitted), ("denied", summary.denied), ("never", summary.never)] {
        if name != "never" || count > 0 {
            writeln!(to, "{name:<10} {} ({:.2}%)", grouped(count.into()), 100.0 * summary.share(count))?;
        }
    }
    if summary.never > 0 {
        writeln!(to, "           (never: they cost more than the limit ever holds)")?;
    }
    if summary.unit == Unit::Byte || summary.cost != u128::from(decided) {
        let unit = if summary.unit == Unit::Byte { "bytes" } else { "tokens" };
        writeln!(to, "{unit:<10} {} of {} admitted", grouped(summary.cost_admitted), grouped(summary.cost))?;
    }
    if !summary.most_denied.is_empty() {
        writeln!(to, "\ndenied most")?;
        let names: Vec<String> = summary.most_denied.iter().map(|key| printable(&key.key)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, key) in names.iter().zip(&summary.most_denied) {
            let share = summary_share(key.denied, key.lines);
            writeln!(
                to,
                "  {name:<width$}  {:>8} of {:>8}  {share:>3}%",
                grouped(key.denied.into()),
                grouped(key.lines.into())
            )?;
        }
        writeln!(to, "\ndenied over time, each row {}", span(summary.timeline.first().map_or(0, |bar| bar.length_ns)))?;
        timeline(&summary.timeline, to)?;
    }
    Ok(())
}

fn timeline(bars: &[Bar], to: &mut impl Write) -> io::Result<()> {
    const WIDTH: u64 = 40;
    let most = bars.iter().map(|bar| bar.lines).max().unwrap_or(1).max(1);
    for bar in bars {
        let cells = |count: u64| {
            usize::try_from((u128::from(count) * u128::from(WIDTH)).div_ceil(u128::from(most))).unwrap_or(0)
        };
        let (denied, all) = (cells(bar.denied), cells(bar.lines));
        let drawn = format!("{}{}", "█".repeat(denied), "░".repeat(all.saturating_sub(denied)));
        let width = usize::try_from(WIDTH).unwrap_or(0);
        writeln!(
            to,
            "  {}  {drawn:<width$}  {} of {}",
            instant(bar.from_ns),
            grouped(bar.denied.into()),
            grouped(bar.lines.into())
        )?;
    }
    writeln!(to, "  █ denied  ░ admitted")
}

/// Whole percent, but 0 and 100 only where it is none and all.
fn summary_share(part: u64, whole: u64) -> u64 {
    if part == 0 || part == whole {
        return if part == 0 { 0 } else { 100 };
    }
    let percent = u128::from(part) * 100 / u128::from(whole.max(1));
    u64::try_from(percent).unwrap_or(100).clamp(1, 99)
}

/// 1 234 567.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A time of our days as a date; a trace that starts near 0 as a time since its start.
fn instant(nanos: u64) -> String {
    const YEAR_1990: u64 = 631_152_000_000_000_000;
    match Timestamp::from_nanosecond(nanos.into()) {
        Ok(time) if nanos >= YEAR_1990 => time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        _ => format!("{:?}", Duration::from_nanos(nanos)),
    }
}

fn span(nanos: u64) -> String {
    if nanos < 1_000_000_000 {
        return format!("{:?}", Duration::from_nanos(nanos));
    }
    let whole = SignedDuration::from_secs(i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX));
    format!("{whole:#}")
}

/// A key as it can be shown: no control characters, no end of the terminal's line.
fn printable(key: &[u8]) -> String {
    const MOST: usize = 48;
    let text: String = String::from_utf8_lossy(key).chars().flat_map(char::escape_debug).collect();
    if text.chars().count() > MOST { text.chars().take(MOST - 1).chain(['…']).collect() } else { text }
}
