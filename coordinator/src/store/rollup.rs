//! What a batch of new games adds to the rollups, summed up before it is written: a batch touches
//! few rows of them, however many games it has.

use std::collections::BTreeMap;

use spelrum_engine::{EndedBy, MoveRecord, Outcome};
use spelrum_tournament::{GameCounts, PairCounts, ScoreInterval};

use super::numbers::{SAFE_MAX, real};

/// Whether anything was searched for a move: not if it was forced.
pub(super) fn is_searched(mv: &MoveRecord) -> bool {
    mv.search.ended_by != EndedBy::OnlyMove
}

/// Sums over searched moves: reals, exact up to 2^53, that never overflow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) searched_moves: i64,
    pub(super) wall_us: f64,
    pub(super) cpu_us: f64,
    pub(super) nodes: f64,
    pub(super) evaluations: f64,
    pub(super) full_tree_leaves: f64,
    pub(super) wall_us_squared: f64,
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
pub(super) struct SideSums {
    pub(super) moves: i64,
    pub(super) sums: Sums,
}

impl SideSums {
    /// The two sides of a game.
    pub(super) fn of(moves: &[MoveRecord]) -> [Self; 2] {
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
}

/// What a batch adds to the rollups that are keyed by cell, player and depth.
#[derive(Debug, Default)]
pub(super) struct Searches {
    /// By (cell, player, depth).
    pub(super) depths: BTreeMap<(i64, i64, u32), Sums>,
    /// Searched moves by (cell, player, depth, time bucket).
    pub(super) times: BTreeMap<(i64, i64, u32, u32), i64>,
}

impl Searches {
    /// Adds a game whose sides are played by `players`.
    pub(super) fn add(&mut self, cell: i64, players: [i64; 2], moves: &[MoveRecord]) {
        for mv in moves.iter().filter(|mv| is_searched(mv)) {
            let player = players[usize::from(mv.mover != 0)];
            let depth = mv.search.depth;
            self.depths.entry((cell, player, depth)).or_default().add(mv);
            *self.times.entry((cell, player, depth, time_bucket(mv.wall_us))).or_default() += 1;
        }
    }

    /// The same, to be taken away.
    pub(super) fn negated(mut self) -> Self {
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
pub(super) struct SideDepth {
    pub(super) sums: Sums,
    /// How many of them are in each time bucket.
    pub(super) times: BTreeMap<u32, i64>,
}

/// A game's searches by side and depth.
pub(super) fn side_depths(moves: &[MoveRecord]) -> BTreeMap<(usize, u32), SideDepth> {
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
pub(super) struct CellResult {
    pub(super) games: i64,
    pub(super) games_failed: i64,
    pub(super) wins: i64,
    pub(super) draws: i64,
    pub(super) losses: i64,
    pub(super) wins_moving_first: i64,
    pub(super) draws_moving_first: i64,
    pub(super) losses_moving_first: i64,
    pub(super) pairs: [i64; 5],
    pub(super) distinct_games: i64,
    pub(super) plies: i64,
    pub(super) wall_us: f64,
}

impl CellResult {
    /// Adds a counted game by whether the cell's first player moved first in it, and its outcome
    /// for who did.
    pub(super) fn add(&mut self, first_player_moved_first: bool, outcome: Outcome) {
        self.add_points(first_player_moved_first, half_points(first_player_moved_first, outcome));
    }

    /// The same, by the half points of the cell's first player.
    pub(super) fn add_points(&mut self, first_player_moved_first: bool, half_points: usize) {
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

    /// Adds another one's counts so many times: -1 takes them away.
    pub(super) fn add_counts(&mut self, other: &Self, times: i64) {
        let Self { pairs, wall_us, .. } = *other;
        for (own, theirs) in [
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
            *own += times * theirs;
        }
        for (own, theirs) in self.pairs.iter_mut().zip(pairs) {
            *own += times * theirs;
        }
        self.wall_us += times as f64 * wall_us;
    }

    /// The mean score of the first player with its interval: over pairs, or over games if the cell's
    /// players do not swap sides.
    pub(super) fn interval(&self, swap_sides: bool) -> ScoreInterval {
        let number = |count: i64| u64::try_from(count).unwrap_or(0);
        if swap_sides {
            PairCounts(self.pairs.map(number)).interval()
        } else {
            GameCounts([self.losses, self.draws, self.wins].map(number)).interval()
        }
    }
}

/// Half points of the cell's first player, who moved first or not: 0, 1 or 2.
pub(super) fn half_points(first_player_moved_first: bool, outcome: Outcome) -> usize {
    match (outcome, first_player_moved_first) {
        (Outcome::Win, true) | (Outcome::Loss, false) => 2,
        (Outcome::Draw, _) => 1,
        (Outcome::Win, false) | (Outcome::Loss, true) => 0,
    }
}

/// The bucket of a time in `time_buckets`: eight for each doubling, exact below 16 us. The octave
/// is the position of the highest bit, the place in it the three bits below (as in HdrHistogram,
/// Tene 2012).
pub(super) fn time_bucket(wall_us: u64) -> u32 {
    let wall_us = wall_us.min(SAFE_MAX);
    match wall_us.checked_ilog2() {
        Some(octave) if octave >= 3 => {
            let place = u32::try_from((wall_us >> (octave - 3)) & 7).unwrap_or(0);
            8 * (octave - 2) + place
        }
        _ => u32::try_from(wall_us).unwrap_or(0),
    }
}

/// The middle of a bucket in microseconds: what stands for the times in it.
pub(super) fn bucket_middle_us(bucket: u32) -> f64 {
    let from_us = |bucket: u32| match bucket {
        0..8 => u64::from(bucket),
        _ => u64::from(8 + bucket % 8) << (bucket / 8 - 1),
    };
    (real(from_us(bucket)) + real(from_us(bucket + 1)) - 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lower bound of a bucket, as the schema's comment has it.
    fn from_us(bucket: u32) -> u64 {
        if bucket < 8 { bucket.into() } else { u64::from(8 + bucket % 8) << (bucket / 8 - 1) }
    }

    proptest::proptest! {
        #[test]
        fn a_time_is_in_its_bucket(bits in 0u32..53, random in proptest::prelude::any::<u64>()) {
            let wall_us = random & ((1 << bits) - 1);
            let bucket = time_bucket(wall_us);
            proptest::prop_assert!(from_us(bucket) <= wall_us);
            proptest::prop_assert!(wall_us < from_us(bucket + 1));
        }
    }

    #[test]
    fn the_greatest_time_has_the_last_bucket() {
        assert_eq!(time_bucket(SAFE_MAX), 407);
        assert_eq!(time_bucket(u64::MAX), 407);
    }

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
