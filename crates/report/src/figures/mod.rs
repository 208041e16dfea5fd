//! Plots of a report and their contents: never more than can be read, with a sentence about omissions.

mod accuracy;
mod along;
mod curves;
mod history;
mod lines;
mod overview;
mod ratings;
mod results;
#[cfg(test)]
mod tests;
mod times;

use spelrum_answers::{Comparisons, Overview, Ratings, Report};
use spelrum_model::Task;

use crate::plot::Figure;

/// Returns figures of strength or accuracy, and of the cost of moves; along `axis`, if the sweep has it.
pub(crate) fn report_figures(report: &Report, axis: Option<&str>) -> Vec<Figure> {
    let mut figures = Vec::new();
    match report.experiment.task {
        Task::Game => {
            figures.extend(results::scores(report, axis));
            figures.extend(results::heat(report, axis));
            figures.extend(results::outcomes(report, axis));
        }
        Task::Choice => {
            figures.extend(accuracy::best(report, axis));
            figures.extend(accuracy::wins(report, axis));
            figures.extend(accuracy::by_plies(report));
        }
    }
    figures.extend(times::per_move(report, axis));
    figures.extend(times::by_depth(report));
    figures
}

/// Returns figures of how games were played.
pub(crate) fn overview_figures(overview: &Overview, axis: Option<&str>) -> Vec<Figure> {
    [overview::lengths(overview, axis), overview::terminations(overview, axis)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns figures of builds in order, and of scores as curves; along `axis` alone, if it is given.
pub(crate) fn compared_figures(compared: &Comparisons, axis: Option<&str>) -> Vec<Figure> {
    history::figure(compared).into_iter().chain(curves::figures(compared, axis)).collect()
}

/// Returns figures of the players' strength on one scale.
pub(crate) fn rating_figures(ratings: &Ratings) -> Vec<Figure> {
    ratings::figure(ratings).into_iter().collect()
}
