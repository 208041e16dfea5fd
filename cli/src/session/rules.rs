//! The games' notations for a newcomer.

use spelrum_engine::Rules;

/// How a move is written, and what wins.
pub(super) fn explained(rules: &Rules) -> String {
    match rules {
        Rules::Pentago { win_before_rotation } => {
            let at_once = if *win_before_rotation {
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
        Rules::TicTacToe {} => {
            "A move is a cell: columns a to c from the left, rows 1 to 3 from the top; b2 is the \
             middle.\nThree in a row win."
                .to_owned()
        }
        Rules::Nim { misere, .. } => {
            let last = if *misere { "loses" } else { "wins" };
            format!(
                "A move is a heap and how many objects to take from it: a2 takes two from heap \
                 a.\nWhoever takes the last object {last}."
            )
        }
    }
}
