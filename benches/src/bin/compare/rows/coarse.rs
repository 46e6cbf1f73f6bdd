//! The coarse clock, against governor on each of its clocks.

use admittance::CoarseClock;
use admittance_benches::contenders::{Governor, GovernorUpkeep, Ours};
use admittance_benches::plan::Plan;

use super::{Row, Target};
use crate::duel::{Of, duel};

type Coarse = Ours<CoarseClock>;

/// Over the clock governor has by default.
pub(crate) const VS_DEFAULT: Row = Row {
    key: "coarse_admit_vs_governor",
    about: "time of an admission on the coarse clock, over governor's on its default clock",
    target: Some(Target::AtMost(0.45)),
    measure: |effort| duel::<Coarse, Governor>(Of::Time, &Plan::STOCK, [1, 1], effort),
};

/// Over governor's clock of the same kind.
pub(crate) const VS_UPKEEP: Row = Row {
    key: "coarse_admit_vs_governor_upkeep",
    about: "time of an admission on the coarse clock, over governor's on its upkeep clock",
    target: Some(Target::AtMost(1.0)),
    measure: |effort| duel::<Coarse, GovernorUpkeep>(Of::Time, &Plan::STOCK, [1, 1], effort),
};
