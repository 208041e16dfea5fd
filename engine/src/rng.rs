//! Random numbers that never change: ChaCha8 with our own range reduction (invariant 2).

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A stream of random numbers, fixed by its key for all time.
///
/// ChaCha8 (Bernstein 2008) with a 256-bit key, stream 0, read as 32-bit words in order.
/// The range reduction is Lemire's multiply-and-reject (Lemire 2019, "Fast random integer
/// generation in an interval") on those words. No library sampling is used, since its results
/// change between releases.
#[derive(Clone, Debug)]
pub struct Random {
    words: ChaCha8Rng,
}

impl Random {
    /// The stream with this key.
    #[must_use]
    pub fn from_key(key: [u8; 32]) -> Self {
        Self { words: ChaCha8Rng::from_seed(key) }
    }

    /// A uniform number below `bound`.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "a range must not be empty");
        let mut product = u64::from(self.words.next_u32()) * u64::from(bound);
        let mut low = product as u32;
        if low < bound {
            let threshold = bound.wrapping_neg() % bound;
            while low < threshold {
                product = u64::from(self.words.next_u32()) * u64::from(bound);
                low = product as u32;
            }
        }
        (product >> 32) as u32
    }

    /// A uniform number in 0 ≤ x < 1: a multiple of 2^-32.
    pub fn unit(&mut self) -> f64 {
        f64::from(self.words.next_u32()) / 4_294_967_296.0
    }

    /// Shuffles in place (Fisher and Yates, from the end down).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = u32::try_from(last + 1).unwrap_or(u32::MAX);
            items.swap(last, self.below(bound) as usize);
        }
    }
}
