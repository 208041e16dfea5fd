//! Two experiments in one report, cell by cell.

use std::collections::BTreeMap;

use serde::Serialize;
use spelrum_answers::date_time;
use spelrum_answers::{
    CellResult, ExperimentSummary, MatchedCells, MatchedMoves, MoveCost, Overview, Report,
    SideBySide, places_text,
};
use spelrum_statistics::OverGames;

use super::column::Columns;
use super::overview::build;
use super::rows::Rows;
use super::value::{Form, ends};
use crate::document::{Document, Part, TitledTable};
use crate::text::{Column, count, optional, ratio};

/// Two experiments with their common parts.
pub(crate) struct PairReport<'a> {
    pub(crate) reports: [&'a Report; 2],
    /// Overviews, if available.
    pub(crate) overviews: [Option<&'a Overview>; 2],
    pub(crate) matched: &'a SideBySide<'a>,
}

/// The comparison for programs. Keys are only ever added.
#[derive(Serialize)]
pub(crate) struct Json<'a> {
    pub(crate) experiments: [Experiment<'a>; 2],
    pub(crate) axes: &'a [String],
    pub(crate) cells: Rows<'a>,
    moves: Rows<'a>,
    unmatched: Vec<Unmatched<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Experiment<'a> {
    pub(crate) experiment: &'a str,
    experiment_uuid: &'a str,
    game: &'a str,
    state: &'static str,
    submitted_unix_us: i64,
    engine_revision: Option<u32>,
    games_planned: u64,
    games_settled: u64,
    description: &'a str,
    /// Null if not available.
    cpu_models: Option<Vec<&'a str>>,
    builds: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Unmatched<'a> {
    experiment: &'a str,
    cell_id: i64,
    /// By the names of that experiment's axes.
    axes: BTreeMap<&'a str, Option<&'a str>>,
    player: &'a str,
    opponent: &'a str,
}

impl<'a> PairReport<'a> {
    /// For programs.
    pub(crate) fn json(&self) -> Json<'a> {
        let [first, second] = self.reports;
        let [of_first, of_second] = self.overviews;
        let unmatched = self.matched.unmatched.iter().zip(self.reports);
        let axes = &self.matched.axes;
        Json {
            experiments: [experiment(first, of_first), experiment(second, of_second)],
            axes,
            cells: Rows::new(axes, cell_columns(axes), self.matched.cells.iter().collect()),
            moves: Rows::new(axes, move_columns(axes), self.matched.moves.iter().collect()),
            unmatched: unmatched
                .flat_map(|(cells, report)| cells.iter().map(|cell| unmatched_cell(report, cell)))
                .collect(),
        }
    }

    /// For people.
    pub(crate) fn document(&self) -> Document {
        let [first, second] = self.reports.map(|report| &report.experiment);
        let about = match first.game == second.game {
            true => first.game.clone(),
            false => format!("{} and {}", first.game, second.game),
        };
        let tables = [Some(self.configuration()), self.scores(), self.times(), self.unmatched()];
        let parts = tables.into_iter().flatten().map(Part::Table).collect();
        let [first, second] = self.names();
        Document { title: format!("{first} with {second}"), about, parts }
    }

    /// Returns the experiments' names, numbered if they are equal.
    fn names(&self) -> [String; 2] {
        let [first, second] = self.reports.map(|report| report.experiment.name.clone());
        match first == second {
            true => [format!("{first} (1)"), format!("{second} (2)")],
            false => [first, second],
        }
    }

    fn configuration(&self) -> TitledTable {
        let [first, second] = self.names();
        let columns = ["", &*first, &*second].map(Column::words).to_vec();
        let mut table = TitledTable::new("configuration", "The two experiments", columns);
        let [of_first, of_second] = self.overviews;
        let rows = [
            experiment_facts(self.reports[0], of_first),
            experiment_facts(self.reports[1], of_second),
        ];
        let [of_first, of_second] = rows;
        for ((name, first), (_, second)) in of_first.into_iter().zip(of_second) {
            table.row([name.to_owned(), first, second]);
        }
        table
    }

    fn scores(&self) -> Option<TitledTable> {
        let [first, second] = self.names();
        let columns = cell_columns(&self.matched.axes);
        let table = columns.table("cells", "Scores in both experiments", &self.matched.cells);
        let clear = self.matched.cells.iter().filter(|pair| pair.is_clear()).count() as u64;
        let compared =
            self.matched.cells.iter().filter(|pair| pair.difference.is_some()).count() as u64;
        let notes = vec![
            format!("Score: the player's points per game, first in {first}, then in {second}."),
            "Difference: the first less the second, as of independent samples.".to_owned(),
            format!(
                "{} of {} differences are clear; of as many where nothing differs, {} or so would be.",
                count(clear),
                count(compared),
                count(compared.div_ceil(20)),
            ),
        ];
        (!self.matched.cells.is_empty()).then(|| table.with_notes(notes))
    }

    fn times(&self) -> Option<TitledTable> {
        let [first, second] = self.names();
        let columns = move_columns(&self.matched.axes);
        let table =
            columns.table("moves", "Cost of a move in both experiments", &self.matched.moves);
        let notes = vec![
            format!(
                "Mean: of the player's searched moves, over games, first in {first}, then in {second}."
            ),
            "Ratio: of the first to the second, as of independent samples.".to_owned(),
        ];
        (!self.matched.moves.is_empty()).then(|| table.with_notes(notes))
    }

    fn unmatched(&self) -> Option<TitledTable> {
        let columns = ["experiment", "where", "player", "opponent"].map(Column::words).to_vec();
        let mut table = TitledTable::new("unmatched", "Cells without a counterpart", columns);
        for ((cells, report), name) in
            self.matched.unmatched.iter().zip(self.reports).zip(self.names())
        {
            for cell in cells {
                let place = places_text(&report.axes, &cell.axes);
                let names = [cell.player.clone(), cell.opponent.clone()];
                let place = place.unwrap_or_else(|| "-".to_owned());
                table.row([name.clone(), place].into_iter().chain(names));
            }
        }
        let note = "A counterpart has the same players' names, and the same values on the axes that both have; one.";
        (!table.rows.is_empty()).then(|| table.with_notes(vec![note.to_owned()]))
    }
}

fn cell_columns<'a>(axes: &'a [String]) -> Columns<'a, &'a MatchedCells<'a>> {
    Columns::<&MatchedCells<'_>>::new()
        .places(axes, |row| &row.axes)
        .column("player", "player", Form::Words, |row| &row.cells[0].player)
        .column("opponent", "opponent", Form::Words, |row| &row.cells[0].opponent)
        .keys(["first_cell_id", "second_cell_id"], |row| row.cells.map(|cell| cell.cell.0))
        .column("first_games", "games", Form::Count, |row| row.cells[0].games)
        .text("score", Form::Decimals(3), |row| Some(row.cells[0].score?.score))
        .column("second_games", "games", Form::Count, |row| row.cells[1].games)
        .key("first_score", |row| Some(row.cells[0].score?.score))
        .column("second_score", "score", Form::Decimals(3), |row| Some(row.cells[1].score?.score))
        // The first score minus the second.
        .column("difference", "difference", Form::Points, |row| Some(row.difference?.value))
        .keys(["difference_low", "difference_high"], |row| ends(row.difference))
        .text("95% interval", Form::Digits, |row| {
            row.difference.map(|bounds| format!("{:+.3} to {:+.3}", bounds.low, bounds.high))
        })
}

fn move_columns<'a>(axes: &'a [String]) -> Columns<'a, &'a MatchedMoves<'a>> {
    let mean = |moves: &MoveCost| mean_us(moves.costs.wall_us_game_mean, moves.costs.wall_us_mean);
    let interval = |row: &MatchedMoves<'_>| row.ratio.and_then(|ratio| ratio.interval);
    Columns::<&MatchedMoves<'_>>::new()
        .places(axes, |row| &row.axes)
        .column("player", "player", Form::Words, |row| &row.moves[0].player)
        .column("opponent", "opponent", Form::Words, |row| &row.moves[0].opponent)
        .column("first_wall_us_mean", "mean", Form::Duration, move |row| mean(row.moves[0]))
        .column("second_wall_us_mean", "mean", Form::Duration, move |row| mean(row.moves[1]))
        .column("wall_us_ratio", "ratio", Form::Ratio, |row| Some(row.ratio?.value))
        .keys(["wall_us_ratio_low", "wall_us_ratio_high"], move |row| ends(interval(row)))
        .text("95% interval", Form::Digits, move |row| {
            interval(row).map(|bounds| format!("{} to {}", ratio(bounds.low), ratio(bounds.high)))
        })
}

/// Returns the mean over games if available, otherwise over moves.
fn mean_us(over_games: Option<OverGames>, over_moves: f64) -> f64 {
    over_games.map_or(over_moves, |mean| mean.value)
}

/// Returns an experiment's properties, by name.
fn experiment_facts(report: &Report, overview: Option<&Overview>) -> Vec<(&'static str, String)> {
    let experiment = &report.experiment;
    let text_or_dash =
        |text: &str| optional(Some(text).filter(|text| !text.is_empty()), str::to_owned);
    let listed = |all: Vec<String>| text_or_dash(&all.join(", "));
    let models = overview.map(cpu_models);
    let builds = overview.map(|overview| distinct(overview.workers.iter().map(build)));
    vec![
        ("experiment", experiment.uuid.clone()),
        ("game", experiment.game.clone()),
        ("state", experiment.state.name().to_owned()),
        ("submitted", date_time(experiment.submitted_unix_us)),
        (
            "games",
            format!("{} of {}", count(experiment.games_settled), count(experiment.games_planned)),
        ),
        ("engine revision", optional(report.engine_revision, |revision| revision.to_string())),
        ("processors", listed(models.unwrap_or_default().into_iter().map(str::to_owned).collect())),
        ("builds", listed(builds.unwrap_or_default())),
        ("asks", text_or_dash(&report.description)),
    ]
}

fn cpu_models(overview: &Overview) -> Vec<&str> {
    let models = overview.workers.iter().map(|worker| &*worker.machine.cpu_model);
    distinct(models.filter(|model| !model.is_empty()))
}

fn builds(overview: &Overview) -> Vec<String> {
    let builds = overview.workers.iter().map(|worker| {
        let words =
            [&*worker.version, &*worker.machine.build_commit, &*worker.machine.build_profile];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    });
    distinct(builds)
}

fn distinct<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.collect();
    all.sort();
    all.dedup();
    all
}

fn experiment<'a>(report: &'a Report, overview: Option<&'a Overview>) -> Experiment<'a> {
    let experiment: &ExperimentSummary = &report.experiment;
    Experiment {
        experiment: &experiment.name,
        experiment_uuid: &experiment.uuid,
        game: &experiment.game,
        state: experiment.state.name(),
        submitted_unix_us: experiment.submitted_unix_us,
        engine_revision: report.engine_revision,
        games_planned: experiment.games_planned,
        games_settled: experiment.games_settled,
        description: &report.description,
        cpu_models: overview.map(cpu_models),
        builds: overview.map(builds),
    }
}

fn unmatched_cell<'a>(report: &'a Report, cell: &'a CellResult) -> Unmatched<'a> {
    let axes = report.axes.iter().map(String::as_str);
    Unmatched {
        experiment: &report.experiment.name,
        cell_id: cell.cell.0,
        axes: axes.zip(cell.axes.iter().map(Option::as_deref)).collect(),
        player: &cell.player,
        opponent: &cell.opponent,
    }
}
