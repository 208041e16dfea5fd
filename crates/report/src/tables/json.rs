//! Results for programs. Keys are only ever added.

use serde::Serialize;
use spelrum_answers as results;
use spelrum_statistics::OverGames;
use spelrum_statistics::StopRule;

use super::colours;
use super::failures;
use super::margins;
use super::played_on::PlayedOn;
use super::rows::Rows;
use super::scaled::{ScaledLimits, scaled};
use super::value::Value;

/// An experiment's results.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) experiment: &'a str,
    experiment_uuid: &'a str,
    game: &'a str,
    state: &'static str,
    games_planned: u64,
    games_settled: u64,
    games_failed: u64,
    pub(crate) axes: &'a [String],
    /// Mean score of the first mover from the opening, over all cells.
    first_mover_score: Option<f64>,
    first_mover_low: Option<f64>,
    first_mover_high: Option<f64>,
    pub(crate) cells: Vec<CellResult<'a>>,
    /// Cost of each player's searched moves in each cell.
    pub(crate) moves: Vec<MoveCost<'a>>,
    /// The same by completed search depth, which is then `depth_mean`.
    pub(crate) depths: Vec<MoveCost<'a>>,
    /// Cells with games that failed, or were lost and replayed.
    pub(crate) failures: Rows<'a>,
    /// Scaling of time limits, if there was any.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_scale: Option<ScaledLimits>,
    /// Slots on which the timed games were played, if cells are timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    played_on: Option<PlayedOn>,
}

/// Result of one cell, from the view of its first player.
#[derive(Debug, Serialize)]
pub(crate) struct CellResult<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    timed: bool,
    games_planned: u64,
    /// Maximum number of games, if the cell's stop rule does not end it earlier.
    games_max: u64,
    /// In words.
    stop_rule: Option<String>,
    stop_precision: Option<f64>,
    sprt: Option<Sprt>,
    stopped_after: Option<u64>,
    /// Whether a stop rule ended the cell, which biases its score: see `docs/statistics.md`.
    score_biased: bool,
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
    /// Effective number of openings, where openings repeat and the interval is over openings.
    openings_effective: Option<f64>,
    pairs_won_by_first_mover: u64,
    pairs_won_by_second_mover: u64,
    first_mover_score: Option<f64>,
    first_mover_low: Option<f64>,
    first_mover_high: Option<f64>,
    /// The player's results as first and as second mover.
    moving_first: Value<'static>,
    moving_second: Value<'static>,
    /// Its margin; absent where no game has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    margin: Option<Value<'static>>,
}

/// An SPRT and its state.
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
    /// The accepted strength, or `not_judged`.
    verdict: Option<&'static str>,
}

impl Sprt {
    fn from_cell(cell: &results::CellResult) -> Option<Self> {
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
            verdict: standing.outcome.map(|outcome| outcome.name()),
        })
    }
}

/// Cost of one player's searched moves in one cell.
#[derive(Debug, Serialize)]
pub(crate) struct MoveCost<'a> {
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
    /// All null for a player without a time limit for its moves.
    time_limit_us: Option<u64>,
    overrun_beyond_us: Option<u64>,
    overruns: Option<u64>,
    overrun_share: Option<f64>,
    wall_us_longest: Option<f64>,
    wall_us_p95: Option<f64>,
    /// Mean over games of the player's mean time; null by depth.
    wall_us_game_mean: Option<f64>,
    wall_us_game_mean_low: Option<f64>,
    wall_us_game_mean_high: Option<f64>,
    /// Geometric mean over games of its mean times, divided by its opponent's.
    wall_us_ratio: Option<f64>,
    wall_us_ratio_low: Option<f64>,
    wall_us_ratio_high: Option<f64>,
    /// The same in processor time, for a player that is compared by it.
    cpu_us_mean: Option<f64>,
    cpu_us_game_mean: Option<f64>,
    cpu_us_game_mean_low: Option<f64>,
    cpu_us_game_mean_high: Option<f64>,
    cpu_us_ratio: Option<f64>,
    cpu_us_ratio_low: Option<f64>,
    cpu_us_ratio_high: Option<f64>,
}

impl<'a> From<&'a results::Report> for Report<'a> {
    fn from(report: &'a results::Report) -> Self {
        let results::Report { experiment, axes, first_mover, cells, moves, depths, .. } = report;
        Self {
            experiment: &experiment.name,
            experiment_uuid: &experiment.uuid,
            game: &experiment.game,
            state: experiment.state.name(),
            games_planned: experiment.games_planned,
            games_settled: experiment.games_settled,
            games_failed: experiment.games_failed,
            axes,
            first_mover_score: first_mover.map(|score| score.score),
            first_mover_low: first_mover.map(|score| score.low),
            first_mover_high: first_mover.map(|score| score.high),
            cells: cells.iter().map(Into::into).collect(),
            moves: moves.iter().map(Into::into).collect(),
            depths: depths.iter().map(Into::into).collect(),
            failures: failures::rows(report),
            time_scale: scaled(report),
            played_on: report.played_on.map(Into::into),
        }
    }
}

impl<'a> From<&'a results::CellResult> for CellResult<'a> {
    fn from(cell: &'a results::CellResult) -> Self {
        let strength = cell.strength();
        let [moving_first, moving_second] = colours::objects(cell);
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
            sprt: Sprt::from_cell(cell),
            stopped_after: cell.stop.and_then(|stop| stop.stopped_after),
            score_biased: cell.stop.is_some_and(|stop| stop.stopped_after.is_some()),
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
            openings_effective: cell.openings.map(|openings| openings.effective),
            pairs_won_by_first_mover: cell.pairs_won_by_first_mover,
            pairs_won_by_second_mover: cell.pairs_won_by_second_mover,
            first_mover_score: cell.first_mover.map(|score| score.score),
            first_mover_low: cell.first_mover.map(|score| score.low),
            first_mover_high: cell.first_mover.map(|score| score.high),
            moving_first,
            moving_second,
            margin: cell.margin.map(margins::object),
        }
    }
}

impl<'a> From<&'a results::MoveCost> for MoveCost<'a> {
    fn from(cost: &'a results::MoveCost) -> Self {
        let results::MoveCost { cell, axes, player, opponent, costs } = cost;
        let low = |figure: Option<OverGames>| Some(figure?.interval?.low);
        let high = |figure: Option<OverGames>| Some(figure?.interval?.high);
        let cpu_game_mean = costs.cpu.and_then(|cpu| cpu.us_game_mean);
        let cpu_ratio = costs.cpu.and_then(|cpu| cpu.us_ratio);
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
            time_limit_us: costs.overruns.map(|overruns| overruns.limit_us),
            overrun_beyond_us: costs.overruns.map(|overruns| overruns.beyond_us),
            overruns: costs.overruns.map(|overruns| overruns.moves),
            overrun_share: costs.overrun_share(),
            wall_us_longest: costs.overruns.map(|overruns| overruns.longest_us),
            wall_us_p95: costs.wall_us_p95,
            wall_us_game_mean: costs.wall_us_game_mean.map(|mean| mean.value),
            wall_us_game_mean_low: low(costs.wall_us_game_mean),
            wall_us_game_mean_high: high(costs.wall_us_game_mean),
            wall_us_ratio: costs.wall_us_ratio.map(|ratio| ratio.value),
            wall_us_ratio_low: low(costs.wall_us_ratio),
            wall_us_ratio_high: high(costs.wall_us_ratio),
            cpu_us_mean: costs.cpu.map(|cpu| cpu.us_mean),
            cpu_us_game_mean: cpu_game_mean.map(|mean| mean.value),
            cpu_us_game_mean_low: low(cpu_game_mean),
            cpu_us_game_mean_high: high(cpu_game_mean),
            cpu_us_ratio: cpu_ratio.map(|ratio| ratio.value),
            cpu_us_ratio_low: low(cpu_ratio),
            cpu_us_ratio_high: high(cpu_ratio),
        }
    }
}
