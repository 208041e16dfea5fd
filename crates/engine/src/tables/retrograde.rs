//! Makes a table backwards from its mates.
//!
//! Retrograde analysis (Ströhlein 1970, "Untersuchungen über kombinatorische Spiele"; Thompson 1986): from
//! the positions decided in n plies, moves are undone to find those decided in n + 1. If the side to move can
//! reach a position that its opponent loses, it wins. If all its moves reach positions that its opponent
//! wins, it loses: moves are counted once, beforehand, and then counted down.

use std::collections::BTreeMap;
use std::rc::Rc;

use cozy_chess::{BitBoard, Color, Piece, Rank, Square, get_pawn_attacks, get_pawn_quiets};

use super::code::{DRAW, ILLEGAL, PLIES_MAX, STALEMATE};
use super::placement::{Placement, attacks};
use super::{Endgame, EndgameTable, Metric};

/// The progress of making a table.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The table in work: that of a capture or promotion, or the requested one.
    pub endgame: &'a Endgame,
    /// All positions nearer to mate than this are known, in plies.
    pub plies: u32,
    /// Decided places of the table: won, lost or not legal.
    pub decided: u64,
    /// Places of the table. Places that are never decided are draws.
    pub places: u64,
}

/// Makes a table after those of its captures and promotions, of which only the results matter if distances lead to
/// conversion.
pub(super) fn make(
    endgame: &Endgame,
    metric: Metric,
    tell: &mut dyn FnMut(Progress<'_>),
) -> EndgameTable {
    make_after(endgame, metric, &mut BTreeMap::new(), tell)
}

/// Makes a table after those of its captures and promotions, where they are not made yet.
fn make_after(
    endgame: &Endgame,
    metric: Metric,
    made: &mut BTreeMap<String, Rc<EndgameTable>>,
    tell: &mut dyn FnMut(Progress<'_>),
) -> EndgameTable {
    let mut part = |men: &[Option<(Color, Piece)>]| {
        let (left, at): (Vec<_>, Vec<_>) =
            men.iter().zip(0..).filter_map(|(man, at)| Some(((*man)?, at))).unzip();
        let (rest, places, is_exchanged) = Endgame::of_pieces(&left);
        let table = match made.get(rest.name()) {
            Some(table) => Rc::clone(table),
            None => {
                let table = Rc::new(make_after(&rest, Metric::Mate, made, tell));
                made.insert(rest.name().to_owned(), Rc::clone(&table));
                table
            }
        };
        let places = places.into_iter().map(|place| at[usize::from(place)]).collect();
        Part { table, places, is_exchanged }
    };
    let men: Vec<_> = endgame.men().iter().copied().map(Some).collect();
    let with = |man: usize, now| {
        let mut changed = men.clone();
        changed[man] = now;
        changed
    };
    // Kings, which stand first, are never captured.
    let captures = (2..men.len()).map(|man| part(&with(man, None))).collect();
    let mut promotions = Vec::new();
    for (man, &(color, piece)) in endgame.men().iter().enumerate() {
        let pieces = if piece == Piece::Pawn { &PROMOTIONS[..] } else { &[] };
        promotions.push(
            pieces
                .iter()
                .map(|piece| {
                    let promoted = with(man, Some((color, *piece)));
                    let quiet = part(&promoted);
                    let mut capture = |captured: usize| {
                        let mut left = promoted.clone();
                        left[captured] = None;
                        part(&left)
                    };
                    let is_enemy = |other: &usize| endgame.men()[*other].0 != color;
                    let enemies = (2..men.len()).filter(is_enemy);
                    let captures = enemies.map(|other| (other, capture(other))).collect();
                    Promotion { quiet, captures }
                })
                .collect(),
        );
    }
    let places = endgame.layout().places();
    let mut making = Making {
        endgame,
        metric,
        captures,
        promotions,
        codes: vec![DRAW; places],
        untried: vec![0; places],
        awaited: vec![0; places],
        awaited_max: 0,
    };
    making.find_legal();
    making.find_moves();
    making.go_back(tell);
    EndgameTable { endgame: endgame.clone(), metric, codes: making.codes }
}

/// The pieces that a pawn can become.
const PROMOTIONS: [Piece; 4] = [Piece::Queen, Piece::Rook, Piece::Bishop, Piece::Knight];

/// A table of other pieces, to which a capture or a promotion leads.
struct Part {
    table: Rc<EndgameTable>,
    /// For each of its pieces the place among those of the table in the making, and whether colours are
    /// exchanged.
    places: Vec<u8>,
    is_exchanged: bool,
}

impl Part {
    fn code(&self, placement: &Placement) -> u8 {
        let layout = self.table.endgame.layout();
        self.table.code_of(&placement.part(layout, &self.places, self.is_exchanged))
    }
}

/// The tables after a pawn became a certain piece.
struct Promotion {
    quiet: Part,
    /// By the place of the piece that it captured.
    captures: Vec<(usize, Part)>,
}

/// A count of untried moves that never reaches 0: one of them keeps at least a draw.
const NEVER_LOST: u8 = u8::MAX;

/// A table in the making. An undecided place counts as a draw until a result is found.
struct Making<'a> {
    endgame: &'a Endgame,
    metric: Metric,
    /// For each captured piece, from the third on.
    captures: Vec<Part>,
    /// For each piece; none but for pawns.
    promotions: Vec<Vec<Promotion>>,
    codes: Vec<u8>,
    /// Twice the quiet moves not known to lose (see [`Making::take_back`]), or [`NEVER_LOST`].
    untried: Vec<u8>,
    /// The plies to a result by conversions, or 0: if one wins, the fewest to its mate; otherwise the
    /// most to the own mate among those that lose, before which the place is not lost.
    awaited: Vec<u8>,
    awaited_max: u8,
}

/// A position's conversions: its captures and promotions, which lead to other tables.
#[derive(Default)]
struct Conversions {
    /// The fewest plies to the end of one that wins.
    win: Option<u8>,
    /// The most plies of one that loses.
    loss: Option<u8>,
    has_draw: bool,
}

impl Conversions {
    /// Takes one in that leads to a position with this code.
    fn add(&mut self, code: u8) {
        match code {
            ILLEGAL => {}
            DRAW | STALEMATE => self.has_draw = true,
            plies if plies % 2 == 0 => {
                let plies = plies + 1;
                self.win = Some(self.win.map_or(plies, |best| best.min(plies)));
            }
            plies => self.loss = self.loss.max(Some(plies + 1)),
        }
    }

    /// The same where conversions are the end.
    fn counted_by(self, metric: Metric) -> Self {
        match metric {
            Metric::Mate => self,
            Metric::Conversion => {
                let Self { win, loss, has_draw } = self;
                Self { win: win.map(|_| 1), loss: loss.map(|_| 2), has_draw }
            }
        }
    }
}

impl Making<'_> {
    fn placement(&self, index: usize) -> Placement {
        Placement::at(index, self.endgame.layout())
    }

    fn find_legal(&mut self) {
        let men = self.endgame.men();
        for index in 0..self.codes.len() {
            let placement = self.placement(index);
            let all = placement.occupied();
            if all.len() as usize != men.len()
                || !placement.has_possible_pawns()
                || placement.is_attacked(men, !placement.turn, all)
            {
                self.codes[index] = ILLEGAL;
            }
        }
    }

    /// Counts the moves, looks up conversions, and finds mates and stalemates.
    fn find_moves(&mut self) {
        let men = self.endgame.men();
        for index in 0..self.codes.len() {
            if self.codes[index] == ILLEGAL {
                continue;
            }
            let placement = self.placement(index);
            let (quiet, conversions) = self.moves(&placement);
            let Conversions { win, loss, has_draw } = conversions.counted_by(self.metric);
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

    /// The number of legal quiet moves, and the results of conversions.
    fn moves(&self, placement: &Placement) -> (u8, Conversions) {
        let men = self.endgame.men();
        let all = placement.occupied();
        let (mut quiet, mut conversions) = (0, Conversions::default());
        for (man, (&mover, &from)) in men.iter().zip(placement.squares()).enumerate() {
            if mover.0 != placement.turn {
                continue;
            }
            if mover.1 == Piece::Pawn {
                quiet += self.pawn_moves(placement, man, &mut conversions);
                continue;
            }
            for to in attacks(mover, from, all) {
                let moved = placement.moved(man, to);
                match piece_at(placement, to) {
                    None => quiet += u8::from(self.is_legal(&moved)),
                    Some(other) if men[other].0 == mover.0 => {}
                    Some(other) => conversions.add(self.captures[other - 2].code(&moved)),
                }
            }
        }
        (quiet, conversions)
    }

    /// The same of the pawn at this place.
    fn pawn_moves(&self, placement: &Placement, man: usize, found: &mut Conversions) -> u8 {
        let men = self.endgame.men();
        let (color, from) = (men[man].0, placement.squares()[man]);
        let all = placement.occupied();
        let mut quiet = 0;
        for to in get_pawn_quiets(from, color, all) {
            if is_last_rank(to) {
                let moved = placement.moved(man, to);
                for promotion in &self.promotions[man] {
                    found.add(promotion.quiet.code(&moved));
                }
            } else {
                quiet += u8::from(self.is_legal(&stepped(placement, man, to)));
            }
        }
        for to in get_pawn_attacks(from, color) {
            let moved = placement.moved(man, to);
            let passer = placement.passer.filter(|_| placement.passed_square() == Some(to));
            let Some(other) = piece_at(placement, to).or(passer.map(usize::from)) else { continue };
            if men[other].0 == color {
                continue;
            }
            if is_last_rank(to) {
                for promotion in &self.promotions[man] {
                    let mut captures = promotion.captures.iter();
                    let part = captures.find(|(captured, _)| *captured == other);
                    found.add(part.map_or(ILLEGAL, |(_, part)| part.code(&moved)));
                }
            } else {
                found.add(self.captures[other - 2].code(&moved));
            }
        }
        quiet
    }

    fn is_legal(&self, placement: &Placement) -> bool {
        placement.index().is_some_and(|index| self.codes[index] != ILLEGAL)
    }

    /// Goes from each number of plies to the next, until nothing new is found.
    fn go_back(&mut self, tell: &mut dyn FnMut(Progress<'_>)) {
        let mut decided = self.codes.iter().filter(|code| **code == ILLEGAL).count() as u64;
        for plies in 0..=PLIES_MAX {
            if plies > 0 && plies <= self.awaited_max {
                self.decide_by_conversions(plies);
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

    /// Decides the places due at this number of plies: won by a conversion, or lost by the last of them.
    fn decide_by_conversions(&mut self, plies: u8) {
        let is_win = plies % 2 == 1;
        for index in 0..self.codes.len() {
            let is_decided = self.awaited[index] == plies && (is_win || self.untried[index] == 0);
            if is_decided && self.codes[index] == DRAW {
                self.codes[index] = plies;
            }
        }
    }

    /// Undoes every quiet move that leads to a position decided in this many plies.
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
        let endgame = self.endgame;
        for before in predecessors(endgame.men(), placement) {
            for before in before.with_passers() {
                let Some((index, mirrored)) = before.both_indices() else { continue };
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

/// The placements from which a quiet move leads here, legal or not, whatever can be taken en passant there.
fn predecessors<'p>(
    men: &'p [(Color, Piece)],
    placement: &'p Placement,
) -> impl Iterator<Item = Placement> + 'p {
    let all = placement.occupied();
    men.iter().enumerate().flat_map(move |(man, &mover)| {
        let from = if mover.0 == placement.turn {
            BitBoard::EMPTY
        } else if mover.1 == Piece::Pawn {
            steps_back(placement, man, mover.0)
        } else if placement.passer.is_some() {
            // The last move was a pawn's.
            BitBoard::EMPTY
        } else {
            attacks(mover, placement.squares()[man], all) & !all
        };
        from.into_iter().map(move |from| placement.moved(man, from))
    })
}

/// The place of the piece on this square.
fn piece_at(placement: &Placement, square: Square) -> Option<usize> {
    placement.squares().iter().position(|at| *at == square)
}

const fn is_last_rank(square: Square) -> bool {
    matches!(square.rank(), Rank::First | Rank::Eighth)
}

/// The placement after a step of the pawn at this place, which can be taken en passant if it went two squares to
/// the side of another.
fn stepped(placement: &Placement, man: usize, to: Square) -> Placement {
    let from = placement.squares()[man];
    let mut moved = placement.moved(man, to);
    let is_double = (from.rank() as usize).abs_diff(to.rank() as usize) == 2;
    if is_double && moved.can_be_passer(man) {
        moved.passer = Some(man as u8);
    }
    moved
}

/// The squares from which the pawn at this place can have come by a step.
fn steps_back(placement: &Placement, man: usize, color: Color) -> BitBoard {
    let at = placement.squares()[man];
    let of_rank = |rank: Rank| Square::new(at.file(), rank.relative_to(color));
    let second = of_rank(Rank::Second).bitboard();
    let is_passer = placement.passer == Some(man as u8);
    if is_passer {
        return second;
    }
    if placement.passer.is_some() || second.has(at) {
        return BitBoard::EMPTY;
    }
    let empty = !placement.occupied();
    let back = at.try_offset(0, if color == Color::White { -1 } else { 1 });
    let single = back.map_or(BitBoard::EMPTY, Square::bitboard) & empty;
    let is_double =
        at == of_rank(Rank::Fourth) && !single.is_empty() && !placement.can_be_passer(man);
    if is_double { single | second & empty } else { single }
}

/// The colours in the order of the kings.
const _: () = assert!(Color::White as usize == 0 && Color::Black as usize == 1);
