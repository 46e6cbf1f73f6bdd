//! A table of keys, judged by a map of words: each key's own bucket by the pure steps, which are judged elsewhere.
//!
//! From outside nobody can tell whether a full bucket was forgotten. It matters in two cases: a clock that steps back to
//! before it was (the new bucket is full *as of then*), and a change of rule or tier (the old bucket carries its tokens, who
//! has none is full). So there are two words for a key: the bucket that was never forgotten where that gives most, and
//! the one with the fewest tokens that the key may have. While time goes forward and no rule changes they are equal.

use std::collections::BTreeMap;

use admittance::bucket::Word;
use admittance::bucket::step::Step;
use admittance::keyed::Tier;
use admittance::{Budget, Decision, Keyed, ManualClock, Overflow, Permit, Rule};

use super::follow::{Answer, Verdict};

/// One call, or one move of the clock. A key is the low bits of a byte, its tier the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyedOp {
    Check(u8, u64),
    CheckMany([u8; 4], u64),
    Peek(u8, u64),
    Available(u8),
    /// Of the last permit, whoever had it.
    Refund(u8, u64),
    /// The tier's rule becomes the one at this place of the list, counted round.
    Change(u8, u8),
    Advance(u64),
    StepBack(u64),
}

/// Keys there are: more than slots.
const KEYS: u8 = 30;

/// The words that a key's bucket may have, in the terms of its tier: from most tokens to fewest.
#[derive(Clone, Copy, Debug)]
struct Span {
    tier: usize,
    most: Word,
    least: Word,
}

struct Judge {
    rules: Vec<Rule>,
    keys: BTreeMap<u8, Span>,
    shared: Vec<Word>,
    /// The latest instant at which a slot was reclaimed.
    taken_at: u64,
}

fn higher(one: Word, other: Word) -> Word {
    if one.bits() < other.bits() { other } else { one }
}

fn lower(one: Word, other: Word) -> Word {
    if one.bits() < other.bits() { one } else { other }
}

fn carry(word: Word, now: u64, from: &Rule, to: &Rule) -> Word {
    Rule::carry(word, now, from, to).expect("all are buckets")
}

impl Judge {
    /// What the key's bucket may be at a call of this tier at `now`.
    fn span(&mut self, key: u8, tier: usize, now: u64) -> &mut Span {
        let new = self.rules[tier].full(self.taken_at);
        let span = self.keys.entry(key).or_insert(Span { tier, most: new, least: new });
        let (from, to) = (&self.rules[span.tier], &self.rules[tier]);
        let forgotten = span.most.bits() <= from.full(self.taken_at).bits();
        if span.tier != tier {
            *span = Span { tier, most: carry(span.most, now, from, to), least: carry(span.least, now, from, to) };
        }
        if forgotten {
            span.most = lower(span.most, new);
            span.least = higher(span.least, new);
        }
        assert!(span.most.bits() <= span.least.bits(), "the steps keep the order of words: {span:?}");
        span
    }

    /// Another rule for a tier from `now` on.
    fn change(&mut self, tier: usize, rule: Rule, now: u64) {
        let from = self.rules[tier];
        if from == rule {
            return;
        }
        let new = rule.full(self.taken_at);
        for span in self.keys.values_mut().filter(|span| span.tier == tier) {
            let forgotten = span.most.bits() <= from.full(self.taken_at).bits();
            (span.most, span.least) = (carry(span.most, now, &from, &rule), carry(span.least, now, &from, &rule));
            if forgotten {
                (span.most, span.least) = (lower(span.most, new), higher(span.least, new));
            }
        }
        self.shared[tier] = carry(self.shared[tier], now, &from, &rule);
        self.rules[tier] = rule;
    }

    /// Judges an answer of the key's own bucket, that spends or does not.
    fn answered(&mut self, key: u8, tier: usize, cost: u64, now: u64, answer: Answer, spends: bool) -> Verdict {
        let rule = self.rules[tier];
        let span = self.span(key, tier, now);
        let (most, least) = (rule.acquire(span.most, cost, now), rule.acquire(span.least, cost, now));
        let bounds = (Answer::from(most.decision()), Answer::from(least.decision()));
        let right = match (answer, bounds) {
            (Answer::Never, (Answer::Never, Answer::Never)) => true,
            (Answer::Admitted(left), (Answer::Admitted(most), Answer::Admitted(least))) => {
                (least..=most).contains(&left)
            }
            (Answer::Admitted(left), (Answer::Admitted(most), Answer::Denied(_))) => left <= most,
            (Answer::Denied(wait), (Answer::Denied(least), Answer::Denied(most))) => (least..=most).contains(&wait),
            (Answer::Denied(wait), (Answer::Admitted(_), Answer::Denied(most))) => (1..=most).contains(&wait),
            _ => false,
        };
        if !right {
            return Err(format!("key {key}, tier {tier}, {cost} at {now}: {answer:?}, not from {bounds:?}: {span:?}"));
        }
        if spends && matches!(answer, Answer::Admitted(_)) {
            if let Step::Spend { next, .. } = most {
                span.most = next;
            }
            span.least = match least {
                Step::Spend { next, .. } => next,
                Step::Keep(Decision::Admitted(_)) => span.least,
                // It was there, so now there is nothing at least.
                Step::Keep(_) => match rule.acquire(rule.full(now), rule.capacity(), now) {
                    Step::Spend { next, .. } => next,
                    Step::Keep(_) => span.least,
                },
            };
        }
        Ok(())
    }

    /// Judges an answer for a newcomer that found no room; its bucket stays as it is.
    fn overflowed(
        &mut self,
        (overflow, key): (Overflow, u8),
        tier: usize,
        cost: u64,
        now: u64,
        answer: Answer,
    ) -> Verdict {
        if let Some(span) = self.keys.get(&key)
            && span.most.bits() > self.rules[span.tier].full(self.taken_at).bits()
        {
            return Err(format!("key {key} has lost its bucket: {span:?}"));
        }
        let rule = self.rules[tier];
        let right = match overflow {
            Overflow::Deny => matches!(answer, Answer::Denied(1..)),
            Overflow::Admit => answer == rule.acquire(rule.full(now), cost, now).decision().into(),
            Overflow::Share => {
                let step = rule.acquire(self.shared[tier], cost, now);
                if let Step::Spend { next, .. } = step {
                    self.shared[tier] = next;
                }
                answer == step.decision().into()
            }
        };
        if right { Ok(()) } else { Err(format!("overflow, tier {tier}, {cost} at {now}: {answer:?}")) }
    }

    /// Keys that may have a bucket which is not full at `now`: only those keep a slot from a newcomer.
    fn refunded(&mut self, key: u8, tier: usize, cost: u64, permit: &Permit, now: u64) {
        let (rule, taken_at) = (self.rules[tier], self.taken_at);
        let span = self.span(key, tier, now);
        // Who has no bucket has nothing to be given back.
        let none = span.most.bits() <= rule.full(taken_at).bits();
        span.most = rule.refund(span.most, cost, permit, now);
        span.least = rule.refund(span.least, cost, permit, now);
        if none {
            span.least = higher(span.least, rule.full(taken_at));
        }
    }

    fn in_use(&self, now: u64) -> usize {
        self.keys.values().filter(|span| !self.rules[span.tier].is_full(span.least, now)).count()
    }
}

/// Puts `ops` to a table for `max_keys` keys, whose two tiers begin with the first rules of the list.
pub(crate) fn drive_keyed(
    budgets: &[Budget],
    max_keys: usize,
    overflow: Overflow,
    start: u64,
    ops: &[KeyedOp],
) -> Verdict {
    let rules: Vec<Rule> = (0..2).map(|tier| budgets[tier % budgets.len()].into()).collect();
    let clock = ManualClock::at(start);
    let table: Keyed<u8, _> = Keyed::builder(rules[0], max_keys, overflow)
        .tier(rules[1])
        .seed(max_keys as u128)
        .build_with_clock(&clock)
        .expect("a small table");
    let tiers: Vec<Tier> = (0..2).map(|tier| table.tier(tier).expect("two tiers")).collect();
    // A key may have the slots of two groups.
    let slots = table.stats().capacity.min(8);
    let mut judge = Judge { shared: vec![Word::FULL; 2], rules, keys: BTreeMap::new(), taken_at: 0 };
    let mut last: Option<Permit> = None;
    let mut now = start;
    for (index, &op) in ops.iter().enumerate() {
        clock.set(now);
        let before = table.stats();
        let called = |key: u8| (key % KEYS, usize::from(key >> 7));
        let verdict = match op {
            KeyedOp::Advance(by) => {
                now = now.saturating_add(by);
                Ok(())
            }
            KeyedOp::StepBack(by) => {
                now = now.saturating_sub(by);
                Ok(())
            }
            KeyedOp::Change(tier, to) => {
                let (tier, rule) = (usize::from(tier % 2), budgets[usize::from(to) % budgets.len()].into());
                table.set_tier_budget(tiers[tier], rule).expect("all are buckets");
                judge.change(tier, rule, now);
                Ok(())
            }
            KeyedOp::Check(key, cost) => {
                let (key, tier) = called(key);
                let decision = table.check_as(&key, tiers[tier], cost);
                last = decision.admitted().or(last);
                if table.stats().overflowed == before.overflowed {
                    judge.answered(key, tier, cost, now, decision.into(), true)
                } else if judge.in_use(now) < slots {
                    Err(format!("no room, with {} buckets in use of {slots}", judge.in_use(now)))
                } else {
                    judge.overflowed((overflow, key), tier, cost, now, decision.into())
                }
            }
            KeyedOp::CheckMany(keys, cost) => {
                let keys = keys.map(|key| key % KEYS);
                let mut answers = Vec::new();
                table.check_many(keys.iter().map(|key| (key, cost)), |decision| answers.push(Answer::from(decision)));
                if table.stats().reclaimed > before.reclaimed {
                    // One of them may have the slot of another, whose turn came later.
                    judge.taken_at = judge.taken_at.max(now);
                }
                if answers.len() != keys.len() {
                    Err(format!("{} answers", answers.len()))
                } else if table.stats().overflowed != before.overflowed {
                    // Which of them found no room is not told, so what they were charged is not known.
                    return Ok(());
                } else {
                    keys.iter()
                        .zip(answers)
                        .try_for_each(|(key, answer)| judge.answered(*key, 0, cost, now, answer, true))
                }
            }
            KeyedOp::Peek(key, cost) => {
                let (key, tier) = called(key);
                let answer = table.peek_as(&key, tiers[tier], cost).into();
                judge.answered(key, tier, cost, now, answer, false)
            }
            KeyedOp::Available(key) => {
                let (key, tier) = called(key);
                let (available, rule) = (table.available_as(&key, tiers[tier]), judge.rules[tier]);
                let span = judge.span(key, tier, now);
                let bounds = rule.available(span.least, now)..=rule.available(span.most, now);
                if bounds.contains(&available) { Ok(()) } else { Err(format!("{available} available, not {bounds:?}")) }
            }
            KeyedOp::Refund(key, cost) => {
                let (key, tier) = called(key);
                let Some(permit) = &last else { continue };
                table.refund_as(&key, tiers[tier], cost, permit);
                judge.refunded(key, tier, cost, permit, now);
                Ok(())
            }
        };
        let after = table.stats();
        if after.reclaimed > before.reclaimed {
            judge.taken_at = judge.taken_at.max(now);
        }
        if !matches!(op, KeyedOp::Check(..) | KeyedOp::CheckMany(..))
            && (after.overflowed, after.reclaimed, after.len) != (before.overflowed, before.reclaimed, before.len)
        {
            return Err(format!("call {index}, {op:?} at {now}: took a slot, or wanted one"));
        }
        verdict.map_err(|wrong| format!("call {index}, {op:?}: {wrong}"))?;
    }
    Ok(())
}
