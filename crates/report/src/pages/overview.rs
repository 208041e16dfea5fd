//! The page of all experiments.

use maud::{Markup, html};
use spelrum_answers::{ExperimentSummary, Pace, Progress, Status, WorkerSummary, date_time};
use spelrum_model::ExperimentState;

use super::layout::shown;
use crate::listing::done;
use crate::text::{count, counted, duration_us};

/// The progress of a running experiment.
#[derive(Debug)]
pub struct Running {
    /// Its UUID.
    pub uuid: String,
    /// Its progress.
    pub progress: Progress,
}

/// Experiments with their progress, newest first, and what needs attention.
#[must_use]
pub fn overview(status: &Status, running: &[Running]) -> Markup {
    let experiments = || status.experiments.iter().rev();
    let is_open = |experiment: &&ExperimentSummary| {
        matches!(experiment.state, ExperimentState::Running | ExperimentState::Paused)
    };
    let workers = status.coordinator.as_ref();
    html! {
        header {
            h1 { "Experiments" }
            p class="about" {
                (counted(status.experiments_total, "experiment"))
                @if let Some(coordinator) = workers {
                    ", " a href="/workers" { (counted(coordinator.workers_total, "worker")) }
                    ", " (counted(slots(&coordinator.workers), "slot"))
                }
            }
        }
        @if !status.attention.is_empty() {
            section aria-label="Needs attention" {
                h2 { "Needs attention" }
                ul class="attention" {
                    @for attention in &status.attention {
                        li {
                            @if let Some(name) = &attention.experiment { strong { (shown(name)) } ": " }
                            (shown(&attention.problem))
                            @if !attention.remedy.is_empty() { " " span class="note" { (shown(&attention.remedy)) } }
                        }
                    }
                }
            }
        }
        section {
            h2 { "Under way" }
            @if experiments().any(|experiment| is_open(&experiment)) {
                @for experiment in experiments().filter(is_open) {
                    (card(status, experiment, running))
                }
            } @else {
                p {
                    "Nothing is being played. " a href="/submit" { "Submit a new sweep" } " here, or by "
                    code { "spelrum submit SWEEP.toml --coordinator URL" } "."
                }
            }
        }
        section {
            h2 { "All" }
            (experiments_table(experiments(), path))
            @if status.experiments_total > status.experiments.len() as u64 {
                p class="note" { "Only the newest are here; " code { "spelrum list" } " shows all." }
            }
        }
    }
}

/// Experiments, each with its games and a link to its page.
pub(super) fn experiments_table<'e>(
    experiments: impl Iterator<Item = &'e ExperimentSummary>,
    link: impl Fn(&ExperimentSummary) -> String,
) -> Markup {
    html! {
        div class="wide" tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "experiment" } th scope="col" { "game" } th scope="col" { "state" }
                    th scope="col" class="n" { "cells" } th scope="col" class="n" { "games" }
                    th scope="col" class="n" { "settled" } th scope="col" class="n" { "failed" }
                    th scope="col" { "submitted" }
                } }
                tbody {
                    @for experiment in experiments {
                        tr {
                            td { a href=(link(experiment)) { (shown(&experiment.name)) } }
                            td { (experiment.game) } td { (experiment.state.name()) }
                            td class="n" { (count(experiment.cells)) }
                            td class="n" { (count(experiment.games_planned)) }
                            td class="n" { (count(experiment.games_settled)) }
                            td class="n" { (count(experiment.games_failed)) }
                            td { (date_time(experiment.submitted_unix_us)) }
                        }
                    }
                }
            }
        }
    }
}

/// An experiment that is under way.
fn card(status: &Status, experiment: &ExperimentSummary, running: &[Running]) -> Markup {
    let stops = status.stops.iter().filter(|stop| stop.experiment == experiment.experiment);
    let progress = running.iter().find(|running| running.uuid == experiment.uuid);
    html! {
        article {
            h3 { a href=(path(experiment)) { (shown(&experiment.name)) } }
            progress max=(experiment.games_planned.max(1)) value=(experiment.games_settled) { (done(experiment)) }
            p {
                (count(experiment.games_settled)) " of " (counted(experiment.games_planned, "game")) ", "
                (done(experiment)) ", " (experiment.state.name())
                @if experiment.games_failed > 0 { ", " (counted(experiment.games_failed, "failed game")) }
            }
            @if let Some(Running { progress, .. }) = progress { p { (pace(progress)) } }
            @for stop in stops {
                p class="note" {
                    (shown(&stop.rule)) ": has ended " (count(stop.cells_ended)) " of " (counted(stop.cells, "cell"))
                    @if let Some(expected) = stop.games_expected {
                        "; " (counted(expected.games, "game")) " still expected (" (count(expected.low)) " to "
                        (count(expected.high)) ")"
                    }
                }
            }
        }
    }
}

/// How long it will still take, from the games so far.
fn pace(progress: &Progress) -> String {
    let slots = counted(progress.slots, "slot");
    match Pace::forecast_at_first(progress) {
        Some(left) if progress.slots > 0 => format!(
            "{slots}; about {} left ({} to {})",
            duration_us(left.left_us),
            duration_us(left.low_us),
            duration_us(left.high_us)
        ),
        _ => format!("{slots} play it"),
    }
}

pub(super) fn slots(workers: &[WorkerSummary]) -> u64 {
    workers.iter().map(|worker| u64::from(worker.slots)).sum()
}

/// The path of an experiment's page: by its UUID, since several may have its name.
fn path(experiment: &ExperimentSummary) -> String {
    format!("/experiments/{}", experiment.uuid)
}
