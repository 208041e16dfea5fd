//! The number of marbles a side still lacks for five in a row, under any rotation of the quadrants.

use super::super::bitboard::Bitboard;
use super::fives::FILLED_BY;

/// For each quadrant and its marbles: its turns, laid out as in [`FILLED_BY`], that bring at least
/// one, two or three of them to each line's part in it.
static AT_LEAST: [[[u128; 512]; 4]; 3] = at_least();

/// The lowest of the four bits of every line.
const LOW: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;

/// The lines of five still possible for one side, and its marbles on them.
#[derive(Clone, Copy)]
pub(super) struct OpenLines {
    own: Bitboard,
    other: Bitboard,
    parts: [Parts; 4],
}

/// The lines' parts in one quadrant, four bits for each.
#[derive(Clone, Copy, Default)]
struct Parts {
    /// The most marbles of its own on the part, over the turns that bring none of the other's.
    counts: u128,
    /// The lowest bit, if there is such a turn.
    open: u128,
}

impl OpenLines {
    /// The lines of the side with the marbles `own`.
    pub(super) fn new(own: Bitboard, other: Bitboard) -> Self {
        let parts = std::array::from_fn(|quadrant| Parts::new(own, other, quadrant));
        Self { own, other, parts }
    }

    /// The lines after the side's own placement on the cell with this bit.
    #[inline]
    pub(super) fn with_own(mut self, bit: u32) -> Self {
        self.own = self.own.or(Bitboard::cell(bit));
        self.changed(bit)
    }

    /// The lines after the other side's placement on the cell with this bit.
    #[inline]
    pub(super) fn with_others(mut self, bit: u32) -> Self {
        self.other = self.other.or(Bitboard::cell(bit));
        self.changed(bit)
    }

    #[inline]
    fn changed(mut self, bit: u32) -> Self {
        let quadrant = bit as usize / 16;
        self.parts[quadrant] = Parts::new(self.own, self.other, quadrant);
        self
    }

    /// A lower bound on the marbles that the side must still place to have five, more than there
    /// are cells if it never can; and a number to compare the closeness of lines: a line that lacks
    /// one counts four, one that lacks two counts one.
    #[inline]
    pub(super) fn closest(&self) -> (u32, u32) {
        let [a, b, c, d] = self.parts;
        let open = a.open & b.open & c.open & d.open;
        // The sums are at most 5: they stay within a line's four bits.
        let sums = (a.counts + b.counts + c.counts + d.counts) & (open * 15);
        let [ones, twos, fours] = [sums & LOW, sums >> 1 & LOW, sums >> 2 & LOW];
        let lacking = if open == 0 {
            u32::MAX
        } else if fours != 0 {
            u32::from(fours & ones == 0)
        } else if twos != 0 {
            2 + u32::from(twos & ones == 0)
        } else {
            4 + u32::from(ones == 0)
        };
        (lacking, 4 * fours.count_ones() + (twos & ones).count_ones())
    }
}

impl Parts {
    #[inline]
    fn new(own: Bitboard, other: Bitboard, quadrant: usize) -> Self {
        let [own, other] = [own.quadrant(quadrant), other.quadrant(quadrant)];
        let open = !AT_LEAST[0][quadrant][other];
        let [one, two, three] =
            [0, 1, 2].map(|fewer| any_turn(AT_LEAST[fewer][quadrant][own] & open));
        Self { counts: one + two + three, open: any_turn(open) }
    }
}

/// For each line, whether one of its four bits is set: the lowest bit.
#[inline]
const fn any_turn(turns: u128) -> u128 {
    let turns = turns | turns >> 2;
    (turns | turns >> 1) & LOW
}

const fn at_least() -> [[[u128; 512]; 4]; 3] {
    let mut table = [[[0; 512]; 4]; 3];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut cells = 1_usize;
        while cells < 512 {
            let without_lowest = cells & (cells - 1);
            // A quadrant that lacks only this marble fills every part except those that need it.
            let needing = !FILLED_BY[quadrant][511 ^ cells ^ without_lowest];
            let mut fewer = u128::MAX;
            let mut marbles = 0;
            while marbles < 3 {
                let before = table[marbles][quadrant][without_lowest];
                table[marbles][quadrant][cells] = before | (fewer & needing);
                fewer = before;
                marbles += 1;
            }
            cells += 1;
        }
        quadrant += 1;
    }
    table
}
