//! Ultimate tic-tac-toe's evaluation `boards`, and features for formulas.

use super::{ANY, NINE, UltimateTicTacToe, lines};
use crate::core::expression::FeatureInfo;
use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::position::{Position, Side};
use crate::core::problem::KeyProblem;
use crate::evaluation::{
    Contents, Evaluate, Features, GameEvaluation, WEIGHTS_SUMMED_MAX, weight, weights,
};

// Each line of boards, line of cells and board adds or subtracts at most one weight.
const _: () = assert!((8 + 8 * NINE + NINE) as i32 <= WEIGHTS_SUMMED_MAX);

/// `boards`: boards won, lines of boards by the number that one side has won while the others are still to be
/// had, and the same for lines of cells in boards that are not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UltimateTicTacToeBoards {
    /// Of boards, of lines with one and two boards, and of lines with one and two marks.
    weights: [i32; 5],
}

impl Default for UltimateTicTacToeBoards {
    fn default() -> Self {
        Self { weights: [20, 5, 30, 1, 4] }
    }
}

impl GameEvaluation<UltimateTicTacToe> for UltimateTicTacToeBoards {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "boards",
        meaning: "Boards won, and lines of boards and of cells that one side alone can complete.",
        parameters: &[
            weight("weight_board", 20, "value of a board won"),
            weight("weight_boards1", 5, "value of a line with one board won and two undecided"),
            weight("weight_boards2", 30, "value of a line with two boards won and one undecided"),
            weight("weight_line1", 1, "value of a line with one mark in an undecided board"),
            weight("weight_line2", 4, "value of a line with two marks in an undecided board"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<UltimateTicTacToe> for UltimateTicTacToeBoards {
    #[inline]
    fn evaluate(&self, position: &UltimateTicTacToe) -> i32 {
        let mover = position.to_move();
        let terms = |side: Side| {
            let [boards1, boards2] = position.lines_of_boards(side);
            let [line1, line2] = position.lines_of_cells(side);
            [position.won[side.index()].count_ones(), boards1, boards2, line1, line2]
        };
        let leads = terms(mover).into_iter().zip(terms(mover.other()));
        leads
            .zip(self.weights)
            .map(|((own, other), weight)| weight * (own as i32 - other as i32))
            .sum()
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

impl UltimateTicTacToe {
    /// The lines of boards of which a side has won one and two, and can still win the rest.
    #[inline]
    fn lines_of_boards(&self, side: Side) -> [u32; 2] {
        lines::open_lines(self.won[side.index()], self.closed_to(side))
    }

    /// The lines of cells, in boards that are not decided, with one and two marks of a side and none of the
    /// other's.
    #[inline]
    fn lines_of_cells(&self, side: Side) -> [u32; 2] {
        let [own, other] = [side, side.other()].map(|side| &self.marks[side.index()]);
        let open = (0..NINE).filter(|&board| self.open_in(board) != 0);
        open.map(|board| lines::open_lines(own[board], other[board]))
            .fold([0; 2], |[ones, twos], [one, two]| [ones + one, twos + two])
    }
}

impl Features for UltimateTicTacToe {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_boards", "boards won"),
        FeatureInfo::symmetric("opp_boards", "boards that the opponent has won"),
        FeatureInfo::symmetric("own_boards1", "lines of boards with one won and two undecided"),
        FeatureInfo::symmetric("opp_boards1", "lines of boards with one of the opponent's"),
        FeatureInfo::symmetric("own_boards2", "lines of boards with two won and one undecided"),
        FeatureInfo::symmetric("opp_boards2", "lines of boards with two of the opponent's"),
        FeatureInfo::symmetric("own_line1", "lines in undecided boards with one own mark only"),
        FeatureInfo::symmetric("opp_line1", "lines there with one mark of the opponent only"),
        FeatureInfo::symmetric("own_line2", "lines in undecided boards with two own marks only"),
        FeatureInfo::symmetric("opp_line2", "lines there with two marks of the opponent only"),
        FeatureInfo::symmetric("own_marks", "marks on all boards"),
        FeatureInfo::symmetric("opp_marks", "marks of the opponent on all boards"),
        FeatureInfo::symmetric("empty", "free cells of undecided boards"),
        FeatureInfo::symmetric("any_board", "1 if the side to move may play in any board, else 0"),
    ];

    #[inline]
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        for (&feature, value) in wanted.iter().zip(values) {
            // All but the last two come in pairs: own, and the opponent's.
            let owner = if feature % 2 == 0 { side } else { side.other() };
            *value = f64::from(match feature {
                0 | 1 => self.won[owner.index()].count_ones(),
                2 | 3 => self.lines_of_boards(owner)[0],
                4 | 5 => self.lines_of_boards(owner)[1],
                6 | 7 => self.lines_of_cells(owner)[0],
                8 | 9 => self.lines_of_cells(owner)[1],
                10 | 11 => self.marks[owner.index()].into_iter().map(u16::count_ones).sum(),
                12 => self.open.count_ones(),
                _ => u32::from(self.target == ANY),
            });
        }
    }
}
