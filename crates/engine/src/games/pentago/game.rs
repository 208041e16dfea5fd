//! Pentago in the catalogue.

use super::evaluation::{PentagoLines, PentagoRuns};
use super::{
    BOTH_FIVE, Direction, FIVE_BY_PLACEMENT, FIVE_BY_ROTATION, Pentago, PentagoMove, gtp, notation,
};
use crate::core::external::{GtpBoard, Protocol};
use crate::core::parameters::{ParameterInfo, Value};
use crate::core::position::{Ending, Position, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::core::sketch::{Mark, Marked, Piece, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::Game;

/// Eight for each empty cell: with 17 of them, the solver always takes only seconds.
const MOVES_SOLVED_SOON: u32 = 8 * 17;

impl Pentago {
    /// The rules of the game: whether a placement that makes five wins at once.
    ///
    /// # Panics
    /// Never: both are rules of the game.
    #[must_use]
    pub fn rules(win_before_rotation: bool) -> Rules {
        let given = [("win_before_rotation".to_owned(), Value::Bool(win_before_rotation))];
        Rules::new::<Self>(&given.into()).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Game for Pentago {
    const NAME: &'static str = "pentago";

    const MEANING: &'static str =
        "Place a marble, turn a quadrant: five in a row on a board of 6×6 cells win.";

    const RULES: &'static [ParameterInfo] = &[ParameterInfo::switch(
        "win_before_rotation",
        true,
        "Whether a placement that makes five in a row wins at once, before a quadrant is turned.",
    )];

    const SAMPLE_RULES: &'static [&'static str] = &[r#"{"win_before_rotation": false}"#];

    const PROTOCOLS: &'static [Protocol] = &[Protocol::Gtp];

    const GTP_BOARD: Option<GtpBoard> =
        Some(GtpBoard { size: 6, black: Side::Second, has_passes: false });

    const TERMINATIONS: &'static [Termination] =
        &[FIVE_BY_PLACEMENT, FIVE_BY_ROTATION, BOTH_FIVE, Termination::FULL_BOARD];

    /// As in the reference data: by placement; by a turn for the mover and for the opponent; both;
    /// a full board.
    const LEAF_KINDS: &'static [&'static str] = &[
        "win_before_rotation",
        "win_by_rotation",
        "loss_by_rotation",
        "draw_both_five",
        "draw_full_board",
    ];

    evaluations!(PentagoRuns, PentagoLines, ExpressionEvaluation<Self>, NoEvaluation);

    fn engine_move(mv: PentagoMove, _protocol: Protocol) -> Option<String> {
        Some(gtp::write(mv))
    }

    fn parse_engine_move(&self, text: &str, _protocol: Protocol) -> Result<PentagoMove, Problem> {
        gtp::read(self, text)
    }

    fn moves_from_start(&self) -> Option<Vec<PentagoMove>> {
        gtp::moves_to(self)
    }

    fn from_rules(rules: &Rules) -> Self {
        Self::empty(rules.switch("win_before_rotation"))
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        notation::parse(start.win_before_rotation, text)
    }

    fn leaf_kind(ending: Ending, mover: Side) -> usize {
        match ending.winner {
            Some(winner) if winner != mover => 2,
            Some(_) if ending.termination == FIVE_BY_PLACEMENT => 0,
            Some(_) => 1,
            None if ending.termination == BOTH_FIVE => 3,
            None => 4,
        }
    }

    fn sketch(&self) -> Sketch {
        Sketch::of_board(self, 6, 3, [Piece::Ring, Piece::Disc])
    }

    /// The new marble, where the turn has carried it, and the quadrant that was turned.
    fn marks(&self, mv: PentagoMove) -> Vec<Marked> {
        let mut cell = mv.cell() as usize;
        let mut marks = Vec::new();
        if let Some(turn) = mv.turn() {
            let place = turn.quadrant as usize;
            let clockwise = turn.direction == Direction::Clockwise;
            let [top, left] = [place / 2 * 3, place % 2 * 3];
            let [row, column] = [cell / 6, cell % 6].map(|line| line % 3);
            if [cell / 6 / 3 * 3, cell % 6 / 3 * 3] == [top, left] {
                let [row, column] = if clockwise { [column, 2 - row] } else { [2 - column, row] };
                cell = (top + row) * 6 + left + column;
            }
            marks.push(Marked { place, mark: Mark::Turned { clockwise } });
        }
        marks.push(Marked { place: cell, mark: Mark::Reached });
        marks
    }

    fn explain(rules: &Rules) -> String {
        let at_once = if rules.switch("win_before_rotation") {
            "A marble that makes five wins at once, without a turn: write the cell alone, c3."
        } else {
            "Five count only after the turn."
        };
        format!(
            "A move is a cell and the turn of a quadrant: c3-2r puts a marble on c3 and turns \
             the\ntop right quadrant clockwise. Columns are a to f from the left, rows 1 to 6 \
             from the top.\n\n\
             \u{20}        1 | 2     the quadrants\n\
             \u{20}       ---+---    r turns clockwise, to the right\n\
             \u{20}        3 | 4     l turns counter-clockwise, to the left\n\n\
             Five in a row win, in any direction.\n{at_once}"
        )
    }

    /// The cell row by row from the top left, quadrant and direction of the turn, or -1 and -1 for a
    /// placement that makes five.
    fn numbered_move(mv: PentagoMove) -> Option<[i32; 3]> {
        let cell = mv.cell() as i32;
        Some(match mv.turn() {
            None => [cell, -1, -1],
            Some(turn) => [cell, turn.quadrant as i32, turn.direction as i32],
        })
    }

    fn stones(&self) -> Option<u32> {
        Some(self.marbles())
    }

    fn empty_cells(&self) -> Option<u32> {
        Some(u32::from(super::CELLS) - self.marbles())
    }

    fn is_solved_soon(&self) -> bool {
        self.legal_move_count() <= MOVES_SOLVED_SOON
    }
}
