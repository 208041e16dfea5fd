//! A slow, obvious Go: a grid of characters, groups by recursion, and the set of all boards seen.

use std::collections::BTreeSet;

/// Columns have no letter i.
const LETTERS: &str = "abcdefghjklmnopqrst";

type Grid = Vec<Vec<char>>;

#[derive(Clone)]
pub(super) struct SlowGo {
    size: usize,
    half_points: i32,
    suicide: bool,
    /// By row from the bottom, and column.
    grid: Grid,
    /// The board before the last move, unless that was a pass.
    previous: Option<Grid>,
    seen: BTreeSet<Grid>,
    /// Whether the last stone restored a board.
    pub(super) is_repeated: bool,
    side: char,
    passes: usize,
    plies: usize,
}

fn other(side: char) -> char {
    if side == 'b' { 'w' } else { 'b' }
}

impl SlowGo {
    pub(super) fn empty(size: usize, half_points: i32, suicide: bool) -> Self {
        let grid = vec![vec!['.'; size]; size];
        let seen = [grid.clone()].into();
        Self {
            size,
            half_points,
            suicide,
            grid,
            previous: None,
            seen,
            is_repeated: false,
            side: 'b',
            passes: 0,
            plies: 0,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.passes == 2 || self.plies == 3 * self.size * self.size
    }

    fn points(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let size = self.size;
        (0..size).flat_map(move |row| (0..size).map(move |column| (row, column)))
    }

    fn beside(&self, (row, column): (usize, usize)) -> Vec<(usize, usize)> {
        let mut points = Vec::new();
        if row > 0 {
            points.push((row - 1, column));
        }
        if column > 0 {
            points.push((row, column - 1));
        }
        if row + 1 < self.size {
            points.push((row + 1, column));
        }
        if column + 1 < self.size {
            points.push((row, column + 1));
        }
        points
    }

    /// The point and all of its kind that are connected to it.
    fn group(&self, grid: &Grid, point: (usize, usize)) -> BTreeSet<(usize, usize)> {
        let mut group = BTreeSet::new();
        let mut left = vec![point];
        while let Some(point) = left.pop() {
            if group.insert(point) {
                let kind = grid[point.0][point.1];
                left.extend(self.beside(point).into_iter().filter(|&(r, c)| grid[r][c] == kind));
            }
        }
        group
    }

    /// The free points beside a group.
    fn liberties(&self, grid: &Grid, point: (usize, usize)) -> BTreeSet<(usize, usize)> {
        let beside = self.group(grid, point).into_iter().flat_map(|point| self.beside(point));
        beside.filter(|&(row, column)| grid[row][column] == '.').collect()
    }

    fn removed(&self, grid: &mut Grid, point: (usize, usize)) {
        for (row, column) in self.group(grid, point) {
            grid[row][column] = '.';
        }
    }

    /// The board after a stone, if it may be put there by all rules but ko.
    fn after_stone(&self, point: (usize, usize)) -> Option<Grid> {
        if self.grid[point.0][point.1] != '.' {
            return None;
        }
        let mut grid = self.grid.clone();
        grid[point.0][point.1] = self.side;
        for near in self.beside(point) {
            if grid[near.0][near.1] == other(self.side) && self.liberties(&grid, near).is_empty() {
                self.removed(&mut grid, near);
            }
        }
        if self.liberties(&grid, point).is_empty() {
            if !self.suicide || self.group(&grid, point).len() == 1 {
                return None;
            }
            self.removed(&mut grid, point);
        }
        Some(grid)
    }

    fn is_ko(&self, point: (usize, usize)) -> bool {
        self.after_stone(point).is_some_and(|grid| Some(grid) == self.previous)
    }

    pub(super) fn moves(&self) -> Vec<String> {
        if self.is_over() {
            return Vec::new();
        }
        let legal =
            |&point: &(usize, usize)| self.after_stone(point).is_some() && !self.is_ko(point);
        let name = |(row, column)| format!("{}{}", LETTERS.as_bytes()[column] as char, row + 1);
        self.points().filter(legal).map(name).chain(["pass".to_owned()]).collect()
    }

    pub(super) fn play(&self, mv: &str) -> Self {
        let mut next = self.clone();
        (next.previous, next.is_repeated) = (None, false);
        if mv == "pass" {
            next.passes += 1;
        } else {
            let column = LETTERS.find(&mv[..1]).unwrap();
            let row: usize = mv[1..].parse().unwrap();
            next.grid = self.after_stone((row - 1, column)).unwrap();
            next.previous = Some(self.grid.clone());
            next.is_repeated = !next.seen.insert(next.grid.clone());
            next.passes = 0;
        }
        next.side = other(self.side);
        next.plies += 1;
        next
    }

    pub(super) fn text(&self) -> String {
        let point = |(row, column): (usize, usize)| match self.grid[row][column] {
            '.' if !self.is_over() && self.is_ko((row, column)) => 'k',
            other => other,
        };
        let row = |row| (0..self.size).map(|column| point((row, column))).collect();
        let rows: Vec<String> = (0..self.size).rev().map(row).collect();
        format!("{} {} {} {}", rows.join("/"), self.side, self.passes, self.plies)
    }

    fn count(&self, is_counted: impl Fn((usize, usize)) -> bool) -> i32 {
        self.points().filter(|&point| is_counted(point)).count() as i32
    }

    /// Whether a free region has stones of a side beside it.
    fn reaches(&self, point: (usize, usize), side: char) -> bool {
        let region = self.group(&self.grid, point);
        region
            .into_iter()
            .any(|point| self.beside(point).iter().any(|&(r, c)| self.grid[r][c] == side))
    }

    fn area(&self, side: char) -> i32 {
        self.count(|point| match self.grid[point.0][point.1] {
            '.' => self.reaches(point, side) && !self.reaches(point, other(side)),
            stone => stone == side,
        })
    }

    /// Black's lead in half points.
    pub(super) fn margin(&self) -> i32 {
        2 * (self.area('b') - self.area('w')) - self.half_points
    }

    /// Points that a side reaches in fewer steps than the other, over points that no side reached before.
    fn influence(&self, side: char) -> i32 {
        let mut grid = self.grid.clone();
        loop {
            let near = |point, side| self.beside(point).iter().any(|&(r, c)| grid[r][c] == side);
            let reached: Vec<_> = self
                .points()
                .filter(|&(row, column)| grid[row][column] == '.')
                .map(|point| (point, near(point, 'b'), near(point, 'w')))
                .filter(|&(_, black, white)| black || white)
                .collect();
            if reached.is_empty() {
                return grid.iter().flatten().filter(|&&kind| kind == side).count() as i32;
            }
            for ((row, column), black, white) in reached {
                grid[row][column] = match (black, white) {
                    (true, true) => '-',
                    (true, false) => 'b',
                    _ => 'w',
                };
            }
        }
    }

    /// A feature of formulas, by its name without `own_` and `opp_`.
    pub(super) fn feature(&self, name: &str, side: char) -> i32 {
        let is_stone = |(row, column): (usize, usize)| self.grid[row][column] == side;
        match name {
            "stones" => self.count(is_stone),
            "liberties" => self.count(|point| {
                self.grid[point.0][point.1] == '.' && self.beside(point).into_iter().any(is_stone)
            }),
            "area" => self.area(side),
            "influence" => self.influence(side),
            "atari" => {
                self.count(|point| is_stone(point) && self.liberties(&self.grid, point).len() == 1)
            }
            other => panic!("{other}"),
        }
    }

    pub(super) fn side(&self) -> char {
        self.side
    }
}
