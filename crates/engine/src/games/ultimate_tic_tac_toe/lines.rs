//! Lines of three on a board of nine cells, as tables by the cells that are taken. Boards of boards have the
//! same lines.

/// The cells of each line: rows, columns, diagonals.
pub(super) const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

/// By a side's cells: the lines, as bits, of which it has none.
static UNTOUCHED: [u8; 512] = lines_with(0);
/// By a side's cells: the lines of which it has exactly one.
static ONE: [u8; 512] = lines_with(1);
/// By a side's cells: the lines of which it has exactly two.
static TWO: [u8; 512] = lines_with(2);
/// By a side's cells: the lines of which it has all.
static THREE: [u8; 512] = lines_with(3);

const fn lines_with(number: u32) -> [u8; 512] {
    let mut lines = [0; 512];
    let mut cells = 0;
    while cells < 512 {
        let mut line = 0;
        while line < 8 {
            if (cells as u16 & LINES[line]).count_ones() == number {
                lines[cells] |= 1 << line;
            }
            line += 1;
        }
        cells += 1;
    }
    lines
}

/// By a side's cells: those that complete a line, occupied or not.
static COMPLETING: [u16; 512] = {
    let mut completing = [0; 512];
    let mut cells = 0;
    while cells < 512 {
        let mut line = 0;
        while line < 8 {
            let missing = LINES[line] & !(cells as u16);
            if missing.count_ones() == 1 {
                completing[cells] |= missing;
            }
            line += 1;
        }
        cells += 1;
    }
    completing
};

const ALL: u16 = 0o777;

/// Whether the cells have a line.
#[inline(always)]
pub(super) fn has_line(cells: u16) -> bool {
    THREE[usize::from(cells & ALL)] != 0
}

/// The cells, occupied or not, that complete a line.
#[inline]
pub(super) fn completing(cells: u16) -> u16 {
    COMPLETING[usize::from(cells & ALL)]
}

/// The numbers of lines of which a side has one cell and two cells, and the other side and blocked cells none.
#[inline]
pub(super) fn open_lines(own: u16, blocked: u16) -> [u32; 2] {
    let open = UNTOUCHED[usize::from(blocked & ALL)];
    [&ONE, &TWO].map(|lines| (lines[usize::from(own & ALL)] & open).count_ones())
}

/// The fewest cells that a side lacks in a line without blocked cells; `None` if there is no such line.
#[inline]
pub(super) fn missing(own: u16, blocked: u16) -> Option<u32> {
    let open = UNTOUCHED[usize::from(blocked & ALL)];
    let own = usize::from(own & ALL);
    let by_missing = [&THREE, &TWO, &ONE, &UNTOUCHED];
    (0..).zip(by_missing).find(|(_, lines)| lines[own] & open != 0).map(|(missing, _)| missing)
}
