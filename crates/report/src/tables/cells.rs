//! Cells: games, scores and the stronger player.

use std::rc::Rc;

use spelrum_answers::{
    AdjustedVerdicts, CellResult, CellStop, CellStrength, ExperimentSummary, GetReport,
    IntervalKind, Report, SprtOutcome, SprtStanding, Stronger,
};
use spelrum_model::CellId;
use spelrum_statistics::StopRule;

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, Value};
use super::{colours, margins};
use crate::answers::TableAnswer;
use crate::document::TitledTable;
use crate::text::{count, counted, optional, signed};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "cells",
    "Who is stronger in each cell",
    &View { parts: |report| parts(table(report)), rows },
)
.in_json("cells");

impl TableAnswer for Report {
    type Question = GetReport;
    const ACTION: &'static str = "report on";

    fn experiment(&self) -> &ExperimentSummary {
        &self.experiment
    }

    fn words_if_empty(&self) -> Option<&'static str> {
        (self.cells.is_empty() && self.runs.is_empty()).then_some("no cells")
    }
}

/// A cell, and how much stronger its first player is.
type Row<'a> = (&'a CellResult, CellStrength);

fn cells(report: &Report) -> Vec<Row<'_>> {
    report.cells.iter().map(|cell| (cell, cell.strength())).collect()
}

/// Returns the columns of results, from the view of a cell's first player.
fn columns(report: &Report) -> Columns<'_, Row<'_>> {
    // All cells of one sweep are alike in this, too.
    let is_tested = report.cells.iter().any(|cell| cell.sprt().is_some());
    let is_mixed = kinds_differ(report);
    let adjusted = Rc::new(report.adjusted_verdicts());
    let p_values = Rc::clone(&adjusted);
    Columns::<Row<'_>>::new()
        .cell(&report.axes, |(cell, _)| cell)
        .key("timed", |(cell, _)| cell.is_timed)
        .key("games_planned", |(cell, _)| cell.games_planned)
        // If the cell's stop rule does not end it earlier.
        .key("games_max", |(cell, _)| cell.stop.map_or(cell.games_planned, |stop| stop.games_max))
        .key("stop_rule", |(cell, _)| cell.stop.map(|stop| stop.rule.to_string()))
        .key("stop_precision", |(cell, _)| match cell.stop?.rule {
            StopRule::Precision(precision) => Some(precision.points()),
            StopRule::Sprt(_) => None,
        })
        .key("sprt", |(cell, _)| sprt(cell))
        .key("stopped_after", |(cell, _)| cell.stop?.stopped_after)
        // Whether a stop rule ended the cell: see `docs/statistics.md`.
        .key("score_biased", |(cell, _)| cell.stop.is_some_and(|stop| stop.stopped_after.is_some()))
        .column("games", "games", Form::Count, |(cell, _)| cell.games)
        .shown_as(|(cell, _)| match cell.games == cell.games_planned {
            true => count(cell.games),
            false => format!("{}/{}", count(cell.games), count(cell.games_planned)),
        })
        .key("games_failed", |(cell, _)| cell.games_failed)
        .column("wins", "win", Form::Count, |(cell, _)| cell.wins)
        .column("draws", "draw", Form::Count, |(cell, _)| cell.draws)
        .column("losses", "loss", Form::Count, |(cell, _)| cell.losses)
        .column("score", "score", Form::Decimals(3), |(cell, _)| {
            cell.score.map(|score| score.score)
        })
        .key("score_low", |(cell, _)| cell.score.map(|score| score.low))
        .key("score_high", |(cell, _)| cell.score.map(|score| score.high))
        .text("95% interval", Form::Words, move |(cell, _)| {
            // Marked where others are fixed: see the notes.
            let is_sequence = cell.interval_kind() == Some(IntervalKind::Sequence);
            let mark = if is_mixed && is_sequence { "*" } else { "" };
            cell.score.map(|score| format!("{:.3}–{:.3}{mark}", score.low, score.high))
        })
        .column("elo", "Elo", Form::Elo, |(_, strength)| strength.elo)
        .key("elo_low", |(_, strength)| strength.elo_low)
        .key("elo_high", |(_, strength)| strength.elo_high)
        .key("elo_error", |(_, strength)| strength.elo_error)
        .key("nelo", |(_, strength)| strength.nelo)
        // Match runners' error, which is too small where games are few.
        .key("nelo_error", |_| Value::Null)
        .key("los", |(_, strength)| strength.los)
        .column("stronger", "stronger", Form::Words, move |(cell, _)| {
            match report.calls_equal(cell) {
                true => EQUAL,
                false => cell.stronger().name(),
            }
        })
        .shown_as(move |(cell, _)| match (report.calls_equal(cell), report.equal_within) {
            (true, Some(margin)) => format!("equal within ±{margin}"),
            (_, _) if is_single(cell.cell, cell.stronger(), &adjusted) => {
                format!("{} †", stronger(cell))
            }
            (_, _) => stronger(cell),
        })
        // A test answers the question itself.
        .shown_if(!is_tested)
        .text("LLR", Form::Words, |(cell, _)| tested(cell))
        .shown_if(is_tested)
        .key("pairs", |(cell, _)| Value::Pairs(cell.pairs.0))
        .key("distinct_games", |(cell, _)| cell.distinct_games)
        .key("swap_sides", |(cell, _)| cell.swap_sides)
        .key("self_play", |(cell, _)| cell.is_self_play)
        .key("openings_used", |(cell, _)| cell.openings_used)
        // Where openings repeat and the interval is over openings.
        .key("openings_effective", |(cell, _)| cell.openings.map(|openings| openings.effective))
        .key("pairs_won_by_first_mover", |(cell, _)| cell.pairs_won_by_first_mover)
        .key("pairs_won_by_second_mover", |(cell, _)| cell.pairs_won_by_second_mover)
        .key("first_mover_score", |(cell, _)| cell.first_mover.map(|score| score.score))
        .key("first_mover_low", |(cell, _)| cell.first_mover.map(|score| score.low))
        .key("first_mover_high", |(cell, _)| cell.first_mover.map(|score| score.high))
        .keys(["moving_first", "moving_second"], |(cell, _)| colours::objects(cell))
        .key("margin", |(cell, _)| Value::or_absent(cell.margin.map(margins::object)))
        // That of `score_low` and `score_high`.
        .key("interval", |(cell, _)| cell.interval_kind().map(IntervalKind::name))
        .key("p", |(_, strength)| strength.p_value())
        .key("p_adjusted", move |(cell, _)| p_values.p_value(cell.cell))
}

pub(crate) fn rows(report: &Report) -> Rows<'_> {
    Rows::new(&report.axes, columns(report), cells(report))
}

fn table(report: &Report) -> Option<TitledTable> {
    let is_shown = report.experiment.task.is_game() && !report.cells.is_empty();
    let mut table =
        is_shown.then(|| columns(report).table(TABLE.name, "Who is stronger", cells(report)))?;
    table.cells = report.cells.iter().map(|cell| cell.cell).collect();
    Some(table.with_notes(notes(report)))
}

/// Returns an SPRT and its state.
fn sprt<'v>(cell: &CellResult) -> Option<Value<'v>> {
    let StopRule::Sprt(sprt) = cell.stop?.rule else { return None };
    let SprtStanding { llr, bounds: [lower, upper], outcome } = cell.sprt()?;
    Some(Value::from([
        ("elo0", sprt.elo0().into()),
        ("elo1", sprt.elo1().into()),
        ("alpha", sprt.alpha().into()),
        ("beta", sprt.beta().into()),
        ("model", sprt.model().name().into()),
        ("llr", llr.into()),
        ("lower", lower.into()),
        ("upper", upper.into()),
        // The accepted strength, or `not_judged`.
        ("verdict", outcome.map(|outcome| outcome.name()).into()),
    ]))
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

/// The verdict on players who are equal but for the stated margin, for programs.
const EQUAL: &str = "equal";

/// The number of cells up to which verdicts are shown without a correction.
const FEW_VERDICTS: usize = 5;

/// Whether a cell's verdict is one of many, and does not stand after their correction.
pub(super) fn is_single(cell: CellId, stronger: Stronger, adjusted: &AdjustedVerdicts) -> bool {
    adjusted.judged() > FEW_VERDICTS && stronger != Stronger::Unclear && !adjusted.stands(cell)
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
    notes.extend(notes_of(report, Unit::Cell));
    notes
}

/// Notes on the games of all cells, without those on the intervals of single cells.
pub(super) fn notes_of_games(report: &Report) -> Vec<String> {
    notes_of(report, Unit::Replicate)
}

/// The unit of a table's rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Cell,
    Replicate,
}

fn notes_of(report: &Report, unit: Unit) -> Vec<String> {
    let mut notes = Vec::new();
    let are_single = unit == Unit::Cell;
    let incomplete = report.cells.iter().filter(|cell| !cell.is_complete()).count();
    if incomplete > 0 {
        let is = if incomplete == 1 { "is" } else { "are" };
        let cells = counted(report.cells.len() as u64, "cell");
        notes.push(format!("{incomplete} of {cells} {is} incomplete."));
    }
    notes.extend(looked_at(report).filter(|_| are_single));
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
    notes.extend(few_openings(report).filter(|_| are_single));
    notes.extend(equal(report).filter(|_| are_single));
    notes.extend(many_verdicts(report).filter(|_| are_single));
    notes
}

/// Whether some intervals are fixed, and others are sequences.
fn kinds_differ(report: &Report) -> bool {
    let mut kinds = report.cells.iter().filter_map(CellResult::interval_kind);
    let first = kinds.next();
    kinds.any(|kind| Some(kind) != first)
}

/// Explains intervals of cells that are looked at before an end that was planned.
pub(super) fn looked_at(report: &Report) -> Option<String> {
    let kinds = || report.cells.iter().filter_map(CellResult::interval_kind);
    let cells = kinds().count();
    let sequences = kinds().filter(|kind| *kind == IntervalKind::Sequence).count();
    let which = match (sequences, cells) {
        (0, _) => return None,
        (1, 1) => "The interval is".to_owned(),
        (_, _) if sequences == cells => "All intervals are".to_owned(),
        (1, _) => format!("1 of {} intervals (*) is", count(cells as u64)),
        (_, _) => {
            format!("{} of {} intervals (*) are", count(sequences as u64), count(cells as u64))
        }
    };
    let sequence = match sequences {
        1 => "a confidence sequence: it holds",
        _ => "confidence sequences: they hold",
    };
    let running = if report.cells.iter().all(CellResult::is_complete) { "" } else { "running " };
    let fixed = if sequences == cells { "" } else { " Fixed ones hold at the planned end." };
    Some(format!("{which} {sequence} however often\n{running}cells are looked at.{fixed}"))
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

/// Explains the verdict of equality, where there is one.
fn equal(report: &Report) -> Option<String> {
    let margin = report.equal_within?;
    report.cells.iter().any(|cell| report.calls_equal(cell)).then(|| {
        format!(
            "Equal within ±{margin}: the whole interval is, even where a player\n\
             is ahead by less (two one-sided tests, of 2.5% each)."
        )
    })
}

/// States how many verdicts of even players there would be, and which stand after a correction for their number.
fn many_verdicts(report: &Report) -> Option<String> {
    let is_tested = report.cells.iter().any(|cell| cell.sprt().is_some());
    let unequal = report.cells.iter().filter(|cell| !is_tested && !report.calls_equal(cell));
    let verdicts = unequal.map(|cell| (cell.cell, cell.stronger()));
    many(&report.adjusted_verdicts(), verdicts)
}

/// States how many of these verdicts there would be between even players, and how many stand after a correction. Verdicts
/// of tests, which have error rates of their own, are left out of what stands.
pub(super) fn many(
    adjusted: &AdjustedVerdicts,
    verdicts: impl Iterator<Item = (CellId, Stronger)>,
) -> Option<String> {
    let called: Vec<_> = verdicts.filter(|(_, stronger)| *stronger != Stronger::Unclear).collect();
    let single = called.iter().filter(|(cell, who)| is_single(*cell, *who, adjusted)).count();
    let corrected = match single {
        _ if called.is_empty() => ".".to_owned(),
        0 => "; all stand after\nHolm's correction for their number.".to_owned(),
        single => format!(
            ";\n{} of {} (†) do not stand after Holm's correction for their number.",
            count(single as u64),
            count(called.len() as u64)
        ),
    };
    by_chance(adjusted.judged()).map(|by_chance| by_chance + &corrected)
}

/// How many of so many verdicts would be wrong if all players were even, as the beginning of a sentence; `None` of few.
fn by_chance(judged: usize) -> Option<String> {
    (judged > FEW_VERDICTS).then(|| {
        format!(
            "One verdict in twenty is wrong where all are even: of {} here, {} or so",
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

#[cfg(test)]
mod tests {
    use spelrum_model::CellId;
    use spelrum_statistics::PairCounts;

    use super::*;
    use crate::tables::text::tests::{report, shown};

    /// A report of so many cells, of which the first is clearly ahead, the second barely, and all others even.
    fn report_of(cells: i64) -> Report {
        let mut report = report();
        let like = report.cells[0].clone();
        let cell = |number| {
            let pairs = match number {
                1 => PairCounts([0, 0, 10, 20, 20]),
                2 => PairCounts([3, 7, 16, 14, 10]),
                _ => PairCounts([5, 10, 20, 10, 5]),
            };
            let score = Some(pairs.interval());
            CellResult { cell: CellId(number), pairs, score, ..like.clone() }
        };
        report.cells = (1..=cells).map(cell).collect();
        report
    }

    #[test]
    fn verdicts_of_many_cells_are_corrected_for_their_number() {
        let report = report_of(8);
        let adjusted = report.adjusted_verdicts();
        let verdicts: Vec<_> = report.cells[..3].iter().map(CellResult::stronger).collect();
        assert_eq!(verdicts, [Stronger::Player, Stronger::Player, Stronger::Unclear]);
        assert!(adjusted.stands(CellId(1)) && !adjusted.stands(CellId(2)));
        // The smallest of eight is multiplied by eight, and the next by seven.
        for (cell, factor) in [(0, 8.0), (1, 7.0)] {
            let p = report.cells[cell].strength().p_value().unwrap();
            let is = adjusted.p_value(report.cells[cell].cell).unwrap();
            assert!((is - factor * p).abs() < 1e-12, "{is} of {p}");
        }
        let text = shown(&report);
        assert_eq!(text.matches(" †").count(), 1, "{text}");
        assert!(text.contains("1 of 2 (†) do not stand after Holm's correction"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn players_are_equal_within_the_stated_margin() {
        let within = |margin| shown(&Report { equal_within: Some(margin), ..report_of(3) });
        let [wide, narrow] = [within(0.1), within(0.05)];
        assert_eq!(wide.matches("equal within ±0.1").count(), 1, "{wide}");
        assert!(wide.contains("Equal within ±0.1: the whole interval is"), "{wide}");
        assert!(wide.lines().all(|line| line.chars().count() <= 100), "{wide}");
        // So few games show no equality within half of that.
        assert!(narrow.contains("unclear") && !narrow.contains("qual within"), "{narrow}");
    }

    #[test]
    fn few_verdicts_are_shown_as_they_are() {
        let report = report_of(5);
        let text = shown(&report);
        assert!(!text.contains('†') && !text.contains("Holm"), "{text}");
    }
}
