//! Time per move in each phase of the game, for people and for programs.

use std::collections::BTreeSet;

use serde::Serialize;
use spelrum_answers as results;
use spelrum_answers::PhaseUnit;
use spelrum_model::Role;

use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use crate::document::TitledTable;
use crate::text::{Column, count, duration_us, optional, percent, ratio};

/// All phases of an experiment. Keys are only ever added.
#[derive(Debug, Serialize)]
pub(crate) struct Phases<'a> {
    #[serde(skip)]
    pub(crate) experiment: &'a str,
    /// Unit of phases: `empty_cells` or `plies`.
    unit: &'static str,
    /// As in the report.
    #[serde(skip)]
    pub(crate) axes: &'a [String],
    pub(crate) times: Vec<PhaseTimes<'a>>,
    pub(crate) standardised: Vec<Standardised<'a>>,
}

/// One phase in one cell.
#[derive(Debug, Serialize)]
pub(crate) struct PhaseTimes<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    phase: u32,
    player_searched_moves: u64,
    player_wall_us_mean: Option<f64>,
    opponent_searched_moves: u64,
    opponent_wall_us_mean: Option<f64>,
    wall_us_ratio: Option<f64>,
}

/// One cell's players over the same mix of phases.
#[derive(Debug, Serialize)]
pub(crate) struct Standardised<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    player_wall_us_standardised: Option<f64>,
    opponent_wall_us_standardised: Option<f64>,
    wall_us_ratio: Option<f64>,
    /// The share of all searched moves in phases that both players have seen.
    moves_share: Option<f64>,
}

impl<'a> From<&'a results::Phases> for Phases<'a> {
    fn from(answer: &'a results::Phases) -> Self {
        let times = answer.cells.iter().flat_map(|cell| {
            cell.phases.iter().map(|times| {
                let mean = |moves: results::PhaseMoves| {
                    (moves.searched_moves > 0).then_some(moves.wall_us_mean)
                };
                let [player, opponent] = times.players;
                PhaseTimes {
                    cell_id: cell.cell.0,
                    axes: &cell.axes,
                    player: &cell.player,
                    opponent: &cell.opponent,
                    phase: times.phase,
                    player_searched_moves: player.searched_moves,
                    player_wall_us_mean: mean(player),
                    opponent_searched_moves: opponent.searched_moves,
                    opponent_wall_us_mean: mean(opponent),
                    wall_us_ratio: times.ratio(),
                }
            })
        });
        let standardised = answer.cells.iter().map(|cell| {
            let means = cell.standardised();
            Standardised {
                cell_id: cell.cell.0,
                axes: &cell.axes,
                player: &cell.player,
                opponent: &cell.opponent,
                player_wall_us_standardised: means.map(|times| times.wall_us[0]),
                opponent_wall_us_standardised: means.map(|times| times.wall_us[1]),
                wall_us_ratio: means.and_then(|times| times.ratio()),
                moves_share: means.map(|times| times.moves_share),
            }
        });
        Self {
            experiment: &answer.experiment.name,
            unit: answer.unit.name(),
            axes: &answer.axes,
            times: times.collect(),
            standardised: standardised.collect(),
        }
    }
}

pub(crate) const TIMES: TableEntry = TableEntry::new(
    "phases",
    "How long a move takes in each phase of the game",
    Source::Phases(View {
        parts: |phases| parts((!phases.cells.is_empty()).then(|| by_phase(phases))),
        rows: |answer| {
            let Phases { experiment, axes, times, .. } = &Phases::from(answer);
            rows(experiment, axes, times)
        },
    }),
)
.with_choices();

pub(crate) const STANDARDISED: TableEntry = TableEntry::new(
    "standardised",
    "How long a move takes in the same mix of phases",
    Source::Phases(View {
        parts: |phases| parts((!phases.cells.is_empty()).then(|| standardised(phases))),
        rows: |answer| {
            let Phases { experiment, axes, standardised, .. } = &Phases::from(answer);
            rows(experiment, axes, standardised)
        },
    }),
)
.with_choices();

/// Returns the places of the grid's axes. Parameters that players vary are in their names already.
fn grid(answer: &results::Phases) -> Vec<usize> {
    (0..answer.axes.len()).filter(|&axis| Role::from_axis(&answer.axes[axis]).is_none()).collect()
}

fn place<'a>(grid: &'a [usize], values: &'a [Option<String>]) -> impl Iterator<Item = String> + 'a {
    grid.iter().map(|&axis| optional(values.get(axis).and_then(Option::as_deref), str::to_owned))
}

fn by_phase(answer: &results::Phases) -> TitledTable {
    let (axes, phases) = (&grid(answer), Phases::from(answer));
    let pairings: BTreeSet<_> =
        answer.cells.iter().map(|cell| (&cell.player, &cell.opponent)).collect();
    // A single pairing is named once, not in every row.
    let names_players = pairings.len() > 1;
    let (title, unit) = match answer.unit {
        PhaseUnit::EmptyCells => {
            ("How long a move takes, by the number of empty cells", "empty cells")
        }
        PhaseUnit::Plies => ("How long a move takes, by the plies played before it", "plies"),
    };
    let mut columns: Vec<Column> =
        axes.iter().map(|&axis| Column::numbers(&answer.axes[axis])).collect();
    columns.extend(
        names_players
            .then(|| [Column::words("player"), Column::words("opponent")])
            .into_iter()
            .flatten(),
    );
    columns.extend(
        [unit, "moves", "mean", "opponent's moves", "their mean", "ratio"].map(Column::numbers),
    );
    let mut table = TitledTable::new(TIMES.name, title, columns);
    for times in &phases.times {
        let names = [times.player, times.opponent].map(str::to_owned);
        let row = [
            times.phase.to_string(),
            count(times.player_searched_moves),
            optional(times.player_wall_us_mean, duration_us),
            count(times.opponent_searched_moves),
            optional(times.opponent_wall_us_mean, duration_us),
            optional(times.wall_us_ratio, ratio),
        ];
        let names = names.into_iter().filter(|_| names_players);
        table.row(place(axes, times.axes).chain(names).chain(row));
    }
    let mut notes = Vec::new();
    let first = answer.cells.first().filter(|_| !names_players);
    notes.extend(first.map(|cell| {
        format!("Of {} (moves, mean) against {} (opponent).", cell.player, cell.opponent)
    }));
    notes.push(
        "Of searched moves: mean wall time; ratio: of the player's mean to the opponent's."
            .to_owned(),
    );
    table.with_notes(notes)
}

fn standardised(answer: &results::Phases) -> TitledTable {
    let (axes, phases) = (&grid(answer), Phases::from(answer));
    let mut columns: Vec<Column> =
        axes.iter().map(|&axis| Column::numbers(&answer.axes[axis])).collect();
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("mean"),
        Column::numbers("opponent's"),
        Column::numbers("ratio"),
        Column::numbers("moves"),
    ]);
    let title = "How long a move takes, in the same mix of phases";
    let mut table = TitledTable::new(STANDARDISED.name, title, columns);
    for times in &phases.standardised {
        let row = [
            times.player.to_owned(),
            times.opponent.to_owned(),
            optional(times.player_wall_us_standardised, duration_us),
            optional(times.opponent_wall_us_standardised, duration_us),
            optional(times.wall_us_ratio, ratio),
            optional(times.moves_share, percent),
        ];
        table.row(place(axes, times.axes).chain(row));
    }
    let note = "Mean: over the phases that both have seen, each with the weight of both players' moves in it;\n\
                moves: how many of all moves are in these phases.";
    table.with_notes(vec![note.to_owned()])
}

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_answers::{CellPhases, ExperimentSummary, PhaseSums};
    use spelrum_model::ExperimentState;
    use spelrum_model::{CellId, ExperimentId};

    use super::*;
    use crate::answers::Answers;
    use crate::tables::{registry, text};

    pub(crate) fn phases(unit: PhaseUnit, opponents: [&str; 2]) -> results::Phases {
        let cell = |id: i64, opponent: &str| {
            let mut sums = PhaseSums::default();
            for phase in [32, 31, 30, 4] {
                sums.add(phase, 0, 1_250, 1_250.0 * 31.5 * f64::from(phase));
                if phase > 4 {
                    sums.add(phase, 1, 1_200, 1_200.0 * 950.0 * f64::from(phase));
                }
            }
            CellPhases {
                cell: CellId(id),
                axes: vec![Some("10".to_owned()), Some(id.to_string())],
                player: "alphabeta".to_owned(),
                opponent: opponent.to_owned(),
                phases: sums.times(unit),
            }
        };
        results::Phases {
            experiment: ExperimentSummary {
                experiment: ExperimentId(1),
                uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
                name: "pentago-depth".to_owned(),
                game: "pentago".to_owned(),
                task: spelrum_model::Task::Game,
                state: ExperimentState::Finished,
                priority: 0,
                cells: 2,
                games_planned: 300,
                games_settled: 300,
                games_failed: 0,
                submitted_unix_us: 0,
            },
            axes: vec!["player.nodes".to_owned(), "depth".to_owned()],
            unit,
            moves_recorded: true,
            cells: vec![cell(1, opponents[0]), cell(2, opponents[1])],
        }
    }

    fn shown(answer: &results::Phases) -> String {
        let mut out = Vec::new();
        let answers = Answers { phases: Some(answer.clone()), ..Answers::default() };
        let page = registry::page(&TIMES, &answers).unwrap();
        text::document(&answer.experiment, page).write_text(&mut out).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn phases_are_readable_in_100_columns() {
        let single_pairing = shown(&phases(PhaseUnit::EmptyCells, ["genetic", "genetic"]));
        let two_pairings = shown(&phases(PhaseUnit::Plies, ["genetic", "random"]));
        for text in [&single_pairing, &two_pairings] {
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        }
        insta::assert_snapshot!(format!("{single_pairing}\n{two_pairings}"));
    }

    #[test]
    fn programs_get_all_digits() {
        let answer = phases(PhaseUnit::EmptyCells, ["genetic", "genetic"]);
        let json = serde_json::to_value(Phases::from(&answer)).unwrap();
        assert_eq!(json["unit"], "empty_cells");
        assert_eq!(json["times"].as_array().unwrap().len(), 8);
        assert_eq!(json["times"][3]["opponent_wall_us_mean"], serde_json::Value::Null);
        assert_eq!(json["times"][0]["player_wall_us_mean"], 1_008.0);
        assert_eq!(json["standardised"][1]["axes"][1], "2");
        let share = json["standardised"][0]["moves_share"].as_f64().unwrap();
        assert!((share - 7_350.0 / 8_600.0).abs() < 1e-12);
    }
}
