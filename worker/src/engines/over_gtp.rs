//! The games of GTP engines.

use spelrum_engine::{Fault, GtpBoard, Protocol, Side, TextTurn, engine_moves};
use spelrum_external::{Colour, Start};

use super::notation::{Notation, parse};

#[derive(Debug)]
pub(super) struct OverGtp {
    pub(super) board: Option<GtpBoard>,
    pub(super) moves: Vec<String>,
}

impl Notation for OverGtp {
    fn colour(&self, side: Side) -> Colour {
        let black = self.board.map_or(Side::Second, |board| board.black);
        if side == black { Colour::Black } else { Colour::White }
    }

    fn follow(&mut self, turn: &TextTurn<'_>) -> Result<(), String> {
        let moves = turn.moves.iter().map(|record| record.mv.as_str());
        let moves = engine_moves(turn.rules, turn.opening, moves, Protocol::Gtp);
        self.moves = moves.map_err(|error| error.to_string())?.ok_or_else(|| {
            format!("no moves are known that lead to the opening `{}`", turn.opening)
        })?;
        Ok(())
    }

    fn position<'a>(&'a self, _turn: &TextTurn<'a>) -> (Start<'a>, &'a [String]) {
        let size = self.board.map_or(0, |board| board.size);
        (Start::Board { size, first: self.colour(Side::First) }, &self.moves)
    }

    fn parse_move(&self, turn: &TextTurn<'_>, mv: String) -> Result<String, Fault> {
        parse(turn, &mv, Protocol::Gtp)
    }
}
