//! m,n,k games as anyone would write them: a grid of characters, lines followed cell by cell.

use std::collections::BTreeMap;

/// A grid, the top row first: `x`, `o` or `.`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlowMnk {
    cells: Vec<Vec<char>>,
    in_a_row: i32,
    overlines_win: bool,
}

type Cell = (i32, i32);

const DIRECTIONS: [Cell; 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

impl SlowMnk {
    pub(crate) fn empty(columns: u32, rows: u32, in_a_row: u32, overlines_win: bool) -> Self {
        let cells = vec![vec!['.'; columns as usize]; rows as usize];
        Self { cells, in_a_row: in_a_row as i32, overlines_win }
    }

    pub(crate) fn text(&self) -> String {
        self.cells.iter().flatten().collect()
    }

    fn at(&self, (row, column): Cell) -> Option<char> {
        let row = self.cells.get(usize::try_from(row).ok()?)?;
        row.get(usize::try_from(column).ok()?).copied()
    }

    fn places(&self) -> impl Iterator<Item = Cell> + use<> {
        let (rows, columns) = (self.cells.len() as i32, self.cells[0].len() as i32);
        (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
    }

    pub(crate) fn count(&self, letter: char) -> usize {
        self.cells.iter().flatten().filter(|&&cell| cell == letter).count()
    }

    pub(crate) fn to_move(&self) -> char {
        if self.count('x') == self.count('o') { 'x' } else { 'o' }
    }

    /// The side that has a run that is long enough, from end to end.
    pub(crate) fn winner(&self) -> Option<char> {
        ['x', 'o'].into_iter().find(|&side| {
            self.places().any(|(row, column)| {
                DIRECTIONS.iter().any(|&(down, right)| {
                    let is_own = |step: i32| {
                        self.at((row + down * step, column + right * step)) == Some(side)
                    };
                    let length = (0..).take_while(|&step| is_own(step)).count() as i32;
                    let is_end = !is_own(-1);
                    is_end
                        && (length == self.in_a_row || self.overlines_win && length > self.in_a_row)
                })
            })
        })
    }

    pub(crate) fn is_over(&self) -> bool {
        self.winner().is_some() || self.count('.') == 0
    }

    /// The rows and columns of free cells, until the game is over.
    pub(crate) fn moves(&self) -> Vec<Cell> {
        if self.is_over() {
            return Vec::new();
        }
        self.places().filter(|&cell| self.at(cell) == Some('.')).collect()
    }

    pub(crate) fn with(&self, (row, column): Cell, stone: char) -> Self {
        let mut next = self.clone();
        next.cells[row as usize][column as usize] = stone;
        next
    }

    pub(crate) fn play(&self, cell: Cell) -> Self {
        self.with(cell, self.to_move())
    }

    /// The board with left and right exchanged, turned by 180 degrees, and, if it is square, with rows and columns
    /// exchanged.
    pub(crate) fn images(&self) -> Vec<Self> {
        let mut mirrored = self.clone();
        mirrored.cells.iter_mut().for_each(|row| row.reverse());
        let mut turned = mirrored.clone();
        turned.cells.reverse();
        let mut images = vec![mirrored, turned];
        if self.cells.len() == self.cells[0].len() {
            let mut exchanged = self.clone();
            self.places().for_each(|(row, column)| {
                exchanged.cells[column as usize][row as usize] =
                    self.cells[row as usize][column as usize];
            });
            images.push(exchanged);
        }
        images
    }

    /// The number of lines with stones of this side only that lack one to four, with which features and evaluation
    /// are concerned.
    pub(crate) fn lacking(&self, side: char) -> [usize; 4] {
        let mut counts = [0; 4];
        let directions = if self.in_a_row == 1 { &DIRECTIONS[..1] } else { &DIRECTIONS };
        for (row, column) in self.places() {
            for (down, right) in directions {
                let line: Option<Vec<char>> = (0..self.in_a_row)
                    .map(|step| self.at((row + down * step, column + right * step)))
                    .collect();
                let Some(line) = line else { continue };
                let own = line.iter().filter(|&&cell| cell == side).count();
                let free = line.iter().filter(|&&cell| cell == '.').count();
                if own > 0 && own + free == line.len() && (1..=4).contains(&free) {
                    counts[free - 1] += 1;
                }
            }
        }
        counts
    }

    /// The free cells on which a stone of this side wins.
    pub(crate) fn wins(&self, side: char) -> usize {
        self.moves()
            .into_iter()
            .filter(|&cell| self.with(cell, side).winner() == Some(side))
            .count()
    }

    /// Plain minimax to the end of the game, for the side to move: 1, 0 or -1.
    pub(crate) fn solve(&self, known: &mut BTreeMap<Self, i32>) -> i32 {
        if self.winner().is_some() {
            return -1;
        }
        if let Some(&value) = known.get(self) {
            return value;
        }
        let values = self.moves().into_iter().map(|cell| -self.play(cell).solve(known));
        let value = values.max().unwrap_or(0);
        known.insert(self.clone(), value);
        value
    }

    /// Leaves of the tree of this depth, and how many of them are won and drawn.
    pub(crate) fn perft(&self, depth: u32) -> [u64; 3] {
        if self.is_over() {
            return if self.winner().is_some() { [1, 1, 0] } else { [1, 0, 1] };
        }
        if depth == 0 {
            return [1, 0, 0];
        }
        self.moves().into_iter().fold([0; 3], |sum, cell| {
            let counts = self.play(cell).perft(depth - 1);
            [0, 1, 2].map(|index| sum[index] + counts[index])
        })
    }
}
