//! Results of cells in pages, and of the cells that were settled since a moment.

use spelrum_model::CellId;

use crate::cell_result::CellResult;

/// Where a list of cells goes on: after this one. Cells are in the grid's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellCursor {
    /// The cell's number in the grid.
    pub number: u64,
    /// The cell.
    pub cell: CellId,
}

/// A part of an experiment's cells, in the grid's order, all as of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct CellsPage {
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// The cells.
    pub cells: Vec<CellResult>,
    /// Where the list goes on, if it does.
    pub next: Option<CellCursor>,
}

/// Cells without a game to play, in the order in which they got their last game.
#[derive(Clone, Debug, PartialEq)]
pub struct SettledCells {
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// The cells.
    pub cells: Vec<CellResult>,
    /// The id of the last game of the last of them: what comes after it is new. Without cells, the id
    /// that was asked about.
    pub last_game_id: i64,
}
