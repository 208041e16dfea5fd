//! Pentago's slow reference: an array of 36 cells and loops that read like the rules.

/// 0 is white, 1 black.
pub(crate) type Side = usize;

/// Down and right of a step in each of the four directions.
const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// Cells row by row from the top left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlowBoard {
    cells: [Option<Side>; 36],
}

/// How the twin's game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlowEnd {
    FiveByPlacement(Side),
    FiveByRotation(Side),
    BothFive,
    FullBoard,
}

/// A cell, and the turn of a quadrant (0 top left, 1 top right, 2 bottom left, 3 bottom right;
/// clockwise or not).
pub(crate) type SlowMove = (usize, Option<(usize, bool)>);

impl SlowBoard {
    pub(crate) fn from_text(text: &str) -> Self {
        let mut cells = [None; 36];
        for (cell, character) in cells.iter_mut().zip(text.chars()) {
            *cell = match character {
                'w' => Some(0),
                'b' => Some(1),
                _ => None,
            };
        }
        Self { cells }
    }

    pub(crate) fn text(&self) -> String {
        self.cells
            .iter()
            .map(|cell| match cell {
                Some(0) => 'w',
                Some(_) => 'b',
                None => '.',
            })
            .collect()
    }

    fn at(&self, row: i32, column: i32) -> Option<Side> {
        let inside = (0..6).contains(&row) && (0..6).contains(&column);
        if inside { self.cells[(row * 6 + column) as usize] } else { None }
    }

    pub(crate) fn mover(&self) -> Side {
        self.cells.iter().flatten().count() % 2
    }

    pub(crate) fn has_five(&self, side: Side) -> bool {
        (0..6).any(|row| {
            (0..6).any(|column| {
                DIRECTIONS.iter().any(|(down, right)| {
                    (0..5)
                        .all(|step| self.at(row + step * down, column + step * right) == Some(side))
                })
            })
        })
    }

    /// The legal moves of a game that is not over.
    pub(crate) fn legal_moves(&self, win_before_rotation: bool) -> Vec<SlowMove> {
        let mut moves = Vec::new();
        for cell in (0..36).filter(|&cell| self.cells[cell].is_none()) {
            let mut placed = self.clone();
            placed.cells[cell] = Some(self.mover());
            if win_before_rotation && placed.has_five(self.mover()) {
                moves.push((cell, None));
                continue;
            }
            for quadrant in 0..4 {
                moves.push((cell, Some((quadrant, true))));
                moves.push((cell, Some((quadrant, false))));
            }
        }
        moves
    }

    /// Plays a legal move and says whether it ended the game.
    pub(crate) fn play(&mut self, (cell, turn): SlowMove) -> Option<SlowEnd> {
        let mover = self.mover();
        self.cells[cell] = Some(mover);
        let Some((quadrant, clockwise)) = turn else {
            return Some(SlowEnd::FiveByPlacement(mover));
        };
        self.turn(quadrant, clockwise);
        self.end_after_turn()
    }

    pub(crate) fn end_after_turn(&self) -> Option<SlowEnd> {
        match (self.has_five(0), self.has_five(1)) {
            (true, true) => Some(SlowEnd::BothFive),
            (true, false) => Some(SlowEnd::FiveByRotation(0)),
            (false, true) => Some(SlowEnd::FiveByRotation(1)),
            (false, false) if self.cells.iter().all(Option::is_some) => Some(SlowEnd::FullBoard),
            (false, false) => None,
        }
    }

    pub(crate) fn turn(&mut self, quadrant: usize, clockwise: bool) {
        let (top, left) = (quadrant / 2 * 3, quadrant % 2 * 3);
        let before = self.cells;
        for row in 0..3 {
            for column in 0..3 {
                // Clockwise, the left column read upwards becomes the top row.
                let (from_row, from_column) =
                    if clockwise { (2 - column, row) } else { (column, 2 - row) };
                self.cells[(top + row) * 6 + left + column] =
                    before[(top + from_row) * 6 + left + from_column];
            }
        }
    }

    /// The evaluation `runs` with these weights of a run of three, of four, and a centre.
    pub(crate) fn runs(&self, [run3, run4, centre]: [i32; 3]) -> i32 {
        let value = |side| {
            let centres = [7, 10, 25, 28].iter().filter(|&&c| self.cells[c] == Some(side)).count();
            run3 * self.runs_of(3, side) + run4 * self.runs_of(4, side) + centre * centres as i32
        };
        value(self.mover()) - value(1 - self.mover())
    }

    /// Maximal runs of a length, by looking at every cell where one could begin.
    fn runs_of(&self, length: i32, side: Side) -> i32 {
        let own = |row, column| self.at(row, column) == Some(side);
        let mut runs = 0;
        for (down, right) in DIRECTIONS {
            for row in 0..6 {
                for column in 0..6 {
                    let begins = own(row, column) && !own(row - down, column - right);
                    let mut marbles = 0;
                    while begins && own(row + marbles * down, column + marbles * right) {
                        marbles += 1;
                    }
                    runs += i32::from(marbles == length);
                }
            }
        }
        runs
    }

    /// The evaluation `lines` with these weights of a line with one to four marbles.
    pub(crate) fn lines(&self, weights: [i32; 4]) -> i32 {
        let mut total = 0;
        for (down, right) in DIRECTIONS {
            for row in 0..6 {
                for column in 0..6 {
                    let inside = |at: i32| (0..6).contains(&at);
                    if !inside(row + 4 * down) || !inside(column + 4 * right) {
                        continue;
                    }
                    let marbles = |side| {
                        let cells = (0..5).map(|s| self.at(row + s * down, column + s * right));
                        cells.filter(|cell| *cell == Some(side)).count()
                    };
                    match (marbles(self.mover()), marbles(1 - self.mover())) {
                        (own @ 1..=4, 0) => total += weights[own - 1],
                        (0, other @ 1..=4) => total -= weights[other - 1],
                        _ => {}
                    }
                }
            }
        }
        total
    }

    /// The board after a quarter turn of the whole board clockwise.
    pub(crate) fn rotated(&self) -> Self {
        let mut rotated = self.clone();
        for row in 0..6 {
            for column in 0..6 {
                rotated.cells[row * 6 + column] = self.cells[(5 - column) * 6 + row];
            }
        }
        rotated
    }

    /// The board with left and right exchanged.
    pub(crate) fn reflected(&self) -> Self {
        let mut reflected = self.clone();
        for row in 0..6 {
            for column in 0..6 {
                reflected.cells[row * 6 + column] = self.cells[row * 6 + 5 - column];
            }
        }
        reflected
    }
}
