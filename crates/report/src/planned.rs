//! A sweep's plan for people: output of `plan`, and the line of a dry run.

use std::io::{self, Write};

use spelrum_answers::{Assumptions, Figures, PlannedCellFigures, PlannedSweep};

use crate::text::{Column, TextTable, count, counted, optional, percent, probability};

/// Rows shown; JSON has all.
const ROWS_MAX: usize = 40;

/// Writes the plan: a row for all cells that are alike, and what the columns mean.
///
/// # Errors
/// If it cannot be written.
pub fn write(plan: &PlannedSweep, out: &mut dyn Write) -> io::Result<()> {
    let cells = counted(plan.cells.len() as u64, "cell");
    writeln!(
        out,
        "{}: {cells} of {}, {} at most",
        plan.name,
        plan.game,
        games(plan.games_max as f64)
    )?;
    writeln!(out)?;
    let alike = groups(&plan.cells);
    let Assumptions { margin, power, .. } = plan.assumptions;
    let mut columns = vec![Column::words("cells"), Column::numbers("games")];
    if plan.stop_rule.is_some() {
        let [even, half_way, apart] = truths(plan);
        columns.push(Column::numbers(format!("expected {even}")));
        columns.extend([Column::numbers(half_way), Column::numbers(apart)]);
    }
    columns.extend([
        Column::numbers("width"),
        Column::numbers("shown"),
        Column::numbers(format!("for {}", percent(power))),
        Column::numbers(format!("for ±{margin}")),
    ]);
    let mut table = TextTable::new(&columns);
    for group in alike.iter().take(ROWS_MAX) {
        let figures = &group.figures;
        let mut row = vec![cells_text(group, plan.cells.len()), count(figures.games_max)];
        if plan.stop_rule.is_some() {
            row.extend(figures.games_expected.map(|games| count(games.round() as u64)));
        }
        row.extend([
            format!("±{:.3}", figures.half_width),
            optional(figures.power, probability),
            optional(figures.games_for_margin, count),
            optional(figures.games_for_width, count),
        ]);
        table.row(row);
    }
    table.write(out)?;
    if alike.len() > ROWS_MAX {
        writeln!(
            out,
            "… and {} more rows: --json has all",
            count((alike.len() - ROWS_MAX) as u64)
        )?;
    }
    writeln!(out)?;
    for note in notes(plan) {
        writeln!(out, "{note}")?;
    }
    Ok(())
}

/// How many games a stop rule is expected to play, in words; `None` without a rule.
pub fn expected_text(plan: &PlannedSweep) -> Option<String> {
    plan.stop_rule.as_ref()?;
    let [even, _, apart] = plan.games_expected.map(games);
    let [at_even, _, at_apart] = truths(plan);
    Some(format!("about {even} {at_even}, {apart} {at_apart}; see spelrum plan"))
}

/// The three assumed truths.
fn truths(plan: &PlannedSweep) -> [String; 3] {
    match plan.elo {
        Some([elo0, elo1]) => {
            [elo0, f64::midpoint(elo0, elo1), elo1].map(|elo| format!("at {elo} Elo"))
        }
        None => {
            let half = format!("at {}", 0.5 + plan.assumptions.margin / 2.0);
            ["if equal".to_owned(), half, format!("at {}", 0.5 + plan.assumptions.margin)]
        }
    }
}

fn games(games: f64) -> String {
    counted(games.round() as u64, "game")
}

/// Cells that are alike.
struct Group<'a> {
    figures: Figures,
    first: &'a PlannedCellFigures,
    cells: usize,
}

fn groups(cells: &[PlannedCellFigures]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for cell in cells {
        // Most cells are like the one before, or there are few kinds.
        let same =
            groups.iter_mut().rev().take(ROWS_MAX).find(|group| group.figures == cell.figures);
        match same {
            Some(group) => group.cells += 1,
            None => groups.push(Group { figures: cell.figures, first: cell, cells: 1 }),
        }
    }
    groups
}

fn cells_text(group: &Group<'_>, all: usize) -> String {
    let PlannedCellFigures { axes, player, opponent, .. } = group.first;
    let pairing = format!("{player} against {opponent}");
    let one = if axes.is_empty() { pairing } else { format!("{axes}: {pairing}") };
    match group.cells {
        1 => one,
        cells if cells == all => format!("all {}", count(all as u64)),
        cells => format!("{}, such as {one}", count(cells as u64)),
    }
}

fn notes(plan: &PlannedSweep) -> Vec<String> {
    let Assumptions { margin, power, drawn } = plan.assumptions;
    let mut notes = Vec::new();
    match &plan.like {
        Some(like) => {
            let known = plan.cells.iter().filter(|cell| cell.figures.is_known).count();
            let [known, all] = [known, plan.cells.len()].map(|cells| count(cells as u64));
            notes.push(format!(
                "Draws, the agreement of pairs and what openings decide are those of {like}, in {known} of {all} cells."
            ));
        }
        None => {
            let draws = match drawn {
                0.0 => "no game is drawn".to_owned(),
                drawn => format!("equal players draw {} of their games", percent(drawn)),
            };
            notes.push(format!(
                "Assumed: {draws}, a pair's two games do not agree, and no opening favours a player."
            ));
            notes.push(
                "--like takes all three from earlier results; without draws intervals are widest."
                    .to_owned(),
            );
        }
    }
    if let Some(rule) = &plan.stop_rule {
        notes.push(format!("Expected: games until the stop rule ends a cell. {rule}."));
    }
    notes.push("Width: half of the score's 95% interval between equals, at the end.".to_owned());
    notes.push(match plan.elo {
        Some([_, elo1]) => {
            format!("Shown: how probably the test accepts {elo1} Elo where it is true.")
        }
        None => format!(
            "Shown: how probably that interval is above one half where the score is {}.",
            0.5 + margin
        ),
    });
    notes.push(format!(
        "For {}: games with which an interval shows that so often; for ±{margin}: games that make it so narrow.",
        percent(power)
    ));
    let is_dashed = |cell: &PlannedCellFigures| {
        cell.figures.games_for_margin.is_none() || cell.figures.games_for_width.is_none()
    };
    if plan.cells.iter().any(is_dashed) {
        notes.push(
            "A dash: no number of games is enough, since openings repeat; or a player against itself.".to_owned(),
        );
    }
    match (plan.claims, plan.claims_supported) {
        (0, _) => {}
        (claims, Some(supported)) => notes.push(format!(
            "{}: all supported with a probability of {}, if each is true by {margin} points.",
            counted(claims, "claim"),
            probability(supported)
        )),
        (claims, None) => notes.push(format!(
            "{}: no chance is computed, since they cannot all be true, or are about other figures than scores of cells.",
            counted(claims, "claim")
        )),
    }
    notes
}
