//! Chess over XBoard: sent as over UCI, and answered by squares or in algebraic notation.

use spelrum_engine::{Fault, Protocol, TextTurn};
use spelrum_external::Start;
use spelrum_external::uci::is_move;

use super::notation::{Notation, parse};
use super::over_uci::OverUci;

#[derive(Debug)]
pub(super) struct OverXboard(OverUci);

impl OverXboard {
    pub(super) fn new() -> Self {
        Self(OverUci::new(false))
    }
}

impl Notation for OverXboard {
    fn follow(&mut self, turn: &TextTurn<'_>) -> Result<(), String> {
        self.0.follow(turn)
    }

    fn position<'a>(&'a self, turn: &TextTurn<'a>) -> (Start<'a>, &'a [String]) {
        self.0.position(turn)
    }

    fn parse_move(&self, turn: &TextTurn<'_>, mv: String) -> Result<String, Fault> {
        if is_move(&mv) {
            return self.0.parse_move(turn, mv.to_ascii_lowercase());
        }
        parse(turn, &mv, Protocol::Xboard)
    }
}
