//! How well players choose: the tables of an accuracy experiment.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_tournament::CellId;
use spelrum_tournament::choice::Estimate;
use spelrum_tournament::results::{CellAccuracy, CellResult, Report};

use super::axes::{axis_columns, places};
use crate::output::{Column, TitledTable, count, optional};

/// The name of the table of cells, which the plots stand before.
pub(super) const ACCURACY: &str = "accuracy";
/// That of the table by distance from the start.
pub(super) const BY_PLIES: &str = "plies";

/// Each cell, and each cell by distance from the start of the game, if there are several.
pub(super) fn tables(report: &Report) -> Vec<TitledTable> {
    let of_cells: Vec<&CellAccuracy> =
        report.accuracy.iter().filter(|it| it.plies.is_none()).collect();
    let by_plies: Vec<&CellAccuracy> =
        report.accuracy.iter().filter(|it| it.plies.is_some()).collect();
    let mut tables = vec![whole(report, &of_cells).with_notes(notes(report, &of_cells))];
    tables.extend((!by_plies.is_empty()).then(|| strata(report, &by_plies)));
    tables
}

/// The cells of a report by their ids.
pub(super) fn cells(report: &Report) -> BTreeMap<CellId, &CellResult> {
    report.cells.iter().map(|cell| (cell.cell, cell)).collect()
}

fn whole(report: &Report, accuracy: &[&CellAccuracy]) -> TitledTable {
    let names_references = references(accuracy).len() > 1;
    let mut columns = axis_columns(report);
    columns.push(Column::words("player"));
    columns.extend(names_references.then(|| Column::words("reference")));
    columns.extend(
        ["positions", "best", "random", "skill"].map(Column::numbers).into_iter().chain([
            Column::words("95% interval"),
            Column::numbers("rank"),
            Column::numbers("random"),
            Column::numbers("loss"),
            Column::numbers("random"),
        ]),
    );
    let by_cell: BTreeMap<CellId, &CellAccuracy> =
        accuracy.iter().map(|it| (it.cell, *it)).collect();
    let mut table = TitledTable::new(ACCURACY, "How well each player chooses", columns);
    for cell in &report.cells {
        let of = by_cell.get(&cell.cell).copied();
        let reference = names_references.then(|| optional(of, |of| of.reference.clone()));
        let figures = of.map(|of| {
            let it = &of.accuracy;
            [
                count(it.positions),
                share(it.best.value),
                share(it.random_best),
                format!("{:.3}", it.best_skill.value),
                interval(it.best_skill),
                format!("{:.1}", it.rank.value),
                format!("{:.1}", it.random_rank),
                loss(it.loss.value),
                loss(it.random_loss),
            ]
        });
        let figures = figures.unwrap_or_else(|| {
            let mut nothing: [String; 9] = Default::default();
            nothing.fill("-".to_owned());
            nothing[0] = count(0);
            nothing
        });
        let said = [cell.player.clone()].into_iter().chain(reference).chain(figures);
        table.row(places(report, &cell.axes).chain(said));
    }
    table
}

fn strata(report: &Report, accuracy: &[&CellAccuracy]) -> TitledTable {
    let mut columns = axis_columns(report);
    columns.push(Column::words("player"));
    columns.extend(["plies", "positions", "best", "random", "skill"].map(Column::numbers));
    columns.push(Column::words("95% interval"));
    let cells = cells(report);
    let mut table =
        TitledTable::new(BY_PLIES, "The same by the plies before the position", columns);
    for CellAccuracy { cell, plies, accuracy, .. } in accuracy {
        let Some(cell) = cells.get(cell) else { continue };
        let row = [
            cell.player.clone(),
            optional(*plies, |plies| plies.to_string()),
            count(accuracy.positions),
            share(accuracy.best.value),
            share(accuracy.random_best),
            format!("{:.3}", accuracy.best_skill.value),
            interval(accuracy.best_skill),
        ];
        table.row(places(report, &cell.axes).chain(row));
    }
    table
}

/// What a reader of the first table must know besides.
fn notes(report: &Report, accuracy: &[&CellAccuracy]) -> Vec<String> {
    let references = references(accuracy);
    let mut notes = Vec::new();
    if let Some(only) = references.first().filter(|_| references.len() == 1) {
        notes.push(format!("Reference: {only}."));
    }
    notes.push(
        "Positions: those in which the reference values moves differently; in others there is nothing\n\
         to choose. Best: how often a move of the greatest value was chosen; random: how often a random\n\
         mover would. Skill: (best - random) / (1 - random): 0 is chance, 1 never errs."
            .to_owned(),
    );
    notes.push(
        "Rank: of the chosen move by value, 1 the best; moves of equal value share the mean of theirs.\n\
         Loss: by how much it is worth less than the best, in the reference's unit."
            .to_owned(),
    );
    let incomplete = report.cells.iter().filter(|cell| !cell.is_complete()).count();
    if incomplete > 0 {
        notes.push(format!("{incomplete} of {} cells are incomplete.", report.cells.len()));
    }
    if report.experiment.games_failed > 0 {
        notes.push(format!(
            "{} choices failed and count for nobody; see why: spelrum sql 'SELECT * FROM failures'.\n\
             Once that is mended, spelrum retry lets them be made again.",
            count(report.experiment.games_failed)
        ));
    }
    notes
}

fn references<'a>(accuracy: &[&'a CellAccuracy]) -> BTreeSet<&'a str> {
    accuracy.iter().map(|it| &*it.reference).collect()
}

fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn loss(loss: f64) -> String {
    if loss < 10.0 { format!("{loss:.3}") } else { format!("{loss:.1}") }
}

fn interval(estimate: Estimate) -> String {
    optional(estimate.interval, |it| format!("{:.3}–{:.3}", it.low, it.high))
}
