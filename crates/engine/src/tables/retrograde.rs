//! Makes a table backwards from its mates.
//!
//! Retrograde analysis (Ströhlein 1970, "Untersuchungen über kombinatorische Spiele"; Thompson 1986): from
//! the positions decided in n plies, moves are undone to find those decided in n + 1. If the side to move can
//! reach a position that its opponent loses, it wins. If all its moves reach positions that its opponent
//! wins, it loses: moves are counted once, beforehand, and then counted down.

use cozy_chess::Color;

use super::code::{DRAW, ILLEGAL, PLIES_MAX, STALEMATE};
use super::placement::{Placement, attacks};
use super::{Endgame, EndgameTable};

/// The progress of making a table.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The table in work: that of a capture, or the requested one.
    pub endgame: &'a Endgame,
    /// All positions nearer to mate than this are known, in plies.
    pub plies: u32,
    /// Decided places of the table: won, lost or not legal.
    pub decided: u64,
    /// Places of the table. Places that are never decided are draws.
    pub places: u64,
}

/// Makes a table after those of its captures.
pub(super) fn make(endgame: &Endgame, tell: &mut dyn FnMut(Progress<'_>)) -> EndgameTable {
    let mut parts: Vec<EndgameTable> = Vec::new();
    // Kings, which stand first, are never captured.
    let part_of = (2..endgame.men().len())
        .map(|man| {
            let rest = endgame.without(man);
            let known = parts.iter().position(|part| part.endgame == rest);
            known.unwrap_or_else(|| {
                parts.push(make(&rest, tell));
                parts.len() - 1
            })
        })
        .collect();
    let places = Placement::places(endgame.men().len());
    let mut making = Making {
        endgame,
        parts,
        part_of,
        codes: vec![DRAW; places],
        untried: vec![0; places],
        awaited: vec![0; places],
        awaited_max: 0,
    };
    making.find_legal();
    making.find_moves();
    making.go_back(tell);
    EndgameTable { endgame: endgame.clone(), codes: making.codes }
}

/// A count of untried moves that never reaches 0: one of them keeps at least a draw.
const NEVER_LOST: u8 = u8::MAX;

/// A table in the making. An undecided place counts as a draw until a result is found.
struct Making<'a> {
    endgame: &'a Endgame,
    /// The tables of captures.
    parts: Vec<EndgameTable>,
    /// The index of the table for each captured piece, from the third on.
    part_of: Vec<usize>,
    codes: Vec<u8>,
    /// Twice the moves without capture not known to lose (see [`Making::take_back`]), or [`NEVER_LOST`].
    untried: Vec<u8>,
    /// The plies to a result by captures, or 0: if one wins, the fewest to its mate; otherwise the
    /// most to the own mate among those that lose, before which the place is not lost.
    awaited: Vec<u8>,
    awaited_max: u8,
}

/// A position's captures.
#[derive(Default)]
struct Captures {
    /// The fewest plies to mate of a capture that wins.
    win: Option<u8>,
    /// The most plies of a capture that loses.
    loss: Option<u8>,
    has_draw: bool,
}

impl Making<'_> {
    fn placement(&self, index: usize) -> Placement {
        Placement::at(index, self.endgame.men().len())
    }

    fn find_legal(&mut self) {
        let men = self.endgame.men();
        for index in 0..self.codes.len() {
            let placement = self.placement(index);
            let all = placement.occupied();
            if all.len() as usize != men.len() || placement.is_attacked(men, !placement.turn, all) {
                self.codes[index] = ILLEGAL;
            }
        }
    }

    /// Counts the moves, looks up captures, and finds mates and stalemates.
    fn find_moves(&mut self) {
        let men = self.endgame.men();
        for index in 0..self.codes.len() {
            if self.codes[index] == ILLEGAL {
                continue;
            }
            let placement = self.placement(index);
            let (quiet, captures) = self.moves(&placement);
            let Captures { win, loss, has_draw } = captures;
            if quiet == 0 && win.is_none() && loss.is_none() && !has_draw {
                let is_check = placement.is_attacked(men, placement.turn, placement.occupied());
                self.codes[index] = if is_check { 0 } else { STALEMATE };
                continue;
            }
            // Two queens and a king have 62 moves at most.
            self.untried[index] = if win.is_some() || has_draw { NEVER_LOST } else { 2 * quiet };
            let awaited = win.or(if has_draw { None } else { loss }).unwrap_or(0);
            self.awaited[index] = awaited;
            self.awaited_max = self.awaited_max.max(awaited);
        }
    }

    /// The number of legal moves without capture, and the results of captures.
    fn moves(&self, placement: &Placement) -> (u8, Captures) {
        let men = self.endgame.men();
        let all = placement.occupied();
        let (mut quiet, mut captures) = (0, Captures::default());
        for (man, (&(color, piece), &from)) in men.iter().zip(placement.squares()).enumerate() {
            if color != placement.turn {
                continue;
            }
            for to in attacks(piece, from, all) {
                let there = placement.squares().iter().position(|square| *square == to);
                let moved = placement.moved(man, to);
                let Some(other) = there else {
                    let is_legal = moved.index().is_some_and(|index| self.codes[index] != ILLEGAL);
                    quiet += u8::from(is_legal);
                    continue;
                };
                if men[other].0 == color {
                    continue;
                }
                let part = &self.parts[self.part_of[other - 2]];
                match part.code_of(&moved.without(other)) {
                    ILLEGAL => {}
                    DRAW | STALEMATE => captures.has_draw = true,
                    plies if plies % 2 == 0 => {
                        let plies = plies + 1;
                        captures.win = Some(captures.win.map_or(plies, |best| best.min(plies)));
                    }
                    plies => captures.loss = captures.loss.max(Some(plies + 1)),
                }
            }
        }
        (quiet, captures)
    }

    /// Goes from each number of plies to the next, until nothing new is found.
    fn go_back(&mut self, tell: &mut dyn FnMut(Progress<'_>)) {
        let mut decided = self.codes.iter().filter(|code| **code == ILLEGAL).count() as u64;
        for plies in 0..=PLIES_MAX {
            if plies > 0 && plies <= self.awaited_max {
                self.decide_by_captures(plies);
            }
            let mut found = 0;
            for index in 0..self.codes.len() {
                if self.codes[index] == plies {
                    found += 1;
                    self.take_back(&self.placement(index), plies);
                }
            }
            decided += found;
            let places = self.codes.len() as u64;
            tell(Progress { endgame: self.endgame, plies: plies.into(), decided, places });
            if found == 0 && plies >= self.awaited_max {
                return;
            }
        }
        unreachable!("an endgame of four pieces is decided in far fewer plies");
    }

    /// Decides the places due at this number of plies: won by a capture, or lost by the last of them.
    fn decide_by_captures(&mut self, plies: u8) {
        let is_win = plies % 2 == 1;
        for index in 0..self.codes.len() {
            let is_decided = self.awaited[index] == plies && (is_win || self.untried[index] == 0);
            if is_decided && self.codes[index] == DRAW {
                self.codes[index] = plies;
            }
        }
    }

    /// Undoes every move without capture that leads to a position decided in this many plies.
    ///
    /// The table has one position of each class up to symmetry, with an exception: with both kings on the
    /// diagonal a1-h8 it also has the mirror image in that diagonal. To keep both equal, every result for one
    /// is recorded for the other. Moves are counted for each place separately: a move to a position with
    /// kings off the diagonal is undone once, from its one place. A move to one with kings on it is undone
    /// from both of its places, hence each counts one half; and if both are the same place, its moves come in
    /// mirrored pairs, of which a place off the diagonal has one. If the move comes from a place that is its
    /// own mirror image, both of a mirrored pair lead to one position up to symmetry, and it is found for
    /// both.
    fn take_back(&mut self, placement: &Placement, plies: u8) {
        let is_lost = plies.is_multiple_of(2);
        let step = if placement.is_diagonal() { 1 } else { 2 };
        let mover = !placement.turn;
        let all = placement.occupied();
        for (man, &(color, piece)) in self.endgame.men().iter().enumerate() {
            if color != mover {
                continue;
            }
            for from in attacks(piece, placement.squares()[man], all) & !all {
                let Some((index, mirrored)) = placement.moved(man, from).both_indices() else {
                    continue;
                };
                for index in [Some(index), mirrored].into_iter().flatten() {
                    if is_lost {
                        self.win(index, plies + 1);
                    } else {
                        self.try_one(index, step, plies + 1);
                    }
                }
            }
        }
    }

    fn win(&mut self, index: usize, plies: u8) {
        if self.codes[index] == DRAW {
            self.codes[index] = plies;
        }
    }

    fn try_one(&mut self, index: usize, step: u8, plies: u8) {
        if self.codes[index] != DRAW || self.untried[index] == NEVER_LOST {
            return;
        }
        self.untried[index] -= step;
        if self.untried[index] == 0 && self.awaited[index] <= plies {
            self.codes[index] = plies;
        }
    }
}

/// The colours in the order of the kings.
const _: () = assert!(Color::White as usize == 0 && Color::Black as usize == 1);
