//! The answer for people.

use std::io::{self, Write};

use admittance::Resolution;
use admittance::replay::{FitPoint, Fitted, Format, Of, Unit};

use crate::text::{grouped, instant, percent, printable, span};

/// One and many of whoever has a budget of its own.
pub(super) fn callers(fitted: &Fitted) -> (&'static str, &'static str) {
    crate::report::named(&fitted.whose())
}

/// What a capacity is counted in.
pub(super) fn unit(fitted: &Fitted) -> &'static str {
    match (fitted.unit, &fitted.format) {
        (_, Some(Format::Jsonl | Format::Json(_))) if fitted.cost == u128::from(fitted.requests) => "requests",
        (_, Some(Format::Jsonl | Format::Json(_))) => "tokens",
        (Unit::Request, _) => "requests",
        (Unit::Byte, _) => "bytes",
    }
}

/// What is promised of the share, in a sentence.
pub(super) fn promise(fitted: &Fitted) -> String {
    let (_, many) = callers(fitted);
    let number = |count: u64| grouped(count.into());
    match fitted.of {
        Of::Callers => format!(
            "{} of {} {many}, {} of them, would never have been denied",
            fitted.spare,
            number(fitted.callers),
            number(fitted.to_spare)
        ),
        Of::Requests => format!(
            "{} of {} requests, {} of them, come from {many} that would never have been denied",
            fitted.spare,
            number(fitted.requests),
            number(fitted.to_spare)
        ),
    }
}

/// Why it is the one that is suggested.
pub(super) fn reason(fitted: &Fitted) -> String {
    let (one, _) = callers(fitted);
    format!(
        "of these, it lets one {one} do least in {}: {} {}",
        over(fitted),
        grouped(fitted.suggestion().most_in(fitted.over)),
        unit(fitted)
    )
}

fn over(fitted: &Fitted) -> String {
    span(u64::try_from(fitted.over.as_nanos()).unwrap_or(u64::MAX))
}

/// As `1 per 10s`.
pub(super) fn refill(point: &FitPoint) -> String {
    let (tokens, duration) = (point.refill.tokens, point.refill.duration);
    let every = span(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    format!("{} per {every}", grouped(tokens.into()))
}

pub(super) fn write(fitted: &Fitted, reading: &str, to: &mut impl Write) -> io::Result<()> {
    let number = |count: u64| grouped(count.into());
    let (one, many) = callers(fitted);
    writeln!(to, "Smallest token buckets for each {one} so that\n{}\n", promise(fitted))?;
    let bad = match fitted.unreadable {
        0 => String::new(),
        bad => format!(", {} of them unreadable", number(bad)),
    };
    writeln!(to, "  lines     {}{bad}", number(fitted.lines))?;
    if let Some((first, last)) = fitted.span {
        writeln!(to, "  time      {} to {}, {}", instant(first), instant(last), span(last - first))?;
    }
    if fitted.out_of_order > 0 {
        let late = match fitted.counted_late {
            0 => String::new(),
            late => format!(", {} counted at their {one}'s latest time (not with --sort)", number(late)),
        };
        writeln!(to, "  order     {} earlier than the line before{late}", number(fitted.out_of_order))?;
    }
    writeln!(to, "  {many:<10}{}", number(fitted.callers))?;
    if unit(fitted) != "requests" {
        writeln!(to, "  {:<10}{}", unit(fitted), grouped(fitted.cost))?;
    }
    table(fitted, to)?;
    suggestion(fitted, reading, to)
}

fn table(fitted: &Fitted, to: &mut impl Write) -> io::Result<()> {
    let (_, many) = callers(fitted);
    let least = format!("most in {}", over(fitted));
    let rows: Vec<[String; 5]> = fitted
        .frontier
        .iter()
        .map(|point| {
            let most = point.most_demanding.first();
            [
                refill(point),
                grouped(point.budget.capacity().into()),
                grouped(point.most_in(fitted.over)),
                grouped(point.callers_denied.into()),
                most.map_or_else(String::new, |caller| {
                    format!("{} would take {}", printable(&caller.key), grouped(caller.capacity.into()))
                }),
            ]
        })
        .collect();
    let head = ["refill", "capacity", &least, &format!("{many} denied"), "the most demanding of them"];
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths = [0, 1, 2, 3].map(width);
    let line = |mark: &str, row: [&str; 5]| {
        let [a, b, c, d] = widths;
        let text = format!("{mark} {:<a$}  {:>b$}  {:>c$}  {:>d$}  {}", row[0], row[1], row[2], row[3], row[4]);
        text.trim_end().to_owned()
    };
    writeln!(to, "\n{}", line(" ", head))?;
    for (place, row) in rows.iter().enumerate() {
        let mark = if place == fitted.suggested { "→" } else { " " };
        writeln!(to, "{}", line(mark, row.each_ref().map(String::as_str)))?;
    }
    Ok(())
}

fn suggestion(fitted: &Fitted, reading: &str, to: &mut impl Write) -> io::Result<()> {
    let point = fitted.suggestion();
    let number = |count: u64| grouped(count.into());
    let (_, many) = callers(fitted);
    let exact = match point.budget.resolution() {
        Resolution::Exact => "exact",
        Resolution::WithinOneNanosecond => "within a nanosecond of exact",
    };
    writeln!(to, "\nSuggested: capacity {}, refill {} ({exact})", number(point.budget.capacity()), refill(point))?;
    writeln!(to, "  {}", reason(fitted))?;
    let check = fitted.check;
    let lost = check.denied + check.never;
    writeln!(
        to,
        "  a replay with it denies {} of {} {many}, and {} of {} requests ({})",
        number(check.callers_denied),
        number(fitted.callers),
        number(lost),
        number(fitted.requests),
        percent(lost, fitted.requests)
    )?;
    writeln!(to, "\nWho would feel it:")?;
    let (capacity, refill) = (point.budget.capacity(), point.refill);
    writeln!(to, "  admittance replay {reading} --capacity {capacity} --refill {refill}")
}
