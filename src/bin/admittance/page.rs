//! A report as one page of HTML: no network, no script, for a screen of any width and for paper, in the light and the dark.

mod chart;
mod compare;

use admittance::Rule;
use admittance::replay::{Caller, Input, Level, Report};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::report::refused;
use crate::text::{self, instant, printable, span};

/// How many callers the table of those denied most names.
const NAMED: usize = 50;

/// One limit's part of the page.
pub(crate) struct Section<'p> {
    /// What the limit is called, where there are several.
    pub(crate) name: &'p str,
    pub(crate) report: &'p Report,
    pub(crate) followed: Followed,
}

/// Whose level is drawn.
pub(crate) enum Followed {
    Caller {
        key: Vec<u8>,
        /// Over the whole log.
        whole: Vec<Level>,
        /// About its longest stretch at the limit, where it has one.
        closer: Option<Vec<Level>>,
    },
    /// Nobody, and why.
    Nobody(String),
}

/// The page. Linear in callers denied.
pub(crate) fn page(sections: &[Section<'_>], inputs: &[Input]) -> String {
    let names: Vec<String> = inputs.iter().map(Input::name).collect();
    let title = match sections {
        [only] => headline(only.report),
        _ => format!("{} limits on {}", sections.len(), names.join(", ")),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(include_str!("page/style.css"))) }
            }
            body {
                header {
                    p class="what" { "A limit tried on a log: " (names.join(", ")) }
                    h1 { (title) }
                }
                main {
                    @if let [first, ..] = sections {
                        (facts(first.report))
                    }
                    @if sections.len() > 1 { (compare::compare(sections)) }
                    @for (number, section) in sections.iter().enumerate() {
                        (one(section, number, sections.len() > 1))
                    }
                }
                footer {
                    p {
                        "Decided line by line with the code of admittance " (env!("CARGO_PKG_VERSION"))
                        ", on the log's own clock. Every " (Words::of(sections.first().map(|section| section.report)).caller)
                        " begins with a full budget. A denied request spends nothing. Times are UTC."
                    }
                }
            }
        }
    }
    .into_string()
}

/// `2,029 of 10,000 requests, 206 of 1,739 addresses, would have been denied`.
fn headline(report: &Report) -> String {
    let summary = &report.summary;
    let words = Words::of(Some(report));
    format!(
        "{} of {} requests, {} of {} {}, would have been {}",
        number(summary.denied + summary.never),
        number(summary.decided()),
        number(report.refused),
        number(summary.keys),
        words.callers,
        refused(summary.never > 0)
    )
}

fn facts(report: &Report) -> Markup {
    let summary = &report.summary;
    html! {
        dl class="facts" {
            @if let Some((first, last)) = summary.span {
                div { dt { "time" } dd { (instant(first)) " to " (instant(last)) ", " (span(last - first)) } }
            }
            div { dt { "lines" } dd {
                (number(summary.lines))
                @if summary.unreadable > 0 { ", " (number(summary.unreadable)) " of them unreadable and passed over" }
            } }
            @if summary.outside > 0 {
                div { dt { "other routes" } dd { (number(summary.outside)) " lines, passed over" } }
            }
            @if summary.out_of_order > 0 {
                div { dt { "order" } dd {
                    (number(summary.out_of_order)) " earlier than the line before, "
                    (number(summary.decided_late)) " decided at their key's latest time"
                } }
            }
            div { dt { (Words::of(Some(report)).callers) } dd { (number(summary.keys)) } }
        }
    }
}

fn one(section: &Section<'_>, number_of: usize, is_one_of_many: bool) -> Markup {
    let report = section.report;
    let summary = &report.summary;
    let words = Words::of(Some(report));
    let id = |what: &str| format!("p{number_of}-{what}");
    html! {
        section {
            @if is_one_of_many { h2 { (section.name) ": " (headline(report)) } }
            p class="limit" { (limit(&summary.rule, &words)) }
            @if summary.never > 0 {
                p class="limit" {
                    (number(summary.denied)) " requests denied, and " (number(summary.never))
                    " never admitted: they cost more than the limit ever holds."
                }
            }
            @if summary.denied + summary.never == 0 {
                p class="good" { "Nobody would have been denied." }
            }
            (chart::over_time(&id("time"), summary))
            @match &section.followed {
                Followed::Caller { key, whole, closer } => {
                    (chart::level(
                        &id("level"),
                        &format!("What was left of the limit for {}", printable(key)),
                        key, whole, summary.rule.capacity(), &words,
                    ))
                    @if let Some(closer) = closer {
                        (chart::level(
                            &id("closer"),
                            &format!("{} closer: about its longest time at the limit", printable(key)),
                            key, closer, summary.rule.capacity(), &words,
                        ))
                    }
                }
                Followed::Nobody(why) => @if !why.is_empty() { p class="missing" { (why) } },
            }
            (chart::demand(&id("demand"), &report.demand, summary.rule.capacity(), &words))
            @if !report.denied.is_empty() {
                h3 { @if summary.never > 0 { "Denied or never admitted most" } @else { "Denied most" } }
                (callers(&report.denied.iter().collect::<Vec<_>>(), &words))
            }
        }
    }
}

/// A table of callers that were denied.
fn callers(denied: &[&Caller], words: &Words) -> Markup {
    // There are none of them most often, and then there is no column.
    let has_never = denied.iter().take(NAMED).any(|caller| caller.never > 0);
    html! {
        div class="scroll" { table class="callers" {
            thead { tr {
                th { (words.caller) } th { "denied" } @if has_never { th { "never admitted" } }
                th { "share" } th { "of requests" } th { "first " (refused(has_never)) } th { "last " (refused(has_never)) }
                th { "at the limit" } th {} th { "longest" } th { (words.capacity) " that spares it" }
            } }
            tbody { @for caller in denied.iter().take(NAMED) { tr {
                th scope="row" title=[text::whole(&caller.key)] { (printable(&caller.key)) }
                td { (number(caller.denied)) }
                @if has_never { td { (number(caller.never)) } }
                td { (text::percent(caller.refused(), caller.lines)) }
                td { (number(caller.lines)) }
                td class="time" { (instant(caller.first_denied_ns)) }
                td class="time" { (instant(caller.last_denied_ns)) }
                td { (span(caller.held_ns)) }
                td { (number(caller.spells)) "×" }
                td { (span(caller.longest_ns())) }
                td { (number(caller.peak)) }
            } } }
        } }
        @if denied.len() > NAMED { p { "… and " (number((denied.len() - NAMED) as u64)) " more." } }
    }
}

fn limit(rule: &Rule, words: &Words) -> String {
    let length = |length: std::time::Duration| span(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
    match rule {
        Rule::TokenBucket(budget) => format!(
            "Token bucket for each {}: capacity {}, refill {} per {}.",
            words.caller,
            number(budget.capacity()),
            number(budget.refill_tokens()),
            length(budget.refill_duration())
        ),
        Rule::FixedWindow(window) => {
            format!(
                "Fixed window for each {}: {} in each {}.",
                words.caller,
                number(window.limit()),
                length(window.length())
            )
        }
    }
}

/// What things are called, by how the log is written and the limit's kind.
struct Words {
    caller: &'static str,
    callers: &'static str,
    capacity: &'static str,
    refill: &'static str,
    full: &'static str,
}

impl Words {
    fn of(report: Option<&Report>) -> Self {
        let whose = report.map_or_else(|| vec!["address"], |report| report.summary.whose());
        let (caller, callers) = crate::report::named(&whose);
        match report.map(|report| report.summary.rule) {
            Some(Rule::FixedWindow(_)) => {
                Self { caller, callers, capacity: "limit", refill: "window", full: "the whole limit" }
            }
            _ => Self { caller, callers, capacity: "capacity", refill: "refill", full: "a full bucket" },
        }
    }
}

/// 1,234,567: in a page, where a space may break a line.
fn number(number: u64) -> String {
    text::grouped(number.into()).replace(' ', ",")
}
