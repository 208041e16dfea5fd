//! Comparison of two experiments: their cells, matched by players and place, and the differences.
//!
//! The experiments are treated as independent samples. The interval of a difference or ratio is computed from the two
//! reported intervals (MOVER, the method of variance estimates recovery: Newcombe 1998, method 10; Zou and Donner
//! 2008), so it is as accurate as they are where scores are lopsided or games few.

use std::collections::BTreeMap;

use spelrum_statistics::{Interval, OverGames, ScoreInterval};

use crate::cell_result::CellResult;
use crate::report::{MoveCost, Report};

/// Common and differing parts of two reports.
#[derive(Clone, Debug, PartialEq)]
pub struct SideBySide<'a> {
    /// Names of the axes that both have, in the first report's order.
    pub axes: Vec<String>,
    /// Cells that both have, in the first report's order.
    pub cells: Vec<MatchedCells<'a>>,
    /// Players of these cells whose moves both reports time, in the same order.
    pub moves: Vec<MatchedMoves<'a>>,
    /// Cells of the first and of the second report without exactly one counterpart.
    pub unmatched: [Vec<&'a CellResult>; 2],
}

/// A cell of each experiment: the same players at the same place.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchedCells<'a> {
    /// Their values on the axes that both have.
    pub axes: Vec<Option<String>>,
    /// The first experiment's, and the second's.
    pub cells: [&'a CellResult; 2],
    /// The player's score in the first minus that in the second, in points per game; `None` where a score is missing.
    pub difference: Option<Interval>,
}

/// Cost of one player's moves in both reports.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchedMoves<'a> {
    /// Their values on the axes that both have.
    pub axes: Vec<Option<String>>,
    /// The first experiment's, and the second's.
    pub moves: [&'a MoveCost; 2],
    /// Mean time in the first report divided by that in the second; `None` where one is 0.
    pub ratio: Option<OverGames>,
}

/// Player, opponent and place.
type Key<'a> = (&'a str, &'a str, Vec<Option<&'a str>>);

impl<'a> SideBySide<'a> {
    /// Matches the cells of two reports by their players' names and their values on the axes that both have.
    #[must_use]
    pub fn new(first: &'a Report, second: &'a Report) -> Self {
        let axes: Vec<String> =
            first.axes.iter().filter(|axis| second.axes.contains(axis)).cloned().collect();
        let [first_places, second_places] = [first, second].map(|report| places(report, &axes));
        let key_of = |cell: &'a CellResult, places: &[usize]| -> Key<'a> {
            (&cell.player, &cell.opponent, on(&cell.axes, places))
        };
        let by_key = |cells: &'a [CellResult], places: &[usize]| {
            let mut cells_by_key: BTreeMap<Key<'a>, Vec<&'a CellResult>> = BTreeMap::new();
            for cell in cells {
                cells_by_key.entry(key_of(cell, places)).or_default().push(cell);
            }
            cells_by_key
        };
        let ours = by_key(&first.cells, &first_places);
        let theirs = by_key(&second.cells, &second_places);
        let pair = |key: &Key<'a>| match (ours.get(key)?.as_slice(), theirs.get(key)?.as_slice()) {
            ([first_cell], [second_cell]) => Some([*first_cell, *second_cell]),
            (_, _) => None,
        };
        let mut cells = Vec::new();
        let mut unmatched = [Vec::new(), Vec::new()];
        for cell in &first.cells {
            match pair(&key_of(cell, &first_places)) {
                Some(pair_of_cells) => cells.push(MatchedCells::new(pair_of_cells, &first_places)),
                None => unmatched[0].push(cell),
            }
        }
        let alone =
            second.cells.iter().filter(|cell| pair(&key_of(cell, &second_places)).is_none());
        unmatched[1].extend(alone);
        let moves = moves(first, second, &cells);
        Self { axes, cells, moves, unmatched }
    }
}

/// Returns the index of each of these axes in a report.
fn places(report: &Report, axes: &[String]) -> Vec<usize> {
    axes.iter().filter_map(|axis| report.axes.iter().position(|name| name == axis)).collect()
}

fn on<'a>(values: &'a [Option<String>], places: &[usize]) -> Vec<Option<&'a str>> {
    places.iter().map(|&place| values.get(place).and_then(Option::as_deref)).collect()
}

/// Returns the players of matched cells, each with its costs in both reports.
fn moves<'a>(
    first: &'a Report,
    second: &'a Report,
    cells: &[MatchedCells<'a>],
) -> Vec<MatchedMoves<'a>> {
    let by_cell = |report: &'a Report| -> BTreeMap<_, &'a MoveCost> {
        report.moves.iter().map(|cost| ((cost.cell, &*cost.player), cost)).collect()
    };
    let [ours, theirs] = [first, second].map(by_cell);
    let mut moves = Vec::new();
    for matched in cells {
        let [first_cell, second_cell] = matched.cells;
        let names = [&*first_cell.player, &*first_cell.opponent];
        for name in &names[..if first_cell.is_self_play { 1 } else { 2 }] {
            let costs =
                (ours.get(&(first_cell.cell, *name)), theirs.get(&(second_cell.cell, *name)));
            if let (Some(&first_cost), Some(&second_cost)) = costs {
                let (axes, moves_of) = (matched.axes.clone(), [first_cost, second_cost]);
                moves.push(MatchedMoves { axes, moves: moves_of, ratio: ratio(moves_of) });
            }
        }
    }
    moves
}

impl<'a> MatchedCells<'a> {
    fn new(cells: [&'a CellResult; 2], places: &[usize]) -> Self {
        let [first, second] = cells.map(|cell| cell.score);
        Self {
            axes: on(&cells[0].axes, places).iter().map(|value| value.map(str::to_owned)).collect(),
            cells,
            difference: first.zip(second).map(|(first, second)| difference(first, second)),
        }
    }

    /// Whether the interval shows which of the two scores is greater.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.difference.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0)
    }
}

/// Difference of two scores from independent samples.
fn difference(first: ScoreInterval, second: ScoreInterval) -> Interval {
    let value = first.score - second.score;
    let low = root_of_squares(first.score - first.low, second.high - second.score);
    let high = root_of_squares(first.high - first.score, second.score - second.low);
    Interval { value, low: (value - low).max(-1.0), high: (value + high).min(1.0) }
}

/// Distance of a bound of the difference, from the distances of the bounds of both parts.
fn root_of_squares(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}

/// Ratio of mean times, with an interval on the logarithmic scale where both have one above 0.
fn ratio(moves: [&MoveCost; 2]) -> Option<OverGames> {
    let [first, second] = moves.map(|cost| {
        let of_moves = OverGames { value: cost.costs.wall_us_mean, interval: None };
        cost.costs.wall_us_game_mean.unwrap_or(of_moves)
    });
    if first.value <= 0.0 || second.value <= 0.0 {
        return None;
    }
    let log = |mean: OverGames| {
        let interval = mean.interval.filter(|interval| interval.low > 0.0)?;
        Some([mean.value, interval.low, interval.high].map(libm::log))
    };
    let value = first.value / second.value;
    let interval = log(first).zip(log(second)).map(
        |([first_log, first_low, first_high], [second_log, low, high])| {
            let below = root_of_squares(first_log - first_low, high - second_log);
            let above = root_of_squares(first_high - first_log, second_log - low);
            Interval { value, low: value * libm::exp(-below), high: value * libm::exp(above) }
        },
    );
    Some(OverGames { value, interval })
}

#[cfg(test)]
mod tests {
    use spelrum_model::{CellId, ExperimentId, ExperimentState};
    use spelrum_statistics::PairCounts;

    use super::*;
    use crate::{Costs, EnginesUsed, ExperimentSummary};

    /// Newcombe (1998), Statistics in Medicine 17:873-890, table II: 56/70 and 48/80 by method 10.
    #[test]
    fn differences_are_those_of_the_literature() {
        let first = ScoreInterval { score: 0.8, low: 0.691_76, high: 0.876_81 };
        let second = ScoreInterval { score: 0.6, low: 0.490_33, high: 0.700_30 };
        let interval = difference(first, second);
        assert!((interval.value - 0.2).abs() < 1e-12);
        assert!(
            (interval.low - 0.0524).abs() < 1e-4 && (interval.high - 0.3339).abs() < 1e-4,
            "{interval:?}"
        );
        let back = difference(second, first);
        assert!(
            (back.low + interval.high).abs() < 1e-12 && (back.high + interval.low).abs() < 1e-12
        );
        let sure = ScoreInterval { score: 1.0, low: 0.9, high: 1.0 };
        let never = ScoreInterval { score: 0.0, low: 0.0, high: 0.1 };
        assert_eq!(difference(sure, never).high, 1.0);
    }

    fn cell(id: i64, axes: &[&str], names: [&str; 2], score: f64) -> CellResult {
        CellResult {
            cell: CellId(id),
            axes: axes.iter().map(|value| Some((*value).to_owned())).collect(),
            player: names[0].to_owned(),
            opponent: names[1].to_owned(),
            is_timed: false,
            swap_sides: true,
            is_self_play: false,
            openings_used: 10,
            games_planned: 20,
            stop: None,
            is_one_round: false,
            games: 20,
            games_failed: 0,
            wins: 10,
            draws: 0,
            losses: 10,
            pairs: PairCounts([5, 0, 0, 0, 5]),
            pairs_won_by_first_mover: 0,
            pairs_won_by_second_mover: 0,
            distinct_games: 20,
            score: Some(ScoreInterval { score, low: score - 0.1, high: score + 0.1 }),
            sequence_units: None,
            openings: None,
            first_mover: None,
            colours: None,
            margin: None,
        }
    }

    fn cost(id: i64, player: &str, mean: f64, low: f64, high: f64) -> MoveCost {
        let interval = Some(Interval { value: mean, low, high });
        MoveCost {
            cell: CellId(id),
            axes: Vec::new(),
            player: player.to_owned(),
            opponent: String::new(),
            costs: Costs {
                wall_us_game_mean: Some(OverGames { value: mean, interval }),
                ..Costs::default()
            },
        }
    }

    fn report(axes: &[&str], cells: Vec<CellResult>, moves: Vec<MoveCost>) -> Report {
        Report {
            experiment: ExperimentSummary {
                experiment: ExperimentId(1),
                uuid: String::new(),
                name: String::new(),
                game: String::new(),
                task: spelrum_model::Task::Game,
                state: ExperimentState::Finished,
                priority: 0,
                cells: 0,
                games_planned: 0,
                games_settled: 0,
                games_failed: 0,
                submitted_unix_us: 0,
            },
            description: String::new(),
            engine_revision: None,
            engines: EnginesUsed::default(),
            runs: Vec::new(),
            replicated: None,
            equal_within: None,
            axes: axes.iter().map(|axis| (*axis).to_owned()).collect(),
            first_mover: None,
            cells,
            moves,
            depths: Vec::new(),
            accuracy: Vec::new(),
            replayed: Vec::new(),
            disturbed: Vec::new(),
            scaled: Default::default(),
            played_on: None,
            claims: Vec::new(),
        }
    }

    #[test]
    fn cells_are_matched_by_names_and_the_axes_that_both_have() {
        let (ab, ba) = (["a", "b"], ["b", "a"]);
        let first = vec![
            cell(1, &["1", "x"], ab, 0.7),
            cell(2, &["2", "x"], ab, 0.6),
            cell(3, &["3", "x"], ab, 0.5),
            cell(4, &["1", "x"], ba, 0.5),
        ];
        // Its axes are in another order, and one differs.
        let second = vec![
            cell(7, &["n", "2"], ab, 0.4),
            cell(8, &["n", "1"], ab, 0.4),
            cell(9, &["m", "3"], ab, 0.4),
            cell(10, &["n", "3"], ab, 0.4),
        ];
        let moves = vec![cost(1, "a", 20.0, 10.0, 40.0), cost(1, "b", 3.0, 0.0, 5.0)];
        let first = report(&["depth", "mode"], first, moves);
        let moves = vec![cost(8, "b", 1.0, 0.5, 2.0), cost(8, "a", 5.0, 2.5, 10.0)];
        let second = report(&["kind", "depth"], second, moves);
        let matched = SideBySide::new(&first, &second);
        assert_eq!(matched.axes, ["depth"]);
        let ids: Vec<[i64; 2]> =
            matched.cells.iter().map(|pair| pair.cells.map(|cell| cell.cell.0)).collect();
        assert_eq!(ids, [[1, 8], [2, 7]]);
        let unmatched: [Vec<i64>; 2] = matched
            .unmatched
            .each_ref()
            .map(|cells| cells.iter().map(|cell| cell.cell.0).collect());
        assert_eq!(unmatched, [vec![3, 4], vec![9, 10]], "two are at one place: which is meant?");
        let difference = matched.cells[0].difference.unwrap();
        assert!((difference.value - 0.3).abs() < 1e-12 && matched.cells[0].is_clear());
        assert!((difference.low - (0.3 - 0.02_f64.sqrt())).abs() < 1e-12);
        let [moves_of_a, moves_of_b] = &matched.moves[..] else { panic!("{:?}", matched.moves) };
        let ratio = moves_of_a.ratio.unwrap();
        assert!((ratio.value - 4.0).abs() < 1e-12);
        // Each is within a factor of 2.
        let interval = ratio.interval.unwrap();
        let factor = libm::pow(2.0, 2.0_f64.sqrt());
        assert!((interval.high / 4.0 - factor).abs() < 1e-9);
        assert!((interval.low * factor / 4.0 - 1.0).abs() < 1e-9);
        let ratio = moves_of_b.ratio.unwrap();
        assert_eq!((ratio.value, ratio.interval), (3.0, None));
    }
}
