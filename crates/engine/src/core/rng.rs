//! Random numbers that never change: ChaCha8 with a range reduction of this module (invariant 2).

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A stream of random numbers, determined by its key for all time.
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

    /// A seed for a [`PlayoutRandom`]: two words, the first the low half.
    pub fn seed(&mut self) -> u64 {
        let low = u64::from(self.words.next_u32());
        low | u64::from(self.words.next_u32()) << 32
    }

    /// Shuffles in place (Fisher and Yates, from the end down).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = u32::try_from(last + 1).unwrap_or(u32::MAX);
            items.swap(last, self.below(bound) as usize);
        }
    }
}

/// A stream of random numbers for playouts, of which a search makes millions: determined by its
/// seed for all time, at a tenth of the cost of [`Random`], and good enough for games.
///
/// SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators", as
/// revised by Vigna): 64-bit words with a period of 2^64. The range reduction is one
/// multiplication without rejection (Lemire 2019): the chance of a number below `bound` is off by
/// less than 2^-64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayoutRandom {
    state: u64,
}

impl PlayoutRandom {
    /// The stream with this seed.
    #[must_use]
    pub const fn from_seed(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    #[inline]
    pub const fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, from one word; 0 if `bound` is 0.
    #[inline]
    pub const fn below(&mut self, bound: u32) -> u32 {
        ((self.word() as u128 * bound as u128) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word(random: &mut Random) -> u32 {
        (random.unit() * 4_294_967_296.0) as u32
    }

    /// The keystream of ChaCha8 for key and nonce 0 (draft-strombergson-chacha-test-vectors-01,
    /// TC1), whose bytes are words in little-endian order.
    #[test]
    fn the_words_are_chacha8() {
        let mut random = Random::from_key([0; 32]);
        let words = [0; 8].map(|_: u32| word(&mut random));
        let keystream = [
            0x2fef_003e,
            0xd640_5f89,
            0xe8b8_5b7f,
            0xa1a5_091f,
            0xc30e_842c,
            0x3b7f_9ace,
            0x88e1_1b18,
            0x1e1a_71ef,
        ];
        assert_eq!(words, keystream);
    }

    /// Golden numbers (invariant 2): they change only with the engine's revision.
    #[test]
    fn golden_numbers() {
        let mut random = Random::from_key([7; 32]);
        let below: Vec<u32> =
            [2, 6, 288, 1_000_000, 0x8000_0001, u32::MAX].map(|bound| random.below(bound)).into();
        insta::assert_compact_debug_snapshot!(below, @"[0, 1, 245, 831866, 100974955, 1249180120]");
        let mut items = [0, 1, 2, 3, 4, 5, 6, 7];
        random.shuffle(&mut items);
        insta::assert_compact_debug_snapshot!(items, @"[1, 4, 7, 6, 5, 3, 2, 0]");
    }

    #[test]
    fn numbers_below_a_small_bound_are_even() {
        let mut random = Random::from_key([1; 32]);
        let mut counts = [0_i32; 7];
        for _ in 0..70_000 {
            counts[random.below(7) as usize] += 1;
        }
        // Six standard deviations of a binomial count of 10,000 are below 556.
        assert!(counts.iter().all(|count| (count - 10_000).abs() < 556), "{counts:?}");
    }

    #[test]
    fn every_order_of_a_shuffle_is_as_likely() {
        let mut random = Random::from_key([2; 32]);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut items = ['a', 'b', 'c', 'd'];
            random.shuffle(&mut items);
            *counts.entry(items).or_insert(0_i32) += 1;
        }
        assert_eq!(counts.len(), 24);
        assert!(counts.values().all(|count| (count - 1_000).abs() < 186), "{counts:?}");
    }

    /// The first words for seed 1234567 match Vigna's reference program.
    #[test]
    fn the_words_for_playouts_are_splitmix64() {
        let mut random = PlayoutRandom::from_seed(1_234_567);
        let words = [(); 5].map(|()| random.word());
        let reference = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(words, reference);
    }

    #[test]
    fn a_seed_is_two_words() {
        let (mut random, mut words) = (Random::from_key([4; 32]), Random::from_key([4; 32]));
        let low = u64::from(word(&mut words));
        assert_eq!(random.seed(), u64::from(word(&mut words)) << 32 | low);
        assert_eq!(random.below(1 << 31), words.below(1 << 31));
    }

    #[test]
    fn numbers_for_playouts_are_even() {
        for bound in [3, 7, 288] {
            let mut random = PlayoutRandom::from_seed(u64::from(bound));
            let mut counts = vec![0_i32; bound as usize];
            for _ in 0..bound * 10_000 {
                counts[random.below(bound) as usize] += 1;
            }
            // Six standard deviations of a binomial count of 10,000 are below 600.
            assert!(counts.iter().all(|count| (count - 10_000).abs() < 600), "{counts:?}");
        }
        assert_eq!(PlayoutRandom::from_seed(0).below(0), 0);
        assert_eq!(PlayoutRandom::from_seed(0).below(1), 0);
    }

    #[test]
    #[should_panic(expected = "a range must not be empty")]
    fn no_number_is_below_0() {
        Random::from_key([0; 32]).below(0);
    }

    proptest! {
        /// Lemire's method in full: a word's product is accepted unless its low half falls among
        /// the 2^32 mod bound values that would make some results likelier.
        #[test]
        fn below_is_multiply_and_reject(key: [u8; 32], bound in 1_u32..) {
            let mut random = Random::from_key(key);
            let mut words = Random::from_key(key);
            for _ in 0..8 {
                let excess = (1_u64 << 32) % u64::from(bound);
                let product = std::iter::repeat_with(|| u64::from(word(&mut words)) * u64::from(bound))
                    .find(|product| product % (1 << 32) >= excess);
                prop_assert_eq!(Some(u64::from(random.below(bound))), product.map(|p| p >> 32));
            }
        }

        #[test]
        fn a_shuffle_keeps_the_items(key: [u8; 32], items: Vec<u8>) {
            let mut shuffled = items.clone();
            Random::from_key(key).shuffle(&mut shuffled);
            let sorted = |mut items: Vec<u8>| { items.sort_unstable(); items };
            prop_assert_eq!(sorted(shuffled), sorted(items));
        }
    }
}
