//! Random claims.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spelrum_answers::{ClaimOf, MeanOverReplicates, RatedLead, StatedCell, StatedClaim};
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
        about in select(vec![
            About::Score as fn(Bound) -> About,
            About::Gain,
            About::TimeRatio,
            About::Accuracy,
            About::Value,
            About::RatingLead,
        ]),
        over in option::of(name()),
        is_every in any::<bool>(),
        error_rate in 0.001..0.5,
    ) -> Statement {
        Statement {
            player,
            opponent,
            at,
            about: about(bound),
            than: about(bound).compares_cells().then(|| Than::Before("depth".to_owned())),
            over,
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
        means in vec((vec(0..5_u64, 0..4), any::<bool>()), 0..3),
        leads in vec((name(), name(), option::of((-400.0..400.0, 0.0..900.0, 0.0..100.0)), any::<bool>()), 0..3),
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
            means: means
                .into_iter()
                .map(|(cases, is_unaffected)| MeanOverReplicates { cases, is_unaffected })
                .collect(),
            leads: leads
                .into_iter()
                .map(|(at, opponent, lead, fits)| RatedLead { at, opponent, lead: lead.map(estimate_of), fits })
                .collect(),
        }
    }
}

prop_compose! {
    pub(crate) fn claim_of()(experiment in id(), text in name(), [is_late, in_sweep] in any::<[bool; 2]>()) -> ClaimOf {
        let claim = ClaimStanding { text, is_late, in_sweep };
        ClaimOf { experiment: ExperimentId(experiment), claim }
    }
}
