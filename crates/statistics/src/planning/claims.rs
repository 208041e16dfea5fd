//! The chance that a sweep's claims will all be supported, if they are true by some margin.

use super::sample_size::expected;
use super::unit_model::UnitModel;
use crate::ScoreTest;
use crate::claims::{Claimed, holm};
use crate::interval::Wilson;

/// A claim before its cells are played.
#[derive(Clone, Debug)]
pub struct PlannedClaim {
    /// What it claims.
    pub claimed: Claimed,
    /// Its cells: their numbers among `cells`, and whether it is about the second player's score.
    pub cells: Vec<(usize, bool)>,
}

/// A cell's expected test, and how far its score may be off.
struct ExpectedTest {
    wilson: Wilson,
    deviation: f64,
}

/// The chance that all claims are supported by their family, where each cell's units are distributed as its model says,
/// and so many are played. It is the share of so many rounds, in each of which the scores of all cells are drawn:
/// `normal` gives independent standard normal numbers.
#[must_use]
pub fn chance_that_all_are_supported(
    claims: &[PlannedClaim],
    cells: &[(UnitModel, u64, Option<u64>)],
    rounds: u32,
    mut normal: impl FnMut() -> f64,
) -> f64 {
    let tests: Vec<ExpectedTest> = cells
        .iter()
        .map(|(model, units, openings)| {
            let wilson = expected(model, *units, *openings);
            let openings = openings.filter(|&openings| openings > 1 && openings < *units);
            let counted = openings.unwrap_or(*units) as f64;
            let variance = model.variance_over_openings(*units as f64 / counted);
            ExpectedTest { wilson, deviation: (variance / counted).sqrt() }
        })
        .collect();
    let mut supported = 0;
    for _ in 0..rounds {
        let drawn: Vec<ScoreTest> = tests
            .iter()
            .map(|test| {
                let score = test.wilson.score() + test.deviation * normal();
                ScoreTest::new(test.wilson.with_score(score.clamp(0.0, 1.0)))
            })
            .collect();
        let p_values: Vec<f64> = claims.iter().map(|claim| claim.p_value(&drawn)).collect();
        let is_supported = |(p, claim): (f64, &PlannedClaim)| p <= claim.claimed.error_rate;
        supported += u32::from(holm(&p_values).into_iter().zip(claims).all(is_supported));
    }
    f64::from(supported) / f64::from(rounds.max(1))
}

impl PlannedClaim {
    fn p_value(&self, tests: &[ScoreTest]) -> f64 {
        let p_value = |&(cell, is_of_second): &(usize, bool)| {
            self.claimed.score.p_value(&tests[cell], is_of_second)
        };
        self.claimed.quantifier.p_value(&self.cells.iter().map(p_value).collect::<Vec<f64>>())
    }
}
