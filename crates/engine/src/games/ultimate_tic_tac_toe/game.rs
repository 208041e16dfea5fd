//! Ultimate tic-tac-toe in the catalogue.

use super::evaluation::UltimateTicTacToeBoards;
use super::{BOARDS_DECIDED, NINE, THREE_BOARDS, UltimateTicTacToe, notation};
use crate::core::parameters::ParameterInfo;
use crate::core::position::{Ending, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::core::sketch::{Piece, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::Game;

impl UltimateTicTacToe {
    /// The rules of the game.
    #[must_use]
    pub fn rules() -> Rules {
        Rules::usual::<Self>()
    }
}

impl Game for UltimateTicTacToe {
    const NAME: &'static str = "ultimate-tic-tac-toe";

    const MEANING: &'static str = "Nine boards of tic-tac-toe; a mark's cell is the board of the answer, and three boards win.";

    const RULES: &'static [ParameterInfo] = &[];

    const TERMINATIONS: &'static [Termination] = &[THREE_BOARDS, BOARDS_DECIDED];

    const LEAF_KINDS: &'static [&'static str] = &["three_boards_in_a_row", "draw_boards_decided"];

    evaluations!(UltimateTicTacToeBoards, ExpressionEvaluation<Self>, NoEvaluation);

    fn from_rules(_rules: &Rules) -> Self {
        Self::empty()
    }

    fn read(_start: Self, text: &str) -> Result<Self, Problem> {
        notation::parse(text)
    }

    fn leaf_kind(ending: Ending, _mover: Side) -> usize {
        usize::from(ending.winner.is_none())
    }

    fn sketch(&self) -> Sketch {
        Sketch::Board {
            columns: NINE,
            block: 3,
            pieces: [Piece::Cross, Piece::Ring],
            cells: (0..NINE * NINE).map(|place| notation::mark_at(self, place)).collect(),
        }
    }

    fn explain(_rules: &Rules) -> String {
        "A move is a cell: e5 marks column e, row 5 from the top, the middle of the middle board.\nIt \
         sends the other side to the board that lies as the cell does in its own, or, if that\nboard \
         is decided, to any other. Three in a row win a board, and three boards in a row the game."
            .to_owned()
    }

    fn stones(&self) -> Option<u32> {
        let marks = self.marks.as_flattened().iter();
        Some(marks.map(|marks| marks.count_ones()).sum())
    }

    fn is_solved_soon(&self) -> bool {
        self.open.count_ones() <= SOLVED_SOON
    }
}

/// The number of open cells from which the solver takes only a moment.
const SOLVED_SOON: u32 = 24;
