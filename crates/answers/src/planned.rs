//! What a sweep will show before it is played: widths of intervals, power, where its stop rule ends cells, and whether its
//! claims will be decided.

use std::collections::BTreeMap;

use serde::Serialize;
use spelrum_engine::Random;
use spelrum_model::claims::{Claim, ClaimedCell};
use spelrum_model::{Plan, PlannedCell, Role};
use spelrum_optimize::cmaes::normal;
use spelrum_statistics::claims::Bound;
use spelrum_statistics::planning::{
    self, PlannedClaim, RuleCourse, UnitModel, chance_that_all_are_supported, half_width, power,
    units_for_half_width, units_for_power,
};
use spelrum_statistics::{GameCounts, PairCounts, StopRule, Tally};

use crate::cell_result::CellResult;
use crate::report::Report;

/// What a plan assumes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Assumptions {
    /// The lead that is to be shown, in points per game: a score of one half and this much.
    pub margin: f64,
    /// The wanted chance of showing it.
    pub power: f64,
    /// The share of games that are drawn between equals, where no earlier results say otherwise.
    pub drawn: f64,
}

impl Default for Assumptions {
    /// A lead of 0.05 points, shown in four of five sweeps, in games without draws.
    fn default() -> Self {
        Self { margin: 0.05, power: 0.8, drawn: 0.0 }
    }
}

/// A sweep's plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedSweep {
    /// Its name.
    pub name: String,
    /// Its game.
    pub game: String,
    /// What is assumed.
    #[serde(flatten)]
    pub assumptions: Assumptions,
    /// The experiment from whose results draws, and how alike the games of a pair are, come.
    pub like: Option<String>,
    /// The games of all its cells, if no rule ends them.
    pub games_max: u64,
    /// The games expected if all players are equal, half the margin apart, and the margin apart. With a sequential test
    /// its two hypotheses replace equality and the margin.
    pub games_expected: [f64; 3],
    /// The chance that all claims will be supported, if each is true by the margin; `None` without claims, if some are not
    /// about scores, or if they cannot all be true.
    pub claims_supported: Option<f64>,
    /// The number of claims.
    pub claims: u64,
    /// The two hypotheses of a sequential test that ends cells.
    pub elo: Option<[f64; 2]>,
    /// The rule that ends cells, in words.
    pub stop_rule: Option<String>,
    /// Its cells.
    pub cells: Vec<PlannedCellFigures>,
}

/// A cell's plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedCellFigures {
    /// Its place on the axes, as in the sweep.
    pub axes: String,
    /// The first player's name.
    pub player: String,
    /// The second player's.
    pub opponent: String,
    /// What will be known of it.
    #[serde(flatten)]
    pub figures: Figures,
}

/// What will be known of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Its most games.
    pub games_max: u64,
    /// Whether earlier results say how its games end.
    pub is_known: bool,
    /// The variance between equals of a pair's mean score, or of a game's where sides are fixed.
    pub variance: f64,
    /// Half the width of the score's 95% interval between equals, once the cell has ended.
    pub half_width: f64,
    /// The chance that the interval, or the sequential test, shows the margin where it is true; `None` in self-play.
    pub power: Option<f64>,
    /// The fewest games that show the margin with the wanted power; `None` if no number of games does, and in self-play.
    pub games_for_margin: Option<u64>,
    /// The fewest games after which half the interval's width between equals is at most the margin; `None` if no number
    /// of games is enough.
    pub games_for_width: Option<u64>,
    /// The games expected between equals, half way, and at the margin: see [`PlannedSweep::games_expected`].
    pub games_expected: [f64; 3],
    /// In nine cells of ten no more games than these are played.
    pub games_nine_in_ten: [f64; 3],
}

/// Rounds in which claims are drawn, where they have few cells.
const ROUNDS: u32 = 2_000;

/// Draws of cells' scores, at most, in all rounds.
const DRAWS_MAX: usize = 2_000_000;

/// Plans a sweep, without a course, whose cells are games; `like` has earlier results.
#[must_use]
pub fn planned(plan: &Plan, assumptions: Assumptions, like: Option<&Report>) -> PlannedSweep {
    let known = like.map(Known::new);
    let mut figures_of = Planner { stop: plan.stop, assumptions, done: BTreeMap::new() };
    let mut models = Vec::with_capacity(plan.cells.len());
    let cells: Vec<PlannedCellFigures> = plan
        .cells
        .iter()
        .map(|cell| {
            let conditions = &plan.conditions[cell.conditions];
            let places: Vec<(&str, &str)> =
                plan.place(cell).map(|(axis, value)| (axis, value.text.as_str())).collect();
            let observed = known.as_ref().and_then(|known| known.model(cell, &places));
            let is_known =
                observed.is_some_and(|model| model.is_of_pairs() == conditions.swap_sides);
            let model = observed
                .filter(|_| is_known)
                .unwrap_or_else(|| UnitModel::even(conditions.swap_sides, assumptions.drawn));
            let what = WhatCell {
                model: model.with_mean(0.5),
                is_known,
                units: units_of(plan, cell),
                openings: conditions.openings_count,
                is_self_play: cell.players[0] == cell.players[1],
            };
            models.push((model, what.openings));
            let axes = places.iter().map(|(axis, value)| format!("{axis}={value}"));
            PlannedCellFigures {
                axes: axes.collect::<Vec<_>>().join(", "),
                player: cell.player_names[0].to_string(),
                opponent: cell.player_names[1].to_string(),
                figures: figures_of.figures(what),
            }
        })
        .collect();
    let sum = |index: usize| cells.iter().map(|cell| cell.figures.games_expected[index]).sum();
    PlannedSweep {
        name: plan.name.clone(),
        game: plan.game.clone(),
        assumptions,
        like: like.map(|report| report.experiment.name.clone()),
        games_max: cells.iter().map(|cell| cell.figures.games_max).sum(),
        games_expected: [sum(0), sum(1), sum(2)],
        claims_supported: claims_supported(plan, assumptions, &models),
        claims: plan.claims.len() as u64,
        elo: match plan.stop {
            Some(StopRule::Sprt(sprt)) => Some([sprt.elo0(), sprt.elo1()]),
            Some(StopRule::Precision(_)) | None => None,
        },
        stop_rule: plan.stop.map(|rule| rule.describe()),
        cells,
    }
}

/// The units of a cell that can be played: players that repeat a game with its opening play each opening once.
fn units_of(plan: &Plan, cell: &PlannedCell) -> u64 {
    let conditions = &plan.conditions[cell.conditions];
    let units = conditions.openings_of(cell.games);
    let round = conditions.openings_count.filter(|_| cell.repeats);
    round.map_or(units, |openings| units.min(openings))
}

/// What decides a cell's figures.
#[derive(Clone, Copy)]
struct WhatCell {
    model: UnitModel,
    is_known: bool,
    units: u64,
    openings: Option<u64>,
    is_self_play: bool,
}

/// Figures of cells, each computed once for all that are alike.
struct Planner {
    stop: Option<StopRule>,
    assumptions: Assumptions,
    done: BTreeMap<Key, Figures>,
}

/// Variances are rounded to a thousandth of the greatest.
type Key = (u64, u64, u64, Option<u64>, bool, bool, bool);

const VARIANCES: f64 = 1_000.0;

impl Planner {
    fn figures(&mut self, cell: WhatCell) -> Figures {
        let WhatCell { model, is_known, units, openings, is_self_play } = cell;
        let share = |variance: f64| (variance * 4.0 * VARIANCES).round() as u64;
        let [own, of_openings] = [model.variance(), model.opening_variance()].map(share);
        let is_of_pairs = model.is_of_pairs();
        let key = (own, of_openings, units, openings, is_of_pairs, is_known, is_self_play);
        if let Some(figures) = self.done.get(&key) {
            return *figures;
        }
        let figures = self.compute(cell);
        self.done.insert(key, figures);
        figures
    }

    fn compute(&self, cell: WhatCell) -> Figures {
        let WhatCell { model, is_known, units, openings, is_self_play } = cell;
        let Assumptions { margin, power: wanted, .. } = self.assumptions;
        let games = model.games_of_unit();
        let ahead = model.with_mean(0.5 + margin);
        // Self-play measures the first move, and no test compares a player with itself.
        let truths = match self.stop {
            Some(StopRule::Sprt(sprt)) => {
                let halfway = f64::midpoint(sprt.elo0(), sprt.elo1());
                [sprt.elo0(), halfway, sprt.elo1()].map(|elo| model.at_elo(elo, sprt.model()))
            }
            Some(StopRule::Precision(_)) | None => {
                [model, model.with_mean(0.5 + margin / 2.0), ahead]
            }
        };
        let courses = truths.map(|truth| match &self.stop {
            Some(rule) => RuleCourse::planned(rule, &truth, openings, units),
            None => {
                let all = units as f64;
                RuleCourse { units: all, low: all, high: all, verdicts: [0.0; 2] }
            }
        });
        let in_games = |units: f64| units * games as f64;
        let [at_even, _, at_margin] = courses.map(|course| (course.units.round() as u64).max(1));
        let shown = match self.stop {
            Some(StopRule::Sprt(_)) => courses[2].verdicts[1],
            Some(StopRule::Precision(_)) | None => power(&ahead, at_margin, openings, 0.5),
        };
        let needed = units_for_power(&ahead, wanted, openings, 0.5);
        Figures {
            games_max: units * games,
            is_known,
            variance: model.variance(),
            half_width: half_width(&model, at_even, openings),
            power: (!is_self_play).then_some(shown),
            games_for_margin: needed.filter(|_| !is_self_play).map(|units| units * games),
            games_for_width: units_for_half_width(&model, margin, openings)
                .map(|units| units * games),
            games_expected: courses.map(|course| in_games(course.units)),
            games_nine_in_ten: courses.map(|course| in_games(course.high)),
        }
    }
}

/// The chance that all claims are supported, each true by the margin at least; `None` without claims, where a claim is
/// about another figure than scores or about means over replicates, and where they cannot all be true.
fn claims_supported(
    plan: &Plan,
    assumptions: Assumptions,
    models: &[(UnitModel, Option<u64>)],
) -> Option<f64> {
    let is_of_scores =
        |claim: &Claim| claim.statement.about.is_of_scores() && claim.statement.over.is_none();
    if plan.claims.is_empty() || !plan.claims.iter().all(is_of_scores) {
        return None;
    }
    let mut numbers = BTreeMap::new();
    let (mut claims, mut truths) = (Vec::new(), Vec::new());
    for claim in &plan.claims {
        let bound = claim.statement.about.bound();
        let mut number = |cell: &ClaimedCell| {
            let next = numbers.len();
            (*numbers.entry(cell.cell).or_insert(next), cell.player == Role::Opponent)
        };
        let case = |case: &[ClaimedCell]| case.iter().map(&mut number).collect::<Vec<_>>();
        let cases: Vec<Vec<(usize, bool)>> =
            claim.cells.chunks_exact(claim.statement.cells_of_case()).map(case).collect();
        truths.extend(cases.iter().map(|case| (case.clone(), bound)));
        claims.push(PlannedClaim { claimed: claim.statement.claimed(), cases });
    }
    let scores = scores_of_truths(&truths, numbers.len(), assumptions.margin)?;
    let mut planned: Vec<(usize, planning::PlannedCell)> = numbers
        .into_iter()
        .map(|(cell, number)| (number, cell_of_claims(plan, models, cell, scores[number])))
        .collect();
    planned.sort_by_key(|(number, _)| *number);
    let cells: Vec<planning::PlannedCell> = planned.into_iter().map(|(_, cell)| cell).collect();
    let rounds = u32::try_from(DRAWS_MAX / cells.len().max(1)).unwrap_or(ROUNDS).clamp(100, ROUNDS);
    let mut random = Random::from_key([0x70; 32]);
    Some(chance_that_all_are_supported(&claims, &cells, rounds, || normal(&mut random)))
}

/// Changes of scores, in search of those that make all claims true, and passes over the claims.
const CHANGES_MAX: usize = 20_000_000;
const PASSES_MAX: usize = 5_000;

/// Mean scores of cells' first players, as near to one half as need be, that make all these bounds true by the margin: of
/// the score of a cell, or of the gain of one over another. `None` if there are none. Each bound in turn is made true with
/// the least change (Agmon 1954, Motzkin and Schoenberg 1954), at first of the cell that gains alone.
fn scores_of_truths(
    truths: &[(Vec<(usize, bool)>, Bound)],
    cells: usize,
    margin: f64,
) -> Option<Vec<f64>> {
    const EXTREME: f64 = 0.001;
    let mut scores = vec![0.5; cells];
    for pass in 0..(CHANGES_MAX / truths.len().max(1)).min(PASSES_MAX) {
        let mut farthest = 0.0_f64;
        for (case, bound) in truths {
            let seen = |&(cell, is_of_second): &(usize, bool)| {
                if is_of_second { 1.0 - scores[cell] } else { scores[cell] }
            };
            let figure = match &case[..] {
                [first, base] => seen(first) - seen(base),
                [first, ..] => seen(first),
                [] => continue,
            };
            let wanted = bound.figure_at(margin);
            let lack = match bound {
                Bound::Above(_) => (wanted - figure).max(0.0),
                Bound::Below(_) => (wanted - figure).min(0.0),
                Bound::Within(_) => wanted - figure,
            };
            farthest = farthest.max(lack.abs());
            let shares = match case.len() {
                2 if pass > cells => [0.5, -0.5],
                _ => [1.0, 0.0],
            };
            for (&(cell, is_of_second), share) in case.iter().zip(shares) {
                let change = if is_of_second { -share * lack } else { share * lack };
                scores[cell] = (scores[cell] + change).clamp(EXTREME, 1.0 - EXTREME);
            }
        }
        if farthest < 1e-4 {
            return Some(scores);
        }
    }
    None
}

/// A cell of claims, with this mean score.
fn cell_of_claims(
    plan: &Plan,
    models: &[(UnitModel, Option<u64>)],
    cell: usize,
    score: f64,
) -> planning::PlannedCell {
    let (model, openings) = models[cell];
    let model = model.with_mean(score);
    let units = units_of(plan, &plan.cells[cell]);
    let course = plan.stop.map(|rule| RuleCourse::planned(&rule, &model, openings, units));
    let sprt = match (plan.stop, course) {
        (Some(StopRule::Sprt(sprt)), Some(course)) => Some((sprt, course.verdicts)),
        (_, _) => None,
    };
    let units = course.map_or(units, |course| course.units.round() as u64);
    planning::PlannedCell { model, units, openings, sprt }
}

/// A cell's players and its values on axes.
type KnownPlace<'a> = (&'a str, &'a str, Vec<(&'a str, &'a str)>);

/// Earlier results: of the same place and pairing, else of the same pairing, else of all.
struct Known<'a> {
    report: &'a Report,
    of_places: BTreeMap<KnownPlace<'a>, UnitModel>,
    of_pairings: BTreeMap<(&'a str, &'a str), Option<UnitModel>>,
    of_all: [Option<UnitModel>; 2],
}

impl<'a> Known<'a> {
    fn new(report: &'a Report) -> Self {
        let met: Vec<&CellResult> = report.cells.iter().filter(|cell| !cell.is_self_play).collect();
        let place = |cell: &'a CellResult| {
            let values = report.axes.iter().zip(&cell.axes);
            let values = values.filter_map(|(axis, value)| Some((&**axis, value.as_deref()?)));
            (cell.player.as_str(), cell.opponent.as_str(), values.collect::<Vec<_>>())
        };
        let of_places = met.iter().filter_map(|&cell| {
            Some((place(cell), UnitModel::observed(&tally(&[cell])?, cell.openings)?))
        });
        let mut pairings: BTreeMap<(&str, &str), Vec<&CellResult>> = BTreeMap::new();
        for &cell in &met {
            pairings.entry((&cell.player, &cell.opponent)).or_default().push(cell);
        }
        let pooled = |cells: &[&CellResult]| UnitModel::observed(&tally(cells)?, None);
        let of_all = [true, false].map(|swap_sides| {
            let alike: Vec<&CellResult> =
                met.iter().copied().filter(|cell| cell.swap_sides == swap_sides).collect();
            pooled(&alike)
        });
        Self {
            report,
            of_places: of_places.collect(),
            of_pairings: pairings.iter().map(|(names, cells)| (*names, pooled(cells))).collect(),
            of_all,
        }
    }

    fn model(&self, cell: &PlannedCell, places: &[(&str, &str)]) -> Option<UnitModel> {
        let [player, opponent] = &cell.player_names;
        let kept = |axis: &str| self.report.axes.iter().any(|known| known == axis);
        let places: Vec<(&str, &str)> =
            places.iter().copied().filter(|(axis, _)| kept(axis)).collect();
        let of_place = self.of_places.get(&(&**player, &**opponent, places)).copied();
        let of_pairing = || self.of_pairings.get(&(&**player, &**opponent)).copied().flatten();
        of_place.or_else(of_pairing).or_else(|| self.of_all.into_iter().flatten().next())
    }
}

/// The units of cells of one kind together.
fn tally(cells: &[&CellResult]) -> Option<Tally> {
    let first = cells.first()?;
    if first.swap_sides {
        let mut pairs = PairCounts::default();
        for cell in cells.iter().filter(|cell| cell.swap_sides) {
            for (sum, count) in pairs.0.iter_mut().zip(cell.pairs.0) {
                *sum += count;
            }
        }
        return Some(Tally::Pairs(pairs));
    }
    let mut games = GameCounts::default();
    for cell in cells.iter().filter(|cell| !cell.swap_sides) {
        for (sum, count) in games.0.iter_mut().zip([cell.losses, cell.draws, cell.wins]) {
            *sum += count;
        }
    }
    Some(Tally::Games(games))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_made_true_together() {
        let first = |cell| (cell, false);
        let scores = |truths: &[(Vec<(usize, bool)>, Bound)], cells| {
            let scores = scores_of_truths(truths, cells, 0.05)?;
            Some(scores.iter().map(|score| (score * 1e3).round() / 1e3).collect::<Vec<f64>>())
        };
        let above = Bound::Above(0.5);
        // Each beats its opponent, and the second gains over the first, whichever is said first.
        let beat = [(vec![first(0)], above), (vec![first(1)], above)];
        let gain = [(vec![first(1), first(0)], Bound::Above(0.0))];
        assert_eq!(scores(&[&beat[..], &gain[..]].concat(), 2), Some(vec![0.55, 0.6]));
        assert_eq!(scores(&[&gain[..], &beat[..]].concat(), 2), Some(vec![0.55, 0.6]));
        // The base gives way where the other cannot.
        let weak = [(vec![first(1)], Bound::Below(0.5)), gain[0].clone()];
        let found = scores_of_truths(&weak, 2, 0.05).unwrap();
        assert!(found[1] <= 0.4502 && found[1] - found[0] >= 0.0498, "{found:?}");
        // Of the second player.
        assert_eq!(scores(&[(vec![(0, true)], above)], 1), Some(vec![0.45]));
        // Fifteen steps of 0.05 have room between 0 and 1, and twenty-five have not.
        let steps = |count: usize| -> Vec<_> {
            (1..=count)
                .map(|cell| (vec![first(cell), first(cell - 1)], Bound::Above(0.0)))
                .collect()
        };
        assert!(scores(&steps(15), 16).is_some());
        assert_eq!(scores(&steps(25), 26), None);
        let contrary = [(vec![first(0)], above), (vec![first(0)], Bound::Below(0.5))];
        assert_eq!(scores(&contrary, 1), None);
    }
}
