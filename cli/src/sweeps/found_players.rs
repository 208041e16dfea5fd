//! Players found by other experiments: `from = { experiment = "…" }` in a sweep, replaced by the player's parameters.
//!
//! The text is changed before planning, as with `--set`: the sweep that is planned, shown in errors, submitted and
//! stored names its players itself and keeps its meaning whatever becomes of the other experiment.

use std::path::PathBuf;

use spelrum_answers::{CellsPage, Detail, ExperimentSummary, GamesFilter, RunResult, WholeGames};
use spelrum_engine::{Parameters, Value};
use spelrum_model::AxisValue;
use spelrum_model::course::{Estimate, OPTIONS, RUN, option_named};
use spelrum_report::text::count;
use spelrum_sweep::SweepText;
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value as Toml};

use crate::arguments::{CoordinatorArguments, SourceArguments, TrustArguments};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::results::ResultsSource;
use crate::sweeps::file::{SweepArguments, SweepFile, UnplannedSweep};

/// The key that refers to a found player.
const FROM: &str = "from";

/// Where to look for experiments whose database is not named.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcomes<'a> {
    /// In `NAME.db`, where `spelrum run` stores that experiment.
    Here,
    /// At a coordinator.
    At(&'a CoordinatorArguments),
}

/// A reference in a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    player: String,
    experiment: String,
    run: u64,
    db: Option<PathBuf>,
}

/// Reads, changes and plans a sweep, looking up players found by other experiments.
pub(crate) async fn read_sweep(
    arguments: &SweepArguments,
    outcomes: Outcomes<'_>,
) -> Result<SweepFile> {
    let mut sweep = UnplannedSweep::read(arguments)?;
    let remarks = resolve(&mut sweep.text, outcomes).await?;
    sweep.plan(remarks)
}

/// Replaces each player's `from`, and reports the replacement. A sweep without references, or that is not TOML, is
/// unchanged.
///
/// # Errors
/// If a reference is unclear, or no such result has been found.
async fn resolve(sweep: &mut SweepText, outcomes: Outcomes<'_>) -> Result<Vec<String>> {
    let Ok(mut document) = sweep.text.parse::<DocumentMut>() else { return Ok(Vec::new()) };
    let mut remarks = Vec::new();
    for wanted in wanted(&document, &sweep.name)? {
        let (parameters, estimates) = found(&wanted, outcomes).await?;
        let Wanted { player, experiment, run, .. } = wanted;
        let Some(table) = player_table(&mut document, &player) else { continue };
        table.remove(FROM);
        let mut inserted = Vec::new();
        for (key, value) in settled(parameters, &estimates) {
            // The sweep's own settings for the player take precedence.
            let short = key.strip_suffix("_us").unwrap_or(&key);
            if !table.contains_key(&key) && !table.contains_key(short) {
                table.insert(&key, Item::Value(value));
                inserted.push(key);
            }
        }
        if let Some(mut first) = inserted.first().and_then(|key| table.key_mut(key)) {
            first.leaf_decor_mut().set_prefix(format!("# The best of {experiment}, run {run}.\n"));
        }
        let found: Vec<String> = estimates.iter().map(remark).collect();
        remarks.push(format!("{player}: {experiment}, run {run}: {}", found.join(", ")));
    }
    if !remarks.is_empty() {
        sweep.text = document.to_string();
    }
    Ok(remarks)
}

/// The estimate of a parameter, with a remark if the optimum may lie outside the values tried.
fn remark(Estimate { parameter, value, interval }: &Estimate) -> String {
    let found = format!("{parameter} = {}", value.text);
    let text = |end: &AxisValue| end.text.clone();
    let ends = interval
        .as_ref()
        .map(|bounds| (bounds.low.as_ref().map(text), bounds.high.as_ref().map(text)));
    match ends {
        None | Some((Some(_), Some(_))) => found,
        Some((Some(low), None)) => format!("{found} (95% interval: {low} or more)"),
        Some((None, Some(high))) => format!("{found} (95% interval: {high} or less)"),
        Some((None, None)) => format!("{found} (95% interval: anywhere)"),
    }
}

/// The players to look up.
fn wanted(document: &DocumentMut, sweep: &str) -> Result<Vec<Wanted>> {
    let players = document.get("players").and_then(Item::as_table_like);
    let players = players.into_iter().flat_map(TableLike::iter);
    let mut found = Vec::new();
    for (player, table) in players {
        let Some(from) = table.get(FROM) else { continue };
        let wrong = |problem: &str| {
            CliError::new(Exit::Input, format!("read `from` of the player {player} in {sweep}"))
                .because(problem)
                .help("write from = { experiment = \"othello-gp\", run = 2, best = true }")
        };
        let Some(from) = from.as_table_like() else { return Err(wrong("it is not a table")) };
        let keys = ["experiment", "run", "best", "db"];
        if let Some((other, _)) = from.iter().find(|(key, _)| !keys.contains(key)) {
            return Err(wrong(&format!("it has no `{other}`: it has {}", keys.join(", "))));
        }
        let experiment = from.get("experiment").and_then(Item::as_str);
        let run = from
            .get("run")
            .map_or(Some(0), |run| run.as_integer().and_then(|run| u64::try_from(run).ok()));
        let db = from.get("db").map(|db| db.as_str().map(PathBuf::from));
        match (experiment, run, db, from.get("best").map(Item::as_bool)) {
            (None, ..) => return Err(wrong("it does not name an experiment")),
            (_, None, ..) => return Err(wrong("`run` is not the number of a run, from 0")),
            (_, _, Some(None), _) => return Err(wrong("`db` is not the path of a database")),
            (_, _, _, Some(None | Some(false))) => {
                return Err(wrong("`best` can only be true: nothing else of a run is kept"));
            }
            (Some(experiment), Some(run), db, None | Some(Some(true))) => found.push(Wanted {
                player: player.to_owned(),
                experiment: experiment.to_owned(),
                run,
                db: db.flatten(),
            }),
        }
    }
    Ok(found)
}

fn player_table<'d>(document: &'d mut DocumentMut, player: &str) -> Option<&'d mut dyn TableLike> {
    document.get_mut("players")?.as_table_like_mut()?.get_mut(player)?.as_table_like_mut()
}

/// The parameters of a run's player, with arbitrary values for those the run decided, and the decided values.
async fn found(wanted: &Wanted, outcomes: Outcomes<'_>) -> Result<(Parameters, Vec<Estimate>)> {
    let Wanted { player, experiment, run, db } = wanted;
    let action = format!("find the player {player}: run {run} of {experiment}");
    let failed = |problem: String, remedy: String| {
        Err(CliError::new(Exit::Input, action.clone()).because(problem).help(remedy))
    };
    let source = source(experiment, db.clone(), outcomes).await?;
    let summary = source.experiment(Some(experiment)).await?;
    let report = source.report(&summary, Detail::Cells).await?;
    let Some(found) = report.runs.iter().find(|result| result.run == *run) else {
        let has = match report.runs.len() as u64 {
            0 => "it has no runs: what it plays does not depend on its results".to_owned(),
            1 => "it has one run, 0".to_owned(),
            runs => format!("it has {} runs, 0 to {}", count(runs), runs - 1),
        };
        return failed(has, "name a run of a sweep with find, tune or evolve".to_owned());
    };
    if found.race.is_some() {
        let problem = "a race finds which player is first, and changes none".to_owned();
        return failed(problem, "describe that player in this sweep as the race does".to_owned());
    }
    if !found.ended || found.estimates.is_empty() {
        let problem = "the run has not finished".to_owned();
        return failed(problem, format!("finish it first: spelrum watch {experiment}"));
    }
    let parameters = match &found.player_json {
        Some(json) => serde_json::from_str(json).map(Some).map_err(|damage| {
            CliError::new(Exit::Database, action.clone())
                .because(damage)
                .help("use the version of spelrum that wrote this database")
        })?,
        None => parameters(&source, &summary, found).await?,
    };
    let Some(parameters) = parameters else {
        return failed(
            "none of its games are kept".to_owned(),
            "write the player's parameters into the sweep: the report shows the values found"
                .to_owned(),
        );
    };
    Ok((parameters, found.estimates.clone()))
}

async fn source(
    experiment: &str,
    db: Option<PathBuf>,
    outcomes: Outcomes<'_>,
) -> Result<ResultsSource> {
    let file =
        |db| SourceArguments { db: Some(db), coordinator: None, trust: TrustArguments::default() };
    ResultsSource::open(&match (db, outcomes) {
        (Some(db), _) => file(db),
        (None, Outcomes::Here) => file(PathBuf::from(format!("{experiment}.db"))),
        (None, Outcomes::At(arguments)) => SourceArguments {
            db: None,
            coordinator: arguments.coordinator.clone(),
            trust: arguments.trust.clone(),
        },
    })
    .await
}

/// All parameters of a run's player, from a cell of the run.
async fn parameters(
    source: &ResultsSource,
    experiment: &ExperimentSummary,
    run: &RunResult,
) -> Result<Option<Parameters>> {
    let number = run.run.to_string();
    let mut from = None;
    loop {
        let CellsPage { axes, cells, next } = source.cells(experiment, from).await?;
        let axis = axes.iter().position(|axis| axis == RUN);
        let is_its = |at: usize, axes: &[Option<String>]| axes[at].as_deref() == Some(&*number);
        let played = cells.iter().filter(|cell| cell.games > 0);
        let matching = played.filter(|cell| axis.is_some_and(|at| is_its(at, &cell.axes)));
        for cell in matching {
            // In self-play, the player can be either.
            let names = [&cell.player, &cell.opponent];
            let Some(side) = names.iter().position(|name| **name == run.begun.player) else {
                continue;
            };
            let WholeGames { games, .. } =
                source.whole_games(cell.cell, GamesFilter::All, None).await?;
            let Some(game) = games.first() else { continue };
            let definition = game.game.definition().map_err(|damage| {
                CliError::new(Exit::Database, format!("read the definition of cell {}", cell.cell))
                    .because(damage)
                    .help("use the version of spelrum that wrote this database")
            })?;
            return Ok(Some((*definition.players[side]).clone()));
        }
        match next {
            None => return Ok(None),
            Some(_) => from = next,
        }
    }
}

/// The parameters with the decided values, in a sweep's notation.
fn settled(parameters: Parameters, estimates: &[Estimate]) -> Vec<(String, Toml)> {
    let mut settled: Vec<(String, Toml)> = Vec::new();
    for (key, mut value) in parameters {
        if let (OPTIONS, Value::Table(options)) = (&*key, &mut value) {
            for (name, value) in options {
                let is_its = |estimate: &&Estimate| {
                    option_named(&estimate.parameter)
                        .is_some_and(|option| option.eq_ignore_ascii_case(name))
                };
                let found = estimates.iter().find(is_its).map(|estimate| &estimate.value);
                match (&value, found) {
                    (_, None) => {}
                    (Value::Integer(_), Some(AxisValue { number: Some(number), .. })) => {
                        *value = Value::Integer(*number as i64);
                    }
                    (Value::Bool(_), Some(found)) => *value = Value::Bool(found.text == "true"),
                    (_, Some(found)) => *value = Value::Text(found.text.clone()),
                }
            }
        }
        let short = key.strip_suffix("_us").unwrap_or(&key);
        let estimate = estimates
            .iter()
            .find(|estimate| estimate.parameter == key || estimate.parameter == short);
        settled.push(match estimate {
            None => (key, toml(&value)),
            // Durations have another name in sweeps, and their own notation.
            Some(estimate) if estimate.parameter != key => {
                (estimate.parameter.clone(), estimate.value.text.as_str().into())
            }
            Some(Estimate { value: found, .. }) => {
                let new = match (&value, found.number) {
                    (Value::Integer(_), Some(number)) => Toml::from(number as i64),
                    (Value::Number(_), Some(number)) => Toml::from(number),
                    (Value::Bool(_), _) => Toml::from(found.text == "true"),
                    _ => found.text.as_str().into(),
                };
                (key, new)
            }
        });
    }
    settled
}

fn toml(value: &Value) -> Toml {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Integer(value) => (*value).into(),
        Value::Number(value) => (*value).into(),
        Value::Text(value) => value.as_str().into(),
        Value::List(values) => Toml::Array(values.iter().map(toml).collect::<Array>()),
        Value::Table(values) => {
            let entries = values.iter().map(|(key, value)| (key.as_str(), toml(value)));
            Toml::InlineTable(entries.collect::<InlineTable>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted_of(from: &str) -> std::result::Result<Vec<Wanted>, String> {
        let text =
            format!("[players.champion]\nfrom = {from}\n[players.other]\nalgorithm = \"random\"");
        let document = text.parse::<DocumentMut>().unwrap();
        let plain = crate::error::MessageStyle::Plain;
        wanted(&document, "sweep.toml").map_err(|error| error.message(plain).unwrap_or_default())
    }

    #[test]
    fn what_is_meant_is_read() {
        let champion =
            Wanted { player: "champion".to_owned(), experiment: "gp".to_owned(), run: 2, db: None };
        let read = wanted_of("{ experiment = \"gp\", run = 2, best = true }");
        assert_eq!(read, Ok(vec![champion.clone()]));
        let read = wanted_of("{ experiment = \"gp\", db = \"a/b.db\" }");
        let elsewhere = Wanted { run: 0, db: Some("a/b.db".into()), ..champion };
        assert_eq!(read, Ok(vec![elsewhere]));
        for (from, problem) in [
            ("\"gp\"", "it is not a table"),
            ("{ run = 1 }", "does not name an experiment"),
            ("{ experiment = \"gp\", run = -1 }", "not the number of a run"),
            ("{ experiment = \"gp\", best = false }", "can only be true"),
            ("{ experiment = \"gp\", db = 3 }", "not the path of a database"),
            ("{ experiment = \"gp\", worst = true }", "it has no `worst`"),
        ] {
            let error = wanted_of(from).unwrap_err();
            assert!(error.contains(problem) && error.contains("player champion"), "{error}");
        }
    }

    #[test]
    fn what_was_found_is_written_as_sweeps_say_it() {
        let parameters = Parameters::from([
            ("algorithm".to_owned(), Value::Text("alpha-beta".to_owned())),
            ("formula".to_owned(), Value::Text("empty".to_owned())),
            ("mix".to_owned(), Value::Number(0.25)),
            ("move_time_us".to_owned(), Value::Integer(5)),
            ("nodes".to_owned(), Value::Integer(7)),
            (
                "options".to_owned(),
                Value::Table(Parameters::from([
                    ("Hash".to_owned(), Value::Integer(16)),
                    ("Ponder".to_owned(), Value::Bool(false)),
                    ("Skill Level".to_owned(), Value::Integer(0)),
                    ("Style".to_owned(), Value::Text("Solid".to_owned())),
                ])),
            ),
            ("table".to_owned(), Value::Bool(false)),
        ]);
        let estimate = |parameter: &str, number: Option<f64>, text: &str| Estimate {
            parameter: parameter.to_owned(),
            value: AxisValue { number, text: text.to_owned() },
            interval: None,
        };
        let estimates = [
            estimate("formula", None, "(+ 1 2)"),
            estimate("move_time", Some(12_500.0), "12.5ms"),
            estimate("nodes", Some(300.0), "300"),
            estimate("options.skill level", Some(13.0), "13"),
            estimate("options.Ponder", Some(1.0), "true"),
            estimate("options.Style", None, "Risky"),
            estimate("mix", Some(0.5), "0.5"),
            estimate("table", None, "true"),
        ];
        let written: Vec<String> = settled(parameters, &estimates)
            .into_iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        let expected = [
            "algorithm = \"alpha-beta\"",
            "formula = \"(+ 1 2)\"",
            "mix = 0.5",
            "move_time = \"12.5ms\"",
            "nodes = 300",
            "options = { Hash = 16, Ponder = true, \"Skill Level\" = 13, Style = \"Risky\" }",
            "table = true",
        ];
        assert_eq!(written, expected);
    }
}
