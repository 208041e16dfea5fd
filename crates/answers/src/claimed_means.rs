//! Claims about means over replicates.

use std::collections::BTreeMap;

use spelrum_model::{CellId, Role};
use spelrum_statistics::comparisons::over_replicates;
use spelrum_statistics::{Clustered, Estimate};

use crate::cell_result::CellResult;
use crate::comparisons::is_of_axis;
use crate::stated::{MeanOverReplicates, StatedCell, StatedClaim};

/// Groups the cells of claims about means: those that differ only on the axis of replicates.
pub fn group_over_replicates(claims: &mut [StatedClaim], axes: &[String], cells: &[CellResult]) {
    let cells: BTreeMap<CellId, &CellResult> = cells.iter().map(|cell| (cell.cell, cell)).collect();
    for claim in claims {
        let Some(over) = &claim.statement.over else { continue };
        let is_kept: Vec<bool> = axes.iter().map(|axis| !is_of_axis(axis, over)).collect();
        let mut places = BTreeMap::new();
        let mut means = Vec::<MeanOverReplicates>::new();
        for (number, case) in (0..).zip(claim.cases()) {
            let results = || case.iter().map(|stated| (stated.player, cells.get(&stated.cell)));
            let key: Vec<_> = results()
                .map(|(role, cell)| {
                    let cell = cell?;
                    let kept = cell.axes.iter().zip(&is_kept).filter(|(_, is_kept)| **is_kept);
                    let place: Vec<_> = kept.map(|(value, _)| value.as_deref()).collect();
                    Some((role == Role::Player, &*cell.player, &*cell.opponent, place))
                })
                .collect();
            let next = means.len();
            let mean = *places.entry(key).or_insert(next);
            if mean == next {
                let affects = |cell: &&CellResult| {
                    let values = cell.axes.iter().zip(&is_kept);
                    values.into_iter().any(|(value, is_kept)| !is_kept && value.is_some())
                };
                let is_affected = results().any(|(_, cell)| cell.is_some_and(affects));
                means.push(MeanOverReplicates { cases: Vec::new(), is_unaffected: !is_affected });
            }
            means[mean].cases.push(number);
        }
        claim.means = means;
    }
}

/// The mean of a figure over replicates, given that of each case; `None` if some have none, or there are too few.
pub fn mean_over_replicates(
    mean: &MeanOverReplicates,
    mut figure: impl FnMut(usize) -> Option<Clustered>,
) -> Option<Estimate> {
    let figures: Vec<Clustered> = mean
        .cases
        .iter()
        .map(|&case| figure(usize::try_from(case).ok()?))
        .collect::<Option<_>>()?;
    match &figures[..] {
        [alone] if mean.is_unaffected => Some(Estimate::from(alone)),
        _ => over_replicates(&figures.iter().collect::<Vec<_>>()),
    }
}

/// Adds the estimates of the claims that follow from scores by opening, given that of each cell's first player: gains of
/// a cell over another, in which the effects of openings that both share cancel, and means over replicates.
pub fn add_estimates_of_scores(claims: &mut [StatedClaim], scores: &BTreeMap<CellId, &Clustered>) {
    let sign = |stated: &StatedCell| match stated.player {
        Role::Player => 1.0,
        Role::Opponent => -1.0,
    };
    // The opponent's score is 1 less the player's.
    let gain = |case: &[StatedCell]| {
        let [cell, other] = case else { return None };
        let [score, base] = [scores.get(&cell.cell)?, scores.get(&other.cell)?];
        let gain = Estimate::from_sum([(sign(cell), *score), (-sign(other), *base)]);
        Some(Estimate { value: gain.value + (sign(other) - sign(cell)) / 2.0, ..gain })
    };
    let score = |stated: &StatedCell| {
        let score = *scores.get(&stated.cell)?;
        Some(match stated.player {
            Role::Player => score.clone(),
            Role::Opponent => score.seen_by_opponent(),
        })
    };
    let figure = |case: &[StatedCell]| match case {
        [cell] => score(cell),
        [cell, other] => Some(score(cell)?.minus(&score(other)?)),
        _ => None,
    };
    for claim in claims.iter_mut().filter(|claim| claim.needs_openings()) {
        claim.estimates = if claim.statement.over.is_some() {
            let cases: Vec<&[StatedCell]> = claim.cases().collect();
            let mean = |mean: &MeanOverReplicates| {
                mean_over_replicates(mean, |case| figure(cases.get(case)?))
            };
            claim.means.iter().map(mean).collect()
        } else {
            claim.cases().map(gain).collect()
        };
    }
}

impl StatedClaim {
    /// Whether its figures follow from scores by opening.
    #[must_use]
    pub fn needs_openings(&self) -> bool {
        let about = self.statement.about;
        about.compares_cells() || self.statement.over.is_some() && about.is_of_scores()
    }
}

#[cfg(test)]
mod tests {
    use spelrum_model::DefinitionHash;
    use spelrum_model::claims::{Statement, Than};
    use spelrum_statistics::OpeningSum;
    use spelrum_statistics::claims::{About, Bound, Quantifier};

    use super::*;

    fn score(points: &[f64]) -> Clustered {
        let sum = |(k, &sum): (u64, &f64)| OpeningSum { opening: (0, k), weight: 1.0, sum };
        Clustered::score(&(0..).zip(points).map(sum).collect::<Vec<_>>()).unwrap()
    }

    fn claim(about: About, over: Option<&str>, cells: &[(i64, Role)]) -> StatedClaim {
        let cell = |&(cell, player)| StatedCell { cell: CellId(cell), player, games: 8 };
        StatedClaim {
            text: "x".to_owned(),
            statement: Statement {
                player: "a".to_owned(),
                opponent: None,
                at: Vec::new(),
                about,
                than: about.compares_cells().then(|| Than::Before("depth".to_owned())),
                over: over.map(str::to_owned),
                quantifier: Quantifier::Every,
                error_rate: 0.05,
            },
            hash: DefinitionHash([0; 32]),
            is_late: false,
            in_sweep: true,
            stop_rule: None,
            cells: cells.iter().map(cell).collect(),
            estimates: Vec::new(),
            means: Vec::new(),
            leads: Vec::new(),
        }
    }

    /// Against lists of each opening's part, from either side.
    #[test]
    fn gains_are_differences_of_scores_from_either_side() {
        let scores = [score(&[1.0, 0.5, 0.0, 1.0]), score(&[0.5, 0.5, 0.25, 1.0])];
        let by_cell = BTreeMap::from([(CellId(1), &scores[0]), (CellId(2), &scores[1])]);
        let seen = |score: &Clustered, role| match role {
            Role::Player => score.clone(),
            Role::Opponent => score.seen_by_opponent(),
        };
        for first in [Role::Player, Role::Opponent] {
            for second in [Role::Player, Role::Opponent] {
                let gain = About::Gain(Bound::Above(0.0));
                let mut claims = [claim(gain, None, &[(1, first), (2, second)])];
                add_estimates_of_scores(&mut claims, &by_cell);
                let found = claims[0].estimates[0].unwrap();
                let twin = seen(&scores[0], first).minus(&seen(&scores[1], second));
                assert!((found.value - twin.value()).abs() < 1e-12, "{first:?} {second:?}");
                assert!((found.variance - twin.variance()).abs() < 1e-12, "{first:?} {second:?}");
            }
        }
    }

    #[test]
    fn a_mean_is_one_estimate_of_all_its_cells() {
        let scores = [score(&[1.0, 0.5, 0.0, 1.0]), score(&[0.5; 4]), score(&[1.0; 4])];
        let by_cell = (1..).zip(&scores).map(|(cell, score)| (CellId(cell), score)).collect();
        let cells = [1, 2, 3].map(|cell| (cell, Role::Player));
        let mut claims = [claim(About::Score(Bound::Above(0.5)), Some("seed"), &cells)];
        claims[0].means = vec![MeanOverReplicates { cases: vec![0, 1, 2], is_unaffected: false }];
        add_estimates_of_scores(&mut claims, &by_cell);
        let mean = claims[0].estimates[0].unwrap();
        assert!((mean.value - (0.625 + 0.5 + 1.0) / 3.0).abs() < 1e-12);
        assert_eq!(mean, over_replicates(&scores.iter().collect::<Vec<_>>()).unwrap());
        // A single replicate shows nothing of others, unless there can be none.
        claims[0].means = vec![
            MeanOverReplicates { cases: vec![0], is_unaffected: false },
            MeanOverReplicates { cases: vec![0], is_unaffected: true },
        ];
        add_estimates_of_scores(&mut claims, &by_cell);
        assert_eq!(claims[0].estimates, [None, Some(Estimate::from(&scores[0]))]);
    }
}
