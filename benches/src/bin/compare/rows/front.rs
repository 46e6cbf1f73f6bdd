//! Layers of tower.

use admittance_benches::contenders::front::{Front, GovernorFront};
use admittance_benches::contenders::loopback::{NoLayer, OurLayer, Served, TheirLayer};
use admittance_benches::plan::Plan;

use super::Row;
use crate::duel::{Effort, Of, duel};

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

/// A request over a socket takes a hundred times as long as a call: fewer of them, in as many turns.
fn over_loopback(effort: Effort) -> Effort {
    Effort { rounds: effort.rounds.min(200), calls: effort.calls.min(512) }
}

/// An admitted request to a route of axum, over loopback, by the peer's address.
pub(crate) const LOOPBACK: Row = Row {
    key: "tower_layer_over_loopback_vs_tower_governor",
    about: "an admitted request to a route of axum behind a layer, over loopback, over tower_governor's",
    target: None,
    measure: |effort| {
        duel::<Served<OurLayer>, Served<TheirLayer>>(Of::Time, &Plan::STOCK, [1, 1], over_loopback(effort))
    },
};

/// What a layer adds to all that a request over a socket is.
pub(crate) const LOOPBACK_BARE: Row = Row {
    key: "tower_layer_over_loopback_vs_no_layer",
    about: "the same, over the route without a layer",
    target: None,
    measure: |effort| duel::<Served<OurLayer>, Served<NoLayer>>(Of::Time, &Plan::STOCK, [1, 1], over_loopback(effort)),
};
