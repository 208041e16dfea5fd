//! Features of Pentago for formulas.

use super::lines::marbles_on_lines;
use super::runs::PentagoRuns;
use crate::core::expression::FeatureInfo;
use crate::core::position::{Position, Side};
use crate::evaluation::Features;
use crate::games::pentago::Pentago;
use crate::games::pentago::bitboard::Bitboard;

impl Features for Pentago {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_marbles", "marbles"),
        FeatureInfo::symmetric("opp_marbles", "marbles of the opponent"),
        FeatureInfo::symmetric("own_run3", "unbroken runs of exactly three marbles"),
        FeatureInfo::symmetric("opp_run3", "the opponent's runs of three"),
        FeatureInfo::symmetric("own_run4", "unbroken runs of exactly four marbles"),
        FeatureInfo::symmetric("opp_run4", "the opponent's runs of four"),
        FeatureInfo::symmetric("own_centres", "marbles on the quadrants' centres"),
        FeatureInfo::symmetric("opp_centres", "the opponent's marbles on the quadrants' centres"),
        FeatureInfo::symmetric("own_line1", "lines of five with one own marble only"),
        FeatureInfo::symmetric("opp_line1", "lines of five with one marble of the opponent only"),
        FeatureInfo::symmetric("own_line2", "lines of five with two own marbles only"),
        FeatureInfo::symmetric("opp_line2", "lines of five with two marbles of the opponent only"),
        FeatureInfo::symmetric("own_line3", "lines of five with three own marbles only"),
        FeatureInfo::symmetric(
            "opp_line3",
            "lines of five with three marbles of the opponent only",
        ),
        FeatureInfo::symmetric("own_line4", "lines of five with four own marbles only"),
        FeatureInfo::symmetric("opp_line4", "lines of five with four marbles of the opponent only"),
        FeatureInfo::symmetric("own_fives", "free cells on which a marble makes five"),
        FeatureInfo::symmetric("opp_fives", "free cells on which the opponent's marble makes five"),
        FeatureInfo::symmetric("empty", "free cells"),
    ];

    #[inline]
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        let boards = match side == self.to_move() {
            true => [self.own(), self.other()],
            false => [self.other(), self.own()],
        };
        let empty = Bitboard::ALL.without(boards[0].or(boards[1]));
        // Numbers of marbles on the lines: own, and the opponent's.
        let mut lines = None;
        for (&feature, value) in wanted.iter().zip(values) {
            // All but the last come in pairs: own, and the opponent's.
            let (kind, owner) = (feature / 2, usize::from(feature % 2));
            let own = boards[owner];
            let runs = |weights| f64::from(PentagoRuns { weights }.value(own));
            *value = match kind {
                0 => f64::from(own.count()),
                1 => runs([1, 0, 0]),
                2 => runs([0, 1, 0]),
                3 => f64::from(own.centres()),
                4..=7 => {
                    let numbers = lines.get_or_insert_with(|| boards.map(marbles_on_lines));
                    f64::from(lines_with(u32::from(kind) - 3, numbers[owner], numbers[1 - owner]))
                }
                8 => f64::from(own.completing().and(empty).count()),
                _ => f64::from(empty.count()),
            };
        }
    }
}

/// The number of lines with this many marbles of one side and none of the other's. The three words
/// have the ones, twos and fours of a line's number.
#[inline]
fn lines_with(marbles: u32, own: [u32; 3], [ones, twos, fours]: [u32; 3]) -> u32 {
    let digits = [0, 1, 2].map(|digit| match marbles >> digit & 1 {
        1 => own[digit],
        _ => !own[digit],
    });
    (digits[0] & digits[1] & digits[2] & !(ones | twos | fours)).count_ones()
}
