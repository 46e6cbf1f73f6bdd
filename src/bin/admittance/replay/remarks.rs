//! What should be known before an answer is believed: on standard error, once for the log.

use std::collections::BTreeMap;

use admittance::Overflow;
use admittance::replay::{BadLine, Format, Summary, Unit};

use crate::args::Trial;
use crate::complain;
use crate::text::grouped;

/// How many lines that cannot be read are told.
const SHOWN: usize = 5;

/// Of the limits that were tried, each with what it came to. They have read one log.
pub(super) fn remark<'t>(tried: impl IntoIterator<Item = (&'t Trial, &'t Summary)>) {
    let tried: Vec<_> = tried.into_iter().collect();
    for line in bad_lines(&tried) {
        complain(format_args!("{line}"));
    }
    for (trial, summary) in tried {
        if let Some(line) = unit(trial, summary) {
            complain(format_args!("{line}"));
        }
        if let Some(line) = room(trial, summary) {
            complain(format_args!("{line}"));
        }
    }
}

/// The first lines that cannot be read, and how many more. A line may be of use for one limit and not for another, whose identity
/// it does not tell: then it says for which it is not.
fn bad_lines(tried: &[(&Trial, &Summary)]) -> Vec<String> {
    // Each has the first of its own. So these first are known of all: whoever lacks one of them could read it.
    let mut lines: BTreeMap<u64, Vec<(&BadLine, Vec<usize>)>> = BTreeMap::new();
    for (number, (_, summary)) in tried.iter().enumerate() {
        for bad in &summary.bad_lines {
            let said = lines.entry(bad.at).or_default();
            match said.iter_mut().find(|(known, _)| known.error == bad.error) {
                Some((_, of)) => of.push(number),
                None => said.push((bad, vec![number])),
            }
        }
    }
    let mut more: Vec<u64> = tried.iter().map(|(_, summary)| summary.unreadable).collect();
    let mut told = Vec::new();
    let mut is_same = true;
    for (bad, of) in lines.into_values().take(SHOWN).flatten() {
        for &number in &of {
            more[number] = more[number].saturating_sub(1);
        }
        let all = of.len() == tried.len();
        is_same &= all;
        let names: Vec<&str> = of.iter().map(|&number| &*tried[number].0.name).collect();
        told.push(if all { bad.to_string() } else { format!("{bad} (for {})", names.join(", ")) });
    }
    if is_same && more.iter().all(|count| *count == more[0]) {
        more.truncate(1);
        told.extend(more.into_iter().filter(|count| *count > 0).map(|count| and_more(count, "")));
    } else {
        let of = |(count, (trial, _)): (u64, &(&Trial, &Summary))| and_more(count, &format!(" (for {})", trial.name));
        told.extend(more.into_iter().zip(tried).filter(|(count, _)| *count > 0).map(of));
    }
    told
}

fn and_more(count: u64, of: &str) -> String {
    format!("and {count} more line{} that cannot be read{of}", if count == 1 { "" } else { "s" })
}

fn unit(trial: &Trial, summary: &Summary) -> Option<String> {
    let is_in_vain = summary.format == Some(Format::Jsonl) && summary.unit == Unit::Byte;
    let whose = match trial.policy {
        Some(_) => format!("{}: unit = \"byte\"", trial.name),
        None => "--unit byte".into(),
    };
    is_in_vain.then(|| format!("{whose} changes nothing for a trace: each line says its own cost"))
}

/// A replay has room for everybody, and the policy's limiter may not.
fn room(trial: &Trial, summary: &Summary) -> Option<String> {
    let policy = trial.policy.as_ref()?;
    let most = policy.max_keys() as u64;
    (summary.keys > most).then(|| {
        format!(
            "{}: the log has {} callers, more than max_keys = {most}, and each has a budget of its own here; the limiter has room \
             for {most} whose budget is not full, and one more is a matter of overflow ({}), which is not replayed",
            trial.name,
            grouped(summary.keys.into()),
            match policy.overflow() {
                Overflow::Deny => "deny",
                Overflow::Admit => "admit",
                Overflow::Share => "share",
            },
        )
    })
}
