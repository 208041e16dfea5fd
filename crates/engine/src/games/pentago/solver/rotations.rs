//! Sets of rotations: the relevant ones of the 256 orientations of the four quadrants.
//!
//! A rotation is the number of quarter turns to the right, 0 to 3, that each quadrant has made
//! since the root. Every ply makes exactly one quarter turn, so that after an even number of plies
//! the sum of the four is even, and after an odd number odd: 128 rotations matter at any ply.
//! Turning one quadrant leads from one half to the other. (So too in Irving's endgame solver, the
//! `mid/halfsuper` of github.com/girving/pentago; his paper of 2014 has sets of all 256.)

/// A set of the 128 rotations of one parity.
///
/// With `r0` to `r3` the turns of the quadrants, the bit is `r0 / 2 + 2 * r1 + 8 * r2 + 32 * r3`:
/// the parity gives the lowest bit of `r0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rotations(pub(super) u128);

impl Rotations {
    /// No rotation.
    pub(super) const NONE: Self = Self(0);
    /// All 128 of them.
    pub(super) const ALL: Self = Self(u128::MAX);

    /// The rotation in which no quadrant has been turned, of even parity.
    pub(super) const UNTURNED: Self = Self(1);

    /// The rotation, of odd parity, in which one quadrant has made this many turns (1 or 3).
    pub(super) const fn one_turned(quadrant: usize, turns: u32) -> Self {
        let bit = match quadrant {
            0 => turns / 2,
            _ => turns << (2 * quadrant - 1),
        };
        Self(1 << bit)
    }

    /// Rotations of either.
    #[inline]
    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Rotations of both.
    #[inline]
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Rotations of this one that are not in the other.
    #[inline]
    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Rotations of the same parity that are not in the set.
    #[inline]
    pub(super) const fn complement(self) -> Self {
        Self(!self.0)
    }

    /// Whether no rotation is in the set.
    #[inline]
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of rotations in the set.
    #[inline]
    pub(super) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The rotations of the other parity that are one quarter turn of any quadrant, either way,
    /// from one in the set.
    ///
    /// A turn of the first quadrant changes its lowest bit, which the parity implies, and the bit
    /// of its half or not, by direction. The turns of another quadrant are a field of four groups
    /// of bits: group `r` goes to the groups on both sides, so that the groups of equal parity are
    /// joined and then change places with the others.
    #[inline]
    pub(super) const fn turned(self) -> Self {
        let (low, high) = (self.0 as u64, (self.0 >> 64) as u64);
        let last = (low | high).rotate_left(32);
        Self(((turned_word(high) | last) as u128) << 64 | (turned_word(low) | last) as u128)
    }
}

/// Turns of the first three quadrants: all that stay within a word.
#[inline]
const fn turned_word(word: u64) -> u64 {
    const PAIRS: u64 = 0x5555_5555_5555_5555;
    const FIELDS_OF_2: u64 = 0x0303_0303_0303_0303;
    const FIELDS_OF_8: u64 = 0x0000_00ff_0000_00ff;
    let first = (word | word >> 1) & PAIRS;
    let first = first | first << 1;
    let joined = word | word >> 4;
    let second = (joined & FIELDS_OF_2) << 2 | (joined >> 2 & FIELDS_OF_2);
    let second = second | second << 4;
    let joined = word | word >> 16;
    let third = (joined & FIELDS_OF_8) << 8 | (joined >> 8 & FIELDS_OF_8);
    let third = third | third << 16;
    first | second | third
}
