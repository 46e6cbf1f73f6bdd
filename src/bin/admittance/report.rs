//! The summary for people.

mod chart;
mod compare;

pub(crate) use compare::{differing, write_several};

use std::io::{self, Write};

use admittance::Resolution;
use admittance::Rule;
use admittance::replay::{Format, Summary, Unit};

use crate::store::Told;
use crate::text::{grouped, instant, percent, printable, span};

pub(crate) fn write(summary: &Summary, to: &mut impl Write) -> io::Result<()> {
    limit(summary, to)?;
    facts(summary, to)?;
    if summary.denied > 0 {
        most_denied(summary, to)?;
        chart::over_time(&summary.timeline, to)?;
    }
    Ok(())
}

/// What a store answered for the same lines.
pub(crate) fn write_store(told: &Told, to: &mut impl Write) -> io::Result<()> {
    let number = |count: u64| grouped(count.into());
    let lines = told.admitted + told.denied + told.never;
    #[allow(clippy::cast_precision_loss, reason = "told to whole decisions a second")]
    let per_second = lines as f64 / told.seconds.max(f64::MIN_POSITIVE);
    write!(to, "\nIn the store: {} admitted, {} denied", number(told.admitted), number(told.denied))?;
    if told.never > 0 {
        write!(to, ", {} never", number(told.never))?;
    }
    writeln!(to, "; {per_second:.0} decisions a second")?;
    match &told.first_difference {
        None => writeln!(to, "  the same answer for every line"),
        Some(first) => writeln!(to, "  {} answers differ; the first: {first}", number(told.differ)),
    }
}

/// One and many of whatever has a budget of its own.
fn keys(summary: &Summary) -> (&'static str, &'static str) {
    named(&summary.whose())
}

/// What was done to a request that was not admitted, where both are counted as one: whoever asks for more than the limit ever
/// holds is not denied, and is told apart wherever there is such a one.
pub(crate) const fn refused(has_never: bool) -> &'static str {
    if has_never { "denied or never admitted" } else { "denied" }
}

/// One and many of who is told by these fields of a log.
pub(crate) fn named(whose: &[&str]) -> (&'static str, &'static str) {
    match whose {
        ["address"] => ("address", "addresses"),
        _ => ("key", "keys"),
    }
}

fn limit(summary: &Summary, to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "{}\n", limit_of(summary))
}

/// The limit in words.
fn limit_of(summary: &Summary) -> String {
    let (key, _) = keys(summary);
    let said = match summary.rule {
        Rule::TokenBucket(budget) => {
            let (capacity, tokens) = (grouped(budget.capacity().into()), grouped(budget.refill_tokens().into()));
            let every = span(u64::try_from(budget.refill_duration().as_nanos()).unwrap_or(u64::MAX));
            format!("Token bucket for each {key}: capacity {capacity}, refill {tokens} per {every}")
        }
        Rule::FixedWindow(window) => {
            let limit = grouped(window.limit().into());
            let length = span(u64::try_from(window.length().as_nanos()).unwrap_or(u64::MAX));
            format!("Fixed window for each {key}: {limit} in each {length}, aligned to 1970 UTC")
        }
    };
    said + match summary.rule.resolution() {
        Resolution::Exact => " (exact)",
        Resolution::WithinOneNanosecond => " (within a nanosecond of exact)",
    }
}

fn facts(summary: &Summary, to: &mut impl Write) -> io::Result<()> {
    let mut fact = |name: &str, what: String| writeln!(to, "  {name:<10}{what}");
    let number = |count: u64| grouped(count.into());
    let (key, many) = keys(summary);

    let bad = match summary.unreadable {
        0 => String::new(),
        bad => format!(", {} of them unreadable", number(bad)),
    };
    fact("lines", number(summary.lines) + &bad)?;
    if let Some((first, last)) = summary.span {
        fact("time", format!("{} to {}, {}", instant(first), instant(last), span(last - first)))?;
    }
    if summary.outside > 0 {
        fact("outside", format!("{} of other routes, passed over", number(summary.outside)))?;
    }
    if summary.out_of_order > 0 {
        let (out, late) = (number(summary.out_of_order), number(summary.decided_late));
        fact("order", format!("{out} earlier than the line before, {late} decided at their {key}'s latest time"))?;
    }
    if summary.decided() == 0 {
        return fact("decided", "nothing".into());
    }
    let some = |count: u64| format!("{} {}", number(count), if count == 1 { key } else { many });
    let denied = match summary.keys_denied {
        0 => "none of them denied".into(),
        denied => format!("{} of them denied", number(denied)),
    };
    fact("keys", format!("{}, {denied}", some(summary.keys)))?;
    let width = number(summary.decided()).chars().count();
    let outcome = |count: u64| format!("{:>width$}  {:>6}", number(count), percent(count, summary.decided()));
    fact("admitted", outcome(summary.admitted))?;
    fact("denied", outcome(summary.denied))?;
    if summary.never > 0 {
        let whose = some(summary.keys_never);
        let why = format!("   of {whose}: more than the limit ever holds, up to {}", number(summary.largest_cost));
        fact("never", outcome(summary.never) + &why)?;
    }
    let bytes = summary.unit == Unit::Byte && !matches!(summary.format, Some(Format::Jsonl | Format::Json(_)));
    if bytes || summary.cost != u128::from(summary.decided()) {
        let unit = if bytes { "bytes" } else { "tokens" };
        fact(unit, format!("{} admitted of {}", grouped(summary.cost_admitted), grouped(summary.cost)))?;
    }
    Ok(())
}

fn most_denied(summary: &Summary, to: &mut impl Write) -> io::Result<()> {
    let names: Vec<String> = summary.most_denied.iter().map(|key| printable(&key.key)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(22);
    // There are none of them most often, and then there is no column.
    let has_never = summary.most_denied.iter().any(|key| key.never > 0);
    let never = |text: &str| if has_never { format!("  {text:>11}") } else { String::new() };
    let head = never("never");
    writeln!(to, "\n{:<width$}  {:>11}{head}  {:>11}", "Denied most", "denied", "of lines", width = width + 2)?;
    let most = summary.most_denied.first().map_or(0, |key| key.denied);
    for (name, key) in names.iter().zip(&summary.most_denied) {
        let (denied, lines, share) =
            (grouped(key.denied.into()), grouped(key.lines.into()), percent(key.denied, key.lines));
        let bar = chart::across(key.denied, most, 16);
        let never = never(&grouped(key.never.into()));
        writeln!(to, "  {name:<width$}  {denied:>11}{never}  {lines:>11}  {share:>6}  {bar}")?;
    }
    let more = summary.keys_denied - summary.most_denied.len() as u64;
    if more > 0 {
        writeln!(to, "  and {} more", grouped(more.into()))?;
    }
    Ok(())
}
