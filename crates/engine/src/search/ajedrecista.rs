//! A mater by rules: king and rook against king as Torres y Quevedo's automaton plays it.
//!
//! *El Ajedrecista* (1912) chose among six moves by a few facts of the position (H. Vigneron 1914, "Les automates",
//! La Nature 42; the rules as code: G. W. Atkinson 1998, "Chess and Machine Intuition", appendix). It drives the lone
//! king to the first rank, with its rook on a rank above that king and its own king above both:
//!
//! 1. lone king and rook both on the files a to c, or both on f to h: the rook goes to the other edge;
//! 2. else, the rook is more than a rank above the lone king: it comes down a rank;
//! 3. else, the king is more than two ranks above the lone king: it comes down a rank;
//! 4. else, the kings are an odd number of files apart: the rook waits, between a and b or between g and h;
//! 5. else, they are an even number apart: the king comes a file nearer;
//! 6. else, the kings face each other: the rook comes down a rank, with check.
//!
//! The automaton began with its king on a8, its rook on b8, and the lone king on the first six ranks. This player begins
//! anywhere: it turns the board so that the rules apply, of several ways so that the rook leaves the lone king the
//! fewest ranks. Where no way does, or the rule's move is not legal, gives the rook away or stalemates, it plays
//! a move of its own: the first that does neither, if there is one after which the rules apply such a one.

use std::any::TypeId;

use cozy_chess::{Color, Piece, Square};

use super::algorithm::{Algorithm, Maker};
use super::random::RandomMove;
use super::table::chess;
use super::{Budget, Found, NoMove, Search};
use crate::core::limits::EndedBy;
use crate::core::parameters::{AlgorithmInfo, Settings};
use crate::core::position::{Line, Position};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rng::Random;
use crate::core::solver::Solvable;
use crate::evaluation::Evaluation;
use crate::games::{Chess, ChessMove};
use crate::tables::Endgame;

/// The mater as an algorithm.
pub(crate) struct AjedrecistaPlay;

impl Algorithm for AjedrecistaPlay {
    const INFO: AlgorithmInfo = AlgorithmInfo {
        name: "ajedrecista",
        meaning: "Mates with king and rook against king by the rules of Torres y Quevedo's automaton of 1912, \
                  without a search.",
        parameters: &[],
        presets: &[],
        bounded_by: &[],
    };

    const BEGINS_ANYWHERE: bool = false;

    fn draws_random_numbers(_settings: &Settings) -> bool {
        // As the lone king it moves by chance.
        true
    }

    fn check_game<P: Solvable>() -> Result<(), KeyProblem> {
        if TypeId::of::<P>() == TypeId::of::<Chess>() {
            return Ok(());
        }
        Err(Problem::of_key(
            "algorithm",
            "`ajedrecista` plays only a chess ending".to_owned(),
            "choose another algorithm, or play king and rook against king in chess".to_owned(),
        ))
    }

    fn check_start<P: Solvable>(start: &P) -> Result<(), KeyProblem> {
        let endgame = chess(start).and_then(Endgame::from_position);
        if endgame.is_some_and(|endgame| endgame.name() == "KRK") {
            return Ok(());
        }
        Err(Problem::of_key(
            "algorithm",
            format!(
                "`ajedrecista` cannot begin with `{start}`: it knows king and rook against king alone"
            ),
            "begin with openings = { kind = \"ending\", ending = \"KRK\" }, or list such positions"
                .to_owned(),
        ))
    }

    fn maker<P: Solvable, E: Evaluation<P>>(_settings: &Settings, _evaluation: E) -> Maker<P> {
        Maker::new(|| Box::new(Ajedrecista))
    }
}

/// Plays by the rules with the rook. As the lone king, and in other positions, it plays as [`RandomMove`].
#[derive(Clone, Copy, Debug)]
struct Ajedrecista;

impl<P: Position> Search<P> for Ajedrecista {
    fn search(
        &mut self,
        line: Line<'_, P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove> {
        let root = line.position;
        let position =
            chess(root).filter(|position| has_rook(position, position.cozy().side_to_move()));
        let Some(position) = position else { return RandomMove.search(line, budget, random) };
        let mut moves = Vec::new();
        root.legal_moves(&mut moves);
        let mv = moves[choose(position)];
        Ok(Found { mv, depth: 0, score: None, ended_by: EndedBy::Depth })
    }
}

/// Whether a side has king and rook, and the other its king alone.
fn has_rook(position: &Chess, side: Color) -> bool {
    let board = position.cozy();
    board.occupied().len() == 3 && !board.colored_pieces(side, Piece::Rook).is_empty()
}

/// The number of the chosen move among the legal ones in canonical order.
fn choose(position: &Chess) -> usize {
    let side = position.cozy().side_to_move();
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    let by_rule = View::new(position, side).and_then(|view| {
        let (from, to) = view.rule();
        moves.iter().position(|mv| mv.from() == from && mv.to() == to)
    });
    if let Some(chosen) = by_rule.filter(|chosen| after(position, moves[*chosen]).is_some()) {
        return chosen;
    }
    let sound = |mv: &ChessMove| after(position, *mv);
    let applies = |mv: &ChessMove| sound(mv).is_some_and(|child| View::new(&child, side).is_some());
    let prepared = moves.iter().position(applies);
    prepared.or_else(|| moves.iter().position(|mv| sound(mv).is_some())).unwrap_or(0)
}

/// The position after a move, unless the rook can be taken there or the lone king is stalemated.
fn after(position: &Chess, mv: ChessMove) -> Option<Chess> {
    let mut child = position.clone();
    child.play_unchecked(mv);
    let rook = child.cozy().pieces(Piece::Rook);
    let mut replies = Vec::new();
    child.legal_moves(&mut replies);
    let is_lost = replies.iter().any(|reply| rook.has(reply.to()));
    let is_stalemate = replies.is_empty() && child.cozy().checkers().is_empty();
    (!is_lost && !is_stalemate).then_some(child)
}

/// File and rank, from 0, on a board that is turned so that the lone king is driven to rank 0.
type At = [i8; 2];

/// A position seen so that the rules apply: the rook above the lone king, the king at least two ranks above it.
#[derive(Clone, Copy)]
struct View {
    symmetry: u8,
    king: At,
    rook: At,
    lone: At,
}

impl View {
    fn new(position: &Chess, side: Color) -> Option<Self> {
        let board = position.cozy();
        let rook = board.colored_pieces(side, Piece::Rook).next_square()?;
        let (king, lone) = (board.king(side), board.king(!side));
        let views = (0..8).map(|symmetry| {
            let [king, rook, lone] = [king, rook, lone].map(|square| image(square, symmetry));
            Self { symmetry, king, rook, lone }
        });
        let applies = |view: &Self| view.rook[1] > view.lone[1] && view.king[1] > view.lone[1] + 1;
        views.filter(applies).min_by_key(|view| view.rook[1])
    }

    /// The rule's move.
    fn rule(self) -> (Square, Square) {
        let Self { king, rook, lone, .. } = self;
        let files = king[0].abs_diff(lone[0]);
        let (piece, to) = if rook[0].max(lone[0]) <= 2 {
            (rook, [7, rook[1]])
        } else if rook[0].min(lone[0]) >= 5 {
            (rook, [0, rook[1]])
        } else if rook[1] - lone[1] > 1 {
            (rook, [rook[0], rook[1] - 1])
        } else if king[1] - lone[1] > 2 {
            (king, [king[0], king[1] - 1])
        } else if files % 2 == 1 {
            (rook, [waiting_file(rook[0]), rook[1]])
        } else if files > 0 {
            (king, [king[0] + (lone[0] - king[0]).signum(), king[1]])
        } else {
            (rook, [rook[0], rook[1] - 1])
        };
        (square(piece, self.symmetry), square(to, self.symmetry))
    }
}

/// The file on which the rook waits. The automaton's never stood on the files c to f when it had to.
const fn waiting_file(file: i8) -> i8 {
    match file {
        1 => 0,
        0 | 2 | 3 => 1,
        6 => 7,
        _ => 6,
    }
}

/// The image of a square: bit 0 of the symmetry reverses files, bit 1 ranks, and bit 2 then exchanges both.
fn image(square: Square, symmetry: u8) -> At {
    let [mut file, mut rank] = [square.file() as i8, square.rank() as i8];
    if symmetry & 1 != 0 {
        file = 7 - file;
    }
    if symmetry & 2 != 0 {
        rank = 7 - rank;
    }
    if symmetry & 4 != 0 { [rank, file] } else { [file, rank] }
}

/// The square with this image.
fn square(at: At, symmetry: u8) -> Square {
    let [mut file, mut rank] = if symmetry & 4 != 0 { [at[1], at[0]] } else { at };
    if symmetry & 1 != 0 {
        file = 7 - file;
    }
    if symmetry & 2 != 0 {
        rank = 7 - rank;
    }
    Square::index((rank * 8 + file) as usize & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_found_by_its_image() {
        for symmetry in 0..8 {
            for at in Square::ALL {
                assert_eq!(square(image(at, symmetry), symmetry), at);
            }
        }
    }
}
