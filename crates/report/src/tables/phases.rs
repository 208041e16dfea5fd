//! Time per move in each phase of the game, for people and for programs.

use std::collections::BTreeSet;

use spelrum_answers::{
    CellPhases, ExperimentSummary, GetPhases, PhaseMoves, PhaseTimes, PhaseUnit, Phases,
    StandardisedTimes,
};

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::Form;
use crate::answers::TableAnswer;
use crate::document::TitledTable;
use crate::error::{Error, Kind, Result};

pub(crate) const TIMES: TableEntry = TableEntry::new(
    "phases",
    "How long a move takes in each phase of the game",
    &View::<Phases> {
        parts: |phases| parts((!phases.cells.is_empty()).then(|| by_phase(phases))),
        rows: time_rows,
    },
)
.with_choices();

pub(crate) const STANDARDISED: TableEntry = TableEntry::new(
    "standardised",
    "How long a move takes in the same mix of phases",
    &View::<Phases> {
        parts: |phases| parts((!phases.cells.is_empty()).then(|| standardised(phases))),
        rows: standardised_rows,
    },
)
.with_choices();

impl TableAnswer for Phases {
    type Question = GetPhases;
    const ACTION: &'static str = "report the phases of";

    fn experiment(&self) -> &ExperimentSummary {
        &self.experiment
    }

    fn words_if_empty(&self) -> Option<&'static str> {
        self.cells.is_empty().then_some("no searched moves")
    }

    fn check(&self) -> Result<()> {
        if self.moves_recorded {
            return Ok(());
        }
        Err(Error::new(Kind::Input, format!("{} {}", Self::ACTION, self.experiment.name))
            .because(
                "its moves are not kept: its sweep says record = \"games\", or they were pruned",
            )
            .help("play it with record = \"moves\""))
    }
}

/// One phase in one cell.
type Time<'a> = (&'a CellPhases, &'a PhaseTimes);

fn times(answer: &Phases) -> Vec<Time<'_>> {
    let by_cell = answer.cells.iter();
    by_cell.flat_map(|cell| cell.phases.iter().map(move |times| (cell, times))).collect()
}

/// Returns the columns of phases; for people with the players' names if there are several pairings.
fn time_columns<'a>(answer: &'a Phases, unit: &str, names_players: bool) -> Columns<'a, Time<'a>> {
    let mean = |moves: PhaseMoves| (moves.searched_moves > 0).then_some(moves.wall_us_mean);
    Columns::<Time<'_>>::new()
        .key("cell_id", |(cell, _)| cell.cell.0)
        .places(&answer.axes, |(cell, _)| &cell.axes)
        .column("player", "player", Form::Words, |(cell, _)| &cell.player)
        .shown_if(names_players)
        .column("opponent", "opponent", Form::Words, |(cell, _)| &cell.opponent)
        .shown_if(names_players)
        .column("phase", unit, Form::Digits, |(_, times)| times.phase)
        .column("player_searched_moves", "moves", Form::Count, |(_, times)| {
            times.players[0].searched_moves
        })
        .column("player_wall_us_mean", "mean", Form::Duration, move |(_, times)| {
            mean(times.players[0])
        })
        .column("opponent_searched_moves", "opponent's moves", Form::Count, |(_, times)| {
            times.players[1].searched_moves
        })
        .column("opponent_wall_us_mean", "their mean", Form::Duration, move |(_, times)| {
            mean(times.players[1])
        })
        .column("wall_us_ratio", "ratio", Form::Ratio, |(_, times)| times.ratio())
}

pub(crate) fn time_rows(answer: &Phases) -> Rows<'_> {
    Rows::new(&answer.axes, time_columns(answer, "", true), times(answer))
}

fn by_phase(answer: &Phases) -> TitledTable {
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
    let mut notes = Vec::new();
    let first = answer.cells.first().filter(|_| !names_players);
    notes.extend(first.map(|cell| {
        format!("Of {} (moves, mean) against {} (opponent).", cell.player, cell.opponent)
    }));
    notes.push(
        "Of searched moves: mean wall time; ratio: of the player's mean to the opponent's."
            .to_owned(),
    );
    let columns = time_columns(answer, unit, names_players);
    columns.table(TIMES.name, title, times(answer)).with_notes(notes)
}

/// A cell, and its players over the same mix of phases.
type Mixed<'a> = (&'a CellPhases, Option<StandardisedTimes>);

fn mixed(answer: &Phases) -> Vec<Mixed<'_>> {
    answer.cells.iter().map(|cell| (cell, cell.standardised())).collect()
}

fn standardised_columns(answer: &Phases) -> Columns<'_, Mixed<'_>> {
    Columns::<Mixed<'_>>::new()
        .cell(&answer.axes, |(cell, _)| cell)
        .column("player_wall_us_standardised", "mean", Form::Duration, |(_, times)| {
            times.map(|times| times.wall_us[0])
        })
        .column("opponent_wall_us_standardised", "opponent's", Form::Duration, |(_, times)| {
            times.map(|times| times.wall_us[1])
        })
        .column("wall_us_ratio", "ratio", Form::Ratio, |(_, times)| times?.ratio())
        .column("moves_share", "moves", Form::Percent, |(_, times)| {
            times.map(|times| times.moves_share)
        })
}

pub(crate) fn standardised_rows(answer: &Phases) -> Rows<'_> {
    Rows::new(&answer.axes, standardised_columns(answer), mixed(answer))
}

fn standardised(answer: &Phases) -> TitledTable {
    let title = "How long a move takes, in the same mix of phases";
    let note = "Mean: over the phases that both have seen, each with the weight of both players' moves in it;\n\
                moves: how many of all moves are in these phases.";
    let table = standardised_columns(answer).table(STANDARDISED.name, title, mixed(answer));
    table.with_notes(vec![note.to_owned()])
}

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_answers::{ExperimentSummary, PhaseSums};
    use spelrum_model::ExperimentState;
    use spelrum_model::{CellId, ExperimentId};

    use super::*;
    use crate::answers::Answers;
    use crate::tables::text;

    pub(crate) fn phases(unit: PhaseUnit, opponents: [&str; 2]) -> Phases {
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
        Phases {
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

    fn shown(answer: &Phases) -> String {
        let mut out = Vec::new();
        let answers = Answers::default().with(answer.clone());
        let tables = [TIMES, STANDARDISED].into_iter();
        let page = tables.flat_map(|table| table.source.parts(&answers).unwrap()).collect();
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
        let times = serde_json::to_value(time_rows(&answer)).unwrap();
        assert_eq!(times.as_array().unwrap().len(), 8);
        assert_eq!(times[3]["opponent_wall_us_mean"], serde_json::Value::Null);
        assert_eq!(times[0]["player_wall_us_mean"], 1_008.0);
        let standardised = serde_json::to_value(standardised_rows(&answer)).unwrap();
        assert_eq!(standardised[1]["axes"][1], "2");
        let share = standardised[0]["moves_share"].as_f64().unwrap();
        assert!((share - 7_350.0 / 8_600.0).abs() < 1e-12);
    }
}
