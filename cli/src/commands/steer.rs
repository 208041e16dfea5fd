//! `spelrum pause`, `resume`, `cancel`, `priority`: steering an experiment.

use std::io::Write as _;

use clap::Args;
use spelrum_answers::{Action, SteerExperiment, SteeredExperiment};
use spelrum_report::data::write_json;
use spelrum_report::listing;
use spelrum_report::text::count;

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::remote::steering::Steerer;
use crate::results::idle_note;
use crate::terminal::{self, notices};

/// Pause an experiment: hand out none of its games until it is resumed
#[derive(Args, Debug)]
#[command(after_help = "Games that are leased are still played and counted.\n\n\
    Examples:\n  \
    spelrum pause pentago-depth --coordinator http://127.0.0.1:7878\n  \
    spelrum pause pentago-depth --db results.db             (if no coordinator has it)")]
pub(crate) struct Pause {
    #[command(flatten)]
    arguments: SteerArguments,
}

/// Resume a paused experiment
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    spelrum resume pentago-depth --coordinator http://127.0.0.1:7878\n  \
    spelrum resume pentago-depth --db results.db            (if no coordinator has it)")]
pub(crate) struct Resume {
    #[command(flatten)]
    arguments: SteerArguments,
}

/// End an experiment permanently; counted games stay
#[derive(Args, Debug)]
#[command(after_help = "This is final: workers drop its games, and it cannot be resumed.\n\n\
    Examples:\n  \
    spelrum cancel pentago-depth --coordinator http://127.0.0.1:7878\n  \
    spelrum cancel pentago-depth --db results.db            (if no coordinator has it)")]
pub(crate) struct Cancel {
    #[command(flatten)]
    arguments: SteerArguments,
}

/// Change an experiment's priority
#[derive(Args, Debug)]
#[command(after_help = "\
    Games with a higher priority go first, from the next lease on; experiments of equal priority share the \
    workers' time. The default priority is 0.\n\n\
    Examples:\n  \
    spelrum priority pentago-depth 10 --coordinator http://127.0.0.1:7878\n  \
    spelrum priority pentago-depth -1 --db results.db       (if no coordinator has it)")]
pub(crate) struct Priority {
    /// The experiment's name or UUID; of several with the name, the newest that is not over
    experiment: String,
    /// The priority: a larger one goes first
    #[arg(value_name = "N", allow_negative_numbers = true)]
    priority: i32,
    #[command(flatten)]
    source: SourceArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Replay an experiment's failed games
#[derive(Args, Debug)]
#[command(after_help = "\
    A game fails permanently after three failures, or if the workers that play it end with it. spelrum \
    status and the view failures show the reasons. Once the cause is fixed, this command has such games \
    replayed; other results stay. Submitting the sweep with another game_timeout does the same.\n\n\
    Examples:\n  \
    spelrum retry pentago-depth --coordinator http://127.0.0.1:7878\n  \
    spelrum retry pentago-depth --db results.db             (if no coordinator has it; then spelrum run)")]
pub(crate) struct Retry {
    #[command(flatten)]
    arguments: SteerArguments,
}

#[derive(Args, Debug)]
struct SteerArguments {
    /// The experiment's name or UUID; of several with the name, the newest that is not over
    experiment: String,
    #[command(flatten)]
    source: SourceArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Pause {
    /// Pauses.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.arguments.steer(Action::Pause, None, "pause").await
    }
}

impl Resume {
    /// Resumes.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.arguments.steer(Action::Resume, None, "resume").await
    }
}

impl Cancel {
    /// Cancels.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.arguments.steer(Action::Cancel, None, "cancel").await
    }
}

impl Priority {
    /// Changes the priority.
    pub(crate) async fn run(self) -> Result<Exit> {
        let Self { experiment, priority, source, json } = self;
        let arguments = SteerArguments { experiment, source, json };
        arguments.steer(Action::Priority, Some(priority), "prioritize").await
    }
}

impl Retry {
    /// Retries.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.arguments.steer(Action::Retry, None, "retry").await
    }
}

impl SteerArguments {
    async fn steer(self, kind: Action, priority: Option<i32>, verb: &str) -> Result<Exit> {
        let action = format!("{verb} {}", self.experiment);
        let steerer = Steerer::open(&self.source, &action).await?;
        let request = SteerExperiment { experiment: self.experiment, action: kind, priority };
        let steered = steerer.call(&request, &action).await;
        steerer.close().await?;
        let SteeredExperiment { experiment, games_retried } = steered?;
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &listing::Experiment::from(&experiment))?;
        } else if kind == Action::Retry {
            let name = &experiment.name;
            match games_retried {
                0 => writeln!(out, "{name} has no failed games")?,
                1 => writeln!(out, "1 failed game of {name} will be replayed")?,
                games => writeln!(out, "{} failed games of {name} will be replayed", count(games))?,
            }
        } else if kind == Action::Priority {
            writeln!(out, "{} has priority {}", experiment.name, experiment.priority)?;
        } else {
            listing::experiments_table(std::slice::from_ref(&experiment)).write(&mut out)?;
        }
        out.flush()?;
        let starts = matches!(kind, Action::Resume | Action::Retry);
        if let Some(db) = self.source.db.as_ref().filter(|_| starts)
            && let Some(note) = idle_note(&experiment, db)
        {
            notices::notify(&note);
        }
        Ok(Exit::Success)
    }
}
