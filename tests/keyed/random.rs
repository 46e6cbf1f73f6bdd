//! Any history of calls, against a bucket of its own for each key.

use std::collections::HashMap;
use std::time::Duration;

use admittance::bucket::Word;
use admittance::bucket::step::Step;
use admittance::{Budget, Decision, Keyed, ManualClock, Overflow, Rule, Window};
use proptest::prelude::*;

/// What may happen.
#[derive(Clone, Debug)]
enum Op {
    Check { key: u64, tier: usize, cost: u64 },
    Refund { key: u64, cost: u64 },
    Change { tier: usize, rule: usize },
    Pass { nanos: u64 },
    StepBack { nanos: u64 },
}

/// One key as it is kept without a table: never forgotten.
struct Model {
    word: Word,
    tier: usize,
    rule: Rule,
}

fn rules(windows: bool) -> [Rule; 4] {
    if windows {
        return [3, 1, 5, 4].map(|limit| Window::new(limit, Duration::from_nanos(20)).unwrap().into());
    }
    // The last is not exact: a level carried over to it and back may lose part of a token.
    [(3, 1, 5), (2, 3, 7), (5, 2, 1), (4, 1, 16)]
        .map(|(capacity, tokens, nanos)| Budget::new(capacity, tokens, Duration::from_nanos(nanos)).unwrap().into())
}

fn op(keys: u64, back: bool) -> impl Strategy<Value = Op> {
    prop_oneof![
        10 => (0..keys, 0..2_usize, 0..4_u64).prop_map(|(key, tier, cost)| Op::Check { key, tier: tier * usize::from(key % 3 == 0), cost }),
        1 => (0..keys, 1..3_u64).prop_map(|(key, cost)| Op::Refund { key, cost }),
        1 => (0..2_usize, 0..4_usize).prop_map(|(tier, rule)| Op::Change { tier, rule }),
        4 => (0..12_u64).prop_map(|nanos| Op::Pass { nanos }),
        1 => (0..12_u64).prop_map(move |nanos| if back { Op::StepBack { nanos } } else { Op::Pass { nanos } }),
    ]
}

struct World {
    table: Keyed<u64, &'static ManualClock>,
    clock: &'static ManualClock,
    models: HashMap<u64, Model>,
    rules: [Rule; 2],
    windows: bool,
    now: u64,
}

impl World {
    fn new(max_keys: usize, overflow: Overflow, windows: bool) -> Self {
        // Leaked, some dozen bytes a case: a table and its clock in one struct would borrow from itself.
        let clock: &'static ManualClock = Box::leak(Box::new(ManualClock::new()));
        let [one, other, ..] = rules(windows);
        let table = Keyed::builder(one, max_keys, overflow).tier(other).seed(3).build_with_clock(clock).unwrap();
        Self { table, clock, models: HashMap::new(), rules: [one, other], windows, now: 0 }
    }

    fn model(&mut self, key: u64, tier: usize) -> &mut Model {
        let rule = self.rules[tier];
        let model = self.models.entry(key).or_insert(Model { word: Word::FULL, tier, rule });
        if model.tier != tier {
            model.word = Rule::carry(model.word, self.now, &model.rule, &rule).unwrap();
            (model.tier, model.rule) = (tier, rule);
        }
        model
    }

    /// Does it to both, and compares. `exact`: nothing was forgotten by a clock ahead, and no call is left to `Overflow`.
    fn apply(&mut self, op: &Op, exact: bool) -> Result<(), TestCaseError> {
        match *op {
            Op::Check { key, tier, cost } => {
                let overflowed = self.table.stats().overflowed;
                let got = self.table.check_as(&key, self.table.tier(tier).unwrap(), cost);
                if self.table.stats().overflowed > overflowed {
                    // Only a key at rest has no bucket.
                    let now = self.now;
                    if let Some(model) = self.models.get(&key) {
                        prop_assert!(!exact || model.rule.is_full(model.word, now), "a drained key was forgotten");
                    }
                    return Ok(());
                }
                let now = self.now;
                if !self.models.contains_key(&key) && cost == 0 {
                    // Nothing is spent, so nobody remembers that it came, nor in which tier.
                    prop_assert!(!exact || got.remaining() == Some(self.rules[tier].capacity()));
                    return Ok(());
                }
                if !self.models.contains_key(&key) && cost > self.rules[tier].capacity() {
                    prop_assert!(got.is_never());
                    return Ok(());
                }
                let model = self.model(key, tier);
                let step = model.rule.acquire(model.word, cost, now);
                if exact {
                    prop_assert_eq!(got, step.decision());
                } else if got.is_admitted() {
                    prop_assert!(step.decision().is_admitted(), "minted: {got:?}");
                }
                if let (Step::Spend { next, .. }, Decision::Admitted(_)) = (step, got) {
                    model.word = next;
                }
            }
            Op::Refund { key, cost } => {
                // Of what nobody can tell that it was not spent.
                if self.windows {
                    return Ok(());
                }
                let now = self.now;
                let Some(model) = self.models.get_mut(&key) else { return Ok(()) };
                let tier = self.table.tier(model.tier).unwrap();
                let Decision::Admitted(permit) = self.table.peek_as(&key, tier, 0) else { unreachable!("a cost of 0") };
                self.table.refund_as(&key, tier, cost, &permit);
                model.word = model.rule.refund(model.word, cost, &permit, now);
            }
            Op::Change { tier, rule } => {
                let rule = rules(self.windows)[rule];
                self.table.set_tier_budget(self.table.tier(tier).unwrap(), rule).unwrap();
                self.rules[tier] = rule;
                for model in self.models.values_mut().filter(|model| model.tier == tier && model.rule != rule) {
                    // A full bucket is the same as none, and nobody has none of the old capacity.
                    model.word = Rule::carry(model.word, self.now, &model.rule, &rule).unwrap();
                    model.rule = rule;
                }
            }
            Op::Pass { nanos } => self.now += nanos,
            Op::StepBack { nanos } => self.now = self.now.saturating_sub(nanos),
        }
        self.clock.set(self.now);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]

    /// Room for all: as if each key had a limiter of its own.
    #[test]
    fn with_room_for_all_each_key_has_a_bucket_of_its_own(
        ops in prop::collection::vec(op(12, false), 1..120),
        windows: bool,
    ) {
        let mut world = World::new(64, Overflow::Deny, windows);
        for op in &ops {
            world.apply(op, true)?;
        }
        prop_assert_eq!(world.table.stats().reclaimed, 0);
    }

    /// One group of four slots for a dozen keys: forgetting them at rest changes no answer. Rules stay, because a key at rest
    /// that is forgotten has the whole of a larger capacity, where one that is not grows into it.
    #[test]
    fn a_crowded_table_answers_as_a_large_one_does(
        ops in prop::collection::vec(op(12, false), 1..150),
        windows: bool,
    ) {
        let mut world = World::new(2, Overflow::Deny, windows);
        for op in ops.iter().filter(|op| !matches!(op, Op::Change { .. } | Op::Check { tier: 1, .. })) {
            world.apply(op, true)?;
        }
    }

    /// Whatever the clock does, and whatever is forgotten: nobody is admitted who would not be by a bucket of its own.
    #[test]
    fn a_clock_that_steps_back_in_a_crowded_table_mints_nothing(
        ops in prop::collection::vec(op(12, true), 1..150),
        windows: bool,
    ) {
        let mut world = World::new(2, Overflow::Deny, windows);
        for op in ops.iter().filter(|op| !matches!(op, Op::Change { .. } | Op::Check { tier: 1, .. } | Op::Refund { .. })) {
            world.apply(op, false)?;
        }
    }
}
