//! Sets of a few cells as numbers, and their ranks among those of the same size.
//!
//! Sets of one size are ranked by their value as binary numbers (colexicographic order), so
//! counting up visits them in order and a rank is an index.

use crate::core::budget::Budget;
use crate::core::limits::Stop;
use crate::core::memory;

/// The most cells of a set: three times the six of [`GATHERED`].
pub(super) const CELLS_MAX: u32 = 18;

/// Sets between two looks at the clock in loops over many: tens of microseconds.
pub(super) const SETS_BETWEEN_LOOKS: u32 = 1 << 10;

/// `GATHERED[mask][set]`: the bits of `set` at the places of `mask`, moved together at the bottom.
static GATHERED: [[u8; 64]; 64] = gathered();
/// `SPREAD[mask][set]`: the lowest bits of `set`, moved to the places of `mask`.
static SPREAD: [[u8; 64]; 64] = spread();

/// Ranks of all sets of a number of cells, and the number of sets of each size.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    ranks: Vec<u16>,
    cells: u32,
}

impl Ranks {
    /// Makes the ranks cover sets of this many cells. They stay valid for fewer.
    ///
    /// # Errors
    /// If the budget stops it or the system refuses memory; then they cover none.
    pub(super) fn cover(&mut self, cells: u32, budget: &mut Budget<'_>) -> Result<(), Stop> {
        assert!(cells <= CELLS_MAX, "the sets have at most {CELLS_MAX} cells");
        if cells <= self.cells {
            return Ok(());
        }
        self.cells = 0;
        let mut seen = [0_u16; CELLS_MAX as usize + 1];
        memory::reserve_for_solver(&mut self.ranks, 1 << cells)?;
        for set in 0..1_u32 << cells {
            if set.is_multiple_of(SETS_BETWEEN_LOOKS) {
                budget.look_between_nodes()?;
            }
            let seen = &mut seen[set.count_ones() as usize];
            self.ranks.push(*seen);
            *seen += 1;
        }
        self.cells = cells;
        Ok(())
    }

    /// The rank of a set among those of its size.
    #[inline]
    pub(super) fn rank(&self, set: u32) -> usize {
        usize::from(self.ranks[set as usize])
    }
}

/// The sets of `size` of the lowest `cells` cells, in the order of their ranks.
pub(super) fn of_size(cells: u32, size: u32) -> impl Iterator<Item = u32> {
    let first = (1_u32 << size) - 1;
    let end = 1_u32 << cells;
    std::iter::successors((size <= cells).then_some(first), move |&set| {
        // The next greater number with as many bits (Gosper; Knuth, The Art of Computer
        // Programming 4A, section 7.1.3).
        if set == 0 {
            return None;
        }
        let lowest = set & set.wrapping_neg();
        let ripple = set + lowest;
        let next = ripple | ((set ^ ripple) >> 2) >> lowest.trailing_zeros();
        (next < end).then_some(next)
    })
}

/// The number of sets of `size` of `cells` cells.
pub(super) fn count(cells: u32, size: u32) -> usize {
    if size > cells {
        return 0;
    }
    (0..size as usize).fold(1, |count, taken| count * (cells as usize - taken) / (taken + 1))
}

/// The part of `set` that lies in `mask`, in the coordinates of `mask`'s own cells.
#[inline]
pub(super) fn gather(set: u32, mask: u32) -> u32 {
    let part = |shift: u32| {
        let mask = mask >> shift & 63;
        u32::from(GATHERED[mask as usize][(set >> shift & 63) as usize])
    };
    let low = (mask & 63).count_ones();
    let middle = (mask & 0xfff).count_ones();
    part(0) | part(6) << low | part(12) << middle
}

/// The inverse of [`gather`]: a set in the coordinates of `mask`'s own cells, in those of all.
#[inline]
pub(super) fn scatter(set: u32, mask: u32) -> u32 {
    let part = |shift: u32, set: u32| {
        u32::from(SPREAD[(mask >> shift & 63) as usize][(set & 63) as usize]) << shift
    };
    let low = (mask & 63).count_ones();
    let middle = (mask & 0xfff).count_ones();
    part(0, set) | part(6, set >> low) | part(12, set >> middle)
}

const fn gathered() -> [[u8; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut mask = 0;
    while mask < 64 {
        let mut set = 0;
        while set < 64 {
            let (mut cell, mut to) = (0, 0);
            while cell < 6 {
                if mask >> cell & 1 == 1 {
                    table[mask][set] |= ((set >> cell & 1) as u8) << to;
                    to += 1;
                }
                cell += 1;
            }
            set += 1;
        }
        mask += 1;
    }
    table
}

const fn spread() -> [[u8; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut mask = 0;
    while mask < 64 {
        let mut set = 0;
        while set < 64 {
            let (mut cell, mut from) = (0, 0);
            while cell < 6 {
                if mask >> cell & 1 == 1 {
                    table[mask][set] |= ((set >> from & 1) as u8) << cell;
                    from += 1;
                }
                cell += 1;
            }
            set += 1;
        }
        mask += 1;
    }
    table
}
