//! Whether the machine took time from players that they were to think in.
//!
//! A player with a core of its own uses processor time for as long as its move takes. Where the system gives the core
//! to others meanwhile, or a quota of processor time is used up, the move takes longer than the player thought: of
//! the difference it was *robbed*. Both times come from the worker; what follows from them is found out here.

use spelrum_engine::{MoveRecord, OUTSIDE_ALGORITHMS};

use crate::speed::Scaling;

/// A move is robbed of nothing whose wall time exceeds its processor time by no more than this, in microseconds.
///
/// Reading one clock after the other, and cutting both to whole microseconds, differs by up to 25; the system's own
/// short works beside a player take 10 to 100 of a move. Where another program has the core, it has it for 1,000 and
/// more at a time (`docs/timing.md`).
pub const FLOOR_US: u64 = 100;

/// What a sweep says of its timed games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// A game is disturbed of which a player was robbed of more than this share of its time: 0 to 1.
    pub disturbed_above: f64,
    /// How often a game is played again at most, as long as it is disturbed. 0: disturbed games count.
    pub replays_max: u32,
    /// How time limits are scaled by the speed of the worker, if they are.
    pub scaling: Option<Scaling>,
}

impl Timing {
    /// The share where a sweep does not say.
    pub const DISTURBED_ABOVE: f64 = 0.05;
    /// How often a disturbed game is played again, where a sweep lets it and does not say.
    pub const REPLAYS: u32 = 2;
    /// How often it may be at most.
    pub const REPLAYS_MAX: u32 = 10;
}

impl Default for Timing {
    fn default() -> Self {
        Self { disturbed_above: Self::DISTURBED_ABOVE, replays_max: 0, scaling: None }
    }
}

/// How the timed games of a cell are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedCell {
    /// What its sweep says.
    pub timing: Timing,
    /// Of which of its players the processor time is known.
    pub known: [bool; 2],
    /// Whether they swap sides in odd numbers.
    pub swap_sides: bool,
}

impl TimedCell {
    /// Of the game with this number: [`robbed_share`].
    #[must_use]
    pub fn robbed_share(&self, number: u64, moves: &[MoveRecord]) -> Option<f64> {
        let mut known = self.known;
        if self.swap_sides && !number.is_multiple_of(2) {
            known.reverse();
        }
        robbed_share(moves, known)
    }

    /// Whether a share of it disturbs a game.
    #[must_use]
    pub fn disturbs(&self, share: f64) -> bool {
        share > self.timing.disturbed_above
    }

    /// Whether a result is kept beside the settled ones, and its game played again: it was disturbed, and so were no
    /// more than `before` results of it, which were kept so.
    #[must_use]
    pub fn plays_again(&self, number: u64, moves: &[MoveRecord], before: u64) -> bool {
        before < u64::from(self.timing.replays_max)
            && self.robbed_share(number, moves).is_some_and(|share| self.disturbs(share))
    }
}

/// What one player of a game had of its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeHad {
    /// What its moves took by the clock on the wall, in microseconds.
    pub wall_us: u64,
    /// Of this, what it was robbed of.
    pub robbed_us: u64,
}

impl TimeHad {
    /// The time of who moved first in a game, and of the other.
    #[must_use]
    pub fn of(moves: &[MoveRecord]) -> [Self; 2] {
        let mut had = [Self::default(); 2];
        for mv in moves {
            let its = &mut had[usize::from(mv.mover != 0)];
            its.wall_us = its.wall_us.saturating_add(mv.wall_us);
            its.robbed_us = its.robbed_us.saturating_add(robbed_us(mv));
        }
        had
    }

    /// The share of it of which the player was robbed: 0 to 1.
    #[must_use]
    pub fn robbed_share(self) -> f64 {
        if self.wall_us == 0 { 0.0 } else { self.robbed_us as f64 / self.wall_us as f64 }
    }
}

fn robbed_us(mv: &MoveRecord) -> u64 {
    let robbed = mv.wall_us.saturating_sub(mv.cpu_us);
    if robbed > FLOOR_US { robbed } else { 0 }
}

/// The share of its time of which that player of a timed game was robbed who was robbed of the greater one. `None` if
/// neither player's processor time is known; `known` says whose is, of who moved first and of the other.
#[must_use]
pub fn robbed_share(moves: &[MoveRecord], known: [bool; 2]) -> Option<f64> {
    let shares = TimeHad::of(moves).map(TimeHad::robbed_share);
    shares
        .into_iter()
        .zip(known)
        .filter(|(_, is_known)| *is_known)
        .map(|(share, _)| share)
        .reduce(f64::max)
}

/// Whether the processor time is known of a player's moves: not of an external engine, which thinks in processes of
/// its own.
#[must_use]
pub fn is_known_of(algorithm: &str) -> bool {
    !OUTSIDE_ALGORITHMS.contains(&algorithm)
}

#[cfg(test)]
mod tests;
