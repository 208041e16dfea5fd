//! A look at an experiment: how far it is and the work left, in one row however large it is.

use spelrum_coordinator::store::questions;
use spelrum_tournament::ExperimentId;
use spelrum_tournament::forecast::{Backlog, GameSpread};

use crate::answer::ask;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::results::ResultsSource;

/// What one look saw.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) state: String,
    pub(crate) cells: u64,
    pub(crate) cells_settled: u64,
    pub(crate) games_planned: u64,
    pub(crate) games_settled: u64,
    pub(crate) games_failed: u64,
    /// The time that all its games took, summed over them.
    pub(crate) wall_us: f64,
    pub(crate) backlog: Backlog,
    pub(crate) spread: GameSpread,
    /// Of the workers that hold games of it.
    pub(crate) slots: u64,
    /// The latest game of any experiment.
    pub(crate) last_game_id: i64,
}

impl Look {
    /// Looks.
    pub(crate) async fn take(source: &ResultsSource, experiment: ExperimentId) -> Result<Self> {
        let answer = ask(source, &questions::PROGRESS.of(experiment)).await?;
        let Some(row) = answer.rows().next() else {
            return Err(CliError::new(Exit::Input, "go on watching")
                .because("the experiment is gone")
                .help("see what there is: spelrum list"));
        };
        Ok(Self {
            state: row.text("state")?,
            cells: row.count("cells")?,
            cells_settled: row.count("cells_settled")?,
            games_planned: row.count("games_planned")?,
            games_settled: row.count("games_settled")?,
            games_failed: row.count("games_failed")?,
            wall_us: row.real("wall_us")?,
            backlog: Backlog {
                games_left: row.count("games_left")?,
                unseen_games_left: row.count("unseen_games_left")?,
                seen_us: row.real("seen_us")?,
                seen_squares: row.real("seen_squares")?,
                longest_us: row.real("longest_us")?,
                seen_cells: row.count("seen_cells")?,
                means_us: row.real("means_us")?,
                mean_squares: row.real("mean_squares")?,
            },
            spread: GameSpread {
                squares: row.real("spread_squares")?,
                weight: row.real("spread_weight")?,
            },
            slots: row.count("slots")?,
            last_game_id: row.integer("last_game_id")?,
        })
    }

    /// Whether nothing of it is left to play.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state.as_str(), "finished" | "cancelled")
    }
}
