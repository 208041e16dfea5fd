//! Tic-tac-toe in the catalogue.

use super::evaluation::{TicTacToeLines, TicTacToeOpenLines};
use super::{THREE_IN_A_ROW, TicTacToe};
use crate::core::parameters::ParameterInfo;
use crate::core::position::{Ending, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::core::sketch::{Piece, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::Game;

impl TicTacToe {
    /// The rules of the game.
    #[must_use]
    pub fn rules() -> Rules {
        Rules::usual::<Self>()
    }
}

impl Game for TicTacToe {
    const NAME: &'static str = "tic-tac-toe";

    const MEANING: &'static str = "Three in a row on a board of 3×3 cells.";

    const RULES: &'static [ParameterInfo] = &[];

    const TERMINATIONS: &'static [Termination] = &[THREE_IN_A_ROW, Termination::FULL_BOARD];

    const LEAF_KINDS: &'static [&'static str] = &["three_in_a_row", "draw_full_board"];

    evaluations!(TicTacToeLines, TicTacToeOpenLines, ExpressionEvaluation<Self>, NoEvaluation);

    fn from_rules(_rules: &Rules) -> Self {
        Self::empty()
    }

    fn read(_start: Self, text: &str) -> Result<Self, Problem> {
        super::parse(text)
    }

    fn leaf_kind(ending: Ending, _mover: Side) -> usize {
        usize::from(ending.winner.is_none())
    }

    fn explain(_rules: &Rules) -> String {
        "A move is a cell: columns a to c from the left, rows 1 to 3 from the top; b2 is the \
         middle.\nThree in a row win."
            .to_owned()
    }

    fn sketch(&self) -> Sketch {
        Sketch::of_board(self, 3, 3, [Piece::Cross, Piece::Ring])
    }

    fn empty_cells(&self) -> Option<u32> {
        Some(9 - (self.marks[0] | self.marks[1]).count_ones())
    }
}
