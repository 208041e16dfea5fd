//! Pages of cells' results, and of cells settled since a moment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::CellId;

use crate::cell_result::CellResult;
use crate::checked::{Inconsistent, check_places, checked_on_reading};

/// Position in a list of cells, which continues after this cell. Cells are in the grid's order. Its text is
/// `NUMBER-CELL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[0-9]{1,18}-[0-9]{1,18}$"))]
pub struct CellCursor {
    /// The cell's number in the grid.
    pub number: u64,
    /// The cell.
    pub cell: CellId,
}

/// A page of an experiment's cells, in the grid's order, from one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct SettledCells {
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// The cells.
    pub cells: Vec<CellResult>,
    /// Id of the last game of the last of these cells; later games are new. Without cells, the id of the request.
    pub last_game_id: i64,
}

impl From<CellCursor> for String {
    fn from(CellCursor { number, cell }: CellCursor) -> Self {
        format!("{number}-{cell}")
    }
}

impl TryFrom<String> for CellCursor {
    type Error = NotACursor;

    fn try_from(text: String) -> Result<Self, NotACursor> {
        let [number, cell] = numbers(&text).ok_or(NotACursor)?;
        Ok(Self { number: unsigned(number)?, cell: CellId(cell) })
    }
}

/// The text is not a place in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not where this list goes on: give `next` of the page before")]
pub struct NotACursor;

/// The numbers of a cursor's text, none of which is negative.
pub(crate) fn numbers<const COUNT: usize>(text: &str) -> Option<[i64; COUNT]> {
    let number = |digits: &str| {
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { digits.parse().ok() } else { None }
    };
    let numbers: Vec<i64> = text.split('-').map(number).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// A number of a cursor as a count.
pub(crate) fn unsigned(number: i64) -> Result<u64, NotACursor> {
    u64::try_from(number).map_err(|_| NotACursor)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GameCursor;
    use spelrum_model::GameId;

    #[test]
    fn cursors_are_read_as_they_were_written_and_nothing_else() {
        let cursor = CellCursor { number: 17, cell: CellId(i64::MAX) };
        let text = String::from(cursor);
        assert_eq!(text, "17-9223372036854775807");
        assert_eq!(CellCursor::try_from(text), Ok(cursor));
        let game = GameId { cell: CellId(2), number: 0 };
        let cursor = GameCursor { game_id: 9, game };
        assert_eq!(String::from(cursor), "9-2-0");
        assert_eq!(GameCursor::try_from("9-2-0".to_owned()), Ok(cursor));
        for wrong in [
            "",
            "-",
            "1",
            "1-",
            "-1-2",
            "1--2",
            "+1-2",
            "1-2-3-4",
            "1-9223372036854775808",
            "a-b",
            "1-2 ",
        ] {
            assert_eq!(CellCursor::try_from(wrong.to_owned()), Err(NotACursor), "{wrong}");
            assert_eq!(GameCursor::try_from(wrong.to_owned()), Err(NotACursor), "{wrong}");
        }
    }
}
