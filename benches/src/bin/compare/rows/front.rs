//! Layers of tower.

use admittance_benches::contenders::front::{Front, GovernorFront};
use admittance_benches::plan::Plan;

use super::Row;
use crate::duel::{Of, duel};

/// An admitted request through a layer, by the peer's address.
pub(crate) const LAYER: Row = Row {
    key: "tower_layer_vs_tower_governor",
    about: "an admitted request through a layer in front of nothing, over tower_governor's",
    target: None,
    measure: |effort| duel::<Front<false>, GovernorFront>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

/// The same with `RateLimit` fields in each answer, which `tower_governor` was not asked for.
pub(crate) const FIELDS: Row = Row {
    key: "tower_layer_with_fields_vs_without",
    about: "the same with RateLimit fields in each answer, over without",
    target: None,
    measure: |effort| duel::<Front<true>, Front<false>>(Of::Time, &Plan::STOCK, [1, 1], effort),
};
