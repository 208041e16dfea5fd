//! The page of an experiment: its progress, what can be done with it, its report, and its last games.

use maud::{Markup, html};
use spelrum_answers::{
    CellResult, ExperimentSummary, GamesPage, GamesUnderWay, Overview, Report, places_text,
};
use spelrum_model::{ExperimentState, Task};

use super::games::{cell_games, game_page, table};
use super::layout::shown;
use super::under_way;
use crate::answers::Answers;
use crate::error::Result;
use crate::experiment::{Pair, report_markup};
use crate::listing::done;
use crate::text::{count, counted, percent, shortened};

/// Longest name in a sentence about the result.
const NAME_CHARACTERS_MAX: usize = 40;

/// What a link to the page shows of it elsewhere: the result in a sentence, if there is one, and the sweep's question.
#[must_use]
pub fn about(report: &Report) -> String {
    let games: u64 = report.cells.iter().map(|cell| cell.games).sum();
    let so_far = match report.experiment.state {
        ExperimentState::Running | ExperimentState::Paused => " so far",
        ExperimentState::Cancelled | ExperimentState::Finished => "",
    };
    let is_compared = |cell: &&CellResult| !cell.is_self_play && cell.score.is_some();
    let compared: Vec<&CellResult> = report.cells.iter().filter(is_compared).collect();
    let result = match &compared[..] {
        // Values and choices are no scores between players.
        _ if report.experiment.task != Task::Game || !report.runs.is_empty() => String::new(),
        [] => String::new(),
        [cell] => score_text(report, cell, true),
        cells => {
            // That of which the interval is farthest from even.
            let margin = |cell: &CellResult| {
                cell.score.map_or(0.0, |score| (score.low - 0.5).max(0.5 - score.high))
            };
            let clearest = cells.iter().max_by(|a, b| margin(a).total_cmp(&margin(b)));
            match clearest.filter(|cell| margin(cell) > 0.0) {
                Some(cell) => {
                    let text = score_text(report, cell, false);
                    format!("The clearest of {}: {text}", counted(cells.len() as u64, "result"))
                }
                None => format!(
                    "{} between players, and none shows which is stronger",
                    counted(cells.len() as u64, "result")
                ),
            }
        }
    };
    if result.is_empty() {
        return report.description.clone();
    }
    let games = counted(games, "game");
    format!("{result}; {games}{so_far}. {}", report.description).trim_end().to_owned()
}

/// The score of the cell's stronger player, with its interval.
fn score_text(report: &Report, cell: &CellResult, is_alone: bool) -> String {
    let Some(score) = cell.score else { return String::new() };
    let (players, [score, low, high]) = if score.score >= 0.5 {
        ([&cell.player, &cell.opponent], [score.score, score.low, score.high])
    } else {
        let turned = [score.score, score.high, score.low].map(|share| 1.0 - share);
        ([&cell.opponent, &cell.player], turned)
    };
    let [player, opponent] = players.map(|name| shortened(name, NAME_CHARACTERS_MAX));
    let place = if is_alone { None } else { places_text(&report.axes, &cell.axes) };
    let place = place
        .map_or(String::new(), |place| format!(" ({})", shortened(&place, NAME_CHARACTERS_MAX)));
    format!(
        "{player} scores {} against {opponent}{place} (95% interval {} to {})",
        percent(score),
        percent(low),
        percent(high)
    )
}

/// The page of two experiments side by side, with how each was played where known.
///
/// # Errors
/// If it cannot be written.
pub fn compared(pair: &Pair<'_>, overviews: [Option<&Overview>; 2]) -> Result<Markup> {
    pair.markup(overviews)
}

/// The contents of the page; with one of the `others` it can be compared.
///
/// # Errors
/// If an answer is missing that its report needs.
pub fn experiment(
    experiment: &ExperimentSummary,
    answers: &Answers,
    (under_way, games): (&GamesUnderWay, &GamesPage),
    others: &[ExperimentSummary],
) -> Result<Markup> {
    let report = report_markup(experiment, answers, Some(&cell_games(experiment)))?;
    let steer = |action: &str, words: &str| {
        html! {
            button type="button" hidden id={ "steer-" (action) } data-steer=(action) data-experiment=(experiment.uuid) { (words) }
        }
    };
    let is_over =
        matches!(experiment.state, ExperimentState::Cancelled | ExperimentState::Finished);
    Ok(html! {
        @if !is_over || experiment.games_failed > 0 { section class="progress" aria-label="Progress" {
            progress max=(experiment.games_planned.max(1)) value=(experiment.games_settled) { (done(experiment)) }
            p {
                (count(experiment.games_settled)) " of " (counted(experiment.games_planned, "game")) ", "
                (done(experiment)) ", " strong { (experiment.state.name()) }
                @if experiment.games_failed > 0 {
                    ", " a href={ "/experiments/" (experiment.uuid) "/games?filter=failed" } {
                        (counted(experiment.games_failed, "failed game"))
                    }
                }
            }
            p {
                @match experiment.state {
                    ExperimentState::Running => { (steer("pause", "Pause")) (steer("cancel", "Cancel")) }
                    ExperimentState::Paused => { (steer("resume", "Resume")) (steer("cancel", "Cancel")) }
                    ExperimentState::Cancelled | ExperimentState::Finished => {}
                }
                @if experiment.games_failed > 0 { (steer("retry", "Retry failed games")) }
                @if !is_over {
                    span class="priority" hidden {
                        label for="priority" { "Priority" } " "
                        input type="number" id="priority" value=(experiment.priority) min=(i32::MIN) max=(i32::MAX) step="1" required;
                    }
                    (steer("priority", "Set priority"))
                }
            }
        } }
        (report)
        @if !others.is_empty() {
            form class="filters" action="/compare" {
                input type="hidden" name="a" value=(experiment.uuid);
                label { "Side by side with " select name="b" {
                    // Of a select without it the script would take the first as chosen by the user.
                    @for (index, other) in others.iter().enumerate() {
                        option value=(other.uuid) selected[index == 0] { (shown(&other.name)) }
                    }
                } }
                button { "Compare" }
            }
        }
        (under_way::list(under_way))
        section {
            h2 { "Last games" }
            @if games.games.is_empty() {
                p { "No game has been settled yet." }
            } @else {
                (table(&games.games, game_page))
                @if games.next.is_some() { p { a href={ "/experiments/" (experiment.uuid) "/games" } { "All games" } } }
            }
        }
    })
}
