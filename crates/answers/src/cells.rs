//! Pages of cells' results, and of cells settled since a moment.

use serde::{Deserialize, Serialize};
use spelrum_model::CellId;

use crate::cell_result::CellResult;
use crate::checked::{Inconsistent, check_places, checked_on_reading};

/// Position in a list of cells, which continues after this cell. Cells are in the grid's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellCursor {
    /// The cell's number in the grid.
    pub number: u64,
    /// The cell.
    pub cell: CellId,
}

/// A page of an experiment's cells, in the grid's order, from one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct CellsPage {
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// The cells.
    pub cells: Vec<CellResult>,
    /// Cursor of the next page, if there is one.
    pub next: Option<CellCursor>,
}

/// Cells without a game to play, in the order of their last game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct SettledCells {
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// The cells.
    pub cells: Vec<CellResult>,
    /// Id of the last game of the last of these cells; later games are new. Without cells, the id of the request.
    pub last_game_id: i64,
}

checked_on_reading!(CellsPage, SettledCells);

impl CellsPage {
    fn check(&self) -> Result<(), Inconsistent> {
        check_places("cells", &self.axes, self.cells.iter().map(|cell| &*cell.axes))
    }
}

impl SettledCells {
    fn check(&self) -> Result<(), Inconsistent> {
        check_places("cells", &self.axes, self.cells.iter().map(|cell| &*cell.axes))
    }
}
