//! Several limits side by side, and for whom they differ from the first.

use admittance::replay::{Caller, Comparison};
use maud::{Markup, html};

use super::{Section, Words, callers, limit, number};
use crate::report::{differing, refused};
use crate::text::{percent, span};

pub(super) fn compare(sections: &[Section<'_>]) -> Markup {
    let Some((first, others)) = sections.split_first() else { return Markup::default() };
    let words = Words::of(Some(first.report));
    let is_of_same = |other: &Section<'_>| differing(first.report, other.report).is_none();
    let refused = refused(sections.iter().any(|section| section.report.summary.never > 0));
    let callers = if others.iter().all(is_of_same) { words.callers } else { "callers" };
    html! {
        section {
            h2 { "Side by side" }
            div class="scroll" { table class="sides" {
                thead { tr { th {} @for section in sections { th { (section.name) } } } }
                tbody {
                    (row("limit", sections, |section| limit(&section.report.summary.rule, &Words::of(Some(section.report)))))
                    (row("admitted", sections, |section| {
                        let summary = &section.report.summary;
                        format!("{} ({})", number(summary.admitted), percent(summary.admitted, summary.decided()))
                    }))
                    (row("denied", sections, |section| {
                        let summary = &section.report.summary;
                        format!("{} ({})", number(summary.denied), percent(summary.denied, summary.decided()))
                    }))
                    (row("never", sections, |section| number(section.report.summary.never)))
                    (row(&format!("{callers} {refused}"), sections, |section| {
                        let summary = &section.report.summary;
                        format!("{} of {}", number(section.report.refused), number(summary.keys))
                    }))
                    (row("at the limit, all together", sections, |section| {
                        let held = |caller: &Caller| u128::from(caller.held_ns);
                        let sum: u128 = section.report.denied.iter().map(held).sum();
                        span(u64::try_from(sum).unwrap_or(u64::MAX))
                    }))
                    (row("would spare 99.9 %", sections, |section| {
                        let words = Words::of(Some(section.report));
                        let spares = section.report.demand.spares(999).map_or_else(|| "nothing asked".into(), number);
                        format!("{} {spares}, at its {}", words.capacity, words.refill)
                    }))
                }
            } }
            @for other in others { (against(first, other, refused, &words)) }
        }
    }
}

fn row(name: &str, sections: &[Section<'_>], cell: impl Fn(&Section<'_>) -> String) -> Markup {
    html! { tr { th scope="row" { (name) } @for section in sections { td { (cell(section)) } } } }
}

fn against(first: &Section<'_>, other: &Section<'_>, refused: &str, words: &Words) -> Markup {
    if let Some(why) = differing(first.report, other.report) {
        return html! {
            h3 { (other.name) " instead of " (first.name) }
            p { "Not compared caller by caller: " (why) "." }
        };
    }
    let compared = Comparison::of(first.report, other.report);
    let list = |title: &str, denied: &[&Caller]| {
        html! {
            h4 { (title) ": " (number(denied.len() as u64)) }
            @if !denied.is_empty() { (callers(denied, words)) }
        }
    };
    html! {
        h3 { (other.name) " instead of " (first.name) }
        (list(&format!("Newly {refused} {}", words.callers), &compared.newly_denied))
        (list(&format!("Newly spared {}", words.callers), &compared.newly_spared))
        p { (if refused == "denied" { "Denied" } else { "Denied or never admitted" }) " by both: " (number(compared.still_denied.len() as u64)) "." }
    }
}
