//! What came of cells by the opening that their games started from.

use spelrum_model::CellId;
use spelrum_statistics::{GameTimes, OpeningCounts};

use crate::cells::CellCursor;

/// What came of a cell's counted games from one opening. Points are half points: a win is 2, a draw 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpeningSums {
    /// Which opening: equal numbers are equal openings in all cells of the same conditions. Where openings
    /// come again, the number of its first pair, or game where sides are fixed.
    pub opening_number: u64,
    /// The games.
    pub games: u64,
    /// Games that the cell's first player won.
    pub wins: u64,
    /// Games that nobody won.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// What whoever moved first from the opening got in them.
    pub first_mover_half_points: u64,
    /// Games in which the cell's first player moved first from the opening.
    pub games_moving_first: u64,
    /// What it got in these.
    pub half_points_moving_first: u64,
    /// Pairs with both games counted; none where sides are fixed.
    pub pairs: u64,
    /// What the cell's first player got in these.
    pub pairs_half_points: u64,
    /// Of these, pairs in which who moved first won both games.
    pub pairs_won_by_first_mover: u64,
    /// Pairs in which who moved second won both.
    pub pairs_won_by_second_mover: u64,
    /// What moves cost the cell's first and its second player, by their places in the cell, also where one
    /// player has both.
    pub times: [GameTimes; 2],
}

/// Where a list of results by opening goes on: after this one. Cells are in the grid's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningCursor {
    /// The cell.
    pub cell: CellCursor,
    /// The opening.
    pub opening_number: u64,
}

/// What came of a cell by opening, in the order of the openings' numbers: of a part of them, where the list
/// ends or begins within the cell.
#[derive(Clone, Debug, PartialEq)]
pub struct OpeningResults {
    /// The cell.
    pub cell: CellId,
    /// Its openings.
    pub openings: Vec<OpeningSums>,
}

/// A part of what came of an experiment's cells by opening, those that its sweep names, in the grid's
/// order, all as of one moment. Cells without a counted game are not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpeningsPage {
    /// The cells.
    pub cells: Vec<OpeningResults>,
    /// Where the list goes on, if it does.
    pub next: Option<OpeningCursor>,
}

/// A cell's counted games by opening, with games for units, and who moved first from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoverCounts {
    /// All games: what whoever moved first got.
    pub of_mover: OpeningCounts,
    /// What the cell's first player got in the games in which it moved first, and in those in which it moved
    /// second.
    pub of_player: [OpeningCounts; 2],
}

impl MoverCounts {
    /// Adds an opening.
    pub fn insert(&mut self, sums: &OpeningSums) {
        let half_points = 2 * sums.wins + sums.draws;
        let [first, second] = &mut self.of_player;
        self.of_mover.insert(sums.games, sums.first_mover_half_points);
        first.insert(sums.games_moving_first, sums.half_points_moving_first);
        second.insert(
            sums.games.saturating_sub(sums.games_moving_first),
            half_points.saturating_sub(sums.half_points_moving_first),
        );
    }
}

impl OpeningSums {
    /// The units of the score, and what the cell's first player got in them: pairs, or games where sides
    /// are fixed.
    #[must_use]
    pub const fn units(&self, swap_sides: bool) -> (u64, u64) {
        if swap_sides {
            (self.pairs, self.pairs_half_points)
        } else {
            (self.games, 2 * self.wins + self.draws)
        }
    }
}

impl OpeningsPage {
    /// The first so many of these rows, which are in order.
    #[must_use]
    pub fn of(
        rows: impl IntoIterator<Item = (CellCursor, OpeningSums)>,
        openings_max: usize,
    ) -> Self {
        let mut page = Self::default();
        let mut last = None;
        for (at, (CellCursor { number, cell }, sums)) in rows.into_iter().enumerate() {
            if at == openings_max {
                page.next = last;
                break;
            }
            let opening_number = sums.opening_number;
            last = Some(OpeningCursor { cell: CellCursor { number, cell }, opening_number });
            match page.cells.last_mut() {
                Some(open) if open.cell == cell => open.openings.push(sums),
                Some(_) | None => page.cells.push(OpeningResults { cell, openings: vec![sums] }),
            }
        }
        page
    }
}
