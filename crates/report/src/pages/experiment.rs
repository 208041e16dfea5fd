//! The page of an experiment: its progress, what can be done with it, its report, and its last games.

use maud::{Markup, html};
use spelrum_answers::{ExperimentSummary, GamesPage};
use spelrum_model::ExperimentState;

use crate::answers::Answers;
use crate::error::Result;
use crate::experiment::report_markup;
use crate::listing::done;
use crate::text::{count, counted};

/// The contents of the page.
///
/// # Errors
/// If an answer is missing that its report needs.
pub fn experiment(
    experiment: &ExperimentSummary,
    answers: &Answers,
    games: &GamesPage,
) -> Result<Markup> {
    let report = report_markup(experiment, answers)?;
    let steer = |action: &str, words: &str| {
        html! {
            button type="button" hidden data-steer=(action) data-experiment=(experiment.uuid) { (words) }
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
                @if experiment.games_failed > 0 { ", " (counted(experiment.games_failed, "failed game")) }
            }
            p class="steering" {
                @match experiment.state {
                    ExperimentState::Running => { (steer("pause", "Pause")) (steer("cancel", "Cancel")) }
                    ExperimentState::Paused => { (steer("resume", "Resume")) (steer("cancel", "Cancel")) }
                    ExperimentState::Cancelled | ExperimentState::Finished => {}
                }
                @if experiment.games_failed > 0 { (steer("retry", "Play failed games again")) }
            }
        } }
        (report)
        section {
            h2 { "Last games" }
            @if games.games.is_empty() {
                p { "No game has been settled yet." }
            } @else {
                div class="wide" { table {
                    thead { tr {
                        th scope="col" class="n" { "game" } th scope="col" { "first player" }
                        th scope="col" { "second player" } th scope="col" { "result" } th scope="col" class="n" { "plies" }
                        th scope="col" { "ended by" }
                    } }
                    tbody { @for game in &games.games { (super::games::row(game)) } }
                } }
            }
        }
    })
}
