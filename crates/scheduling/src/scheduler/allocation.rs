//! The order in which an experiment's cells are served. This decides when a game is played, never whether.

use spelrum_model::Allocation;
use spelrum_statistics::GameCounts;

use super::cells::Cell;

/// Games of a pair, which stay together.
const PAIR: u64 = 2;

/// Sort key of a cell's turn: smaller first, ties in the order of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn(u64);

impl Turn {
    /// The turn of a cell in its current state.
    pub(super) fn new(cell: &Cell, allocation: Allocation) -> Self {
        match allocation {
            Allocation::Grid => Self::default(),
            Allocation::Informative => Self::by_error(cell.played(), cell.leased_count()),
        }
    }

    /// Larger errors come sooner. Positive floats sort like their bits.
    fn by_error(played: &GameCounts, leased: u64) -> Self {
        Self(!squared_error(played, leased).to_bits())
    }
}

/// Most games of a cell in one lease, with this many workers asking for games.
pub(super) fn lease_share(
    cell: &Cell,
    allocation: Allocation,
    workers: impl FnOnce() -> u64,
) -> u64 {
    let share = share_by_allocation(cell, allocation);
    if cell.is_timed() && cell.has_games() {
        share.min(timed_share(cell.end(), workers()))
    } else {
        share
    }
}

/// Half of a worker's share of a timed cell's pairs, so that no worker plays most of it: its machine's times
/// would be those of the cell. All, for a single worker.
fn timed_share(games: u64, workers: u64) -> u64 {
    if workers < 2 {
        return u64::MAX;
    }
    let pairs = games.div_ceil(PAIR).div_ceil(workers.saturating_mul(2));
    PAIR.max(pairs.saturating_mul(PAIR))
}

/// Unlimited in the order of the grid; by error a quarter of the cell's played and leased games, so that a
/// lease is not filled by the cell that was least known when it began.
fn share_by_allocation(cell: &Cell, allocation: Allocation) -> u64 {
    match allocation {
        Allocation::Grid => u64::MAX,
        Allocation::Informative => {
            PAIR.max((cell.played().games() + cell.leased_count()).next_multiple_of(8) / 4)
        }
    }
}

/// Added games of each extreme result (Agresti and Coull 1998): a cell that begins with a row of equal
/// results does not count as known.
const DOUBT: f64 = 2.0;

/// Squared standard error of a cell's score once its leased games are played, with games (not pairs) as the
/// units.
fn squared_error(played: &GameCounts, leased: u64) -> f64 {
    let [losses, draws, wins] = played.0.map(|games| games as f64);
    let (losses, wins) = (losses + DOUBT, wins + DOUBT);
    let games = losses + draws + wins;
    let score = (wins + draws / 2.0) / games;
    let variance = (wins + draws / 4.0) / games - score * score;
    variance / (games + leased as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(played: [u64; 3], leased: u64) -> Turn {
        Turn::by_error(&GameCounts(played), leased)
    }

    #[test]
    fn the_least_known_cell_is_first() {
        // An unplayed cell is the least known.
        assert!(turn([0, 0, 0], 0) < turn([1, 0, 1], 0));
        // Even cells before lopsided ones, and these before drawn ones.
        assert!(turn([10, 0, 10], 0) < turn([2, 0, 18], 0));
        assert!(turn([2, 0, 18], 0) < turn([0, 20, 0], 0));
        // The favoured side makes no difference, up to rounding.
        let [a, b] = [[3, 4, 13], [13, 4, 3]].map(|played| squared_error(&GameCounts(played), 0));
        assert!((a - b).abs() < 1e-15);
        // Leased games count as known.
        assert!(turn([10, 0, 10], 0) < turn([10, 0, 10], 2));
        assert!(turn([0, 0, 0], 0) < turn([0, 0, 0], 2));
    }

    #[test]
    fn a_timed_cell_is_for_all_workers() {
        let share = timed_share;
        assert_eq!([share(1_000, 0), share(1_000, 1)], [u64::MAX; 2]);
        // 500 pairs over two workers: at most 125 of them at once.
        assert_eq!([share(1_000, 2), share(1_000, 3), share(1_000, 500)], [250, 168, 2]);
        assert_eq!([share(1, 2), share(2, 9), share(3, 2), share(9, 2)], [2, 2, 2, 4]);
        assert_eq!([share(u64::MAX, u64::MAX), share(0, 2)], [2, 2]);
    }

    #[test]
    fn no_count_is_beyond_it() {
        for played in [[0, 0, 0], [u64::MAX / 4, 0, u64::MAX / 4], [0, 0, u64::MAX / 4]] {
            let error = squared_error(&GameCounts(played), u64::MAX);
            assert!((0.0..=0.25).contains(&error), "{error}");
        }
    }
}
