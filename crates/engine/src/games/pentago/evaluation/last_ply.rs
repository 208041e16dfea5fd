//! Evaluates all moves of a position together: the opponent's marbles once after each of the eight
//! turns, and for each placement only the difference that one marble makes.

use super::lines::{PentagoLines, marbles_on_lines};
use super::runs::{PentagoRuns, WINDOWS};
use crate::core::budget::Budget;
use crate::core::limits::Stop;
use crate::evaluation::LastPly;
use crate::games::pentago::Pentago;
use crate::games::pentago::bitboard::Bitboard;
use crate::games::pentago::patterns::{LINES, windows};

/// An evaluation that computes the difference of one more marble.
pub(super) trait Placements: Copy {
    /// The greatest value, for the owner of `own`, of another marble on one of the cells in
    /// `empty`, of which there is at least one.
    fn best_placement(self, own: Bitboard, other: Bitboard, empty: Bitboard) -> i32;
}

/// The best value of the last ply, as in `Evaluate::last_ply`. The last marble of a board ends the
/// game, which needs no evaluation: `None`.
pub(super) fn best<E: Placements>(
    position: &Pentago,
    evaluation: E,
    LastPly { lost, lost_to_reply, beta }: LastPly,
    budget: &mut Budget<'_>,
) -> Option<Result<i32, Stop>> {
    let both = [position.own(), position.other()];
    let placements = Bitboard::ALL.without(both[0].or(both[1])).count();
    (placements > 1).then(|| {
        let defence = lost_to_reply.and_then(|value| Some((position.defence()?, value)));
        let mut best = i32::MIN;
        let mut is_idle_turn_tried = false;
        for quadrant in 0..4 {
            // If half a turn changes nothing, both directions lead to the same positions; if a
            // quarter turn changes nothing, to those of any other such turn.
            let is_one = both.iter().all(|board| board.is_same_after_half(quadrant));
            let is_idle = both.iter().all(|board| board.is_same_after_quarter(quadrant));
            if is_idle && is_idle_turn_tried {
                continue;
            }
            is_idle_turn_tried |= is_idle;
            for direction in 0..if is_one { 1 } else { 2 } {
                budget.enter_many(placements)?;
                let [own, other] = both.map(|board| board.turned(quadrant, direction));
                let empty = Bitboard::ALL.without(own.or(other));
                let value = if other.has_five() {
                    // Drawn if a marble makes five as well.
                    let is_drawn = own.has_five() || !own.completing().and(empty).is_empty();
                    if is_drawn { 0 } else { lost }
                } else {
                    let safe = defence.as_ref().map(|(defence, lost_to_reply)| {
                        let cells = defence.safe[2 * quadrant + direction];
                        (cells.turned(quadrant, direction), *lost_to_reply)
                    });
                    match safe {
                        Some((cells, lost_to_reply)) if cells.is_empty() => lost_to_reply,
                        _ => {
                            let cells = safe.map_or(empty, |(cells, _)| cells);
                            budget.evaluate_many(cells.count())?;
                            evaluation.best_placement(own, other, cells)
                        }
                    }
                };
                best = best.max(value);
                if best >= beta {
                    return Ok(best);
                }
            }
        }
        Ok(best)
    })
}

impl Placements for PentagoRuns {
    /// A marble in a quadrant changes that quadrant's windows; of the others' only their
    /// intersection counts.
    #[inline]
    fn best_placement(self, own: Bitboard, other: Bitboard, empty: Bitboard) -> i32 {
        let entry = |quadrant: usize| &WINDOWS[quadrant][own.quadrant(quadrant)];
        let entries = [entry(0), entry(1), entry(2), entry(3)];
        let [run3, run4, centre] = self.weights;
        let mut best = i32::MIN;
        for quadrant in 0..4 {
            let [a, b, c] = [1, 2, 3].map(|step| entries[(quadrant + step) % 4]);
            let others = [a[0] & b[0] & c[0], a[1] & b[1] & c[1], a[2] & b[2] & c[2]];
            let marbles = own.quadrant(quadrant);
            let mut cells = empty.quadrant(quadrant);
            while cells != 0 {
                let cell = cells & cells.wrapping_neg();
                cells ^= cell;
                let windows = &WINDOWS[quadrant][(marbles | cell) & 511];
                let there = |word: usize| (others[word] & windows[word]).count_ones() as i32;
                let (threes, fours) = (there(0) + there(1), there(2));
                let on_centre = i32::from(cell == 1 << 4);
                let value = run3 * (threes - 2 * fours) + run4 * fours + centre * on_centre;
                best = best.max(value);
            }
        }
        best + centre * own.centres() as i32 - self.value(other)
    }
}

/// For each cell's bit: the lines of five through it.
static THROUGH: [u32; 64] = {
    let lines = windows::<5, LINES>();
    let mut table = [0; 64];
    let mut line = 0;
    while line < LINES {
        let mut bit = 0;
        while bit < 64 {
            table[bit] |= ((lines[line] >> bit) as u32 & 1) << line;
            bit += 1;
        }
        line += 1;
    }
    table
};

impl Placements for PentagoLines {
    /// A marble adds one to the lines through its cell, and takes from the opponent those that were
    /// only theirs.
    #[inline]
    fn best_placement(self, own: Bitboard, other: Bitboard, empty: Bitboard) -> i32 {
        let (own, other) = (marbles_on_lines(own), marbles_on_lines(other));
        let any = |[ones, twos, fours]: [u32; 3]| ones | twos | fours;
        let (open, theirs) = (!any(other), !any(own));
        let [line1, line2, line3, line4] = self.weights;
        let by_count = |[ones, twos, fours]: [u32; 3], among: u32| {
            let (ones, twos, fours) = (ones & among, twos & among, fours & among);
            [ones & !twos, twos & !ones, ones & twos, fours & !ones]
        };
        let own_lines = by_count(own, open);
        let their_lines = by_count(other, theirs);
        // The value of a marble on a line, by the marbles already there. No open line has four: the
        // fifth would have won.
        let gains = [
            (open & theirs, line1),
            (own_lines[0], line2 - line1),
            (own_lines[1], line3 - line2),
            (own_lines[2], line4 - line3),
            (their_lines[0], line1),
            (their_lines[1], line2),
            (their_lines[2], line3),
            (their_lines[3], line4),
        ];
        let before = self.value(own, open) - self.value(other, theirs);
        let mut best = i32::MIN;
        let mut cells = empty;
        while !cells.is_empty() {
            let through = THROUGH[cells.lowest() as usize & 63];
            cells = cells.without_lowest();
            let gain: i32 = gains
                .iter()
                .map(|&(lines, worth)| worth * (lines & through).count_ones() as i32)
                .sum();
            best = best.max(gain);
        }
        before + best
    }
}
