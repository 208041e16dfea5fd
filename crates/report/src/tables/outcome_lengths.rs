//! How long won, drawn and lost games are, for people and for programs.

use spelrum_answers::{
    CellOutcomeLengths, ExperimentSummary, GetOutcomeLengths, Lengths, OutcomeLengths,
};

use super::column::{CellKey, Columns};
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::Form;
use crate::answers::TableAnswer;
use crate::document::TitledTable;

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "outcome-lengths",
    "How long won, drawn and lost games are",
    &View::<OutcomeLengths> {
        parts: |answer| parts((!answer.cells.is_empty()).then(|| table(answer))),
        rows: |answer| Rows::new(&answer.axes, columns(answer), answer.cells.iter().collect()),
    },
);

impl TableAnswer for OutcomeLengths {
    type Question = GetOutcomeLengths;
    const ACTION: &'static str = "report the lengths of the games of";

    fn experiment(&self) -> &ExperimentSummary {
        &self.experiment
    }

    fn words_if_empty(&self) -> Option<&'static str> {
        self.cells.is_empty().then_some("no games")
    }
}

impl<'a> From<&'a CellOutcomeLengths> for CellKey<'a> {
    fn from(cell: &'a CellOutcomeLengths) -> Self {
        let CellOutcomeLengths { cell, axes, player, opponent, .. } = cell;
        Self { cell: *cell, axes, player, opponent }
    }
}

/// Picks the games of one outcome.
type LengthsOf = fn(&CellOutcomeLengths) -> &Lengths;

fn columns(answer: &OutcomeLengths) -> Columns<'_, &CellOutcomeLengths> {
    let mut columns = Columns::<&CellOutcomeLengths>::new().cell(&answer.axes, |cell| cell);
    let outcomes: [(_, _, LengthsOf); 3] = [
        (
            ["wins", "wins_plies_mean", "wins_plies_median"],
            ["won", "mean won", "median won"],
            |cell| &cell.won,
        ),
        (
            ["draws", "draws_plies_mean", "draws_plies_median"],
            ["drawn", "mean drawn", "median drawn"],
            |cell| &cell.drawn,
        ),
        (
            ["losses", "losses_plies_mean", "losses_plies_median"],
            ["lost", "mean lost", "median lost"],
            |cell| &cell.lost,
        ),
    ];
    for ([games, mean, median], [of_games, of_mean, of_median], lengths) in outcomes {
        columns = columns
            .column(games, of_games, Form::Count, move |cell| lengths(cell).games())
            .column(mean, of_mean, Form::Decimals(1), move |cell| lengths(cell).mean())
            .column(median, of_median, Form::Digits, move |cell| lengths(cell).quantile(50));
    }
    columns
}

fn table(answer: &OutcomeLengths) -> TitledTable {
    let note =
        "Mean, median: plies after the opening of the games that the player won, drew or lost.";
    let table =
        columns(answer).table(TABLE.name, "How long won, drawn and lost games are", &answer.cells);
    table.with_notes(vec![note.to_owned()])
}

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_model::CellId;

    use super::*;

    /// One cell without a drawn game.
    pub(crate) fn outcome_lengths(experiment: &ExperimentSummary) -> OutcomeLengths {
        let lengths = |games: &[(u32, u64)]| Lengths(games.iter().copied().collect());
        let cell = CellOutcomeLengths {
            cell: CellId(1),
            axes: vec![Some("10".to_owned())],
            player: "alphabeta".to_owned(),
            opponent: "genetic".to_owned(),
            won: lengths(&[(9, 40), (11, 700), (36, 1)]),
            drawn: lengths(&[]),
            lost: lengths(&[(30, 2), (33, 1)]),
        };
        OutcomeLengths {
            experiment: experiment.clone(),
            axes: vec!["depth".to_owned()],
            cells: vec![cell],
        }
    }
}
