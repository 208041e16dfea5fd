//! Connect Four as anyone would write it: a grid of characters, lines followed cell by cell.

/// A grid, the top row first: `r`, `y` or `.`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SlowGrid {
    cells: [[char; 7]; 6],
}

impl SlowGrid {
    pub(crate) const fn empty() -> Self {
        Self { cells: [['.'; 7]; 6] }
    }

    pub(crate) fn text(&self) -> String {
        self.cells.iter().flatten().collect()
    }

    pub(crate) fn mirrored(&self) -> Self {
        let mut mirrored = self.clone();
        mirrored.cells.iter_mut().for_each(|row| row.reverse());
        mirrored
    }

    fn count(&self, disc: char) -> usize {
        self.cells.iter().flatten().filter(|&&cell| cell == disc).count()
    }

    pub(crate) fn to_move(&self) -> char {
        if self.count('r') == self.count('y') { 'r' } else { 'y' }
    }

    /// The cells of every line of four.
    fn lines() -> Vec<[(usize, usize); 4]> {
        let mut lines = Vec::new();
        for row in 0..6_i32 {
            for column in 0..7_i32 {
                for (down, right) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
                    let line = [0, 1, 2, 3].map(|step| (row + down * step, column + right * step));
                    if line.iter().all(|&(r, c)| (0..6).contains(&r) && (0..7).contains(&c)) {
                        lines.push(line.map(|(r, c)| (r as usize, c as usize)));
                    }
                }
            }
        }
        lines
    }

    /// The colour that has four in a row.
    pub(crate) fn winner(&self) -> Option<char> {
        let is_of =
            |line: &[(usize, usize); 4], disc| line.iter().all(|&(r, c)| self.cells[r][c] == disc);
        let lines = Self::lines();
        ['r', 'y'].into_iter().find(|&disc| lines.iter().any(|line| is_of(line, disc)))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.winner().is_some() || self.count('.') == 0
    }

    /// The columns that have room, from the left, until the game is over.
    pub(crate) fn columns(&self) -> Vec<usize> {
        if self.is_over() {
            return Vec::new();
        }
        (0..7).filter(|&column| self.cells[0][column] == '.').collect()
    }

    pub(crate) fn play(&self, column: usize) -> Self {
        let mut next = self.clone();
        let row = (0..6).rev().find(|&row| self.cells[row][column] == '.').unwrap();
        next.cells[row][column] = self.to_move();
        next
    }

    /// The evaluation `lines`, for the side to move.
    pub(crate) fn value(&self, weights: [i32; 3]) -> i32 {
        let mut value = 0;
        for line in Self::lines() {
            let count = |disc| line.iter().filter(|&&(r, c)| self.cells[r][c] == disc).count();
            let (own, all) = (count(self.to_move()), 4 - count('.'));
            if own == all && own > 0 {
                value += weights[own - 1];
            } else if own == 0 && all > 0 {
                value -= weights[all - 1];
            }
        }
        value
    }

    /// Plain minimax to the end of the game, for the side to move: 1, 0 or -1.
    pub(crate) fn solve(&self) -> i32 {
        if self.winner().is_some() {
            return -1;
        }
        self.columns().into_iter().map(|column| -self.play(column).solve()).max().unwrap_or(0)
    }

    /// Leaves of the tree of this depth, and how many of them are won and drawn.
    pub(crate) fn perft(&self, depth: u32) -> [u64; 3] {
        if self.is_over() {
            return if self.winner().is_some() { [1, 1, 0] } else { [1, 0, 1] };
        }
        if depth == 0 {
            return [1, 0, 0];
        }
        self.columns().into_iter().fold([0; 3], |sum, column| {
            let counts = self.play(column).perft(depth - 1);
            [0, 1, 2].map(|index| sum[index] + counts[index])
        })
    }
}
