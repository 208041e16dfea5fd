//! The simulation's random numbers, all from its seed.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// Draws.
#[derive(Debug)]
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    /// The same seed gives the same draws.
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `end`; the bias of the remainder does not matter here.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    /// A number from `first` to `last`.
    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// Whether something with this probability happens.
    pub(crate) fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    /// One of several.
    pub(crate) fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[usize::try_from(self.below(among.len() as u64)).unwrap()]
    }
}
