//! Othello as anyone would write it: a grid of characters, followed square by square.

/// A grid, the top row first: `b`, `w` or `.`; and whose turn it is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SlowOthello {
    squares: [[char; 8]; 8],
    to_move: char,
}

/// A row and a column, from 0 on.
type Square = (usize, usize);

/// What a step in each direction adds to row and column.
const DIRECTIONS: [(i32, i32); 8] =
    [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];

const fn other(side: char) -> char {
    if side == 'b' { 'w' } else { 'b' }
}

impl SlowOthello {
    pub(crate) fn initial() -> Self {
        let mut squares = [['.'; 8]; 8];
        (squares[3][3], squares[3][4]) = ('w', 'b');
        (squares[4][3], squares[4][4]) = ('b', 'w');
        Self { squares, to_move: 'b' }
    }

    pub(crate) fn text(&self) -> String {
        let squares: String = self.squares.iter().flatten().collect();
        format!("{squares} {}", self.to_move)
    }

    pub(crate) const fn to_move(&self) -> char {
        self.to_move
    }

    pub(crate) fn count(&self, content: char) -> usize {
        self.squares.iter().flatten().filter(|&&square| square == content).count()
    }

    /// The squares in a direction from one, to the edge of the board.
    fn ray((row, column): Square, (down, right): (i32, i32)) -> Vec<Square> {
        (1..8)
            .map(|steps| (row as i32 + steps * down, column as i32 + steps * right))
            .take_while(|(row, column)| (0..8).contains(row) && (0..8).contains(column))
            .map(|(row, column)| (row as usize, column as usize))
            .collect()
    }

    fn at(&self, (row, column): Square) -> char {
        self.squares[row][column]
    }

    /// What a disc of a side on a square flips.
    fn flipped(&self, square: Square, side: char) -> Vec<Square> {
        if self.at(square) != '.' {
            return Vec::new();
        }
        let mut flipped = Vec::new();
        for direction in DIRECTIONS {
            let ray = Self::ray(square, direction);
            let run = ray.iter().take_while(|&&square| self.at(square) == other(side)).count();
            if ray.get(run).is_some_and(|&square| self.at(square) == side) {
                flipped.extend(&ray[..run]);
            }
        }
        flipped
    }

    pub(crate) fn squares_of(&self, side: char) -> Vec<Square> {
        let all = (0..8).flat_map(|row| (0..8).map(move |column| (row, column)));
        all.filter(|&square| !self.flipped(square, side).is_empty()).collect()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.squares_of('b').is_empty() && self.squares_of('w').is_empty()
    }

    /// The moves in words.
    pub(crate) fn moves(&self) -> Vec<String> {
        if self.is_over() {
            return Vec::new();
        }
        let squares = self.squares_of(self.to_move);
        if squares.is_empty() {
            return vec!["pass".to_owned()];
        }
        let name = |(row, column)| {
            format!("{}{}", (b'a' + column as u8) as char, (b'1' + row as u8) as char)
        };
        squares.into_iter().map(name).collect()
    }

    pub(crate) fn play(&self, mv: &str) -> Self {
        let mut next = self.clone();
        next.to_move = other(self.to_move);
        if mv != "pass" {
            let bytes = mv.as_bytes();
            let square = ((bytes[1] - b'1') as usize, (bytes[0] - b'a') as usize);
            for (row, column) in self.flipped(square, self.to_move).into_iter().chain([square]) {
                next.squares[row][column] = self.to_move;
            }
        }
        next
    }

    /// Turned a quarter to the right, or mirrored.
    pub(crate) fn image(&self, is_turned: bool) -> Self {
        let mut image = self.clone();
        for row in 0..8 {
            for column in 0..8 {
                let from = if is_turned { (7 - column, row) } else { (row, 7 - column) };
                image.squares[row][column] = self.at(from);
            }
        }
        image
    }

    /// Discs of the side to move less the other's.
    pub(crate) fn discs(&self) -> i32 {
        self.count(self.to_move) as i32 - self.count(other(self.to_move)) as i32
    }

    /// The class of a square: the letters that stand in the upper left triangle, mirrored into the rest.
    pub(crate) fn class((row, column): Square) -> usize {
        const LETTERS: [&str; 4] = ["abcd", "befg", "cfhi", "dgij"];
        let nearer = |line: usize| line.min(7 - line);
        let letter = LETTERS[nearer(row)].as_bytes()[nearer(column)];
        usize::from(letter - b'a')
    }

    /// Discs on each class, of a side.
    pub(crate) fn on_classes(&self, side: char) -> [i32; 10] {
        let mut counts = [0; 10];
        for row in 0..8 {
            for column in 0..8 {
                counts[Self::class((row, column))] += i32::from(self.at((row, column)) == side);
            }
        }
        counts
    }

    /// Discs of a side on squares that are so many steps from the nearest corner, as the king of chess walks, and meet
    /// this.
    fn count_near_corners(&self, side: char, is_meant: impl Fn(Square, usize) -> bool) -> i32 {
        let mut count = 0;
        for row in 0..8_usize {
            for column in 0..8_usize {
                let corners = [(0, 0), (0, 7), (7, 0), (7, 7)];
                let steps = corners.map(|(r, c): Square| row.abs_diff(r).max(column.abs_diff(c)));
                let nearest = steps.into_iter().min().unwrap();
                let is_counted = is_meant((row, column), nearest) && self.at((row, column)) == side;
                count += i32::from(is_counted);
            }
        }
        count
    }

    /// Discs of a side on the rim of the board, except in its corners.
    pub(crate) fn edges(&self, side: char) -> i32 {
        let is_rim = |line: usize| line == 0 || line == 7;
        self.count_near_corners(side, |(r, c), steps| (is_rim(r) || is_rim(c)) && steps > 0)
    }

    /// Discs of a side one step from a corner.
    pub(crate) fn near_corners(&self, side: char) -> i32 {
        self.count_near_corners(side, |_, steps| steps == 1)
    }

    /// The evaluation `squares`, for the side to move.
    pub(crate) fn squares(&self, weights: [i32; 10]) -> i32 {
        let [own, others] = [self.to_move, other(self.to_move)].map(|side| self.on_classes(side));
        (0..10).map(|class| weights[class] * (own[class] - others[class])).sum()
    }

    /// The evaluation `mobility`, for the side to move.
    pub(crate) fn mobility(&self, weights: [i32; 5]) -> i32 {
        let counts = |side: char| -> [i32; 5] {
            let moves = self.squares_of(side).len() as i32;
            let (mut potential, mut corners, mut diagonal, mut edge) = (0, 0, 0, 0);
            for row in 0..8 {
                for column in 0..8 {
                    let square = (row, column);
                    let near: Vec<Square> = DIRECTIONS
                        .iter()
                        .filter_map(|&direction| Self::ray(square, direction).first().copied())
                        .collect();
                    let is_open = self.at(square) == '.';
                    let is_beside = near.iter().any(|&near| self.at(near) == other(side));
                    potential += i32::from(is_open && is_beside);
                    if self.at(square) != side {
                        continue;
                    }
                    let is_corner = |&(row, column): &Square| row % 7 == 0 && column % 7 == 0;
                    corners += i32::from(is_corner(&square));
                    let gives_away =
                        near.iter().any(|near| is_corner(near) && self.at(*near) == '.');
                    let is_on_edge = row % 7 == 0 || column % 7 == 0;
                    diagonal += i32::from(gives_away && !is_on_edge);
                    edge += i32::from(gives_away && is_on_edge);
                }
            }
            [moves, potential, corners, diagonal, edge]
        };
        let [own, others] = [self.to_move, other(self.to_move)].map(counts);
        (0..5).map(|class| weights[class] * (own[class] - others[class])).sum()
    }

    /// Plain minimax to the end of the game, for the side to move: 1, 0 or -1.
    pub(crate) fn solve(&self) -> i32 {
        if self.is_over() {
            return self.discs().signum();
        }
        self.moves().iter().map(|mv| -self.play(mv).solve()).max().unwrap()
    }

    /// Leaves of the tree of this depth, games that ended before it among them.
    pub(crate) fn perft(&self, depth: u32) -> u64 {
        let moves = self.moves();
        if depth == 0 || moves.is_empty() {
            return 1;
        }
        moves.iter().map(|mv| self.play(mv).perft(depth - 1)).sum()
    }
}
