//! How fast machines are, and time limits that give each of them the same number of nodes.
//!
//! A machine's *speed* for a game is the number of nodes that a plain search of this engine visits in a second by the
//! clock, on each of the slots that play timed games while all of them do: as it will play. What the clock says is
//! what counts, since a quota of processor time slows a machine, too.

/// How fast a machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speed {
    /// The game whose positions were searched.
    pub game: String,
    /// Nodes that a slot visits in a second. Never 0.
    pub nodes_per_second: u64,
    /// By how much that differed between short spells and between slots: in thousandths of it.
    pub noise_permille: u32,
    /// How many slots measured at once.
    pub slots: u32,
    /// How long ago that was, in milliseconds.
    pub age_ms: u64,
}

/// How a sweep scales time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scaling {
    /// The speed at which limits are as the sweep says, in nodes per second. Never 0.
    pub reference: u64,
    /// Limits last at most so many thousandths of what the sweep says, and at least the inverse. At least 1,000.
    pub factor_max_permille: u32,
}

impl Scaling {
    /// At most four times as long, where a sweep does not say.
    pub const FACTOR_MAX_PERMILLE: u32 = 4_000;

    /// How long limits last on a machine of this speed: in thousandths of what the sweep says, never 0.
    #[must_use]
    pub fn factor_permille(self, nodes_per_second: u64) -> u32 {
        let most = u128::from(self.factor_max_permille.max(1_000));
        let least = 1_000_000_u128.div_ceil(most);
        let speed = u128::from(nodes_per_second.max(1));
        let factor = (u128::from(self.reference) * 1_000 + speed / 2) / speed;
        u32::try_from(factor.clamp(least, most)).unwrap_or(u32::MAX)
    }
}

/// How time limits were scaled in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledTime {
    /// They lasted so many thousandths of what its sweep says. Never 0.
    pub factor_permille: u32,
    /// The speed of its worker by which that was found.
    pub nodes_per_second: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slower_machine_has_longer_limits() {
        let scaling = Scaling { reference: 2_000_000, factor_max_permille: 4_000 };
        let of = |speed| scaling.factor_permille(speed);
        assert_eq!([of(2_000_000), of(1_000_000), of(4_000_000)], [1_000, 2_000, 500]);
        assert_eq!(of(1_999_000), 1_001, "rounded to the nearest");
        // Within bounds both ways, whatever the speed.
        assert_eq!([of(499_999), of(1), of(0), of(u64::MAX)], [4_000, 4_000, 4_000, 250]);
        let none = Scaling { reference: u64::MAX, factor_max_permille: 0 };
        assert_eq!([none.factor_permille(1), none.factor_permille(u64::MAX)], [1_000, 1_000]);
        let most = Scaling { reference: u64::MAX, factor_max_permille: u32::MAX };
        assert_eq!(most.factor_permille(1), u32::MAX);
        assert_eq!(Scaling { reference: 1, ..most }.factor_permille(u64::MAX), 1);
    }
}
