//! Standard algebraic notation (SAN; FIDE's Laws, appendix C, in the form of Edwards 1994, "Portable Game
//! Notation Specification", 8.2.3).

use cozy_chess::{Piece, Rank, Square};

use super::moves::{self, ChessMove};
use super::{Chess, MoveFilter};
use crate::core::position::Position;
use crate::core::problem::Problem;

impl Chess {
    /// A legal move in standard algebraic notation: `Nbd7`, `exd6`, `O-O`, `e8=Q+`, `Qh5#`.
    #[must_use]
    pub fn san(&self, mv: ChessMove) -> String {
        let mut text = self.san_without_check(mv);
        let mut child = self.clone();
        child.play_unchecked(mv);
        if child.is_check() {
            text.push(if child.has_move() { '+' } else { '#' });
        }
        text
    }

    fn san_without_check(&self, mv: ChessMove) -> String {
        let (from, to) = (mv.from(), mv.to());
        if self.is_castling(mv) {
            return if from.file() < to.file() { "O-O" } else { "O-O-O" }.to_owned();
        }
        let piece = self.board.piece_on(from).unwrap_or(Piece::Pawn);
        let takes = if self.is_capture(mv) { "x" } else { "" };
        if piece != Piece::Pawn {
            let letter = char::from(piece).to_ascii_uppercase();
            return format!("{letter}{}{takes}{to}", self.origin(piece, mv));
        }
        let file = if takes.is_empty() { String::new() } else { from.file().to_string() };
        let promotion = mv
            .promotion()
            .map_or(String::new(), |piece| format!("={}", char::from(piece).to_ascii_uppercase()));
        format!("{file}{takes}{to}{promotion}")
    }

    /// The disambiguation of a piece's move: nothing, the file, else the rank, else both.
    fn origin(&self, piece: Piece, mv: ChessMove) -> String {
        let from = mv.from();
        let mut others: Vec<Square> = Vec::new();
        let alike = self.board.colored_pieces(self.board.side_to_move(), piece);
        self.board.generate_moves_for(alike, |moves| {
            if moves.from != from && moves.to.has(mv.to()) {
                others.push(moves.from);
            }
            false
        });
        if others.is_empty() {
            String::new()
        } else if others.iter().all(|other| other.file() != from.file()) {
            from.file().to_string()
        } else if others.iter().all(|other| other.rank() != from.rank()) {
            from.rank().to_string()
        } else {
            from.to_string()
        }
    }

    /// Parses a legal move in standard algebraic notation, in long algebraic notation or by its squares:
    /// `Nf3`, `Ng1-f3`, `g1f3`. Redundant parts may be missing or superfluous: signs of check, mate, capture
    /// and promotion, comments such as `!?`, an unneeded origin; castling may be written with zeros. A
    /// recorded game may continue where [`FIFTY_MOVES`](super::FIFTY_MOVES) ends it here.
    ///
    /// # Errors
    /// If the text is not such a move, or matches no legal move or several.
    pub fn read_san(&self, text: &str) -> Result<ChessMove, Problem> {
        let error = |problem: String, remedy: String| Problem::new(problem, remedy);
        let Some(written) = Written::read(text) else {
            return Err(error(
                format!("`{text}` is not a move in algebraic notation"),
                "write it such as e4, Nbd7, exd5, O-O or e8=Q".to_owned(),
            ));
        };
        let mut found = Vec::new();
        self.targets(MoveFilter::All).find(|mv| {
            if self.is_written(mv, written) {
                found.push(mv);
            }
            false
        });
        match found[..] {
            [mv] => Ok(mv),
            [] => {
                let remedy = match self.ending() {
                    Some(ending) => {
                        format!("leave it out: the game is over ({})", Self::describe(ending))
                    }
                    None => format!("a legal move is `{}`", self.san(self.nth_legal_move(0))),
                };
                Err(error(format!("`{text}` is not legal in `{self}`"), remedy))
            }
            _ => {
                let moves: Vec<String> =
                    found.iter().map(|&mv| format!("`{}`", self.san(mv))).collect();
                Err(error(
                    format!("`{text}` may be several moves in `{self}`"),
                    format!("write which: {}", moves.join(" or ")),
                ))
            }
        }
    }

    fn is_written(&self, mv: ChessMove, written: Written) -> bool {
        let (from, to) = (mv.from(), mv.to());
        match written {
            Written::Castling { is_short } => {
                self.is_castling(mv) && (from.file() < to.file()) == is_short
            }
            Written::Move { piece, file, rank, to: target, promotion } => {
                target == to
                    && !self.is_castling(mv)
                    && self.board.piece_on(from) == Some(piece)
                    && mv.promotion() == promotion
                    && file.is_none_or(|file| char::from(from.file()) == file)
                    && rank.is_none_or(|rank| char::from(from.rank()) == rank)
                    // A pawn's capture is written with its file.
                    && (piece != Piece::Pawn || file.is_some() || from.file() == to.file())
            }
            // Castling also by the square of the rook, in either game.
            Written::Squares { from: origin, to: target, promotion } => {
                origin == from
                    && (target == to || (self.is_castling(mv) && target == self.cozy_move(mv).to))
                    && mv.promotion() == promotion
            }
        }
    }
}

/// A move in algebraic notation.
#[derive(Clone, Copy, Debug)]
enum Written {
    Castling {
        is_short: bool,
    },
    Move {
        piece: Piece,
        /// Of the origin, if written.
        file: Option<char>,
        rank: Option<char>,
        to: Square,
        promotion: Option<Piece>,
    },
    /// Any piece there.
    Squares {
        from: Square,
        to: Square,
        promotion: Option<Piece>,
    },
}

impl Written {
    fn read(text: &str) -> Option<Self> {
        let text = text.trim_end_matches(['+', '#', '!', '?']);
        match text {
            "O-O" | "0-0" => return Some(Self::Castling { is_short: true }),
            "O-O-O" | "0-0-0" => return Some(Self::Castling { is_short: false }),
            _ => {}
        }
        let named = |letter: char| {
            Piece::try_from(letter.to_ascii_lowercase()).ok().filter(|piece| *piece != Piece::Pawn)
        };
        let mut rest: Vec<char> = text.chars().collect();
        let first = rest.first().copied().filter(char::is_ascii_uppercase);
        let piece = if first == Some('P') { Some(Piece::Pawn) } else { first.and_then(named) };
        if piece.is_some() {
            rest.remove(0);
        }
        let promotion = rest.last().and_then(|&last| named(last));
        if promotion.is_some() {
            rest.pop();
            if rest.last() == Some(&'=') {
                rest.pop();
            }
        }
        let [origin @ .., file, rank] = rest.as_slice() else { return None };
        let to = moves::square(*file, *rank)?;
        let is_last = [Rank::First, Rank::Eighth].contains(&to.rank());
        let may_promote = piece.is_none_or(|piece| piece == Piece::Pawn) && is_last;
        if promotion == Some(Piece::King) || (promotion.is_some() && !may_promote) {
            return None;
        }
        let origin = origin.strip_suffix(&['x']).or(origin.strip_suffix(&['-'])).unwrap_or(origin);
        let (file, rank) = match *origin {
            [] => (None, None),
            [file @ 'a'..='h'] => (Some(file), None),
            [rank @ '1'..='8'] => (None, Some(rank)),
            [file @ 'a'..='h', rank @ '1'..='8'] => match (piece, moves::square(file, rank)) {
                (None, Some(from)) => return Some(Self::Squares { from, to, promotion }),
                _ => (Some(file), Some(rank)),
            },
            _ => return None,
        };
        Some(Self::Move { piece: piece.unwrap_or(Piece::Pawn), file, rank, to, promotion })
    }
}
