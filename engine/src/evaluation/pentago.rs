//! Pentago's evaluations.

mod last_ply;

use super::weight;
use crate::games::Pentago;
use crate::games::pentago::{Bitboard, LINES, add_parts, fulfilled, windows};
use crate::parameters::EvaluationInfo;
use crate::search::{Budget, Evaluate, LastPly, Stop};

const THREES: [u64; 80] = windows::<3, 80>();
const FOURS: [u64; 54] = windows::<4, 54>();

/// For each quadrant and its marbles: the windows of three adjacent cells (in two words, those of
/// rows and columns and those of diagonals) and of four that lack nothing there.
static WINDOWS: [[[u64; 3]; 512]; 4] = {
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
/// four `weight_run4`; what lies at the ends, a free cell, the opponent or the board's edge, does
/// not matter. A run of four is not also two runs of three. A marble on a quadrant's centre,
/// which no turn moves, counts `weight_centre`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PentagoRuns {
    /// Weights of a run of three, a run of four and a centre, within ±[`super::WEIGHT_MAX`].
    pub(super) weights: [i32; 3],
}

impl PentagoRuns {
    /// The evaluation as a parameter.
    pub const INFO: EvaluationInfo = EvaluationInfo {
        name: "runs",
        meaning: "Unbroken runs of three and of four marbles and the quadrants' centres.",
        weights: &[
            weight("weight_run3", 3, "value of an unbroken run of exactly three marbles"),
            weight("weight_run4", 9, "value of an unbroken run of exactly four marbles"),
            weight("weight_centre", 1, "value of a marble on the centre of a quadrant"),
        ],
    };

    /// The value of one colour's marbles, which have no five in a row.
    ///
    /// In a run of n there are n - 2 windows of three and n - 3 of four, so that without fives the
    /// windows of four are the runs of four, each with two of the windows of three.
    #[inline]
    fn value(self, marbles: Bitboard) -> i32 {
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

impl Evaluate<Pentago> for PentagoRuns {
    #[inline]
    fn evaluate(&self, position: &Pentago) -> i32 {
        self.value(position.own()) - self.value(position.other())
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

/// `lines`, ours: every line of five cells that holds marbles of one colour only counts for that
/// colour by their number, `weight_line1` for one marble to `weight_line4` for four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PentagoLines {
    /// Weights of a line with one to four marbles, within ±[`super::WEIGHT_MAX`].
    pub(super) weights: [i32; 4],
}

impl PentagoLines {
    /// The evaluation as a parameter.
    pub const INFO: EvaluationInfo = EvaluationInfo {
        name: "lines",
        meaning: "Lines of five that hold marbles of one colour only, by their number.",
        weights: &[
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

    /// The value of the lines in `open` for the colour that has these numbers on them.
    #[inline]
    fn value(self, [ones, twos, fours]: [u32; 3], open: u32) -> i32 {
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

impl Evaluate<Pentago> for PentagoLines {
    #[inline]
    fn evaluate(&self, position: &Pentago) -> i32 {
        let own = marbles_on_lines(position.own());
        let other = marbles_on_lines(position.other());
        let any = |[ones, twos, fours]: [u32; 3]| ones | twos | fours;
        self.value(own, !any(other)) - self.value(other, !any(own))
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

/// The number of marbles on each line, in binary: the lines that have a one, a two, a four in it.
#[inline]
fn marbles_on_lines(marbles: Bitboard) -> [u32; 3] {
    add_parts([0, 1, 2, 3].map(|quadrant| MARBLES_ON_LINES[quadrant][marbles.quadrant(quadrant)]))
}
