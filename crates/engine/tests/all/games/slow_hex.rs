//! Hex as anyone would write it: a grid of characters, cells followed one by one.

use std::collections::{BTreeMap, BTreeSet};

type Cell = (i32, i32);

/// A grid, the top row first: `r`, `b` or `.`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlowHex {
    cells: Vec<Vec<char>>,
    to_move: char,
    has_swap_rule: bool,
}

impl SlowHex {
    pub(crate) fn empty(size: usize, has_swap_rule: bool) -> Self {
        Self { cells: vec![vec!['.'; size]; size], to_move: 'r', has_swap_rule }
    }

    pub(crate) fn text(&self) -> String {
        let cells: String = self.cells.iter().flatten().collect();
        format!("{cells} {}", self.to_move)
    }

    pub(crate) const fn to_move(&self) -> char {
        self.to_move
    }

    fn size(&self) -> i32 {
        self.cells.len() as i32
    }

    fn at(&self, (row, column): Cell) -> char {
        self.cells[row as usize][column as usize]
    }

    fn places(&self) -> impl Iterator<Item = Cell> + use<> {
        let size = self.size();
        (0..size).flat_map(move |row| (0..size).map(move |column| (row, column)))
    }

    fn count(&self, letter: char) -> usize {
        self.places().filter(|&cell| self.at(cell) == letter).count()
    }

    fn neighbours(&self, (row, column): Cell) -> Vec<Cell> {
        let around = [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)];
        let inside = 0..self.size();
        around
            .map(|(down, right)| (row + down, column + right))
            .into_iter()
            .filter(|(row, column)| inside.contains(row) && inside.contains(column))
            .collect()
    }

    /// The cell's place between a side's edges: 0 on the first one.
    fn depth(side: char, (row, column): Cell) -> i32 {
        if side == 'r' { row } else { column }
    }

    /// The stones joined to a stone.
    fn chain(&self, stone: Cell) -> BTreeSet<Cell> {
        let mut chain = BTreeSet::from([stone]);
        let mut pending = vec![stone];
        while let Some(cell) = pending.pop() {
            for near in self.neighbours(cell) {
                if self.at(near) == self.at(stone) && chain.insert(near) {
                    pending.push(near);
                }
            }
        }
        chain
    }

    pub(crate) fn winner(&self) -> Option<char> {
        ['r', 'b'].into_iter().find(|&side| {
            self.places().filter(|&cell| self.at(cell) == side).any(|stone| {
                let chain = self.chain(stone);
                let is_at = |depth| chain.iter().any(|&cell| Self::depth(side, cell) == depth);
                is_at(0) && is_at(self.size() - 1)
            })
        })
    }

    fn may_swap(&self) -> bool {
        self.has_swap_rule && self.to_move == 'b' && self.count('r') == 1 && self.count('b') == 0
    }

    /// The moves as text.
    pub(crate) fn moves(&self) -> Vec<String> {
        if self.winner().is_some() {
            return Vec::new();
        }
        let free = self.places().filter(|&cell| self.at(cell) == '.');
        let letter = |column: i32| ('a'..='s').nth(column as usize).unwrap();
        let stones = free.map(|(row, column)| format!("{}{}", letter(column), row + 1));
        stones.chain(self.may_swap().then(|| "swap-pieces".to_owned())).collect()
    }

    pub(crate) fn play(&self, mv: &str) -> Self {
        let mut next = self.clone();
        next.to_move = if self.to_move == 'r' { 'b' } else { 'r' };
        if mv == "swap-pieces" {
            let (row, column) = self.places().find(|&cell| self.at(cell) == 'r').unwrap();
            next.cells[row as usize][column as usize] = '.';
            next.cells[column as usize][row as usize] = 'b';
            return next;
        }
        let column = mv.as_bytes()[0] - b'a';
        let row: usize = mv[1..].parse().unwrap();
        next.cells[row - 1][usize::from(column)] = self.to_move;
        next
    }

    pub(crate) fn turned(&self) -> Self {
        let mut turned = self.clone();
        turned.cells.reverse();
        turned.cells.iter_mut().for_each(|row| row.reverse());
        turned
    }

    /// Plain minimax to the end of the game: whether the side to move wins.
    pub(crate) fn wins(&self, known: &mut BTreeMap<Self, bool>) -> bool {
        if self.winner().is_some() {
            return false;
        }
        if let Some(&wins) = known.get(self) {
            return wins;
        }
        let wins = self.moves().iter().any(|mv| !self.play(mv).wins(known));
        known.insert(self.clone(), wins);
        wins
    }

    /// Leaves of the tree of this depth, and how many of them are won.
    pub(crate) fn perft(&self, depth: u32) -> [u64; 2] {
        if self.winner().is_some() {
            return [1, 1];
        }
        if depth == 0 {
            return [1, 0];
        }
        self.moves().iter().fold([0; 2], |sum, mv| {
            let counts = self.play(mv).perft(depth - 1);
            [0, 1].map(|index| sum[index] + counts[index])
        })
    }

    /// The fewest stones that join a side's edges: distances are lowered until none changes.
    pub(crate) fn distance(&self, side: char) -> usize {
        let cost = |cell| match self.at(cell) {
            '.' => Some(1),
            stone if stone == side => Some(0),
            _ => None,
        };
        let mut distances: BTreeMap<Cell, usize> = BTreeMap::new();
        loop {
            let mut is_changed = false;
            for cell in self.places() {
                let Some(cost) = cost(cell) else { continue };
                let before = self
                    .neighbours(cell)
                    .into_iter()
                    .filter_map(|near| distances.get(&near).copied());
                let on_edge = (Self::depth(side, cell) == 0).then_some(0);
                let Some(least) = before.chain(on_edge).min() else { continue };
                if distances.get(&cell).is_none_or(|&distance| least + cost < distance) {
                    distances.insert(cell, least + cost);
                    is_changed = true;
                }
            }
            if !is_changed {
                break;
            }
        }
        let is_last = |cell: &Cell| Self::depth(side, *cell) == self.size() - 1;
        distances
            .iter()
            .filter(|(cell, _)| is_last(cell))
            .map(|(_, &distance)| distance)
            .min()
            .unwrap()
    }

    /// The empty cells that a stone of the side on this cell would be beside, by chains as well, and whether it
    /// would be joined to the edge of this depth.
    fn around(&self, side: char, cell: Cell, edge: i32) -> (BTreeSet<Cell>, bool) {
        let mut with_stone = self.clone();
        with_stone.cells[cell.0 as usize][cell.1 as usize] = side;
        let chain = with_stone.chain(cell);
        let free = chain.iter().flat_map(|&stone| self.neighbours(stone));
        let free = free.filter(|&near| self.at(near) == '.' && near != cell).collect();
        (free, chain.iter().any(|&stone| Self::depth(side, stone) == edge))
    }

    /// The least sum of two-distances, and the number of cells that have it.
    pub(crate) fn potential(&self, side: char) -> Option<(usize, usize)> {
        let free: Vec<Cell> = self.places().filter(|&cell| self.at(cell) == '.').collect();
        let from_edge = |edge: i32| {
            let mut distances: BTreeMap<Cell, usize> = BTreeMap::new();
            for distance in 1..=free.len() {
                let before = distances.clone();
                for &cell in &free {
                    let (around, is_joined) = self.around(side, cell, edge);
                    let nearer = around.iter().filter(|near| before.contains_key(near)).count();
                    if !before.contains_key(&cell) && (is_joined || nearer >= 2) {
                        distances.insert(cell, distance);
                    }
                }
            }
            distances
        };
        let (first, last) = (from_edge(0), from_edge(self.size() - 1));
        let sums: Vec<usize> =
            free.iter().filter_map(|cell| Some(first.get(cell)? + last.get(cell)?)).collect();
        let least = *sums.iter().min()?;
        Some((least, sums.iter().filter(|&&sum| sum == least).count()))
    }

    /// Pairs of a side's stones that have exactly two common neighbours, both free, and are not beside each other.
    pub(crate) fn bridges(&self, side: char) -> usize {
        let own: Vec<Cell> = self.places().filter(|&cell| self.at(cell) == side).collect();
        let is_bridge = |stone: Cell, other: Cell| {
            let around: BTreeSet<Cell> = self.neighbours(stone).into_iter().collect();
            let common: Vec<Cell> =
                self.neighbours(other).into_iter().filter(|near| around.contains(near)).collect();
            let is_free = common.iter().all(|&cell| self.at(cell) == '.');
            !around.contains(&other) && common.len() == 2 && is_free
        };
        let pairs = own.iter().flat_map(|&stone| own.iter().map(move |&other| (stone, other)));
        pairs.filter(|&(stone, other)| stone < other && is_bridge(stone, other)).count()
    }
}
