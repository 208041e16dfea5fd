//! What the engine needs from its surroundings: the time, tables in files, and whether to continue.

use std::time::Duration;

use crate::core::position::Ending;

/// The engine has no clock of its own: the caller that plays a game provides one.
pub trait Host {
    /// Time since any fixed moment, from a monotonic clock.
    fn wall(&self) -> Duration;

    /// Processor time of the calling thread since any fixed moment.
    fn cpu(&self) -> Duration;

    /// The number of times since any fixed moment that the system took the core from the calling thread while
    /// it had more to do: its involuntary context switches. `None` where the system does not report them.
    fn involuntary_switches(&self) -> Option<u64> {
        None
    }

    /// How a chess game ends from this position (FEN) by the surroundings' Syzygy tables, with or without the fifty-move
    /// rule; `None` if they do not tell. Asked only in games with such a rule ([`SyzygyRule`](crate::SyzygyRule)).
    fn syzygy_ending(&self, _position: &str, _fifty_moves: bool) -> Option<Ending> {
        None
    }

    /// Whether the game in progress is no longer wanted. Polled a few thousand times a second; once
    /// true, the search and the game end as aborted.
    fn aborted(&self) -> bool {
        false
    }
}

/// A host whose clock stands still, for searches that no time limit bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timeless;

impl Host for Timeless {
    fn wall(&self) -> Duration {
        Duration::ZERO
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }
}
