//! What came of every cell of an experiment: who is stronger and how sure that is, and what a move
//! cost.

use std::collections::BTreeMap;

use spelrum_model::CellId;
use spelrum_model::speed::Scaling;
use spelrum_statistics::{OverGames, ScoreInterval};

use crate::accuracy::CellAccuracy;
use crate::cell_result::CellResult;
use crate::engines::EnginesUsed;
use crate::places::{Opponents, Places};
use crate::runs::RunResult;
use crate::stated::StatedClaim;
use crate::summary::ExperimentSummary;
use crate::times::Overruns;

/// How much of a report is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Strength, and what a move cost.
    #[default]
    Cells,
    /// Also what a move cost at each depth that searches completed.
    Depths,
}

/// An experiment's results, all as of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// What its sweep asks, in its author's words; empty if it does not say.
    pub description: String,
    /// The revision of the engine that its games are played with; none where it was not told.
    pub engine_revision: Option<u32>,
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// The mean score of whoever moved first from the opening, over all these cells, with a 95% interval over
    /// openings: see [`first_mover`](super::first_mover).
    pub first_mover: Option<ScoreInterval>,
    /// What came of each cell that its sweep names, in the grid's order.
    pub cells: Vec<CellResult>,
    /// What a searched move cost each player in each cell, in the same order.
    pub moves: Vec<MoveCost>,
    /// The same by the depth that the search completed, which is then [`Costs::depth_mean`]. Empty
    /// unless asked for.
    pub depths: Vec<MoveCost>,
    /// Of an accuracy experiment: how well players choose, in the grid's order; of each cell first over all its
    /// positions, then by the plies before them, if there are several. Nothing of a cell in which no counted
    /// choice had something to choose.
    pub accuracy: Vec<CellAccuracy>,
    /// The cells in which games count that were lost or failed before, in the order of their ids.
    pub replayed: Vec<ReplayedGames>,
    /// The cells with counted games that were disturbed, or are played again for that, in the order of their ids.
    pub disturbed: Vec<DisturbedGames>,
    /// How time limits are scaled, and were.
    pub scaled: Scaled,
    /// On what its timed games were played; `None` if none of its cells is timed.
    pub played_on: Option<PlayedOn>,
    /// What its sweep stated of these results, in the order in which it did.
    pub claims: Vec<StatedClaim>,
    /// Which external engines played.
    pub engines: EnginesUsed,
    /// What its runs found, if it depends on its own results.
    pub runs: Vec<RunResult>,
}

/// Games of a cell that count, but not from the first time that they were played: their workers vanished, or
/// they failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedGames {
    /// The cell.
    pub cell: CellId,
    /// How many.
    pub games: u64,
}

/// Counted timed games of an experiment by what their workers have for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayedOn {
    /// Those of workers with quiet slots.
    pub quiet: u64,
    /// Those of workers without: they play timed games beside all others.
    pub others: u64,
    /// Those of workers that do not say.
    pub unknown: u64,
}

/// How an experiment's time limits are scaled by the speed of workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scaled {
    /// How the sweep says, if it does.
    pub scaling: Option<Scaling>,
    /// The cells with counted games in which they were, in the order of their ids. What their moves took is not held
    /// against a limit ([`Costs::overruns`]), which is another in each game.
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

    /// Whether limits were scaled in games of a cell that count.
    #[must_use]
    pub fn is_scaled(&self, cell: CellId) -> bool {
        self.cells.binary_search_by_key(&cell, |it| it.cell).is_ok()
    }
}

/// Games of a cell in which time limits were scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledGames {
    /// The cell.
    pub cell: CellId,
    /// How many count.
    pub games: u64,
    /// Of these, those whose factor was at a bound: their worker was slower or faster than limits are scaled for.
    pub games_at_bound: u64,
    /// The least factor, in thousandths.
    pub factor_permille_min: u32,
    /// The greatest.
    pub factor_permille_max: u32,
}

/// Games of a cell that were disturbed ([`spelrum_model::disturbance`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisturbedGames {
    /// The cell.
    pub cell: CellId,
    /// Games that count though they were disturbed.
    pub games: u64,
    /// Games that count and were played again since they were disturbed.
    pub replayed: u64,
    /// How many half points more the cell's first player would have by the first results of those: a win more is two.
    pub half_points_before: i64,
}

/// If more of a cell's games than this share are disturbed, its readers are warned.
pub const DISTURBED_WARNED_OF: f64 = 0.03;

/// A cell in which something went wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellFailures<'a> {
    /// With the games that finally failed.
    pub cell: &'a CellResult,
    /// Games that count, but not from the first time that they were played.
    pub replayed: u64,
}

/// What one player's searched moves cost in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveCost {
    /// The cell.
    pub cell: CellId,
    /// Its place on the axes as this player sees it: `player.depth` is its own.
    pub axes: Vec<Option<String>>,
    /// The player's name in the sweep.
    pub player: String,
    /// The name of whom it meets.
    pub opponent: String,
    /// What they cost.
    pub costs: Costs,
}

/// What moves cost that were searched, and not the only ones there were. Quantiles are of the bucket that
/// they are truly in, which is an eighth of its time wide at most ([`super::MoveTimes::quantile_us`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// How many moves.
    pub searched_moves: u64,
    /// Their mean time by the clock on the wall, in microseconds.
    pub wall_us_mean: f64,
    /// Their median time, in microseconds.
    pub wall_us_median: f64,
    /// The time that 90% of them did not exceed, in microseconds.
    pub wall_us_p90: f64,
    /// The time that 95% of them did not exceed, in microseconds; none where it was not told.
    pub wall_us_p95: Option<f64>,
    /// The time that 99% of them did not exceed, in microseconds.
    pub wall_us_p99: f64,
    /// The mean depth that their searches completed, in plies.
    pub depth_mean: f64,
    /// The mean number of positions made by a move.
    pub nodes_mean: f64,
    /// The mean number of static evaluations.
    pub evaluations_mean: f64,
    /// Evaluations as a share of the leaves of a full tree of the depth: minimax's. None of a player that
    /// does not search to one depth, or of a game that does not count leaves.
    pub full_tree_share: Option<f64>,
    /// How they kept to the time limit of a move; none without one.
    pub overruns: Option<Overruns>,
    /// The mean over games of the player's mean time, in microseconds, with an interval over openings
    /// ([`TimeSums::game_mean`](spelrum_statistics::TimeSums::game_mean)). None of the moves of one depth, or where it was not
    /// told.
    pub wall_us_game_mean: Option<OverGames>,
    /// The geometric mean over games of the player's mean times, divided by its opponent's
    /// ([`TimeSums::ratio`](spelrum_statistics::TimeSums::ratio)). None of the moves of one depth, against itself, or where
    /// one of them never searched.
    pub wall_us_ratio: Option<OverGames>,
    /// What they cost in processor time, where that is what moves are compared by
    /// ([`CostedPlayer::is_compared_by_cpu`](super::CostedPlayer::is_compared_by_cpu)).
    pub cpu: Option<CpuTimes>,
}

/// What searched moves cost in processor time: as the fields of [`Costs`] by the clock on the wall.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTimes {
    /// The mean over all moves, in microseconds.
    pub us_mean: f64,
    /// The mean over games of the player's mean time, in microseconds.
    pub us_game_mean: Option<OverGames>,
    /// The geometric mean over games of the player's mean times, divided by its opponent's; also none where the
    /// opponent is not compared by processor time.
    pub us_ratio: Option<OverGames>,
}

impl Report {
    /// The cells in which games finally failed, or were played again, in the grid's order.
    #[must_use]
    pub fn failures(&self) -> Vec<CellFailures<'_>> {
        let replayed: BTreeMap<CellId, u64> =
            self.replayed.iter().map(|it| (it.cell, it.games)).collect();
        let of = self.cells.iter().map(|cell| {
            let replayed = replayed.get(&cell.cell).copied().unwrap_or_default();
            CellFailures { cell, replayed }
        });
        of.filter(|it| it.cell.games_failed + it.replayed > 0).collect()
    }
}

impl Costs {
    /// The mean time of a move, in microseconds: over games, or else over all moves. By the clock that moves are
    /// compared by: processor time where no time limit ends them, that on the wall elsewhere.
    #[must_use]
    pub fn us_mean(&self) -> OverGames {
        let (over_games, over_moves) = match self.cpu {
            Some(CpuTimes { us_mean, us_game_mean, .. }) => (us_game_mean, us_mean),
            None => (self.wall_us_game_mean, self.wall_us_mean),
        };
        over_games.unwrap_or(OverGames { value: over_moves, interval: None })
    }

    /// The player's geometric mean over games, divided by its opponent's: in processor time where both are compared
    /// by it.
    #[must_use]
    pub fn us_ratio(&self) -> Option<OverGames> {
        self.cpu.and_then(|cpu| cpu.us_ratio).or(self.wall_us_ratio)
    }

    /// Which share of the moves overran their time limit; none without one.
    #[must_use]
    pub fn overrun_share(&self) -> Option<f64> {
        self.overruns.map(|overruns| overruns.moves as f64 / self.searched_moves as f64)
    }
}

impl MoveCost {
    /// What the moves of the player of this name cost in a cell; nothing in a cell that has no result.
    #[must_use]
    pub fn of(
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
