//! Pentago's evaluation `lines`.

use super::last_ply;
use crate::core::budget::Budget;
use crate::core::limits::Stop;
use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::problem::KeyProblem;
use crate::evaluation::{
    Contents, Evaluate, GameEvaluation, LastPly, WEIGHTS_SUMMED_MAX, weight, weights,
};
use crate::games::pentago::Pentago;
use crate::games::pentago::bitboard::{Bitboard, add_parts};
use crate::games::pentago::patterns::{LINES, windows};

// Each line adds or subtracts at most one weight.
const _: () = assert!(LINES as i32 <= WEIGHTS_SUMMED_MAX);

/// For each quadrant and its marbles: the number of marbles on each of the 32 lines of five, in
/// two bits: the low ones in the low half of the word, the high ones in the high half.
static MARBLES_ON_LINES: [[u64; 512]; 4] = {
    let lines = windows::<5, LINES>();
    let mut table = [[0; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut cells = 0;
        while cells < 512 {
            let mut line = 0;
            while line < LINES {
                let part = (lines[line] >> (16 * quadrant)) & cells as u64;
                let marbles = part.count_ones() as u64;
                table[quadrant][cells] |= (marbles & 1) << line | (marbles >> 1) << (32 + line);
                line += 1;
            }
            cells += 1;
        }
        quadrant += 1;
    }
    table
};

/// `lines`: every line of five cells with marbles of only one colour counts for that colour by
/// their number, `weight_line1` for one marble to `weight_line4` for four. This project's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PentagoLines {
    /// Weights of a line with one to four marbles, within ±[`crate::evaluation::WEIGHT_MAX`].
    pub(super) weights: [i32; 4],
}

impl PentagoLines {
    /// The value of the lines in `open` for the colour with these numbers on them.
    #[inline]
    pub(super) fn value(self, [ones, twos, fours]: [u32; 3], open: u32) -> i32 {
        let count = |lines: u32| (lines & open).count_ones() as i32;
        let [line1, line2, line3, line4] = self.weights;
        line1 * count(ones & !twos & !fours)
            + line2 * count(!ones & twos)
            + line3 * count(ones & twos)
            + line4 * count(!ones & fours)
    }
}

impl Default for PentagoLines {
    fn default() -> Self {
        Self { weights: [1, 3, 9, 27] }
    }
}

impl GameEvaluation<Pentago> for PentagoLines {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "lines",
        meaning: "Lines of five that hold marbles of one colour only, by their number.",
        parameters: &[
            weight(
                "weight_line1",
                1,
                "value of a line of five with one marble and no opposing one",
            ),
            weight(
                "weight_line2",
                3,
                "value of a line of five with two marbles and no opposing one",
            ),
            weight(
                "weight_line3",
                9,
                "value of a line of five with three marbles and no opposing one",
            ),
            weight(
                "weight_line4",
                27,
                "value of a line of five with four marbles and no opposing one",
            ),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Pentago> for PentagoLines {
    #[inline]
    fn evaluate(&self, position: &Pentago) -> i32 {
        let own = marbles_on_lines(position.own());
        let other = marbles_on_lines(position.other());
        let any = |[ones, twos, fours]: [u32; 3]| ones | twos | fours;
        self.value(own, !any(other)) - self.value(other, !any(own))
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn last_ply(
        &self,
        position: &Pentago,
        last_ply: LastPly,
        budget: &mut Budget<'_>,
    ) -> Option<Result<i32, Stop>> {
        last_ply::best(position, *self, last_ply, budget)
    }
}

/// The number of marbles on each line, as bits for one, two and four.
#[inline]
pub(super) fn marbles_on_lines(marbles: Bitboard) -> [u32; 3] {
    add_parts([0, 1, 2, 3].map(|quadrant| MARBLES_ON_LINES[quadrant][marbles.quadrant(quadrant)]))
}
