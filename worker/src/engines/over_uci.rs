//! Chess over UCI.

use spelrum_engine::{Fault, Protocol, TextTurn};
use spelrum_external::Start;

use super::notation::{Notation, parse};

/// The usual start position of chess, for which UCI has a word.
const USUAL_START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[derive(Debug)]
pub(super) struct OverUci {
    /// The first position for which the protocol has a word.
    usual: Option<String>,
    moves: Vec<String>,
}

impl OverUci {
    pub(super) fn new(is_chess960: bool) -> Self {
        Self::with_usual((!is_chess960).then(|| USUAL_START.to_owned()))
    }

    /// In another game, with the first position for which its protocol has a word.
    pub(super) const fn with_usual(usual: Option<String>) -> Self {
        Self { usual, moves: Vec::new() }
    }
}

impl Notation for OverUci {
    fn follow(&mut self, turn: &TextTurn<'_>) -> Result<(), String> {
        // Moves are written as the game writes them; chess writes them as UCI does.
        let count = self.moves.len();
        self.moves.extend(turn.moves.iter().skip(count).map(|record| record.mv.clone()));
        Ok(())
    }

    fn position<'a>(&'a self, turn: &TextTurn<'a>) -> (Start<'a>, &'a [String]) {
        let is_usual = self.usual.as_deref() == Some(turn.opening);
        let start = if is_usual { Start::Usual } else { Start::Fen(turn.opening) };
        (start, &self.moves)
    }

    fn parse_move(&self, turn: &TextTurn<'_>, mv: String) -> Result<String, Fault> {
        // All other moves are written as in UCI.
        let may_be_castling = matches!(mv.as_str(), "e1h1" | "e1a1" | "e8h8" | "e8a8");
        if may_be_castling { parse(turn, &mv, Protocol::Uci) } else { Ok(mv) }
    }
}
