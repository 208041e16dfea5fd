//! The solver's transposition table: bounds of scores and good moves of boards.

use super::last::Discs;
use crate::core::limits::MemoryRefused;
use crate::core::memory;

/// What is known of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The score is at least this.
    pub(super) lower: i8,
    /// The score is at most this.
    pub(super) upper: i8,
    /// The squares that were best last and before; [`NO_SQUARE`] if there are none.
    pub(super) best: [u8; 2],
}

/// No square.
pub(super) const NO_SQUARE: u8 = 64;

impl Known {
    pub(super) const NOTHING: Self = Self { lower: -64, upper: 64, best: [NO_SQUARE; 2] };
}

/// An entry: the discs of both sides; then, from the lowest byte on, both bounds, two squares, the number of
/// empty squares, and two bytes of the search that made it.
type Entry = [u64; 3];

/// Two entries for each place: of the board with more empty squares, and of the last one.
type Place = [Entry; 2];

/// Places at most, as a power of two: 48 MiB.
const BITS_MAX: u32 = 20;
/// Places at least.
const BITS_MIN: u32 = 8;

/// A table for one search at a time: entries of earlier ones are as good as none.
#[derive(Debug, Default)]
pub(super) struct Table {
    places: Vec<Place>,
    /// The number of the search, never 0.
    search: u16,
    /// Shifts a key to its place.
    shift: u32,
}

impl Table {
    /// Forgets everything, with room for a search of a board with so many empty squares.
    ///
    /// # Errors
    /// If the system refuses the memory. A smaller table would lead to other nodes, so there is none then.
    pub(super) fn start(&mut self, empty: u32) -> Result<(), MemoryRefused> {
        self.start_with_places(empty.clamp(BITS_MIN, BITS_MAX))
    }

    /// Forgets everything, with so many places at least, as a power of two.
    pub(super) fn start_with_places(&mut self, bits: u32) -> Result<(), MemoryRefused> {
        self.shift = 64 - bits;
        self.search = self.search.wrapping_add(1);
        if self.places.len() < 1 << bits || self.search == 0 {
            self.places = Vec::new();
            self.places = memory::zeros(1 << bits, None)?;
            self.search = 1;
        }
        Ok(())
    }

    fn place(&self, board: Discs) -> usize {
        let key = board.own.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ board.other.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(32);
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    fn is_of(&self, entry: &Entry, board: Discs) -> bool {
        entry[0] == board.own && entry[1] == board.other && (entry[2] >> 48) as u16 == self.search
    }

    /// What is known of a board.
    pub(super) fn get(&self, board: Discs) -> Known {
        let place = &self.places[self.place(board)];
        match place.iter().find(|entry| self.is_of(entry, board)) {
            None => Known::NOTHING,
            Some(entry) => {
                let [lower, upper, best, second, ..] = entry[2].to_le_bytes();
                Known { lower: lower as i8, upper: upper as i8, best: [best, second] }
            }
        }
    }

    /// Keeps what is known of a board with so many empty squares.
    pub(super) fn put(&mut self, board: Discs, empty: u32, known: Known) {
        let search = self.search.to_le_bytes();
        let Known { lower, upper, best } = known;
        let data =
            [lower as u8, upper as u8, best[0], best[1], empty as u8, 0, search[0], search[1]];
        let entry = [board.own, board.other, u64::from_le_bytes(data)];
        let place = self.place(board);
        let is_there = |entry: &Entry| self.is_of(entry, board);
        let [first, second] = &self.places[place];
        let is_older = (first[2] >> 48) as u16 != self.search;
        let slot = if is_there(first) || (is_older && !is_there(second)) {
            0
        } else if is_there(second) {
            1
        } else {
            usize::from((first[2] >> 32) as u8 > empty as u8)
        };
        if slot == 0 && !is_there(first) && !is_older {
            self.places[place][1] = *first;
        }
        self.places[place][slot] = entry;
    }
}
