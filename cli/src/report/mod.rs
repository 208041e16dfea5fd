//! The result tables: who is stronger in each cell and how sure that is, and what a move costs.

mod read;
mod text;

use serde::Serialize;
use spelrum_proto::v1;

use crate::error::Result;
use crate::output::write_json;
use crate::results::ResultsSource;

/// Prints an experiment's tables for people.
pub(crate) async fn print(
    source: &ResultsSource,
    of: &v1::ExperimentSummary,
    detail: Detail,
) -> Result<()> {
    let report = read::report(source, of).await?;
    text::write(&report, detail, &mut anstream::stdout().lock())?;
    Ok(())
}

/// How much the tables show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Strength, and what a move costs.
    Cells,
    /// Also what a move costs at each depth that searches completed.
    Depths,
}

/// Prints an experiment's results as JSON.
pub(crate) async fn print_json(source: &ResultsSource, of: &v1::ExperimentSummary) -> Result<()> {
    let report = read::report(source, of).await?;
    write_json(&mut anstream::stdout().lock(), &report)?;
    Ok(())
}

/// An experiment's results. The JSON form has these keys; they are only ever added to.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    experiment: String,
    experiment_uuid: String,
    game: String,
    state: String,
    games_planned: u64,
    games_settled: u64,
    games_failed: u64,
    /// The axes' names, in the sweep's order.
    axes: Vec<String>,
    cells: Vec<CellResult>,
    /// What a searched move cost each player in each cell.
    moves: Vec<MoveCost>,
    /// The same by the depth that the search completed: `depth_mean` is that depth.
    depths: Vec<MoveCost>,
}

/// What came of one cell, seen from its first player.
#[derive(Debug, Serialize)]
struct CellResult {
    cell_id: i64,
    /// Its values on the axes, in the axes' order; none on an axis that does not touch it.
    axes: Vec<Option<String>>,
    player: String,
    opponent: String,
    timed: bool,
    games_planned: u64,
    /// Counted games.
    games: u64,
    games_failed: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    /// Mean points for each game of the pairs that are complete, or of the games if sides are fixed,
    /// with a 95% interval; absent without any.
    score: Option<f64>,
    score_low: Option<f64>,
    score_high: Option<f64>,
    /// The score as a difference in Elo, half the width of its 95% interval, the same normalized,
    /// and the likelihood of superiority; absent where the counts know no bound.
    elo: Option<f64>,
    elo_error: Option<f64>,
    nelo: Option<f64>,
    nelo_error: Option<f64>,
    los: Option<f64>,
    stronger: Stronger,
    /// Pairs by the player's points in both games: 0, ½, 1, 1½, 2.
    pairs: [u64; 5],
    distinct_games: u64,
    /// Whether the players swap sides in odd numbers; if not, the player moves first in every game
    /// and there are no pairs.
    swap_sides: bool,
}

/// Who is stronger in a cell, as far as its games tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Stronger {
    /// The interval is above one half.
    Player,
    /// The interval is below one half.
    Opponent,
    /// The interval holds one half.
    Unclear,
}

/// What one player's searched moves cost in one cell.
#[derive(Debug, Serialize)]
struct MoveCost {
    cell_id: i64,
    axes: Vec<Option<String>>,
    player: String,
    opponent: String,
    searched_moves: u64,
    wall_us_mean: f64,
    wall_us_median: f64,
    wall_us_p90: f64,
    wall_us_p99: f64,
    depth_mean: f64,
    nodes_mean: f64,
    evaluations_mean: f64,
    /// Evaluations as a share of the leaves of a full tree of the depth: minimax's.
    full_tree_share: Option<f64>,
}

impl Stronger {
    fn of(interval: Option<(f64, f64)>) -> Self {
        match interval {
            Some((low, _)) if low > 0.5 => Self::Player,
            Some((_, high)) if high < 0.5 => Self::Opponent,
            _ => Self::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_half_inside_the_interval_decides_nothing() {
        assert_eq!(Stronger::of(None), Stronger::Unclear);
        assert_eq!(Stronger::of(Some((0.4, 0.6))), Stronger::Unclear);
        assert_eq!(Stronger::of(Some((0.5, 0.6))), Stronger::Unclear);
        assert_eq!(Stronger::of(Some((0.51, 0.6))), Stronger::Player);
        assert_eq!(Stronger::of(Some((0.3, 0.49))), Stronger::Opponent);
    }
}
