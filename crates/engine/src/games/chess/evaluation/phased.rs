//! Values that change as pieces leave the board.

use std::ops::{Add, AddAssign, Mul, Sub};

/// A value in the middlegame and in the endgame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phased {
    pub(super) middlegame: i32,
    pub(super) endgame: i32,
}

impl Phased {
    pub(super) const ZERO: Self = Self::new(0, 0);

    pub(super) const fn new(middlegame: i32, endgame: i32) -> Self {
        Self { middlegame, endgame }
    }
}

impl Add for Phased {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self::new(self.middlegame + other.middlegame, self.endgame + other.endgame)
    }
}

impl AddAssign for Phased {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Phased {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self::new(self.middlegame - other.middlegame, self.endgame - other.endgame)
    }
}

impl Mul<i32> for Phased {
    type Output = Self;

    #[inline]
    fn mul(self, factor: i32) -> Self {
        Self::new(self.middlegame * factor, self.endgame * factor)
    }
}
