//! The sums that a count of games makes.

use twox_hash::XxHash3_64;

/// Whether two sums of reals are equal up to rounding, which depends on the order of what was added.
pub(crate) fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// A counted game, as its cell's first player saw it.
#[derive(Clone, Debug)]
pub(crate) struct PlayedGame {
    moved_first: bool,
    /// Half points of the player that moved first.
    movers_half_points: i64,
    half_points: i64,
    margin: Option<i64>,
    /// Of the cell's first player and of its second: the mean time of a searched move, by the wall clock and in
    /// processor time, if any was searched.
    times: [Option<[f64; 2]>; 2],
}

impl PlayedGame {
    /// A game from what its mover got, and from the times of the mover and of the other player.
    pub(crate) fn new(
        moved_first: bool,
        movers_half_points: i64,
        movers_margin: Option<i64>,
        mut times: [Option<[f64; 2]>; 2],
    ) -> Self {
        if !moved_first {
            times.reverse();
        }
        let half_points = if moved_first { movers_half_points } else { 2 - movers_half_points };
        let margin = movers_margin.map(|margin| if moved_first { margin } else { -margin });
        Self { moved_first, movers_half_points, half_points, margin, times }
    }
}

/// A row of `cell_results`.
#[derive(Debug, Default)]
pub(crate) struct CellSums {
    games: i64,
    pub(crate) games_failed: i64,
    /// Losses, draws and wins; the same of games in which the cell's first player moved first.
    results: [i64; 3],
    results_moving_first: [i64; 3],
    pairs: [i64; 5],
    pairs_won: [i64; 2],
    pub(crate) distinct_games: i64,
    plies: i64,
    wall_us: f64,
    /// The number of margins, their sum, and that of their squares.
    margins: [i64; 3],
    /// Pairs of margins, their sum, and that of their products.
    margin_pairs: [i64; 3],
}

impl CellSums {
    /// Adds a counted game.
    pub(crate) fn add(&mut self, game: &PlayedGame, plies: i64, wall_us: Option<i64>) {
        self.games += 1;
        add_result(&mut self.results, game.half_points);
        if game.moved_first {
            add_result(&mut self.results_moving_first, game.half_points);
        }
        self.plies += plies;
        self.wall_us += wall_us.unwrap_or(0) as f64;
        if let Some(margin) = game.margin {
            add_all(&mut self.margins, [1, margin, margin * margin]);
        }
    }

    /// Adds a pair: the game in which the cell's first player moved first, and the other.
    pub(crate) fn add_pair(&mut self, first: &PlayedGame, second: &PlayedGame) {
        if let Some(pairs) = usize::try_from(first.half_points + second.half_points)
            .ok()
            .and_then(|half_points| self.pairs.get_mut(half_points))
        {
            *pairs += 1;
        }
        add_all(&mut self.pairs_won, movers_wins(first, second));
        if let (Some(first), Some(second)) = (first.margin, second.margin) {
            add_all(&mut self.margin_pairs, [1, first + second, first * second]);
        }
    }

    /// The values in the order of the rollup's columns.
    pub(crate) fn columns(&self) -> ([i64; 23], [f64; 1]) {
        let [losses, draws, wins] = self.results;
        let [losses_first, draws_first, wins_first] = self.results_moving_first;
        let [pairs_0, pairs_half, pairs_1, pairs_1_half, pairs_2] = self.pairs;
        let [won_by_first, won_by_second] = self.pairs_won;
        let [margin_games, margin_sum, margin_squares] = self.margins;
        let [margin_pairs, margin_pairs_sum, margin_products] = self.margin_pairs;
        let integers = [
            self.games,
            self.games_failed,
            wins,
            draws,
            losses,
            wins_first,
            draws_first,
            losses_first,
            pairs_0,
            pairs_half,
            pairs_1,
            pairs_1_half,
            pairs_2,
            won_by_first,
            won_by_second,
            self.distinct_games,
            self.plies,
            margin_games,
            margin_sum,
            margin_squares,
            margin_pairs,
            margin_pairs_sum,
            margin_products,
        ];
        (integers, [self.wall_us])
    }
}

fn add_result(results: &mut [i64; 3], half_points: i64) {
    if let Some(result) = usize::try_from(half_points).ok().and_then(|at| results.get_mut(at)) {
        *result += 1;
    }
}

fn add_all<const N: usize>(sums: &mut [i64; N], addends: [i64; N]) {
    for (sum, addend) in sums.iter_mut().zip(addends) {
        *sum += addend;
    }
}

/// Whether the player that moved first won both games of a pair, and whether the other won both.
fn movers_wins(first: &PlayedGame, second: &PlayedGame) -> [i64; 2] {
    [4, 0].map(|both| i64::from(first.movers_half_points + second.movers_half_points == both))
}

/// Cell and number of an opening.
pub(crate) type OpeningKey = (i64, i64);

/// A row of `cell_openings`: its integers, sums of means, and sums of logarithms, in the order of the rollup's columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpeningSums {
    pub(crate) integers: [i64; 15],
    pub(crate) means: [f64; 4],
    pub(crate) logarithms: [f64; 4],
}

impl OpeningSums {
    pub(crate) fn add_game(&mut self, game: &PlayedGame) {
        let is = i64::from;
        let moving_first = is(game.moved_first);
        let [first, second] = game.times;
        let addends = [
            1,
            is(game.half_points == 2),
            is(game.half_points == 1),
            is(game.half_points == 0),
            game.movers_half_points,
            moving_first,
            moving_first * game.half_points,
            0,
            0,
            0,
            0,
            is(first.is_some()),
            is(second.is_some()),
            is(game.margin.is_some()),
            game.margin.unwrap_or(0),
        ];
        add_all(&mut self.integers, addends);
        for (player, times) in game.times.into_iter().enumerate() {
            // The first player's and the second's by the wall clock, then both in processor time.
            for (clock, mean) in times.into_iter().flatten().enumerate() {
                let at = 2 * clock + player;
                if let (Some(means), Some(logarithms)) =
                    (self.means.get_mut(at), self.logarithms.get_mut(at))
                {
                    *means += mean;
                    *logarithms += mean.max(0.5).ln();
                }
            }
        }
    }

    pub(crate) fn add_pair(&mut self, first: &PlayedGame, second: &PlayedGame) {
        let [won_by_first, won_by_second] = movers_wins(first, second);
        let half_points = first.half_points + second.half_points;
        let addends =
            [0, 0, 0, 0, 0, 0, 0, 1, half_points, won_by_first, won_by_second, 0, 0, 0, 0];
        add_all(&mut self.integers, addends);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        add_all(&mut self.integers, other.integers);
        for (sum, addend) in self.means.iter_mut().zip(other.means) {
            *sum += addend;
        }
        for (sum, addend) in self.logarithms.iter_mut().zip(other.logarithms) {
            *sum += addend;
        }
    }

    /// Whether the sums of logarithms are those up to rounding. Logarithms above and below zero cancel: the number of
    /// games bounds the error.
    pub(crate) fn has_logarithms(&self, stored: &[f64]) -> bool {
        let games = self.integers[0] as f64;
        stored.len() == self.logarithms.len()
            && self
                .logarithms
                .iter()
                .zip(stored)
                .all(|(counted, stored)| (stored - counted).abs() <= 1e-9 * (counted.abs() + games))
    }
}

/// One player's searches of one depth.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchSums {
    pub(crate) searched_moves: i64,
    /// Wall time, processor time, nodes, evaluations, leaves of the full tree, and squares of the wall time.
    pub(crate) reals: [f64; 6],
}

impl SearchSums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.searched_moves = self.searched_moves.saturating_add(other.searched_moves);
        for (sum, addend) in self.reals.iter_mut().zip(other.reals) {
            *sum += addend;
        }
    }
}

/// A row of `worker_results`.
#[derive(Debug, Default)]
pub(crate) struct WorkerSums {
    games: i64,
    plies: i64,
    wall_us: f64,
    /// When the first and the last game began.
    began: Option<[i64; 2]>,
}

impl WorkerSums {
    pub(crate) fn started(&mut self, unix_us: Option<i64>) {
        let Some(unix_us) = unix_us else { return };
        let [first, last] = self.began.unwrap_or([unix_us; 2]);
        self.began = Some([first.min(unix_us), last.max(unix_us)]);
    }

    pub(crate) fn add(&mut self, plies: i64, wall_us: Option<i64>) {
        self.games += 1;
        self.plies += plies;
        self.wall_us += wall_us.unwrap_or(0) as f64;
    }

    /// The values in the order of the rollup's columns.
    pub(crate) fn columns(&self) -> Option<([i64; 4], [f64; 1])> {
        let [first, last] = self.began?;
        Some(([self.games, self.plies, first, last], [self.wall_us]))
    }
}

/// A sum of hashes: equal for equal rows in any order. Others have the same with a probability of 2^-64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hashes {
    sum: u64,
    bytes: Vec<u8>,
}

impl Hashes {
    /// Adds a key this many times.
    pub(crate) fn add(&mut self, key: &[i64], times: i64) {
        self.bytes.clear();
        key.iter().for_each(|part| self.bytes.extend_from_slice(&part.to_le_bytes()));
        let hash = XxHash3_64::oneshot(&self.bytes);
        self.sum = self.sum.wrapping_add(hash.wrapping_mul(times.cast_unsigned()));
    }

    /// Adds a row of `cell_openings`.
    pub(crate) fn add_row(&mut self, (cell, opening): OpeningKey, row: &OpeningSums) {
        self.bytes.clear();
        for integer in [cell, opening].iter().chain(&row.integers) {
            self.bytes.extend_from_slice(&integer.to_le_bytes());
        }
        for real in row.means.iter().chain(&row.logarithms) {
            // SQLite stores a zero without its sign.
            self.bytes.extend_from_slice(&(real + 0.0).to_bits().to_le_bytes());
        }
        self.sum = self.sum.wrapping_add(XxHash3_64::oneshot(&self.bytes));
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.sum == other.sum
    }
}
