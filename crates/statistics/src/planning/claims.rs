//! The chance that a sweep's claims will all be supported, if they are true by some margin.

use super::sample_size::expected;
use super::unit_model::UnitModel;
use crate::claims::{About, Claimed, FigureTest, holm};
use crate::clustered::prior;
use crate::interval::Wilson;
use crate::strength::normal_distribution;
use crate::{Estimate, ScoreTest, Sprt, Verdict};

/// A claim before its cells are played: about scores, or gains.
#[derive(Clone, Debug)]
pub struct PlannedClaim {
    /// What it claims.
    pub claimed: Claimed,
    /// The cells of each case: their numbers among `cells`, and whether it is about the second player there.
    pub cases: Vec<Vec<(usize, bool)>>,
}

/// A cell of claims before it is played.
#[derive(Clone, Copy, Debug)]
pub struct PlannedCell {
    /// How its units are distributed.
    pub model: UnitModel,
    /// How many are played.
    pub units: u64,
    /// From how many openings, if they repeat.
    pub openings: Option<u64>,
    /// The SPRT that ends it, with the chances that it accepts elo0 and elo1.
    pub sprt: Option<(Sprt, [f64; 2])>,
}

/// A cell's expected test, and how far its score may be off.
struct ExpectedTest {
    wilson: Wilson,
    deviation: f64,
    counted: f64,
    sprt: Option<(Sprt, [f64; 2])>,
}

/// A drawn result of a cell.
struct Drawn<'t> {
    expected: &'t ExpectedTest,
    score: f64,
    verdict: Option<Verdict>,
}

/// The chance that all claims are supported by their family, where each cell's units are distributed as its model says,
/// and so many are played. It is the share of so many rounds, in each of which the scores of all cells are drawn:
/// `normal` gives independent standard normal numbers. Openings that two cells share make a gain more precise than is
/// reckoned here.
#[must_use]
pub fn chance_that_all_are_supported(
    claims: &[PlannedClaim],
    cells: &[PlannedCell],
    rounds: u32,
    mut normal: impl FnMut() -> f64,
) -> f64 {
    let tests: Vec<ExpectedTest> = cells.iter().map(ExpectedTest::new).collect();
    let mut supported = 0;
    for _ in 0..rounds {
        let drawn: Vec<Drawn<'_>> = tests.iter().map(|test| test.draw(normal())).collect();
        let p_values: Vec<f64> = claims.iter().map(|claim| claim.p_value(&drawn)).collect();
        let is_supported = |(p, claim): (f64, &PlannedClaim)| p <= claim.claimed.error_rate;
        supported += u32::from(holm(&p_values).into_iter().zip(claims).all(is_supported));
    }
    f64::from(supported) / f64::from(rounds.max(1))
}

impl ExpectedTest {
    fn new(cell: &PlannedCell) -> Self {
        let PlannedCell { model, units, openings, sprt } = *cell;
        let wilson = expected(&model, units, openings);
        let openings = openings.filter(|&openings| openings > 1 && openings < units);
        let counted = openings.unwrap_or(units) as f64;
        let variance = model.variance_over_openings(units as f64 / counted);
        Self { wilson, deviation: (variance / counted).sqrt(), counted, sprt }
    }

    fn draw(&self, normal: f64) -> Drawn<'_> {
        let verdict = self.sprt.and_then(|(_, [elo0, elo1])| {
            let chance = normal_distribution(normal);
            if chance < elo0 {
                Some(Verdict::Elo0)
            } else {
                (chance >= 1.0 - elo1).then_some(Verdict::Elo1)
            }
        });
        let score = (self.wilson.score() + self.deviation * normal).clamp(0.0, 1.0);
        Drawn { expected: self, score, verdict }
    }
}

impl PlannedClaim {
    fn p_value(&self, drawn: &[Drawn<'_>]) -> f64 {
        let p_value = |case: &Vec<(usize, bool)>| {
            let test = self.test(case, drawn);
            test.map_or(1.0, |test| self.claimed.about.bound().p_value(&test))
        };
        self.claimed.quantifier.p_value(&self.cases.iter().map(p_value).collect::<Vec<f64>>())
    }

    fn test(&self, case: &[(usize, bool)], drawn: &[Drawn<'_>]) -> Option<FigureTest> {
        match (self.claimed.about, case) {
            (About::Score(bound), &[(cell, is_of_second)]) => {
                let Drawn { expected, score, verdict } = &drawn[cell];
                match &expected.sprt {
                    Some((sprt, _)) => FigureTest::from_sprt(sprt, *verdict, bound, is_of_second),
                    None => {
                        let test = ScoreTest::new(expected.wilson.with_score(*score));
                        Some(FigureTest::Score { test, is_of_second })
                    }
                }
            }
            (About::Gain(_), &[cell, other]) => {
                let score = |(cell, is_of_second): (usize, bool)| {
                    let score = drawn[cell].score;
                    if is_of_second { 1.0 - score } else { score }
                };
                let both = [cell, other].map(|(cell, _)| &drawn[cell]);
                let variance = |drawn: &&Drawn<'_>| {
                    let ExpectedTest { deviation, counted, .. } = drawn.expected;
                    deviation * deviation + prior(drawn.score, *counted)
                };
                let [counted, others] = both.map(|drawn| drawn.expected.counted);
                let is_fixed = both.iter().all(|drawn| drawn.expected.sprt.is_none());
                is_fixed.then_some(FigureTest::Gain(Estimate {
                    value: score(cell) - score(other),
                    variance: both.iter().map(variance).sum(),
                    freedom: counted.min(others) - 1.0,
                }))
            }
            (
                About::Score(_)
                | About::Gain(_)
                | About::TimeRatio(_)
                | About::Accuracy(_)
                | About::Value(_)
                | About::RatingLead(_),
                _,
            ) => None,
        }
    }
}
