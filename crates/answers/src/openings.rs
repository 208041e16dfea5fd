//! Results of cells by opening.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::CellId;
use spelrum_statistics::{GameTimes, OpeningCounts};

use crate::cells::CellCursor;

/// Results of a cell's counted games from one opening. Points are half points: a win is 2, a draw 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpeningSums {
    /// Identifies the opening: equal numbers are equal openings in all cells with the same conditions. Where openings
    /// repeat, the number of its first pair, or of its first game where sides are fixed.
    pub opening_number: u64,
    /// The games.
    pub games: u64,
    /// Games that the cell's first player won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Half points of the first mover from the opening.
    pub first_mover_half_points: u64,
    /// Games in which the cell's first player moved first from the opening.
    pub games_moving_first: u64,
    /// The player's half points in these games.
    pub half_points_moving_first: u64,
    /// Pairs with both games counted; 0 where sides are fixed.
    pub pairs: u64,
    /// Half points of the cell's first player in these pairs.
    pub pairs_half_points: u64,
    /// Of these, pairs in which the first mover won both games.
    pub pairs_won_by_first_mover: u64,
    /// Pairs in which the second mover won both games.
    pub pairs_won_by_second_mover: u64,
    /// Cost of the moves of the cell's first and second player, by their places in the cell, also in self-play.
    pub times: [GameTimes; 2],
}

/// Position in a list of results by opening, which continues after this one. Cells are in the grid's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "OpeningCursorForm", into = "OpeningCursorForm")]
pub struct OpeningCursor {
    /// The cell.
    pub cell: CellCursor,
    /// The opening.
    pub opening_number: u64,
}

/// A cursor in JSON: flat, so that it fits into a query string.
#[derive(Serialize, Deserialize, JsonSchema)]
struct OpeningCursorForm {
    number: u64,
    cell: CellId,
    opening_number: u64,
}

impl From<OpeningCursorForm> for OpeningCursor {
    fn from(OpeningCursorForm { number, cell, opening_number }: OpeningCursorForm) -> Self {
        Self { cell: CellCursor { number, cell }, opening_number }
    }
}

impl From<OpeningCursor> for OpeningCursorForm {
    fn from(OpeningCursor { cell, opening_number }: OpeningCursor) -> Self {
        let CellCursor { number, cell } = cell;
        Self { number, cell, opening_number }
    }
}

/// Results of a cell by opening, in the order of the openings' numbers; partial if the page begins or ends within the
/// cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpeningResults {
    /// The cell.
    pub cell: CellId,
    /// Its openings.
    pub openings: Vec<OpeningSums>,
}

/// A page of an experiment's results by opening, for the cells that its sweep names, in the grid's order, from one
/// snapshot. Cells without a counted game are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpeningsPage {
    /// The cells.
    pub cells: Vec<OpeningResults>,
    /// Cursor of the next page, if there is one.
    pub next: Option<OpeningCursor>,
}

/// A cell's counted games by opening and first mover, with games as units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoverCounts {
    /// First mover's points in all games.
    pub of_mover: OpeningCounts,
    /// Points of the cell's first player in the games in which it moved first, and in those in which it moved second.
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
    /// Returns the units of the score and the points of the cell's first player in them: pairs, or games where sides
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
    /// Creates a page of at most this many of these rows, which are in order.
    #[must_use]
    pub fn new(
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
