//! Random claims.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{ClaimOf, StatedCell, StatedClaim};
use spelrum_model::claims::{ClaimStanding, Statement, Than};
use spelrum_model::{CellId, DefinitionHash, ExperimentId, Role};
use spelrum_statistics::Estimate;
use spelrum_statistics::claims::{About, Bound, Quantifier};

use super::{count, id, name};

fn estimate_of((value, variance, freedom): (f64, f64, f64)) -> Estimate {
    Estimate { value, variance, freedom }
}

fn bound() -> impl Strategy<Value = Bound> {
    (0.01..0.5, 0.51..0.99, 0..3).prop_map(|(low, high, form)| match form {
        0 => Bound::Above(low),
        1 => Bound::Below(high),
        _ => Bound::Within([low, high]),
    })
}

prop_compose! {
    fn statement()(
        player in name(),
        opponent in option::of(name()),
        at in vec((name(), vec(name(), 0..3)), 0..3),
        bound in bound(),
        [is_every, is_compared] in any::<[bool; 2]>(),
        error_rate in 0.001..0.5,
    ) -> Statement {
        Statement {
            player,
            opponent,
            at,
            about: if is_compared { About::Gain(bound) } else { About::Score(bound) },
            than: is_compared.then(|| Than::Before("depth".to_owned())),
            quantifier: if is_every { Quantifier::Every } else { Quantifier::Some },
            error_rate,
        }
    }
}

prop_compose! {
    pub(crate) fn claim()(
        text in name(),
        statement in statement(),
        hash in any::<[u8; 32]>(),
        [is_late, in_sweep] in any::<[bool; 2]>(),
        stop_rule in option::of(name()),
        // Of existing and missing cells.
        cells in vec((prop_oneof![id(), 1..4_i64], any::<bool>(), count()), 0..4),
        estimates in vec(option::of((-1.0..1.0, 0.0..0.1, 0.0..100.0)), 0..4),
    ) -> StatedClaim {
        let cell = |(cell, is_first, games)| StatedCell {
            cell: CellId(cell),
            player: if is_first { Role::Player } else { Role::Opponent },
            games,
        };
        StatedClaim {
            text,
            statement,
            hash: DefinitionHash(hash),
            is_late,
            in_sweep,
            stop_rule,
            cells: cells.into_iter().map(cell).collect(),
            estimates: estimates.into_iter().map(|estimate| estimate.map(estimate_of)).collect(),
        }
    }
}

prop_compose! {
    pub(crate) fn claim_of()(experiment in id(), text in name(), [is_late, in_sweep] in any::<[bool; 2]>()) -> ClaimOf {
        let claim = ClaimStanding { text, is_late, in_sweep };
        ClaimOf { experiment: ExperimentId(experiment), claim }
    }
}
