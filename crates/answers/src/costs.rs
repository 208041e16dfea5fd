//! Costs of moves, from sums over a player's searches.

use spelrum_statistics::{Estimate, TimeSums};

use crate::report::{Costs, CpuTimes};
use crate::times::{CostedPlayer, MoveTimes};

/// Summed costs of one player's searches in one cell, at one depth or at all.
#[derive(Clone, Debug, PartialEq)]
pub struct CostRow {
    /// The cell.
    pub cell_id: i64,
    /// The player.
    pub player_id: i64,
    /// Its opponent; itself in self-play.
    pub opponent_id: i64,
    /// Whether the player is the cell's second.
    pub is_second_player: bool,
    /// The player's name in the sweep.
    pub player: String,
    /// Number of moves.
    pub searched_moves: u64,
    /// Their wall time, in microseconds.
    pub wall_us: f64,
    /// Their processor time, in microseconds; 0 if the worker cannot read it.
    pub cpu_us: f64,
    /// The depths that the searches completed, in plies.
    pub depths: f64,
    /// Positions made by a move.
    pub nodes: f64,
    /// Static evaluations.
    pub evaluations: f64,
    /// Evaluations of searches that completed a depth: others have no full tree.
    pub completed_evaluations: f64,
    /// Leaves of full minimax trees of these depths.
    pub full_tree_leaves: f64,
    /// Time buckets ([`super::time_bucket`]), each followed by its number of moves, with spaces between.
    pub times: String,
}

impl CostRow {
    /// Returns the costs of a move of this player, with those of its games if their sums by either clock are given.
    /// `players` are the player and its opponent.
    #[must_use]
    pub fn costs(
        &self,
        players: [CostedPlayer; 2],
        wall: Option<&TimeSums>,
        cpu: Option<&TimeSums>,
    ) -> Costs {
        let [player, _] = players;
        let role = usize::from(self.is_second_player);
        let moves = self.searched_moves as f64;
        let mut numbers = self.times.split(' ').filter_map(|number| number.parse::<u64>().ok());
        let in_buckets = std::iter::from_fn(|| {
            Some((u32::try_from(numbers.next()?).unwrap_or(u32::MAX), numbers.next()?))
        });
        let wall_us_mean = self.wall_us / moves;
        let times = MoveTimes::new(in_buckets, wall_us_mean);
        let has_full_tree = player.has_full_tree && self.full_tree_leaves > 0.0;
        let both_by_cpu = self.are_both_by_cpu(players, cpu);
        Costs {
            searched_moves: self.searched_moves,
            wall_us_mean,
            wall_us_median: times.quantile_us(0.5),
            wall_us_p90: times.quantile_us(0.9),
            wall_us_p95: Some(times.quantile_us(0.95)),
            wall_us_p99: times.quantile_us(0.99),
            depth_mean: self.depths / moves,
            nodes_mean: self.nodes / moves,
            evaluations_mean: self.evaluations / moves,
            full_tree_share: has_full_tree
                .then(|| self.completed_evaluations / self.full_tree_leaves),
            overruns: player.time_limit_us.map(|limit_us| times.overruns(limit_us)),
            wall_us_game_mean: wall.and_then(|times| times.game_mean(role)),
            wall_us_ratio: wall.and_then(|times| times.ratio(role)),
            is_compared_by_cpu: player.is_compared_by_cpu && self.cpu_us > 0.0,
            cpu: (player.is_cpu_time_known && self.cpu_us > 0.0).then(|| CpuTimes {
                us_mean: self.cpu_us / moves,
                us_game_mean: cpu.and_then(|times| times.game_mean(role)),
                us_ratio: cpu.filter(|_| both_by_cpu).and_then(|times| times.ratio(role)),
            }),
        }
    }

    /// Returns the natural logarithm of [`Costs::us_ratio`], for tests.
    #[must_use]
    pub fn log_time_ratio(
        &self,
        players: [CostedPlayer; 2],
        wall: Option<&TimeSums>,
        cpu: Option<&TimeSums>,
    ) -> Option<Estimate> {
        let role = usize::from(self.is_second_player);
        let is_by_cpu =
            players[0].is_cpu_time_known && self.cpu_us > 0.0 && self.are_both_by_cpu(players, cpu);
        let by_cpu = cpu.filter(|_| is_by_cpu).and_then(|times| times.log_ratio(role));
        by_cpu.or_else(|| wall.and_then(|times| times.log_ratio(role)))
    }

    /// Whether the times of both players are compared by processor time.
    fn are_both_by_cpu(
        &self,
        [player, opponent]: [CostedPlayer; 2],
        cpu: Option<&TimeSums>,
    ) -> bool {
        let role = usize::from(self.is_second_player);
        // A time of 0 is too short for the clock, but of an engine it is unknown.
        let has_time = |times: &TimeSums, player: CostedPlayer, role: usize| {
            !player.is_external || times.players[role].means > 0.0
        };
        player.is_compared_by_cpu
            && opponent.is_compared_by_cpu
            && cpu.is_some_and(|times| {
                has_time(times, player, role) && has_time(times, opponent, 1 - role)
            })
    }
}
