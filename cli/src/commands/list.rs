//! `spelrum list`: the experiments, filtered and sorted.

use std::cmp::Reverse;
use std::io::Write as _;
use std::time::SystemTime;

use clap::{Args, ValueEnum};
use glob::{MatchOptions, Pattern};
use serde::Serialize;
use spelrum_answers::ExperimentSummary;
use spelrum_model::ExperimentState;
use spelrum_report::data::write_json;
use spelrum_report::listing;
use spelrum_report::text::{Column, TextTable, count, duration_us};

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::results::ResultsSource;
use crate::terminal::{self, notices};

const EXAMPLES: &str = "\
JSON, an array with an object for each: experiment_uuid, name, game, state, priority, cells, \
games_planned, games_settled, games_left, games_failed, submitted_unix_us.

Examples:
  spelrum list --db results.db
  spelrum list --coordinator http://127.0.0.1:7878 --state running,paused --sort left
  spelrum list --coordinator lab --name 'pentago-*' --sort submitted --reverse --json";

/// List experiments
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    #[command(flatten)]
    source: SourceArguments,
    /// Only those in one of these states
    #[arg(long, value_name = "STATE,…", value_delimiter = ',')]
    state: Vec<State>,
    /// Only those of this game
    #[arg(long)]
    game: Option<String>,
    /// Only those whose name contains this, or matches it as a pattern if it has a `*`, `?` or
    /// `[…]`
    #[arg(long, value_name = "WORDS|GLOB")]
    name: Option<NameFilter>,
    /// The sort key: name, submitted (the oldest first), priority (the highest first), left (the
    /// fewest games left first), state (running, paused, finished, cancelled)
    #[arg(long, value_name = "KEY", default_value = "submitted", hide_possible_values = true)]
    sort: Key,
    /// Reverse the order
    #[arg(long)]
    reverse: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum State {
    Running,
    Paused,
    Finished,
    Cancelled,
}

impl State {
    fn from_state(state: ExperimentState) -> Self {
        match state {
            ExperimentState::Running => Self::Running,
            ExperimentState::Paused => Self::Paused,
            ExperimentState::Finished => Self::Finished,
            ExperimentState::Cancelled => Self::Cancelled,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Key {
    Name,
    Submitted,
    Priority,
    Left,
    State,
}

/// Which names are shown.
#[derive(Clone, Debug)]
enum NameFilter {
    Contains(String),
    Glob(Pattern),
}

impl std::str::FromStr for NameFilter {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text.contains(['*', '?', '[']) {
            let pattern = Pattern::new(text);
            pattern
                .map(Self::Glob)
                .map_err(|error| format!("{}: write it like pentago-*", error.msg))
        } else {
            Ok(Self::Contains(text.to_lowercase()))
        }
    }
}

impl NameFilter {
    /// Ignores case.
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Contains(text) => name.to_lowercase().contains(text),
            Self::Glob(pattern) => {
                let options = MatchOptions { case_sensitive: false, ..MatchOptions::new() };
                pattern.matches_with(name, options)
            }
        }
    }
}

#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    experiment: listing::Experiment<'a>,
    games_left: u64,
}

impl<'a> From<&'a ExperimentSummary> for Json<'a> {
    fn from(experiment: &'a ExperimentSummary) -> Self {
        Self { experiment: experiment.into(), games_left: experiment.games_left() }
    }
}

impl List {
    /// Prints the experiments.
    pub(crate) async fn run(self) -> Result<Exit> {
        let source = ResultsSource::open(&self.source).await?;
        let all = source.experiments().await?;
        let is_empty = all.is_empty();
        let experiments = self.chosen(all);
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &experiments.iter().map(Json::from).collect::<Vec<_>>())?;
        } else if experiments.is_empty() {
            writeln!(
                out,
                "{}",
                if is_empty { "no experiments yet" } else { "no experiment matches" }
            )?;
        } else {
            table(&experiments, unix_us()).write(&mut out)?;
        }
        out.flush()?;
        if let Some(note) = source.idle_note(&experiments) {
            notices::notify(&note);
        }
        Ok(Exit::Success)
    }

    /// The selected experiments in order. Equal ones stay in the order of their submission.
    fn chosen(&self, mut experiments: Vec<ExperimentSummary>) -> Vec<ExperimentSummary> {
        experiments.retain(|experiment| {
            let is_in_state = |state: &State| *state == State::from_state(experiment.state);
            (self.state.is_empty() || self.state.iter().any(is_in_state))
                && self.game.as_ref().is_none_or(|game| experiment.game.eq_ignore_ascii_case(game))
                && self.name.as_ref().is_none_or(|name| name.matches(&experiment.name))
        });
        experiments.sort_by_key(|experiment| experiment.submitted_unix_us);
        match self.sort {
            Key::Submitted => {}
            Key::Name => experiments.sort_by(|a, b| a.name.cmp(&b.name)),
            Key::Priority => experiments.sort_by_key(|experiment| Reverse(experiment.priority)),
            Key::Left => experiments.sort_by_key(ExperimentSummary::games_left),
            Key::State => experiments.sort_by_key(|experiment| {
                let states = State::value_variants();
                states.iter().position(|&state| state == State::from_state(experiment.state))
            }),
        }
        if self.reverse {
            experiments.reverse();
        }
        experiments
    }
}

fn table(experiments: &[ExperimentSummary], now_unix_us: i64) -> TextTable {
    let mut table = TextTable::new(&[
        Column::words("experiment"),
        Column::words("game"),
        Column::words("state"),
        Column::numbers("priority"),
        Column::numbers("cells"),
        Column::numbers("settled"),
        Column::numbers("left"),
        Column::numbers("done"),
        Column::numbers("failed"),
        Column::numbers("submitted"),
    ]);
    for experiment in experiments {
        let ago_us = now_unix_us.saturating_sub(experiment.submitted_unix_us).max(0);
        table.row([
            experiment.name.clone(),
            experiment.game.clone(),
            experiment.state.name().to_owned(),
            experiment.priority.to_string(),
            count(experiment.cells),
            format!("{}/{}", count(experiment.games_settled), count(experiment.games_planned)),
            count(experiment.games_left()),
            listing::done(experiment),
            count(experiment.games_failed),
            format!("{} ago", duration_us(ago_us as f64)),
        ]);
    }
    table
}

fn unix_us() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use spelrum_model::ExperimentId;

    use super::*;

    fn experiment(
        name: &str,
        state: ExperimentState,
        priority: i32,
        games_settled: u64,
        submitted_unix_us: i64,
    ) -> ExperimentSummary {
        ExperimentSummary {
            experiment: ExperimentId(1),
            uuid: String::new(),
            name: name.to_owned(),
            game: if name.starts_with("nim") { "nim" } else { "pentago" }.to_owned(),
            task: spelrum_model::Task::Game,
            state,
            priority,
            cells: 1,
            games_planned: 100,
            games_settled,
            games_failed: 0,
            submitted_unix_us,
        }
    }

    /// The names listed by such a command line, in order.
    fn listed(arguments: &[&str]) -> Vec<String> {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            list: List,
        }
        let line: Line = clap::Parser::parse_from([&["list"], arguments].concat());
        let all = vec![
            experiment("pentago-Depth", ExperimentState::Running, 1, 40, 2),
            experiment("nim", ExperimentState::Finished, 5, 100, 1),
            experiment("pentago-time", ExperimentState::Paused, 1, 90, 4),
            experiment("pentago-old", ExperimentState::Cancelled, 0, 10, 3),
        ];
        line.list.chosen(all).into_iter().map(|experiment| experiment.name).collect()
    }

    #[test]
    fn experiments_are_sorted() {
        assert_eq!(listed(&[]), ["nim", "pentago-Depth", "pentago-old", "pentago-time"]);
        assert_eq!(listed(&["--reverse"]), ["pentago-time", "pentago-old", "pentago-Depth", "nim"]);
        assert_eq!(
            listed(&["--sort", "name"]),
            ["nim", "pentago-Depth", "pentago-old", "pentago-time"]
        );
        assert_eq!(
            listed(&["--sort", "priority"]),
            ["nim", "pentago-Depth", "pentago-time", "pentago-old"]
        );
        assert_eq!(
            listed(&["--sort", "left"]),
            ["nim", "pentago-old", "pentago-time", "pentago-Depth"]
        );
        assert_eq!(
            listed(&["--sort", "state"]),
            ["pentago-Depth", "pentago-time", "nim", "pentago-old"]
        );
    }

    #[test]
    fn experiments_are_filtered() {
        assert_eq!(listed(&["--state", "running,paused"]), ["pentago-Depth", "pentago-time"]);
        assert_eq!(listed(&["--game", "nim"]), ["nim"]);
        assert_eq!(listed(&["--name", "depth"]), ["pentago-Depth"]);
        assert_eq!(listed(&["--name", "pentago-?*e*"]), ["pentago-Depth", "pentago-time"]);
        assert_eq!(listed(&["--name", "depth*"]), [""; 0]);
        assert_eq!(listed(&["--name", "pent", "--state", "finished"]), [""; 0]);
        assert!("[".parse::<NameFilter>().is_err());
    }
}
