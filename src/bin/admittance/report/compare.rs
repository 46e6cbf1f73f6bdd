//! Several limits side by side, as text.

use std::io::{self, Write};

use admittance::replay::{Caller, Comparison, Report};

use super::{keys, limit_of, refused};
use crate::text::{grouped, percent, printable, span};

/// What a row says of a limit.
type Cell<'c> = &'c dyn Fn(&Report) -> String;

/// Each against the first; each list names at most so many callers.
pub(crate) fn write_several(named: &[(&str, &Report)], top: usize, to: &mut impl Write) -> io::Result<()> {
    let [(first_name, first), others @ ..] = named else { return Ok(()) };
    let (_, same) = keys(&first.summary);
    let many = if others.iter().all(|(_, other)| differing(first, other).is_none()) { same } else { "callers" };
    let has_never = named.iter().any(|(_, report)| report.summary.never > 0);
    let number = |count: u64| grouped(count.into());
    for (name, report) in named {
        writeln!(to, "{name}: {}", limit_of(&report.summary))?;
    }
    let rows: [(&str, Cell<'_>); 6] = [
        ("admitted", &|of| share(of.summary.admitted, of)),
        ("denied", &|of| share(of.summary.denied, of)),
        ("never", &|of| share(of.summary.never, of)),
        (&format!("{many} {}", refused(has_never)), &|of| {
            format!("{} of {}", number(of.refused), number(of.summary.keys))
        }),
        ("at the limit", &|of| span(held(of))),
        ("99.9% spared at", &|of| of.demand.spares(999).map_or_else(|| "-".into(), number)),
    ];
    let head = rows.iter().map(|(head, _)| head.chars().count()).max().unwrap_or(0);
    let columns: Vec<Vec<String>> =
        named.iter().map(|(_, of)| rows.iter().map(|(_, cell)| cell(of)).collect()).collect();
    let width = |(column, (name, _)): (&Vec<String>, &(&str, &Report))| {
        column.iter().chain([&(*name).to_owned()]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = columns.iter().zip(named).map(width).collect();
    write!(to, "\n  {:head$}", "")?;
    for ((name, _), width) in named.iter().zip(&widths) {
        write!(to, "  {name:>width$}")?;
    }
    writeln!(to)?;
    for (row, (title, _)) in rows.iter().enumerate() {
        write!(to, "  {title:head$}")?;
        for (column, width) in columns.iter().zip(&widths) {
            write!(to, "  {:>width$}", column[row])?;
        }
        writeln!(to)?;
    }
    for (name, other) in others {
        writeln!(to, "\n{name} instead of {first_name}")?;
        if let Some(why) = differing(first, other) {
            writeln!(to, "  not compared caller by caller: {why}")?;
            continue;
        }
        let compared = Comparison::of(first, other);
        let refused = refused(has_never);
        callers(&format!("newly {refused} {many}"), &compared.newly_denied, top, to)?;
        callers(&format!("newly spared {many}"), &compared.newly_spared, top, to)?;
        writeln!(to, "  {refused} by both: {}", number(compared.still_denied.len() as u64))?;
    }
    Ok(())
}

/// Why the callers of one are not those of the other: keys of different identities meet by accident alone.
pub(crate) fn differing(first: &Report, other: &Report) -> Option<String> {
    let (one, another) = (first.summary.whose(), other.summary.whose());
    let of = |whose: Vec<&str>| printable(whose.join(" and ").as_bytes());
    (one != another).then(|| format!("one is for each {}, the other for each {}", of(one), of(another)))
}

fn share(part: u64, of: &Report) -> String {
    format!("{}  {:>6}", grouped(part.into()), percent(part, of.summary.decided()))
}

/// Time at the limit, of all callers together.
fn held(report: &Report) -> u64 {
    let sum: u128 = report.denied.iter().map(|caller| u128::from(caller.held_ns)).sum();
    u64::try_from(sum).unwrap_or(u64::MAX)
}

fn callers(title: &str, callers: &[&Caller], top: usize, to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "  {title}: {}", grouped(callers.len() as u128))?;
    for caller in callers.iter().take(top) {
        writeln!(
            to,
            "    {:<22}  {} of {}, {}",
            printable(&caller.key),
            outcomes(caller),
            grouped(caller.lines.into()),
            // Where no wait helps, none is told.
            if caller.spells == 0 {
                "whatever the wait".into()
            } else {
                format!("at the limit for {}", span(caller.held_ns))
            }
        )?;
    }
    if callers.len() > top {
        writeln!(to, "    and {} more; --top all names them", grouped((callers.len() - top) as u128))?;
    }
    Ok(())
}

/// How many of its requests were denied, and how many never admitted.
fn outcomes(caller: &Caller) -> String {
    let (denied, never) = (grouped(caller.denied.into()), grouped(caller.never.into()));
    match (caller.denied, caller.never) {
        (_, 0) => format!("denied {denied}"),
        (0, _) => format!("never admitted {never}"),
        _ => format!("denied {denied} and never admitted {never}"),
    }
}
