//! Reports, held against the decisions one by one.

use std::collections::BTreeMap;

use admittance::replay::{Comparison, Input, Outcome, Replay};
use admittance::{Rule, replay::Report};
use proptest::prelude::*;

use crate::support::{Owned, SECOND, bucket, decide, window};

/// A trace as JSON lines.
fn trace(lines: &[(u64, u8, u64)]) -> String {
    let line = |(time, key, cost): &(u64, u8, u64)| format!(r#"{{"t_ns":{time},"key":"{key}","cost":{cost}}}"#);
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn report(rule: Rule, log: &str) -> Report {
    Replay::new(rule).report(&[Input::Bytes(log.as_bytes().into())]).expect("bytes can be read")
}

/// When a key was held at its limit, from its decisions: the union of the waits that it was told, each from the instant of
/// its decision.
fn spells(decisions: &[Owned]) -> Vec<(u64, u64)> {
    let mut latest = 0;
    let mut spells: Vec<(u64, u64)> = Vec::new();
    for decision in decisions {
        latest = latest.max(decision.time);
        let Outcome::Denied { retry_after_ns } = decision.outcome else { continue };
        match spells.last_mut() {
            Some(last) if latest <= last.1 => last.1 = last.1.max(latest + retry_after_ns),
            _ => spells.push((latest, latest + retry_after_ns)),
        }
    }
    spells
}

fn by_key(decisions: Vec<Owned>) -> BTreeMap<Vec<u8>, Vec<Owned>> {
    let mut keys: BTreeMap<Vec<u8>, Vec<Owned>> = BTreeMap::new();
    for decision in decisions {
        keys.entry(decision.key.clone()).or_default().push(decision);
    }
    keys
}

proptest! {
    #[test]
    fn a_report_is_what_its_decisions_say(
        lines in prop::collection::vec((0_u64..20 * SECOND, 0_u8..6, 0_u64..5), 1..200),
        limit in 1_u64..6, is_window: bool,
    ) {
        let rule = if is_window { window(limit, 2) } else { bucket(limit, 1) };
        let log = trace(&lines);
        let (decisions, summary) = decide(&Replay::new(rule), &log);
        let report = report(rule, &log);
        prop_assert_eq!(format!("{:?}", &report.summary), format!("{summary:?}"));
        prop_assert_eq!(report.demand.len() as u64, summary.keys);

        let keys = by_key(decisions);
        let is_denied = |decision: &&Owned| matches!(decision.outcome, Outcome::Denied { .. });
        let mut seen = 0;
        for (key, decisions) in &keys {
            let never = decisions.iter().filter(|decision| decision.outcome == Outcome::Never).count() as u64;
            let Some(caller) = report.denied.iter().find(|caller| caller.key == *key) else {
                prop_assert_eq!((decisions.iter().filter(is_denied).count(), never), (0, 0));
                continue;
            };
            seen += 1;
            let spells = spells(decisions);
            prop_assert_eq!(caller.lines, decisions.len() as u64);
            prop_assert_eq!(caller.denied, decisions.iter().filter(is_denied).count() as u64);
            prop_assert_eq!(caller.never, never);
            prop_assert_eq!(caller.spells, spells.len() as u64);
            prop_assert_eq!(caller.held_ns, spells.iter().map(|(from, to)| to - from).sum::<u64>());
            prop_assert_eq!(caller.longest_ns(), spells.iter().map(|(from, to)| to - from).max().unwrap_or(0));
            prop_assert!(spells.is_empty() || spells.contains(&caller.longest));
            prop_assert!(caller.peak > limit);
        }
        prop_assert_eq!(seen, report.denied.len());
        prop_assert_eq!(seen as u64, report.refused);
        prop_assert!(report.denied.is_sorted_by_key(|caller| std::cmp::Reverse(caller.denied + caller.never)));

        // As large as the largest demand, and nobody is denied; one less, and somebody is.
        let largest = report.demand.largest().unwrap().max(1);
        let with = |limit| decide(&Replay::new(if is_window { window(limit, 2) } else { bucket(limit, 1) }), &log).1;
        prop_assert_eq!((with(largest).denied, with(largest).never), (0, 0));
        if largest > 1 {
            prop_assert!(with(largest - 1).denied + with(largest - 1).never > 0);
        }
    }

    #[test]
    fn several_limits_of_one_reading_are_as_each_of_its_own(
        lines in prop::collection::vec((0_u64..20 * SECOND, 0_u8..9, 0_u64..4), 1..200), sort: bool,
    ) {
        let log = trace(&lines);
        let inputs = [Input::Bytes(log.as_bytes().into())];
        let rules = [bucket(2, 1), window(5, 3), bucket(5, 2)];
        let replays = rules.map(|rule| Replay::new(rule).sort(sort));
        let together = Replay::report_each(&replays, &inputs).unwrap();
        for (replay, together) in replays.iter().zip(&together) {
            prop_assert_eq!(format!("{:?}", replay.report(&inputs).unwrap()), format!("{together:?}"));
        }

        let denied = |at: usize| together[at].denied.iter().map(|caller| &*caller.key).collect::<Vec<_>>();
        let compared = Comparison::of(&together[0], &together[1]);
        let (first, second) = (denied(0), denied(1));
        let keys = |callers: &[&'_ admittance::replay::Caller]| {
            callers.iter().map(|caller| caller.key.clone()).collect::<Vec<_>>()
        };
        let without = |these: &[&[u8]], those: &[&[u8]]| {
            these.iter().filter(|key| !those.contains(key)).map(|key| key.to_vec()).collect::<Vec<_>>()
        };
        prop_assert_eq!(keys(&compared.newly_denied), without(&second, &first));
        prop_assert_eq!(keys(&compared.newly_spared), without(&first, &second));
        prop_assert_eq!(compared.still_denied.len(), first.iter().filter(|key| second.contains(key)).count());
        prop_assert!(compared.still_denied.iter().all(|(before, after)| before.key == after.key));
    }

    #[test]
    fn a_callers_levels_are_those_of_its_decisions(
        lines in prop::collection::vec((0_u64..20 * SECOND, 0_u8..3, 0_u64..4), 2..100), sort: bool, stretches in 1_u64..50,
    ) {
        let log = trace(&lines);
        let replay = Replay::new(bucket(3, 1)).sort(sort);
        let (mut decisions, summary) = decide(&replay, &log);
        if sort {
            decisions.sort_by_key(|decision| decision.time);
        }
        let key = decisions[0].key.clone();
        let span = summary.span.unwrap();
        let levels = replay.levels(&[Input::Bytes(log.as_bytes().into())], &key, &[span], stretches).unwrap().remove(0);
        prop_assert!(levels.len() as u64 <= stretches);
        prop_assert_eq!(levels[0].from_ns, span.0);
        prop_assert!(levels.windows(2).all(|pair| pair[0].from_ns + pair[0].length_ns == pair[1].from_ns));
        let last = levels.last().unwrap();
        prop_assert!((last.from_ns..last.from_ns + last.length_ns).contains(&span.1));

        let mut latest = 0;
        let (mut counted, mut denied) = (0, 0);
        for decision in decisions.iter().filter(|decision| decision.key == key) {
            latest = latest.max(decision.time);
            let level = levels.iter().find(|level| (level.from_ns..level.from_ns + level.length_ns).contains(&latest)).unwrap();
            if let Outcome::Admitted { remaining } = decision.outcome {
                prop_assert!(level.lowest <= remaining && remaining + decision.cost <= level.highest);
            }
        }
        // A part of the time is drawn as it is in the whole.
        let ends: Vec<u64> = levels.iter().map(|level| level.from_ns).collect();
        let part = (ends[ends.len() / 3], (ends[ends.len() / 2] + levels[0].length_ns - 1).min(span.1));
        let here = (part.1 - part.0) / levels[0].length_ns + 1;
        let inputs = [Input::Bytes(log.as_bytes().into())];
        let parts = replay.levels(&inputs, &key, &[span, part], here).unwrap();
        if (part.1 - part.0) / here + 1 == levels[0].length_ns {
            prop_assert_eq!(&parts[1][..], &levels[ends.len() / 3..][..parts[1].len()]);
        }

        for level in &levels {
            counted += level.lines;
            denied += level.denied;
        }
        let of_key = decisions.iter().filter(|decision| decision.key == key);
        prop_assert_eq!(counted, of_key.clone().count() as u64);
        prop_assert_eq!(denied, of_key.filter(|d| matches!(d.outcome, Outcome::Denied { .. })).count() as u64);
    }
}
