//! Connect Four in the catalogue.

use super::evaluation::ConnectFourLines;
use super::{ConnectFour, FOUR_IN_A_ROW, notation};
use crate::core::parameters::ParameterInfo;
use crate::core::position::{Ending, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::core::sketch::{Piece, RowNames, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::Game;

impl ConnectFour {
    /// The rules of the game.
    #[must_use]
    pub fn rules() -> Rules {
        Rules::usual::<Self>()
    }
}

impl Game for ConnectFour {
    const NAME: &'static str = "connect-four";

    const MEANING: &'static str =
        "Discs dropped into seven columns of six cells; four in a row win.";

    const RULES: &'static [ParameterInfo] = &[];

    const TERMINATIONS: &'static [Termination] = &[FOUR_IN_A_ROW, Termination::FULL_BOARD];

    const LEAF_KINDS: &'static [&'static str] = &["four_in_a_row", "draw_full_board"];

    const ROW_NAMES: RowNames = RowNames::Absent;

    evaluations!(ConnectFourLines, ExpressionEvaluation<Self>, NoEvaluation);

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
        Sketch::of_board(self, 7, 7, [Piece::Disc, Piece::Ring])
    }

    fn explain(_rules: &Rules) -> String {
        "A move is a column, a to g from the left: d drops a disc into the middle one, where it \
         falls to the lowest free cell.\nFour in a row, a column or a diagonal win."
            .to_owned()
    }

    fn stones(&self) -> Option<u32> {
        Some(self.discs())
    }

    fn empty_cells(&self) -> Option<u32> {
        Some(super::CELLS - self.discs())
    }

    /// The plain solver usually takes a second at most with 20 discs on the board.
    fn is_solved_soon(&self) -> bool {
        self.discs() >= SOLVED_SOON
    }
}

/// The number of discs from which the solver takes only a moment.
const SOLVED_SOON: u32 = 20;
