//! The eight symmetries of the board, which map boards and the cells of each board alike.

/// One of the eight symmetries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation(u8);

/// The image of each cell of nine under each symmetry: 1, rows and columns are exchanged; then 2, the rows
/// are reversed; and 4, the columns are.
static TO: [[u8; 9]; 8] = {
    let mut to = [[0; 9]; 8];
    let mut orientation = 0;
    while orientation < 8 {
        let mut cell = 0;
        while cell < 9 {
            let (mut row, mut column) = (cell / 3, cell % 3);
            if orientation & 1 != 0 {
                (row, column) = (column, row);
            }
            if orientation & 2 != 0 {
                row = 2 - row;
            }
            if orientation & 4 != 0 {
                column = 2 - column;
            }
            to[orientation][cell] = (3 * row + column) as u8;
            cell += 1;
        }
        orientation += 1;
    }
    to
};

/// The images of all sets of nine cells.
static IMAGES: [[u16; 512]; 8] = {
    let mut images = [[0; 512]; 8];
    let mut orientation = 0;
    while orientation < 8 {
        let mut cells = 0;
        while cells < 512 {
            let mut cell = 0;
            while cell < 9 {
                if cells >> cell & 1 == 1 {
                    images[orientation][cells] |= 1 << TO[orientation][cell];
                }
                cell += 1;
            }
            cells += 1;
        }
        orientation += 1;
    }
    images
};

impl Orientation {
    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..8).map(Self)
    }

    /// The symmetry that undoes this one.
    pub(super) const fn inverse(self) -> Self {
        match self.0 {
            3 => Self(5),
            5 => Self(3),
            _ => self,
        }
    }

    /// The image of a board, or of a cell of a board.
    #[inline]
    pub(super) fn of_cell(self, cell: usize) -> usize {
        usize::from(TO[usize::from(self.0) & 7][cell])
    }

    /// The image of cells of a board.
    #[inline]
    pub(super) fn of_cells(self, cells: u16) -> u16 {
        IMAGES[usize::from(self.0) & 7][usize::from(cells) & 511]
    }

    /// The image of a move's code.
    pub(super) fn apply(self, code: u16) -> u16 {
        let [board, cell] = [code / 9, code % 9].map(|part| self.of_cell(usize::from(part)) as u16);
        9 * board + cell
    }
}
