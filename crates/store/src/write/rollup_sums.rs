//! The sums that a batch of new games adds to the rollups, computed before writing: a batch touches few rows of the
//! rollups, however many games it has.

use std::collections::BTreeMap;

use spelrum_answers::time_bucket;
use spelrum_engine::{EndedBy, MoveRecord, Outcome};
use spelrum_statistics::{GameCounts, OpeningSpread, PairCounts, ScoreInterval};

use crate::schema::numbers::{SAFE_MAX, count, real};
use crate::write::margins::Margins;

/// Whether a move was searched, that is, not forced.
pub(crate) fn is_searched(mv: &MoveRecord) -> bool {
    mv.search.ended_by != EndedBy::OnlyMove
}

/// Sums over searched moves: reals, exact up to 2^53, that never overflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) searched_moves: i64,
    pub(crate) wall_us: f64,
    pub(crate) cpu_us: f64,
    pub(crate) nodes: f64,
    pub(crate) evaluations: f64,
    pub(crate) full_tree_leaves: f64,
    pub(crate) wall_us_squared: f64,
}

impl Sums {
    fn add(&mut self, mv: &MoveRecord) {
        self.searched_moves += 1;
        self.wall_us += real(mv.wall_us);
        self.cpu_us += real(mv.cpu_us);
        self.nodes += real(mv.search.nodes);
        self.evaluations += real(mv.search.evaluations);
        self.full_tree_leaves += real(mv.search.full_tree_leaves);
        self.wall_us_squared += real(mv.wall_us) * real(mv.wall_us);
    }

    fn negated(self) -> Self {
        Self {
            searched_moves: -self.searched_moves,
            wall_us: -self.wall_us,
            cpu_us: -self.cpu_us,
            nodes: -self.nodes,
            evaluations: -self.evaluations,
            full_tree_leaves: -self.full_tree_leaves,
            wall_us_squared: -self.wall_us_squared,
        }
    }
}

/// One player's side of one game.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SideSums {
    pub(crate) moves: i64,
    pub(crate) sums: Sums,
}

impl SideSums {
    /// The two sides of a game.
    pub(crate) fn from_moves(moves: &[MoveRecord]) -> [Self; 2] {
        let mut sides = [Self::default(); 2];
        for mv in moves {
            let side = &mut sides[usize::from(mv.mover != 0)];
            side.moves += 1;
            if is_searched(mv) {
                side.sums.add(mv);
            }
        }
        sides
    }

    /// The bounded sums that `game_sides` stores.
    pub(crate) fn searches(&self) -> SideSearches {
        let [wall_us, cpu_us] =
            [self.sums.wall_us, self.sums.cpu_us].map(|us| us.min(real(SAFE_MAX)));
        SideSearches { searched_moves: self.sums.searched_moves, wall_us, cpu_us }
    }
}

/// The sums that a batch adds to the rollups keyed by cell, player and depth.
#[derive(Debug, Default)]
pub(crate) struct Searches {
    /// By (cell, player, depth).
    pub(crate) depths: BTreeMap<(i64, i64, u32), Sums>,
    /// Searched moves by (cell, player, depth, time bucket).
    pub(crate) times: BTreeMap<(i64, i64, u32, u32), i64>,
}

impl Searches {
    /// Adds a game whose sides are played by `players`.
    pub(crate) fn add(&mut self, cell: i64, players: [i64; 2], moves: &[MoveRecord]) {
        for mv in moves.iter().filter(|mv| is_searched(mv)) {
            let player = players[usize::from(mv.mover != 0)];
            let depth = mv.search.depth;
            self.depths.entry((cell, player, depth)).or_default().add(mv);
            *self.times.entry((cell, player, depth, time_bucket(mv.wall_us))).or_default() += 1;
        }
    }

    /// The negated sums, for subtraction.
    pub(crate) fn negated(mut self) -> Self {
        for sums in self.depths.values_mut() {
            *sums = sums.negated();
        }
        for moves in self.times.values_mut() {
            *moves = -*moves;
        }
        self
    }
}

/// One side's searches of one depth in a game.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideDepth {
    pub(crate) sums: Sums,
    /// Number of searches in each time bucket.
    pub(crate) times: BTreeMap<u32, i64>,
}

/// A game's searches by side and depth.
pub(crate) fn side_depths(moves: &[MoveRecord]) -> BTreeMap<(usize, u32), SideDepth> {
    let mut depths: BTreeMap<(usize, u32), SideDepth> = BTreeMap::new();
    for mv in moves.iter().filter(|mv| is_searched(mv)) {
        let key = (usize::from(mv.mover != 0), mv.search.depth);
        let searches = depths.entry(key).or_default();
        searches.sums.add(mv);
        *searches.times.entry(time_bucket(mv.wall_us)).or_default() += 1;
    }
    depths
}

/// A cell's row of `cell_results`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CellResult {
    pub(crate) games: i64,
    pub(crate) games_failed: i64,
    pub(crate) wins: i64,
    pub(crate) draws: i64,
    pub(crate) losses: i64,
    pub(crate) wins_moving_first: i64,
    pub(crate) draws_moving_first: i64,
    pub(crate) losses_moving_first: i64,
    pub(crate) pairs: [i64; 5],
    /// Pairs in which the first mover won both games, and in which the second mover did.
    pub(crate) pairs_won: [i64; 2],
    pub(crate) distinct_games: i64,
    pub(crate) plies: i64,
    pub(crate) wall_us: f64,
    pub(crate) margins: Margins,
}

impl CellResult {
    /// Adds a counted game by whether the cell's first player moved first in it, and its outcome for the first mover.
    pub(crate) fn add(&mut self, first_player_moved_first: bool, outcome: Outcome) {
        self.add_points(first_player_moved_first, half_points(first_player_moved_first, outcome));
    }

    /// Adds a counted game by the half points of the cell's first player.
    pub(crate) fn add_points(&mut self, first_player_moved_first: bool, half_points: usize) {
        self.games += 1;
        match half_points {
            2 => self.wins += 1,
            1 => self.draws += 1,
            _ => self.losses += 1,
        }
        if first_player_moved_first {
            match half_points {
                2 => self.wins_moving_first += 1,
                1 => self.draws_moving_first += 1,
                _ => self.losses_moving_first += 1,
            }
        }
    }

    /// Adds a pair by the cell's first player's half points in the game in which that player moved first, and in the
    /// other.
    pub(crate) fn add_pair(&mut self, [moving_first, moving_second]: [usize; 2]) {
        self.pairs[moving_first + moving_second] += 1;
        if let Some(mover) = won_twice([moving_first, moving_second]) {
            self.pairs_won[mover] += 1;
        }
    }

    /// The number of units in the score: pairs, or games if the cell's players do not swap sides.
    pub(crate) fn units(&self, swap_sides: bool) -> i64 {
        if swap_sides { self.pairs.iter().sum() } else { self.games }
    }

    /// Adds another result's counts this many times; -1 subtracts them.
    pub(crate) fn add_counts(&mut self, other: &Self, times: i64) {
        let Self { pairs, pairs_won, wall_us, .. } = *other;
        for (sum, addend) in [
            (&mut self.games, other.games),
            (&mut self.games_failed, other.games_failed),
            (&mut self.wins, other.wins),
            (&mut self.draws, other.draws),
            (&mut self.losses, other.losses),
            (&mut self.wins_moving_first, other.wins_moving_first),
            (&mut self.draws_moving_first, other.draws_moving_first),
            (&mut self.losses_moving_first, other.losses_moving_first),
            (&mut self.distinct_games, other.distinct_games),
            (&mut self.plies, other.plies),
        ] {
            *sum += times * addend;
        }
        for (sum, addend) in self.pairs.iter_mut().zip(pairs) {
            *sum += times * addend;
        }
        for (sum, addend) in self.pairs_won.iter_mut().zip(pairs_won) {
            *sum += times * addend;
        }
        self.wall_us += times as f64 * wall_us;
        self.margins.add_counts(&other.margins, times);
    }

    /// The mean score of the first player with its interval: over pairs, or over games if the cell's players do not
    /// swap sides; or over openings, if they repeat.
    pub(crate) fn interval(
        &self,
        swap_sides: bool,
        openings: Option<OpeningSpread>,
    ) -> ScoreInterval {
        let number = |count: i64| u64::try_from(count).unwrap_or(0);
        let of_units = if swap_sides {
            PairCounts(self.pairs.map(number)).interval()
        } else {
            GameCounts([self.losses, self.draws, self.wins].map(number)).interval()
        };
        openings.map_or(of_units, |openings| openings.interval(of_units.score))
    }
}

/// The mover that won both games of a pair, 0 for the first and 1 for the second, if any; from the cell's first
/// player's half points in the game in which that player moved first, and in the other.
fn won_twice(half_points: [usize; 2]) -> Option<usize> {
    match half_points {
        [2, 0] => Some(0),
        [0, 2] => Some(1),
        _ => None,
    }
}

/// A row of `cell_openings`, or an increment of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OpeningSums {
    pub(crate) games: i64,
    pub(crate) wins: i64,
    pub(crate) draws: i64,
    pub(crate) losses: i64,
    pub(crate) first_mover_half_points: i64,
    pub(crate) games_moving_first: i64,
    pub(crate) half_points_moving_first: i64,
    pub(crate) pairs: i64,
    pub(crate) pairs_half_points: i64,
    /// As in [`CellResult`].
    pub(crate) pairs_won: [i64; 2],
    /// The times of the cell's first player, and of its second.
    pub(crate) times: [GameTimes; 2],
    /// Games with a margin, and the sum of the margins from the view of the cell's first player.
    pub(crate) margin_games: i64,
    pub(crate) margin_sum: i64,
}

/// The cost of one player's searched moves, game by game: in wall time, and in CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GameTimes {
    pub(crate) games: i64,
    pub(crate) wall: MeanSums,
    pub(crate) cpu: MeanSums,
}

/// Sums over games of the mean time of a searched move, in microseconds, and of its logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MeanSums {
    pub(crate) means: f64,
    pub(crate) logs: f64,
}

/// One side's searches in a game: number of moves, and total time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SideSearches {
    pub(crate) searched_moves: i64,
    pub(crate) wall_us: f64,
    pub(crate) cpu_us: f64,
}

/// By cell and number of the opening.
pub(crate) type Openings = BTreeMap<(i64, i64), OpeningSums>;

impl OpeningSums {
    /// Adds a counted game by whether the cell's first player moved first in it, its half points, and the searches of
    /// the first mover and of the other player.
    pub(crate) fn add_game(
        &mut self,
        first_player_moved_first: bool,
        half_points: usize,
        mut sides: [SideSearches; 2],
    ) {
        self.games += 1;
        match half_points {
            2 => self.wins += 1,
            1 => self.draws += 1,
            _ => self.losses += 1,
        }
        let half_points = count(half_points);
        if first_player_moved_first {
            self.first_mover_half_points += half_points;
            self.games_moving_first += 1;
            self.half_points_moving_first += half_points;
        } else {
            self.first_mover_half_points += 2 - half_points;
            sides.reverse();
        }
        for (times, side) in self.times.iter_mut().zip(sides) {
            times.add(side);
        }
    }

    /// Adds a game's margin, if any.
    pub(crate) fn add_margin(&mut self, margin: Option<i64>) {
        self.margin_games += i64::from(margin.is_some());
        self.margin_sum += margin.unwrap_or(0);
    }

    /// Adds a pair, as [`CellResult::add_pair`].
    pub(crate) fn add_pair(&mut self, half_points: [usize; 2]) {
        self.pairs += 1;
        self.pairs_half_points += count(half_points.iter().sum());
        if let Some(mover) = won_twice(half_points) {
            self.pairs_won[mover] += 1;
        }
    }

    /// The negated sums, for subtraction.
    pub(crate) fn negated(self) -> Self {
        Self {
            games: -self.games,
            wins: -self.wins,
            draws: -self.draws,
            losses: -self.losses,
            first_mover_half_points: -self.first_mover_half_points,
            games_moving_first: -self.games_moving_first,
            half_points_moving_first: -self.half_points_moving_first,
            pairs: -self.pairs,
            pairs_half_points: -self.pairs_half_points,
            pairs_won: self.pairs_won.map(|pairs| -pairs),
            times: self.times.map(|times| GameTimes {
                games: -times.games,
                wall: times.wall.negated(),
                cpu: times.cpu.negated(),
            }),
            margin_games: -self.margin_games,
            margin_sum: -self.margin_sum,
        }
    }
}

impl GameTimes {
    fn add(&mut self, side: SideSearches) {
        if side.searched_moves == 0 {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a game's moves")]
        let moves = side.searched_moves as f64;
        self.games += 1;
        self.wall.add(side.wall_us / moves);
        self.cpu.add(side.cpu_us / moves);
    }
}

impl MeanSums {
    /// The least mean, so that every logarithm is finite: a time too short for the clock counts as half of its unit.
    const US_MIN: f64 = 0.5;

    fn add(&mut self, mean_us: f64) {
        self.means += mean_us;
        self.logs += mean_us.max(Self::US_MIN).ln();
    }

    fn negated(self) -> Self {
        Self { means: -self.means, logs: -self.logs }
    }
}

/// Half points (0, 1 or 2) of the cell's first player, given whether that player moved first.
pub(crate) fn half_points(first_player_moved_first: bool, outcome: Outcome) -> usize {
    match (outcome, first_player_moved_first) {
        (Outcome::Win, true) | (Outcome::Loss, false) => 2,
        (Outcome::Draw, _) => 1,
        (Outcome::Win, false) | (Outcome::Loss, true) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_the_first_players() {
        use Outcome::{Draw, Loss, Win};
        for (moved_first, outcome, expected) in [
            (true, Win, 2),
            (true, Loss, 0),
            (false, Win, 0),
            (false, Loss, 2),
            (true, Draw, 1),
            (false, Draw, 1),
        ] {
            assert_eq!(half_points(moved_first, outcome), expected);
        }
    }
}
