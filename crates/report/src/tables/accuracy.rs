//! How well players choose: tables of an accuracy experiment.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_answers::{CellAccuracy, CellResult, Report};
use spelrum_engine::tables::TableValue;
use spelrum_model::CellId;
use spelrum_statistics::choice::{Accuracy, Estimate, WinsKept};

use super::axes::{axis_columns, cells_by_id, places};
use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::ends;
use crate::document::{Part, TitledTable};
use crate::text::{Column, count, optional};

pub(crate) const ACCURACY: TableEntry = TableEntry::new(
    "accuracy",
    "How well each player of an accuracy experiment chooses",
    &View {
        parts: |report| parts(accuracy_table(report)),
        rows: |report| rows(report, |row| row.plies.is_none()),
    },
)
.with_choices();

pub(crate) const WINS: TableEntry = TableEntry::new(
    "wins",
    "How often each of them keeps a win",
    &View {
        parts: |report| parts(wins_table(report)),
        rows: |report| rows(report, |row| row.plies.is_none()),
    },
)
.with_choices();

pub(crate) const PLIES: TableEntry = TableEntry::new(
    "plies",
    "The same by the plies of random play before the position",
    &View {
        parts: |report| parts(plies_table(report)),
        rows: |report| rows(report, |row| row.plies.is_some()),
    },
)
.with_choices();

/// A cell, and the accuracy of its player: in all its positions, or in those at one distance from the start.
type Row<'a> = (&'a CellResult, &'a CellAccuracy);

/// Returns the rows for which the condition holds.
pub(crate) fn rows(report: &Report, is_wanted: impl Fn(&CellAccuracy) -> bool) -> Rows<'_> {
    let cells = cells_by_id(report);
    let wanted = report.accuracy.iter().filter(|measured| is_wanted(measured));
    let rows = wanted.filter_map(|measured| Some((*cells.get(&measured.cell)?, measured)));
    let figures = |estimate: Estimate| {
        let [low, high] = ends(estimate.interval);
        [Some(estimate.value), low, high]
    };
    let wins = move |measured: &CellAccuracy, estimate: fn(WinsKept) -> Estimate| {
        measured.accuracy.wins.map(estimate).map_or([None; 3], figures)
    };
    let columns = Columns::<Row<'_>>::new()
        .key("cell_id", |(cell, _)| cell.cell.0)
        .places(&report.axes, |(cell, _)| &cell.axes)
        .key("player", |(cell, _)| &cell.player)
        .key("reference", |(_, row)| &row.reference)
        // Null: over all of the cell's positions.
        .key("plies", |(_, row)| row.plies)
        .key("positions", |(_, row)| row.accuracy.positions)
        .keys(["best", "best_low", "best_high"], move |(_, row)| figures(row.accuracy.best))
        .key("random_best", |(_, row)| row.accuracy.random_best)
        .keys(["best_skill", "best_skill_low", "best_skill_high"], move |(_, row)| {
            figures(row.accuracy.best_skill)
        })
        .keys(["rank", "rank_low", "rank_high"], move |(_, row)| figures(row.accuracy.rank))
        .key("random_rank", |(_, row)| row.accuracy.random_rank)
        .keys(["rank_skill", "rank_skill_low", "rank_skill_high"], move |(_, row)| {
            figures(row.accuracy.rank_skill)
        })
        .keys(["loss", "loss_low", "loss_high"], move |(_, row)| figures(row.accuracy.loss))
        .key("random_loss", |(_, row)| row.accuracy.random_loss)
        .keys(["loss_skill", "loss_skill_low", "loss_skill_high"], move |(_, row)| {
            figures(row.accuracy.loss_skill)
        })
        // Null, like all that follow, if the reference does not state the winner, or no position was won that a move
        // could give away.
        .key("winnable", |(_, row)| Some(row.accuracy.wins?.positions))
        .keys(["keeps_win", "keeps_win_low", "keeps_win_high"], move |(_, row)| {
            wins(row, |wins| wins.share)
        })
        .key("random_keeps_win", |(_, row)| Some(row.accuracy.wins?.random))
        .keys(
            ["keeps_win_skill", "keeps_win_skill_low", "keeps_win_skill_high"],
            move |(_, row)| wins(row, |wins| wins.skill),
        );
    Rows::new(&report.axes, columns, rows.collect())
}

/// Returns the accuracy of whole cells; empty for an experiment of games.
fn by_cell(report: &Report) -> Vec<&CellAccuracy> {
    report.accuracy.iter().filter(|cell| cell.plies.is_none()).collect()
}

fn accuracy_table(report: &Report) -> Option<TitledTable> {
    if report.experiment.task.is_game() || report.cells.is_empty() {
        return None;
    }
    let accuracy = &by_cell(report)[..];
    let references = references(accuracy);
    let (names_references, is_in_plies) = (references.len() > 1, is_in_plies(&references));
    let mut columns = axis_columns(report);
    columns.push(Column::words("player"));
    columns.extend(names_references.then(|| Column::words("reference")));
    // Where all players choose in the same positions, chance is stated once.
    let random = || same_chance(accuracy).is_none().then(|| Column::numbers("random"));
    columns.extend(["positions", "best"].map(Column::numbers));
    columns.extend(random());
    columns.extend([
        Column::numbers("skill"),
        Column::words("95% interval"),
        Column::numbers("rank"),
    ]);
    columns.extend(random());
    columns.push(Column::numbers("loss"));
    columns.extend(random());
    let by_cell: BTreeMap<CellId, &CellAccuracy> =
        accuracy.iter().map(|cell| (cell.cell, *cell)).collect();
    let mut table = TitledTable::new(ACCURACY.name, "How well each player chooses", columns);
    for cell in &report.cells {
        let measured = by_cell.get(&cell.cell).copied();
        let reference =
            names_references.then(|| optional(measured, |measured| measured.reference.clone()));
        let values = measured.map(|measured| &measured.accuracy);
        let says_chance = same_chance(accuracy).is_none();
        let chance = |text: String| says_chance.then_some(text);
        let figures = [
            Some(count(values.map_or(0, |values| values.positions))),
            Some(optional(values, |values| share(values.best.value))),
            chance(optional(values, |values| share(values.random_best))),
            Some(optional(values, |values| format!("{:.3}", values.best_skill.value))),
            Some(optional(values, |values| interval(values.best_skill))),
            Some(optional(values, |values| format!("{:.1}", values.rank.value))),
            chance(optional(values, |values| format!("{:.1}", values.random_rank))),
            Some(optional(values, |values| loss(values.loss.value, is_in_plies))),
            chance(optional(values, |values| loss(values.random_loss, is_in_plies))),
        ];
        let figures = figures.into_iter().flatten();
        let texts = [cell.player.clone()].into_iter().chain(reference).chain(figures);
        table.row(places(report, &cell.axes).chain(texts));
    }
    Some(table.with_notes(notes(report, accuracy)))
}

/// Returns how often each player keeps a win; `None` where no win could be given away, or no reference states the
/// winner.
fn wins_table(report: &Report) -> Option<TitledTable> {
    let accuracy = &by_cell(report)[..];
    let by_cell: BTreeMap<CellId, (&CellAccuracy, &WinsKept)> = accuracy
        .iter()
        .filter_map(|cell| Some((cell.cell, (*cell, cell.accuracy.wins.as_ref()?))))
        .collect();
    if by_cell.is_empty() {
        return None;
    }
    let names_references = references(accuracy).len() > 1;
    let mut columns = axis_columns(report);
    columns.push(Column::words("player"));
    columns.extend(names_references.then(|| Column::words("reference")));
    columns.extend(["winnable", "kept"].map(Column::numbers));
    columns.push(Column::words("95% interval"));
    columns.extend(["random", "skill"].map(Column::numbers));
    columns.push(Column::words("95% interval"));
    let mut table = TitledTable::new(WINS.name, "How often each player keeps a win", columns);
    for cell in &report.cells {
        let Some((measured, kept)) = by_cell.get(&cell.cell) else { continue };
        let reference = names_references.then(|| measured.reference.clone());
        let figures = [
            count(kept.positions),
            share(kept.share.value),
            optional(kept.share.interval, |bounds| {
                format!("{:.1}–{:.1} %", 100.0 * bounds.low, 100.0 * bounds.high)
            }),
            share(kept.random),
            format!("{:.3}", kept.skill.value),
            interval(kept.skill),
        ];
        let texts = [cell.player.clone()].into_iter().chain(reference).chain(figures);
        table.row(places(report, &cell.axes).chain(texts));
    }
    Some(table.with_notes(vec![
        "Winnable: positions in which some move wins and some move does not, if nobody errs from there\n\
         on. Kept: how often a move was chosen that wins, whichever; random: what a random mover is\n\
         expected to get. Skill: (kept - random) / (1 - random)."
            .to_owned(),
    ]))
}

fn plies_table(report: &Report) -> Option<TitledTable> {
    let accuracy: Vec<&CellAccuracy> =
        report.accuracy.iter().filter(|cell| cell.plies.is_some()).collect();
    if accuracy.is_empty() {
        return None;
    }
    let mut columns = axis_columns(report);
    columns.push(Column::words("player"));
    columns.extend(["plies", "positions", "best", "random", "skill"].map(Column::numbers));
    columns.push(Column::words("95% interval"));
    let cells = cells_by_id(report);
    let mut table =
        TitledTable::new(PLIES.name, "The same by the plies before the position", columns);
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
    Some(table)
}

/// Notes on the first table.
fn notes(report: &Report, accuracy: &[&CellAccuracy]) -> Vec<String> {
    let references = references(accuracy);
    let mut notes = Vec::new();
    if let Some(only) = references.first().filter(|_| references.len() == 1) {
        notes.push(format!("Reference: {only}."));
    }
    if let Some(chance) = same_chance(accuracy) {
        notes.push(format!(
            "A random mover in these positions: best {}, rank {:.1}, loss {}.",
            share(chance.random_best),
            chance.random_rank,
            loss(chance.random_loss, is_in_plies(&references)),
        ));
    }
    notes.push(
        "Positions: those in which the reference values moves differently; in others there is nothing\n\
         to choose. Best: how often a move of the greatest value was chosen. Skill: (best - random) /\n\
         (1 - random), with what a random mover is expected to get: 0 is chance, 1 never errs."
            .to_owned(),
    );
    notes.push(format!(
        "Rank: of the chosen move by value, 1 the best; moves of equal value share the mean of theirs.\n\
         Loss: by how much it is worth less than the best, in {}",
        match is_in_plies(&references) {
            true => format!(
                "plies to mate. A win is worth {} less\n\
                 these: giving one away costs far more than a slower mate.",
                TableValue::SCALE
            ),
            false => "the reference's unit.".to_owned(),
        }
    ));
    let incomplete = report.cells.iter().filter(|cell| !cell.is_complete()).count();
    if incomplete > 0 {
        notes.push(format!("{incomplete} of {} cells are incomplete.", report.cells.len()));
    }
    if report.experiment.games_failed > 0 {
        notes.push(format!(
            "{} choices failed and are not counted; see why: spelrum sql 'SELECT * FROM failures'.\n\
             After fixing the cause, repeat them with spelrum retry.",
            count(report.experiment.games_failed)
        ));
    }
    notes
}

/// Returns the expected result of a random mover, if it is the same in all cells, which then have the same positions.
fn same_chance<'a>(accuracy: &[&'a CellAccuracy]) -> Option<&'a Accuracy> {
    let first = &accuracy.first()?.accuracy;
    let figures =
        |accuracy: &Accuracy| [accuracy.random_best, accuracy.random_rank, accuracy.random_loss];
    let is_same = |cell: &&CellAccuracy| {
        let pairs = figures(&cell.accuracy).into_iter().zip(figures(first));
        cell.accuracy.positions == first.positions
            && pairs.into_iter().all(|(left, right)| (left - right).abs() <= 1e-9 * right.abs())
    };
    accuracy.iter().all(is_same).then_some(first)
}

/// Removes the table by plies from a text where it is too long to read, and states where to find it.
pub(crate) fn shorten(parts: &mut Vec<Part>) {
    const ROWS_MAX: usize = 40;
    let is_long = |part: &Part| matches!(part, Part::Table(table) if table.name == PLIES.name && table.rows.len() > ROWS_MAX);
    // A table on its own was requested.
    if parts.len() > 1 && parts.iter().any(is_long) {
        parts.retain(|part| !is_long(part));
        let where_it_is = "By the plies before the position: spelrum report --table plies.";
        parts.push(Part::Words(where_it_is.to_owned()));
    }
}

fn references<'a>(accuracy: &[&'a CellAccuracy]) -> BTreeSet<&'a str> {
    accuracy.iter().map(|cell| &*cell.reference).collect()
}

fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Whether all losses are in plies.
fn is_in_plies(references: &BTreeSet<&str>) -> bool {
    !references.is_empty() && references.iter().all(|reference| *reference == "table")
}

fn loss(loss: f64, is_in_plies: bool) -> String {
    if loss < 10.0 && !is_in_plies { format!("{loss:.3}") } else { format!("{loss:.1}") }
}

fn interval(estimate: Estimate) -> String {
    optional(estimate.interval, |bounds| format!("{:.3}–{:.3}", bounds.low, bounds.high))
}
