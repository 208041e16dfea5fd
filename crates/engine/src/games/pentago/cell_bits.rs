//! The bits of cells: nine for each quadrant, from every sixteenth bit on.

/// The bit index of a cell that is numbered row by row from the top left (0 to 35).
pub(crate) const fn bit_of_cell(cell: u32) -> u32 {
    let (row, column) = (cell / 6, cell % 6);
    (row / 3 * 2 + column / 3) * 16 + row % 3 * 3 + column % 3
}

/// The inverse of [`bit_of_cell`].
pub(crate) const fn cell_of_bit(bit: u32) -> u32 {
    let (quadrant, local) = (bit / 16, bit % 16);
    (quadrant / 2 * 3 + local / 3) * 6 + quadrant % 2 * 3 + local % 3
}
