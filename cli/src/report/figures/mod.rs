//! Which plots a report has, and what is in them: never more than can be read, with a sentence of what is not.

mod accuracy;
mod along;
mod lines;
mod overview;
mod ratings;
mod results;
#[cfg(test)]
mod tests;
mod times;

use spelrum_tournament::Task;
use spelrum_tournament::results::{Overview, Ratings, Report};

use crate::output::Figure;

/// Of who is stronger, or who chooses how well, and of what moves cost.
pub(super) fn of_report(report: &Report) -> Vec<Figure> {
    let mut figures = Vec::new();
    match report.experiment.task {
        Task::Game => {
            figures.extend(results::scores(report));
            figures.extend(results::outcomes(report));
        }
        Task::Choice => {
            figures.extend(accuracy::best(report));
            figures.extend(accuracy::wins(report));
            figures.extend(accuracy::by_plies(report));
        }
    }
    figures.extend(times::per_move(report));
    figures.extend(times::by_depth(report));
    figures
}

/// Of how games were played.
pub(super) fn of_overview(told: &Overview) -> Vec<Figure> {
    [overview::lengths(told), overview::terminations(told)].into_iter().flatten().collect()
}

/// Of how strong players are on one scale.
pub(super) fn of_ratings(told: &Ratings) -> Vec<Figure> {
    ratings::figure(told).into_iter().collect()
}
