//! Results of every cell of an experiment: which player is stronger, with what confidence, and the cost of a move.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::CellId;
use spelrum_model::speed::Scaling;
use spelrum_statistics::{OverGames, ScoreInterval};

use crate::accuracy::CellAccuracy;
use crate::cell_result::CellResult;
use crate::checked::{Inconsistent, check_places, checked_on_reading, written_with_figures};
use crate::comparisons::Replicated;
use crate::derived::ReportFigures;
use crate::engines::EnginesUsed;
use crate::places::{Opponents, Places};
use crate::runs::RunResult;
use crate::stated::StatedClaim;
use crate::summary::ExperimentSummary;
use crate::times::Overruns;

/// Level of detail of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Strength and cost of moves.
    #[default]
    Cells,
    /// Also the cost of moves at each depth that searches completed.
    Depths,
}

/// Results of an experiment, from one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(transform = crate::derived::with_figures::<ReportFigures>)]
pub struct Report {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// The question in its sweep's description; empty without one.
    pub description: String,
    /// Revision of the engine that plays its games; `None` if not reported.
    pub engine_revision: Option<u32>,
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// Mean score of the first mover from the opening, over all these cells, with a 95% interval over openings: see
    /// [`first_mover`](super::first_mover).
    pub first_mover: Option<ScoreInterval>,
    /// Results of each cell that the sweep names, in the grid's order.
    pub cells: Vec<CellResult>,
    /// Cost of searched moves of each player in each cell, in the same order.
    pub moves: Vec<MoveCost>,
    /// The same by completed search depth, which is then [`Costs::depth_mean`]. Empty unless requested.
    pub depths: Vec<MoveCost>,
    /// In an accuracy experiment: how well players choose, in the grid's order; for each cell first over all its
    /// positions, then by the plies before them, if there are several. Cells without a counted choice
    /// among moves of different values are absent.
    pub accuracy: Vec<CellAccuracy>,
    /// Cells with counted games that were lost or failed before, in the order of their ids.
    pub replayed: Vec<ReplayedGames>,
    /// Cells with counted games that were disturbed, or are replayed for that reason, in the order of their ids.
    pub disturbed: Vec<DisturbedGames>,
    /// Scaling of time limits, configured and observed.
    pub scaled: Scaled,
    /// Slots on which timed games were played; `None` if no cell is timed.
    pub played_on: Option<PlayedOn>,
    /// Claims that the sweep states about these results, in their order.
    pub claims: Vec<StatedClaim>,
    /// Which external engines played.
    pub engines: EnginesUsed,
    /// Findings of its runs, if the experiment depends on its own results.
    pub runs: Vec<RunResult>,
    /// Mean results over replicates, if the sweep names an axis of them.
    pub replicated: Option<Replicated>,
    /// The margin about one half within which players are called equal, as the reader of the report states it; `None`:
    /// none are.
    #[serde(skip)]
    pub equal_within: Option<f64>,
}

checked_on_reading!(@read Report);
written_with_figures!(Report, ReportFigures);

impl Report {
    fn check(&self) -> Result<(), Inconsistent> {
        check_places("cells", &self.axes, self.cells.iter().map(|cell| &*cell.axes))?;
        if let Some(Replicated { axes, groups, .. }) = &self.replicated {
            check_places("replicates", axes, groups.iter().map(|group| &*group.place))?;
        }
        let costs = self.moves.iter().chain(&self.depths);
        check_places("costs of moves", &self.axes, costs.map(|cost| &*cost.axes))
    }
}

/// A cell's games that count, but not from their first attempt: their workers vanished, or they failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedGames {
    /// The cell.
    pub cell: CellId,
    /// Number of games.
    pub games: u64,
}

/// Counted timed games of an experiment by the kind of slot that played them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlayedOn {
    /// Games of workers with exclusive slots.
    pub quiet: u64,
    /// Games of workers without exclusive slots, which play timed games beside all others.
    pub others: u64,
    /// Games of workers that do not report their slots.
    pub unknown: u64,
}

/// Scaling of an experiment's time limits by the speed of workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scaled {
    /// The sweep's setting, if there is one.
    pub scaling: Option<Scaling>,
    /// Cells whose counted games had scaled limits, in the order of their ids. Times of their moves are not compared
    /// with a limit ([`Costs::overruns`]), which differs from game to game.
    pub cells: Vec<ScaledGames>,
}

impl Scaled {
    /// Adds counted games of a cell, with the factor of their limits: cell by cell.
    pub fn add(&mut self, cell: CellId, factor_permille: u32, games: u64) {
        let is_bound = self.scaling.is_some_and(|scaling| scaling.is_bound(factor_permille));
        if self.cells.last().is_none_or(|last| last.cell != cell) {
            self.cells.push(ScaledGames {
                cell,
                games: 0,
                games_at_bound: 0,
                factor_permille_min: factor_permille,
                factor_permille_max: factor_permille,
            });
        }
        if let Some(its) = self.cells.last_mut() {
            its.games += games;
            its.games_at_bound += if is_bound { games } else { 0 };
            its.factor_permille_min = its.factor_permille_min.min(factor_permille);
            its.factor_permille_max = its.factor_permille_max.max(factor_permille);
        }
    }

    /// Whether limits were scaled in counted games of a cell.
    #[must_use]
    pub fn is_scaled(&self, cell: CellId) -> bool {
        self.cells.binary_search_by_key(&cell, |factor| factor.cell).is_ok()
    }
}

/// Games of a cell in which time limits were scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScaledGames {
    /// The cell.
    pub cell: CellId,
    /// Number of counted games.
    pub games: u64,
    /// Of these, games whose factor was at a bound: their worker was slower or faster than limits are scaled for.
    pub games_at_bound: u64,
    /// The least factor, in thousandths.
    pub factor_permille_min: u32,
    /// The greatest.
    pub factor_permille_max: u32,
}

/// Games of a cell that were disturbed ([`spelrum_model::disturbance`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DisturbedGames {
    /// The cell.
    pub cell: CellId,
    /// Disturbed games that count nevertheless.
    pub games: u64,
    /// Counted games that were replayed because they were disturbed.
    pub replayed: u64,
    /// Half points that the cell's first player would gain if the first results of those games counted: another win
    /// is two.
    pub half_points_before: i64,
}

/// Share of a cell's games above which readers are warned of disturbance.
pub const DISTURBED_WARNED_OF: f64 = 0.03;

/// A cell with failures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellFailures<'a> {
    /// The cell's result, with the games that finally failed.
    pub cell: &'a CellResult,
    /// Games that count, but not from their first attempt.
    pub replayed: u64,
}

/// Cost of one player's searched moves in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MoveCost {
    /// The cell.
    pub cell: CellId,
    /// Place on the axes as seen by this player: `player.depth` is its own.
    pub axes: Vec<Option<String>>,
    /// The player's name in the sweep.
    pub player: String,
    /// Name of the opponent.
    pub opponent: String,
    /// The costs.
    pub costs: Costs,
}

/// Cost of moves that were searched and had alternatives. Quantiles lie in their true bucket, whose width is at most
/// an eighth of its time ([`super::MoveTimes::quantile_us`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Costs {
    /// Number of moves.
    pub searched_moves: u64,
    /// Mean wall time, in microseconds.
    pub wall_us_mean: f64,
    /// Median time, in microseconds.
    pub wall_us_median: f64,
    /// Time that 90% of them did not exceed, in microseconds.
    pub wall_us_p90: f64,
    /// Time that 95% of them did not exceed, in microseconds; `None` if not reported.
    pub wall_us_p95: Option<f64>,
    /// Time that 99% of them did not exceed, in microseconds.
    pub wall_us_p99: f64,
    /// Mean depth that their searches completed, in plies.
    pub depth_mean: f64,
    /// Mean number of positions made by a move.
    pub nodes_mean: f64,
    /// Mean number of static evaluations.
    pub evaluations_mean: f64,
    /// Evaluations as a share of the leaves of a full minimax tree of the depth. `None` for a player that does not
    /// search to one depth, or a game that does not count leaves.
    pub full_tree_share: Option<f64>,
    /// Overruns of the time limit of a move; `None` without one.
    pub overruns: Option<Overruns>,
    /// Mean over games of the player's mean time, in microseconds, with an interval over openings
    /// ([`TimeSums::game_mean`](spelrum_statistics::TimeSums::game_mean)). `None` for moves of one depth, or if not
    /// reported.
    pub wall_us_game_mean: Option<OverGames>,
    /// Geometric mean over games of the player's mean times, divided by its opponent's
    /// ([`TimeSums::ratio`](spelrum_statistics::TimeSums::ratio)). `None` for moves of one depth, in self-play, or
    /// where a player never searched.
    pub wall_us_ratio: Option<OverGames>,
    /// Processor time, if it is known: `None` for external engines of experiments that older releases began,
    /// and where the worker cannot read it.
    pub cpu: Option<CpuTimes>,
    /// Whether moves are compared by processor time
    /// ([`CostedPlayer::is_compared_by_cpu`](super::CostedPlayer::is_compared_by_cpu)), otherwise by wall time.
    pub is_compared_by_cpu: bool,
}

/// Processor time of searched moves: as the wall time fields of [`Costs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTimes {
    /// The mean over all moves, in microseconds.
    pub us_mean: f64,
    /// The mean over games of the player's mean time, in microseconds.
    pub us_game_mean: Option<OverGames>,
    /// Geometric mean over games of the player's mean times, divided by its opponent's; also `None` where one of
    /// both is not compared by processor time.
    pub us_ratio: Option<OverGames>,
}

impl Report {
    /// Returns whether a cell's players are called equal: the whole interval of its score is within the stated margin.
    #[must_use]
    pub fn calls_equal(&self, cell: &CellResult) -> bool {
        let (Some(margin), Some(score)) = (self.equal_within, cell.score) else { return false };
        !cell.is_self_play && 0.5 - margin < score.low && score.high < 0.5 + margin
    }

    /// Returns the cells with games that finally failed or were replayed, in the grid's order.
    #[must_use]
    pub fn failures(&self) -> Vec<CellFailures<'_>> {
        let replayed: BTreeMap<CellId, u64> =
            self.replayed.iter().map(|replays| (replays.cell, replays.games)).collect();
        let cells = self.cells.iter().map(|cell| {
            let replayed = replayed.get(&cell.cell).copied().unwrap_or_default();
            CellFailures { cell, replayed }
        });
        cells.filter(|failures| failures.cell.games_failed + failures.replayed > 0).collect()
    }
}

impl Costs {
    /// Returns the mean time of a move by the clock by which moves are compared, in microseconds: processor time where
    /// no time limit ends them and it is known, otherwise wall time.
    #[must_use]
    pub fn us_mean(&self) -> OverGames {
        let cpu = self.cpu_mean().filter(|_| self.is_compared_by_cpu);
        cpu.unwrap_or_else(|| self.wall_mean())
    }

    /// Returns the mean wall time of a move, in microseconds: over games if available, otherwise over all moves.
    #[must_use]
    pub fn wall_mean(&self) -> OverGames {
        let over_moves = OverGames { value: self.wall_us_mean, interval: None };
        self.wall_us_game_mean.unwrap_or(over_moves)
    }

    /// Returns the mean processor time of a move, as [`Costs::wall_mean`]; `None` if it is not known.
    #[must_use]
    pub fn cpu_mean(&self) -> Option<OverGames> {
        let CpuTimes { us_mean, us_game_mean, .. } = self.cpu?;
        Some(us_game_mean.unwrap_or(OverGames { value: us_mean, interval: None }))
    }

    /// Returns the player's geometric mean over games, divided by its opponent's: in processor time where both are
    /// compared by it.
    #[must_use]
    pub fn us_ratio(&self) -> Option<OverGames> {
        self.cpu.and_then(|cpu| cpu.us_ratio).or(self.wall_us_ratio)
    }

    /// Returns the share of moves that overran their time limit; `None` without a limit.
    #[must_use]
    pub fn overrun_share(&self) -> Option<f64> {
        self.overruns.map(|overruns| overruns.moves as f64 / self.searched_moves as f64)
    }
}

impl MoveCost {
    /// Returns the costs of the player with this name in a cell; `None` in a cell without a result.
    #[must_use]
    pub fn new(
        cell: CellId,
        player: String,
        costs: Costs,
        places: &Places,
        opponents: &Opponents<'_>,
    ) -> Option<Self> {
        let (role, opponent) = opponents.of_player(cell, &player)?;
        let opponent = opponent.to_owned();
        Some(Self { cell, axes: places.seen_by(role, cell), player, opponent, costs })
    }
}
