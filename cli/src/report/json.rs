//! The results for programs. The keys are only ever added to.

use serde::Serialize;
use spelrum_tournament::results;
use spelrum_tournament::stopping::StopRule;

/// An experiment's results.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    experiment: &'a str,
    experiment_uuid: &'a str,
    game: &'a str,
    state: &'static str,
    games_planned: u64,
    games_settled: u64,
    games_failed: u64,
    axes: &'a [String],
    cells: Vec<CellResult<'a>>,
    /// What a searched move cost each player in each cell.
    moves: Vec<MoveCost<'a>>,
    /// The same by the depth that the search completed: `depth_mean` is that depth.
    depths: Vec<MoveCost<'a>>,
}

/// What came of one cell, seen from its first player.
#[derive(Debug, Serialize)]
struct CellResult<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    timed: bool,
    games_planned: u64,
    /// The games that it gets if its stop rule does not end it before.
    games_max: u64,
    /// In words.
    stop_rule: Option<String>,
    stop_precision: Option<f64>,
    sprt: Option<Sprt>,
    stopped_after: Option<u64>,
    games: u64,
    games_failed: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    score: Option<f64>,
    score_low: Option<f64>,
    score_high: Option<f64>,
    elo: Option<f64>,
    elo_low: Option<f64>,
    elo_high: Option<f64>,
    elo_error: Option<f64>,
    nelo: Option<f64>,
    /// Always null: match runners' error, which is too small where games are few.
    nelo_error: Option<f64>,
    los: Option<f64>,
    stronger: &'static str,
    pairs: [u64; 5],
    distinct_games: u64,
    swap_sides: bool,
    self_play: bool,
    openings_used: u64,
}

/// A sequential test, and where it stands.
#[derive(Debug, Serialize)]
struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: &'static str,
    llr: f64,
    lower: f64,
    upper: f64,
    /// Which of both strengths it has taken.
    verdict: Option<&'static str>,
}

impl Sprt {
    fn of(cell: &results::CellResult) -> Option<Self> {
        let StopRule::Sprt(sprt) = cell.stop?.rule else { return None };
        let standing = cell.sprt()?;
        let [lower, upper] = standing.bounds;
        Some(Self {
            elo0: sprt.elo0(),
            elo1: sprt.elo1(),
            alpha: sprt.alpha(),
            beta: sprt.beta(),
            model: sprt.model().name(),
            llr: standing.llr,
            lower,
            upper,
            verdict: standing.verdict.map(|verdict| verdict.name()),
        })
    }
}

/// What one player's searched moves cost in one cell.
#[derive(Debug, Serialize)]
struct MoveCost<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    searched_moves: u64,
    wall_us_mean: f64,
    wall_us_median: f64,
    wall_us_p90: f64,
    wall_us_p99: f64,
    depth_mean: f64,
    nodes_mean: f64,
    evaluations_mean: f64,
    full_tree_share: Option<f64>,
}

impl<'a> From<&'a results::Report> for Report<'a> {
    fn from(report: &'a results::Report) -> Self {
        let results::Report { experiment, axes, cells, moves, depths } = report;
        Self {
            experiment: &experiment.name,
            experiment_uuid: &experiment.uuid,
            game: &experiment.game,
            state: experiment.state.name(),
            games_planned: experiment.games_planned,
            games_settled: experiment.games_settled,
            games_failed: experiment.games_failed,
            axes,
            cells: cells.iter().map(Into::into).collect(),
            moves: moves.iter().map(Into::into).collect(),
            depths: depths.iter().map(Into::into).collect(),
        }
    }
}

impl<'a> From<&'a results::CellResult> for CellResult<'a> {
    fn from(cell: &'a results::CellResult) -> Self {
        let strength = cell.strength();
        Self {
            cell_id: cell.cell.0,
            axes: &cell.axes,
            player: &cell.player,
            opponent: &cell.opponent,
            timed: cell.is_timed,
            games_planned: cell.games_planned,
            games_max: cell.stop.map_or(cell.games_planned, |stop| stop.games_max),
            stop_rule: cell.stop.map(|stop| stop.rule.to_string()),
            stop_precision: cell.stop.and_then(|stop| match stop.rule {
                StopRule::Precision(precision) => Some(precision.points()),
                StopRule::Sprt(_) => None,
            }),
            sprt: Sprt::of(cell),
            stopped_after: cell.stop.and_then(|stop| stop.stopped_after),
            games: cell.games,
            games_failed: cell.games_failed,
            wins: cell.wins,
            draws: cell.draws,
            losses: cell.losses,
            score: cell.score.map(|score| score.score),
            score_low: cell.score.map(|score| score.low),
            score_high: cell.score.map(|score| score.high),
            elo: strength.elo,
            elo_low: strength.elo_low,
            elo_high: strength.elo_high,
            elo_error: strength.elo_error,
            nelo: strength.nelo,
            nelo_error: None,
            los: strength.los,
            stronger: cell.stronger().name(),
            pairs: cell.pairs.0,
            distinct_games: cell.distinct_games,
            swap_sides: cell.swap_sides,
            self_play: cell.is_self_play,
            openings_used: cell.openings_used,
        }
    }
}

impl<'a> From<&'a results::MoveCost> for MoveCost<'a> {
    fn from(cost: &'a results::MoveCost) -> Self {
        let results::MoveCost { cell, axes, player, opponent, costs } = cost;
        Self {
            cell_id: cell.0,
            axes,
            player,
            opponent,
            searched_moves: costs.searched_moves,
            wall_us_mean: costs.wall_us_mean,
            wall_us_median: costs.wall_us_median,
            wall_us_p90: costs.wall_us_p90,
            wall_us_p99: costs.wall_us_p99,
            depth_mean: costs.depth_mean,
            nodes_mean: costs.nodes_mean,
            evaluations_mean: costs.evaluations_mean,
            full_tree_share: costs.full_tree_share,
        }
    }
}
