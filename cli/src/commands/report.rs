//! `spelrum report`: an experiment's result tables.

use clap::Args;
use spelrum_tournament::results::Detail;

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::report::{self, WithRatings};
use crate::results::ResultsSource;

const EXAMPLES: &str = "\
For each cell: who is stronger, with a 95% interval over pairs of games, or over games if the players \
do not swap sides; and for each player the time, depth, nodes and evaluations of a move. Where \
somebody has met several others, also ratings: how strong the players are on one scale. It can be \
asked while games are being played.

JSON: experiment, experiment_uuid, game, state, games_planned, games_settled, games_failed, axes; \
cells (cell_id, axes, player, opponent, timed, games_planned, games_max, stop_rule, \
stop_precision, sprt (elo0, elo1, alpha, beta, model, llr, lower, upper, verdict), stopped_after, games, games_failed, \
wins, draws, losses, score, score_low, score_high, elo, elo_low, elo_high, elo_error (half of what lies between the \
two), nelo, nelo_error (always null), los, stronger, pairs, distinct_games, swap_sides, self_play, openings_used); moves, and depths (cell_id, axes, player, opponent, searched_moves, wall_us_mean, \
wall_us_median, wall_us_p90, wall_us_p99, depth_mean, nodes_mean, evaluations_mean, \
full_tree_share). A cell's axes are its values in the order of the experiment's. \
ratings, where they are shown or asked for: groups of players who met (axes, players, first_move_elo, \
first_move_elo_error, draw_rate, games, self_play_games, clusters, clusters_are, differences, meetings), \
players the strongest first (player, elo, elo_error, is_anchor, games, wins, draws, losses, score), \
differences of every two (player, opponent, elo, elo_error), meetings (player, opponent, games, wins, \
draws, losses, score). What is not known is null.

Examples:
  spelrum report --db pentago-depth.db
  spelrum report --ratings --db pentago-ladder.db
  spelrum report pentago-depth --coordinator http://127.0.0.1:7878 --json";

/// Show an experiment's result tables
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Report {
    /// The experiment's name or UUID; may be left out if there is only one
    experiment: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// Also show what a move costs at each depth that searches completed
    #[arg(long)]
    depths: bool,
    /// Show ratings instead: at each point of the grid all who met, on one scale
    #[arg(long, conflicts_with = "depths")]
    ratings: bool,
    /// Print JSON, with everything
    #[arg(long)]
    json: bool,
}

impl Report {
    /// Asks and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let source = ResultsSource::open(&self.source).await?;
        let experiment = source.experiment(self.experiment.as_deref()).await?;
        if self.json {
            let with = if self.ratings { WithRatings::Always } else { WithRatings::IfWorthShowing };
            report::print_json(&source, &experiment, with).await?;
        } else if self.ratings {
            report::print_ratings(&source, &experiment).await?;
        } else {
            let detail = if self.depths { Detail::Depths } else { Detail::Cells };
            report::print(&source, &experiment, detail).await?;
        }
        Ok(Exit::Success)
    }
}
