//! A replay in detail: the report's page, and several limits side by side.

use std::io;

use admittance::Rule;
use admittance::replay::key::InJson;
use admittance::replay::{Caller, Comparison, Input, Replay, Report};
use serde::Serialize;

use super::{Failure, readable, remark};
use crate::args::{self, Trial};
use crate::output::Outputs;
use crate::page::{Followed, Section};
use crate::progress::Shown;
use crate::{report, text};

/// How many stretches a level is drawn in: about two pixels each.
const STRETCHES: u64 = 400;

pub(super) fn run(
    args: &args::Replay,
    trials: &[Trial],
    inputs: &[Input],
    shown: Option<Shown>,
) -> Result<(), Failure> {
    let replays: Vec<Replay> = trials.iter().map(|trial| trial.replay.clone()).collect();
    let reports = Replay::report_each(&replays, inputs).map_err(Failure::Replay)?;
    // One that tells nobody of a policy's identity may tell another's.
    let mut read = reports.iter().map(|report| readable(&report.summary));
    if let Some(Err(unread)) = read.next().filter(|first| first.is_err() && read.all(|other| other.is_err())) {
        return Err(unread);
    }
    let page = || -> Result<String, Failure> {
        let sections: Vec<Section<'_>> = trials
            .iter()
            .zip(&reports)
            .map(|(trial, report)| {
                let followed = follow(trial, report, inputs, args.key.as_ref().map(|key| &*key.0))?;
                Ok(Section { name: &trial.name, report, followed })
            })
            .collect::<Result<_, Failure>>()?;
        Ok(crate::page::page(&sections, inputs))
    };
    let page = args.report.as_ref().map(|to| page().map(|page| (to, page))).transpose()?;
    drop(shown);
    if let Some((to, page)) = page {
        let failed = |error| Failure::Output { flag: "--report", to: to.clone(), error };
        to.write(page.as_bytes()).map_err(failed)?;
    }
    tell(trials, &reports, (args.json, args.top.0), Outputs(&args.outputs())).map_err(Failure::Summary)
}

/// The level of the caller that was asked for, or of the one denied most. That takes reading the log once more.
fn follow(trial: &Trial, report: &Report, inputs: &[Input], key: Option<&[u8]>) -> Result<Followed, Failure> {
    let Some(key) = key.map(<[u8]>::to_vec).or_else(|| worst(report).map(|it| it.key.clone())) else {
        return Ok(Followed::Nobody(String::new()));
    };
    let who = text::printable(&key);
    if inputs.iter().any(|input| !can_be_read_twice(input)) {
        let why = format!(
            "The level of {who} is not drawn: that takes reading the log twice, and standard input or a pipe is read once. Say the log's file instead."
        );
        return Ok(Followed::Nobody(why));
    }
    let Some(span) = report.summary.span else { return Ok(Followed::Nobody(String::new())) };
    let closer = report
        .denied
        .iter()
        .find(|caller| caller.key == key && caller.spells > 0)
        .map(|caller| about(caller.longest, span, &trial.replay.rule()));
    let spans: Vec<(u64, u64)> = std::iter::once(span).chain(closer).collect();
    let mut levels = trial.replay.levels(inputs, &key, &spans, STRETCHES).map_err(Failure::Replay)?.into_iter();
    let whole = levels.next().unwrap_or_default();
    if whole.iter().all(|level| level.lines == 0) {
        return Ok(Followed::Nobody(format!("{who} is not in the log.")));
    }
    Ok(Followed::Caller { key, whole, closer: levels.next() })
}

/// The caller denied most; where costs above the limit alone were refused, of those. They leave a level as it is.
fn worst(report: &Report) -> Option<&Caller> {
    report.denied.iter().find(|caller| caller.spells > 0).or(report.denied.first())
}

/// A time at the limit, with what came before it and a refill after it, as far as the log goes.
fn about(spell: (u64, u64), log: (u64, u64), rule: &Rule) -> (u64, u64) {
    let refill = match rule {
        Rule::TokenBucket(budget) => {
            budget.refill_duration().as_nanos() * u128::from(budget.capacity()) / u128::from(budget.refill_tokens())
        }
        Rule::FixedWindow(window) => window.length().as_nanos(),
    };
    let length = spell.1 - spell.0;
    let before = length.max(1);
    let after = u64::try_from(refill).unwrap_or(u64::MAX).saturating_add(length / 4).max(1);
    (spell.0.saturating_sub(before).max(log.0), spell.1.saturating_add(after).min(log.1).max(spell.0))
}

fn can_be_read_twice(input: &Input) -> bool {
    match input {
        Input::File(_) => input.size().is_some(),
        Input::Stdin => false,
        Input::Bytes(_) => true,
    }
}

/// Several limits as JSON.
#[derive(Serialize)]
struct Told<'r> {
    limits: Vec<ToldLimit<'r>>,
    /// Each but the first, against the first; but for those of other identities, whose callers are others.
    compared: Vec<Compared<'r>>,
}

#[derive(Serialize)]
struct ToldLimit<'r> {
    name: &'r str,
    #[serde(flatten)]
    summary: &'r admittance::replay::Summary,
    /// The smallest capacity that denies 99.9 % of callers nothing.
    spares_999: Option<u64>,
}

#[derive(Serialize)]
struct Compared<'r> {
    from: &'r str,
    to: &'r str,
    /// The first of them; and how many are left off. Denied, or never admitted.
    newly_denied: Vec<ToldCaller<'r>>,
    newly_denied_left_off: usize,
    newly_spared: Vec<ToldCaller<'r>>,
    newly_spared_left_off: usize,
    still_denied: usize,
}

#[derive(Serialize)]
struct ToldCaller<'r> {
    key: InJson<'r>,
    /// As `--key` takes it, where `key` is not that already.
    #[serde(skip_serializing_if = "Option::is_none")]
    named: Option<String>,
    lines: u64,
    denied: u64,
    never: u64,
    first_denied_ns: u64,
    last_denied_ns: u64,
    spells: u64,
    held_ns: u64,
    longest_ns: u64,
    peak: u64,
}

impl<'r> From<&&'r Caller> for ToldCaller<'r> {
    fn from(caller: &&'r Caller) -> Self {
        Self {
            key: InJson(&caller.key),
            named: InJson(&caller.key).name(),
            lines: caller.lines,
            denied: caller.denied,
            never: caller.never,
            first_denied_ns: caller.first_denied_ns,
            last_denied_ns: caller.last_denied_ns,
            spells: caller.spells,
            held_ns: caller.held_ns,
            longest_ns: caller.longest_ns(),
            peak: caller.peak,
        }
    }
}

fn tell(trials: &[Trial], reports: &[Report], (json, top): (bool, usize), outputs: Outputs<'_>) -> io::Result<()> {
    let named: Vec<(&str, &Report)> = trials.iter().map(|trial| &*trial.name).zip(reports).collect();
    let [(first_name, first), others @ ..] = &*named else { return Ok(()) };
    if !(json && outputs.has_stdout()) {
        remark(trials.iter().zip(reports.iter().map(|report| &report.summary)));
    }
    let mut text = Vec::new();
    if !json && others.is_empty() {
        report::write(&first.summary, &mut text)?;
    } else if !json {
        report::write_several(&named, top, &mut text)?;
    } else if others.is_empty() {
        serde_json::to_writer_pretty(&mut text, &first.summary)?;
        text.push(b'\n');
    } else {
        let same = others.iter().filter(|(_, other)| report::differing(first, other).is_none());
        let compared = same.map(|(name, other)| {
            let compared = Comparison::of(first, other);
            Compared {
                from: first_name,
                to: name,
                newly_denied: compared.newly_denied.iter().take(top).map(Into::into).collect(),
                newly_denied_left_off: compared.newly_denied.len().saturating_sub(top),
                newly_spared: compared.newly_spared.iter().take(top).map(Into::into).collect(),
                newly_spared_left_off: compared.newly_spared.len().saturating_sub(top),
                still_denied: compared.still_denied.len(),
            }
        });
        let told = Told {
            limits: named
                .iter()
                .map(|(name, report)| ToldLimit {
                    name,
                    summary: &report.summary,
                    spares_999: report.demand.spares(999),
                })
                .collect(),
            compared: compared.collect(),
        };
        serde_json::to_writer_pretty(&mut text, &told)?;
        text.push(b'\n');
    }
    outputs.tell(&text)
}
