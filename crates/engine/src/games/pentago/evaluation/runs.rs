//! Pentago's evaluation `runs`.

use super::last_ply;
use crate::core::budget::Budget;
use crate::core::limits::Stop;
use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::problem::KeyProblem;
use crate::evaluation::{
    Contents, Evaluate, GameEvaluation, LastPly, WEIGHTS_SUMMED_MAX, weight, weights,
};
use crate::games::pentago::Pentago;
use crate::games::pentago::bitboard::Bitboard;
use crate::games::pentago::patterns::{fulfilled, windows};

// 26 rows, columns and diagonals can hold a run of three, one of either colour; there are four
// centres.
const _: () = assert!(26 + 4 <= WEIGHTS_SUMMED_MAX);

const THREES: [u64; 80] = windows::<3, 80>();
const FOURS: [u64; 54] = windows::<4, 54>();

/// For each quadrant and its marbles: the windows of three adjacent cells (in two words, those of
/// rows and columns and those of diagonals) and of four that are complete there.
pub(super) static WINDOWS: [[[u64; 3]; 512]; 4] = {
    let (straight, diagonal) = THREES.split_at(48);
    let (straight, diagonal) = (fulfilled(straight), fulfilled(diagonal));
    let fours = fulfilled(&FOURS);
    let mut table = [[[0; 3]; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut cells = 0;
        while cells < 512 {
            table[quadrant][cells] =
                [straight[quadrant][cells], diagonal[quadrant][cells], fours[quadrant][cells]];
            cells += 1;
        }
        quadrant += 1;
    }
    table
};

/// `runs`, the study's evaluation: "unbroken runs of three and of four marbles in every direction
/// and the four quadrant centres, own minus opponent's".
///
/// A run is maximal: marbles of one colour on adjacent cells of a row, column or diagonal, with no
/// further marble of that colour at either end. Exactly three of them count `weight_run3`, exactly
/// four `weight_run4`; the ends may be a free cell, the opponent or the board's edge. A run of four
/// is not also two runs of three. A marble on a quadrant's centre, which no turn moves, counts
/// `weight_centre`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PentagoRuns {
    /// Weights of a run of three, a run of four and a centre, within ±[`crate::evaluation::WEIGHT_MAX`].
    pub(super) weights: [i32; 3],
}

impl PentagoRuns {
    /// The value of one colour's marbles, which have no five in a row.
    ///
    /// In a run of n there are n - 2 windows of three and n - 3 of four, so that without fives the
    /// windows of four are the runs of four, each with two of the windows of three.
    #[inline]
    pub(super) fn value(self, marbles: Bitboard) -> i32 {
        let entry = |quadrant: usize| &WINDOWS[quadrant][marbles.quadrant(quadrant)];
        let entries = [entry(0), entry(1), entry(2), entry(3)];
        let there =
            |word: usize| entries[0][word] & entries[1][word] & entries[2][word] & entries[3][word];
        let [run3, run4, centre] = self.weights;
        let threes = (there(0).count_ones() + there(1).count_ones()) as i32;
        let fours = there(2).count_ones() as i32;
        run3 * (threes - 2 * fours) + run4 * fours + centre * marbles.centres() as i32
    }
}

impl Default for PentagoRuns {
    fn default() -> Self {
        Self { weights: [3, 9, 1] }
    }
}

impl GameEvaluation<Pentago> for PentagoRuns {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "runs",
        meaning: "Unbroken runs of three and of four marbles and the quadrants' centres.",
        parameters: &[
            weight("weight_run3", 3, "value of an unbroken run of exactly three marbles"),
            weight("weight_run4", 9, "value of an unbroken run of exactly four marbles"),
            weight("weight_centre", 1, "value of a marble on the centre of a quadrant"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Pentago> for PentagoRuns {
    #[inline]
    fn evaluate(&self, position: &Pentago) -> i32 {
        self.value(position.own()) - self.value(position.other())
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
