//! Detecting games in which the machine took CPU time from thinking players.
//!
//! A player with an exclusive core uses CPU time for as long as its move takes. If the system gives the core to other
//! processes meanwhile, or a CPU quota is used up, the move takes longer than the player thought: the difference is
//! *robbed*, i.e. CPU time lost to other processes. The worker reports both times; this module evaluates them.

use spelrum_engine::{EXTERNAL_ALGORITHMS, MoveRecord};

use crate::speed::Scaling;

/// A move's difference of wall time and CPU time up to this, in microseconds, does not count as lost.
///
/// Reading one clock after the other, and truncating both to whole microseconds, differs by up to 25; the system's own
/// short tasks beside a player take 10 to 100 of a move. Another program takes the core for 1,000 and more at a time
/// (`docs/timing.md`).
pub const FLOOR_US: u64 = 100;

/// A sweep's settings for its timed games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// A game is disturbed if a player lost more than this share of its time: 0 to 1.
    pub disturbed_above: f64,
    /// Most replays of a disturbed game. 0: disturbed games count.
    pub replays_max: u32,
    /// The scaling of time limits by the worker's speed, if any.
    pub scaling: Option<Scaling>,
}

impl Timing {
    /// The default share.
    pub const DISTURBED_ABOVE: f64 = 0.05;
    /// The default number of replays of a disturbed game, if the sweep allows them.
    pub const REPLAYS: u32 = 2;
    /// Most replays that a sweep may set.
    pub const REPLAYS_MAX: u32 = 10;
}

impl Default for Timing {
    fn default() -> Self {
        Self { disturbed_above: Self::DISTURBED_ABOVE, replays_max: 0, scaling: None }
    }
}

/// Settings for judging the timed games of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedCell {
    /// The sweep's settings.
    pub timing: Timing,
    /// Whether each player's lost time is known.
    pub known: [bool; 2],
    /// Whether the players swap sides in odd numbers.
    pub swap_sides: bool,
}

impl TimedCell {
    /// The [`robbed_share`] of the game with this number.
    #[must_use]
    pub fn robbed_share(&self, number: u64, moves: &[MoveRecord]) -> Option<f64> {
        let mut known = self.known;
        if self.swap_sides && !number.is_multiple_of(2) {
            known.reverse();
        }
        robbed_share(moves, known)
    }

    /// Whether a share disturbs a game.
    #[must_use]
    pub fn disturbs(&self, share: f64) -> bool {
        share > self.timing.disturbed_above
    }

    /// Whether a result is kept as disturbed and its game replayed: it was disturbed, and replays are left after the
    /// `before` disturbed results kept so far.
    #[must_use]
    pub fn needs_replay(&self, number: u64, moves: &[MoveRecord], before: u64) -> bool {
        before < u64::from(self.timing.replays_max)
            && self.robbed_share(number, moves).is_some_and(|share| self.disturbs(share))
    }
}

/// The time of one player in a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerTime {
    /// The wall time of its moves, in microseconds.
    pub wall_us: u64,
    /// The part of it lost to other processes.
    pub robbed_us: u64,
}

impl PlayerTime {
    /// The times of the player that moved first in a game, and of the other.
    #[must_use]
    pub fn from_moves(moves: &[MoveRecord]) -> [Self; 2] {
        let mut times = [Self::default(); 2];
        for mv in moves {
            let time = &mut times[usize::from(mv.mover != 0)];
            time.wall_us = time.wall_us.saturating_add(mv.wall_us);
            time.robbed_us = time.robbed_us.saturating_add(robbed_us(mv));
        }
        times
    }

    /// The share that the player lost: 0 to 1.
    #[must_use]
    pub fn robbed_share(self) -> f64 {
        if self.wall_us == 0 { 0.0 } else { self.robbed_us as f64 / self.wall_us as f64 }
    }
}

fn robbed_us(mv: &MoveRecord) -> u64 {
    let robbed = mv.wall_us.saturating_sub(mv.cpu_us);
    if robbed > FLOOR_US { robbed } else { 0 }
}

/// The larger share of time lost by a player of a timed game. `None` if neither player's lost time is known;
/// `known` states for the first mover and the other whether it is.
#[must_use]
pub fn robbed_share(moves: &[MoveRecord], known: [bool; 2]) -> Option<f64> {
    let shares = PlayerTime::from_moves(moves).map(PlayerTime::robbed_share);
    shares
        .into_iter()
        .zip(known)
        .filter(|(_, is_known)| *is_known)
        .map(|(share, _)| share)
        .reduce(f64::max)
}

/// Whether a player's lost time is known: not for an external engine, whose CPU time says nothing of it. An engine waits
/// by itself, and may have several threads.
#[must_use]
pub fn is_lost_time_known(algorithm: &str) -> bool {
    !EXTERNAL_ALGORITHMS.contains(&algorithm)
}

#[cfg(test)]
mod tests;
