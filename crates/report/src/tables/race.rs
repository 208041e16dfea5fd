//! Races: which player is first, and after how many games the others were known not to be.

use std::cmp::Reverse;

use spelrum_answers::{Report, RunResult};
use spelrum_model::course::{Behind, RaceStandings, Runner};

use super::axes::{grid_axes, is_of_the_grid, run_places};
use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, Value};
use crate::document::TitledTable;
use crate::text::{count, counted, optional, stated_rate};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "race",
    "Which player of a race is first, and when the others were known not to be",
    &View { parts: |report| parts(table(report)), rows },
)
.in_json("race");

/// A player, in the race that it is in.
type Row<'a> = (&'a RunResult, &'a RaceStandings, &'a Runner);

/// Returns the players of all races: in each the first, then those that may be first, then the others by the round
/// after which they were out.
fn runners(report: &Report) -> Vec<Row<'_>> {
    let races = report.runs.iter().filter_map(|run| Some((run, run.race.as_ref()?)));
    let by_race = races.flat_map(|(run, race)| {
        let mut runners: Vec<&Runner> = race.players.iter().collect();
        runners.sort_by(|a, b| {
            let place = |runner: &Runner| {
                (Reverse(is_first(race, runner)), Reverse(runner.out_after.unwrap_or(u64::MAX)))
            };
            let score = |runner: &Runner| runner.score.unwrap_or(0.0);
            place(a).cmp(&place(b)).then(score(b).total_cmp(&score(a)))
        });
        runners.into_iter().map(move |runner| (run, race, runner))
    });
    by_race.collect()
}

fn is_first(race: &RaceStandings, runner: &Runner) -> bool {
    race.first.as_ref() == Some(&runner.player)
}

/// Returns the axes on which races have places. The parameters that players vary are those of the compared players.
fn axes(report: &Report) -> Vec<&str> {
    grid_axes(report).into_iter().filter(|axis| is_of_the_grid(axis)).collect()
}

fn columns(report: &Report) -> Columns<'_, Row<'_>> {
    let axes = axes(report);
    let mut columns =
        Columns::<Row<'_>>::new().column("run", "run", Form::Count, |(run, ..)| run.run);
    for axis in &axes {
        let axis = *axis;
        columns = columns.text(axis, Form::Words, move |(run, ..)| {
            optional(run_places(run, &[axis])[0], ToOwned::to_owned)
        });
    }
    columns
        .key("axes", move |(run, ..)| Value::Places(run_places(run, &axes)))
        .column("player", "player", Form::Words, |(.., runner)| &runner.player)
        .column("games", "games", Form::Count, |(.., runner)| runner.games)
        .column("score", "score", Form::Decimals(3), |(.., runner)| runner.score)
        .column("behind", "behind", Form::Decimals(3), |(.., runner)| {
            runner.behind.map(|behind| behind.points)
        })
        .text("interval", Form::Words, |(.., runner)| optional(runner.behind, interval))
        .key("behind_low", |(.., runner)| runner.behind.map(|behind| behind.low))
        .key("behind_high", |(.., runner)| runner.behind.map(|behind| behind.high))
        .text("", Form::Words, |(run, race, runner)| state(run, race, runner))
        .key("is_first", |(_, race, runner)| is_first(race, runner))
        .key("out_after", |(.., runner)| runner.out_after)
        .key("out_by", |(.., runner)| runner.out_by.as_ref())
        .key("rounds", |(run, ..)| run.steps)
        .key("error_rate", |(_, race, _)| race.error_rate)
        .key("within", |(_, race, _)| race.within)
}

fn interval(behind: Behind) -> String {
    format!("{:+.3} to {:+.3}", behind.low, behind.high)
}

fn state(run: &RunResult, race: &RaceStandings, runner: &Runner) -> String {
    match (&runner.out_after, &runner.out_by) {
        (Some(rounds), Some(by)) => format!("out after {}, by {by}", counted(*rounds, "round")),
        (Some(rounds), None) => format!("out after {}", counted(*rounds, "round")),
        (None, _) if is_first(race, runner) => "first".to_owned(),
        (None, _) if race.first.is_some() => format!("not better by more than {}", race.within),
        (None, _) if run.ended => "not known".to_owned(),
        (None, _) => "may be first".to_owned(),
    }
}

fn rows(report: &Report) -> Rows<'_> {
    Rows::new(axes(report), columns(report), runners(report))
}

fn table(report: &Report) -> Option<TitledTable> {
    let is_any = report.runs.iter().any(|run| run.race.is_some());
    is_any.then(|| standings(report, TABLE.name).with_notes(notes(report)))
}

/// Returns the standings of all races, for people, in a table with this name, without notes.
pub(crate) fn standings(report: &Report, name: &'static str) -> TitledTable {
    columns(report).table(name, "Who is first", runners(report))
}

/// Returns the notes below the standings.
pub(crate) fn notes(report: &Report) -> Vec<String> {
    let mut notes: Vec<String> = report.runs.iter().filter_map(verdict).collect();
    notes.push(
        "Behind: points of a game less than the leader has, over the rounds that both played. The interval\n\
         holds at every look: it is a confidence sequence."
            .to_owned(),
    );
    notes
}

/// Describes what a race found, and how sure it is.
fn verdict(run: &RunResult) -> Option<String> {
    let race = run.race.as_ref()?;
    let RaceStandings { rounds_max, error_rate, within, first, players } = race;
    let (number, rounds) = (count(run.run), counted(run.steps, "round"));
    let left = players.iter().filter(|runner| runner.out_after.is_none()).count() as u64;
    let known = match first {
        Some(first) if left > 1 => {
            format!("{first} is first, or at most {within} points of a game worse than another")
        }
        Some(first) => format!("{first} is first"),
        None if run.ended => {
            format!("it is not known which of {} is first", counted(left, "player"))
        }
        None => format!("{} may be first", counted(left, "player")),
    };
    Some(format!(
        "Run {number}: {known}, after {rounds} of at most {}.\nA wrong player is called first in at most {} of races.",
        count(*rounds_max),
        stated_rate(*error_rate),
    ))
}
