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
