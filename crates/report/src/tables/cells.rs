//! Cells: games, scores and the stronger player.

use spelrum_answers::{CellResult, CellStop, Report, SprtOutcome, SprtStanding, Stronger};
use spelrum_statistics::StopRule;

use super::axes::{axis_columns, places};
use super::csv::rows;
use super::entry::{Source, TableEntry, View};
use super::json;
use crate::document::{Part, TitledTable};
use crate::text::{Column, count, counted, optional, signed};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "cells",
    "Who is stronger in each cell",
    Source::Cells(View {
        parts,
        rows: |report| {
            let json::Report { experiment, axes, cells, .. } = &json::Report::from(report);
            rows(experiment, axes, cells)
        },
    }),
);

fn parts(report: &Report) -> Vec<Part> {
    let is_shown = report.experiment.task.is_game() && !report.cells.is_empty();
    let table = is_shown.then(|| strength(report).with_notes(notes(report)));
    table.into_iter().map(Part::Table).collect()
}

/// Returns a table of cells: games, the score with its interval, and the stronger player.
fn strength(report: &Report) -> TitledTable {
    let mut columns = axis_columns(report);
    // All cells of one sweep are alike in this, too.
    let is_tested = report.cells.iter().any(|cell| cell.sprt().is_some());
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("games"),
        Column::numbers("win"),
        Column::numbers("draw"),
        Column::numbers("loss"),
        Column::numbers("score"),
        Column::words("95% interval"),
    ]);
    columns.push(Column::numbers("Elo"));
    // A test answers the question itself; an interval at its stop is not valid.
    columns.push(Column::words(if is_tested { "LLR" } else { "stronger" }));
    let mut table = TitledTable::new(TABLE.name, "Who is stronger", columns);
    for cell in &report.cells {
        let games = match cell.games == cell.games_planned {
            true => count(cell.games),
            false => format!("{}/{}", count(cell.games), count(cell.games_planned)),
        };
        let row = [
            cell.player.clone(),
            cell.opponent.clone(),
            games,
            count(cell.wins),
            count(cell.draws),
            count(cell.losses),
            optional(cell.score, |score| format!("{:.3}", score.score)),
            optional(cell.score, |score| format!("{:.3}–{:.3}", score.low, score.high)),
            optional(cell.strength().elo, signed),
            if is_tested { tested(cell) } else { stronger(cell) },
        ];
        table.row(places(report, &cell.axes).chain(row));
    }
    table
}

/// Formats the log-likelihood ratio of an SPRT, and the Elo difference that the test has accepted.
fn tested(cell: &CellResult) -> String {
    let Some((SprtStanding { llr, outcome, .. }, StopRule::Sprt(sprt))) =
        cell.sprt().zip(cell.stop.map(|stop| stop.rule))
    else {
        return optional(None::<f64>, signed);
    };
    let llr = format!("{:.2}", llr + 0.0);
    match outcome {
        None => llr,
        Some(SprtOutcome::Taken(verdict)) => {
            format!("{llr}: {}", elo_text(sprt.accepted_elo(verdict)))
        }
        Some(SprtOutcome::NotJudged) => "not judged".to_owned(),
    }
}

/// `+10 Elo`
fn elo_text(elo: f64) -> String {
    if elo == 0.0 { "0 Elo".to_owned() } else { format!("{elo:+} Elo") }
}

/// Returns the stronger player; a dash in self-play.
fn stronger(cell: &CellResult) -> String {
    optional((!cell.is_self_play).then(|| cell.stronger()), |stronger| match stronger {
        Stronger::Player => cell.player.clone(),
        Stronger::Opponent => cell.opponent.clone(),
        Stronger::Unclear => "unclear".to_owned(),
    })
}

/// Notes on the first table.
pub(super) fn notes(report: &Report) -> Vec<String> {
    // All cells of one sweep are alike in this.
    let score = match report.cells.iter().all(|cell| cell.swap_sides) {
        true => "Score: the player's points per game, over pairs of games with colours swapped.",
        false => "Score: the player's points per game; the player moves first in every game.",
    };
    let mut notes = vec![score.to_owned()];
    let incomplete = report.cells.iter().filter(|cell| !cell.is_complete()).count();
    if incomplete > 0 {
        let is = if incomplete == 1 { "is" } else { "are" };
        let cells = counted(report.cells.len() as u64, "cell");
        notes.push(format!("{incomplete} of {cells} {is} incomplete."));
    }
    notes.extend(forfeited(report));
    notes.extend(stops(report));
    notes.extend(one_round(report));
    if report.experiment.games_failed > 0 {
        notes.push(format!(
            "{} failed and do not count; see why: spelrum sql 'SELECT * FROM failures'.",
            counted(report.experiment.games_failed, "game")
        ));
        notes.push("After fixing the cause, replay them with spelrum retry.".to_owned());
    }
    let games: u64 = report.cells.iter().map(|cell| cell.games).sum();
    let distinct: u64 = report.cells.iter().map(|cell| cell.distinct_games).sum();
    if distinct < games {
        notes.push(format!(
            "{} of {} games are equal to another game of their cell.",
            count(games - distinct),
            count(games),
        ));
    }
    notes.extend(report.first_mover.map(|score| {
        let [score, low, high] = [score.score, score.low, score.high];
        format!("Who moves first scores {score:.3} ({low:.3}–{high:.3}).")
    }));
    notes.extend(openings_decide(report));
    notes.extend(one_opening(report));
    notes.extend(few_openings(report));
    notes.extend(many_verdicts(report));
    notes
}

/// Warns that scores include many failures.
fn forfeited(report: &Report) -> Option<String> {
    let notable = report.engines.forfeits.iter().filter(|entry| entry.is_notable());
    let notable: Vec<String> = notable
        .map(|entry| {
            format!("{} of {} games of {}", count(entry.total()), count(entry.games), entry.player)
        })
        .collect();
    (!notable.is_empty()).then(|| {
        format!("Warning: forfeits decided {}; see the table Forfeits.", notable.join(", "))
    })
}

/// Warns if one colour wins both games of most pairs, so that scores hardly distinguish players.
pub(super) fn openings_decide(report: &Report) -> Option<String> {
    const FEW_PAIRS: u64 = 20;
    let pairs: u64 = report.cells.iter().map(|cell| cell.pairs.pairs()).sum();
    let first: u64 = report.cells.iter().map(|cell| cell.pairs_won_by_first_mover).sum();
    let second: u64 = report.cells.iter().map(|cell| cell.pairs_won_by_second_mover).sum();
    (pairs >= FEW_PAIRS && 2 * (first + second) > pairs).then(|| {
        format!(
            "Openings decide: in {} of {} pairs one colour won both games, the first mover in {},\n\
             the second in {}. Other openings tell players apart sooner.",
            count(first + second),
            count(pairs),
            count(first),
            count(second),
        )
    })
}

/// Notes cells that ended because their players' games would repeat.
fn one_round(report: &Report) -> Option<String> {
    let ended: Vec<&CellResult> = report.cells.iter().filter(|cell| cell.is_one_round).collect();
    let not_judged = |cell: &&&CellResult| {
        cell.sprt().is_some_and(|standing| standing.outcome == Some(SprtOutcome::NotJudged))
    };
    let open = match ended.iter().filter(not_judged).count() {
        0 => String::new(),
        open => format!(
            "\nSPRTs not judged in {}: repeated games are not evidence. Take more openings.",
            count(open as u64)
        ),
    };
    (!ended.is_empty()).then(|| {
        format!(
            "{} of {} ended after one round of openings: the players repeat their games.{open}",
            count(ended.len() as u64),
            counted(report.cells.len() as u64, "cell"),
        )
    })
}

/// States that results are limited to one opening, if there is only one.
pub(super) fn one_opening(report: &Report) -> Option<String> {
    let is_one = |cell: &&CellResult| cell.openings_used == 1 && cell.tally().units() > 1;
    let cells = report.cells.iter().filter(is_one).count() as u64;
    (cells > 0).then(|| {
        format!(
            "Single opening in {} of {}: the interval is for that opening alone.",
            count(cells),
            counted(report.cells.len() as u64, "cell"),
        )
    })
}

/// States that each opening is one unit of the interval, if openings repeat.
pub(super) fn few_openings(report: &Report) -> Option<String> {
    const FEW: u64 = 10;
    let comes_again = |cell: &&CellResult| cell.openings.is_some();
    let cells: Vec<&CellResult> = report.cells.iter().filter(comes_again).collect();
    let least = cells.iter().map(|cell| cell.openings_used).min()?;
    let most = cells.iter().map(|cell| cell.openings_used).max()?;
    let openings = match least == most {
        true => counted(least, "opening"),
        false => format!("{} to {} openings", count(least), count(most)),
    };
    let wide = match least < FEW {
        true => {
            ", and\nwide because these are few. An axis over single openings gives each its own interval."
        }
        false => ".",
    };
    Some(format!(
        "{} of {} cells start again and again from {openings}: their intervals are over them{wide}",
        count(cells.len() as u64),
        count(report.cells.len() as u64),
    ))
}

/// Warns that one verdict in twenty is wrong where all players are equal.
fn many_verdicts(report: &Report) -> Option<String> {
    const FEW: usize = 5;
    let judged = report.cells.iter().filter(|cell| !cell.is_self_play && cell.score.is_some());
    let judged = judged.count();
    (judged > FEW).then(|| {
        format!(
            "One verdict in twenty is wrong where all are even: of {} here, {} or so.",
            count(judged as u64),
            count((judged as u64).div_ceil(20)),
        )
    })
}

/// Describes the state of stop rules.
pub(super) fn stops(report: &Report) -> Vec<String> {
    let rules: Vec<CellStop> = report.cells.iter().filter_map(|cell| cell.stop).collect();
    // One sweep has one rule.
    let Some(CellStop { rule, .. }) = rules.first() else { return Vec::new() };
    let games_max = rules.iter().map(|stop| stop.games_max).max().unwrap_or_default();
    let ended: Vec<u64> = report.cells.iter().filter_map(CellResult::ended_by_rule).collect();
    let games_max = counted(games_max, "game");
    let after = match (ended.iter().min(), ended.iter().max()) {
        (Some(least), Some(most)) if least == most => {
            format!(", after {}", counted(*least, "game"))
        }
        (Some(least), Some(most)) => format!(", after {} to {} games", count(*least), count(*most)),
        (_, _) => String::new(),
    };
    let mut notes = vec![
        format!("Stop rule: {rule}; at most {games_max}."),
        format!("It has ended {} of {}{after}.", ended.len(), counted(rules.len() as u64, "cell")),
    ];
    if let StopRule::Sprt(sprt) = rule {
        let [lower, upper] = sprt.bounds();
        let [elo0, elo1] = [elo_text(sprt.elo0()), elo_text(sprt.elo1())];
        notes.push(format!(
            "LLR: logarithm of the SPRT's likelihood ratio. At {upper:.2} the test accepts {elo1} for the player\n\
             (elo1), at {lower:.2} it accepts {elo0} (elo0)."
        ));
    }
    if !ended.is_empty() {
        let biased = match rule {
            StopRule::Sprt(_) => {
                "Score and Elo of a cell that an SPRT stopped are biased away from even: the test waited for it.\n\
                 Report the test's answer; measure the difference in a match of fixed length."
            }
            StopRule::Precision(_) => {
                "An interval at a stop is a little too sure of itself: the rule waited for it."
            }
        };
        notes.push(biased.to_owned());
    }
    notes
}
