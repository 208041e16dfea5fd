//! The distribution of a sum over groups of clusters if no group departs: each group's sign could as well be the other.
//!
//! With about symmetric residuals of independent groups the test by signs is exact for any number of groups and any
//! dependence within them (Canay, Romano and Shaikh 2017); it needs no inverse of a covariance, and so allows more
//! pairings than groups.

use super::residuals::GROUPS_MAX;

/// Number of sign vectors, where not all are tried.
const SAMPLE: u64 = 999;
/// Most groups of which all sign vectors are tried: 512, since a vector and its negative are alike.
const ALL_MAX: usize = 10;
/// Groups whose sums are looked up together.
const BLOCK: usize = 5;

/// Sign vectors of groups.
pub(super) struct Signs {
    groups: usize,
    /// For each vector one bit of sign for each group. The first vector is the observed one, with all signs positive.
    vectors: Vec<u64>,
}

impl Signs {
    pub(super) fn new(groups: usize) -> Self {
        let groups = groups.min(GROUPS_MAX);
        let vectors = if groups <= ALL_MAX {
            (0..1 << groups.saturating_sub(1)).collect()
        } else {
            std::iter::once(0).chain((1..=SAMPLE).map(mixed)).collect()
        };
        Self { groups, vectors }
    }

    pub(super) fn len(&self) -> usize {
        self.vectors.len()
    }

    /// The smallest possible p-value.
    pub(super) fn least(&self) -> f64 {
        1.0 / self.len() as f64
    }

    /// Calls back with the number of each sign vector and the sum of the parts under it.
    pub(super) fn sums(&self, parts: &[f64], mut with: impl FnMut(usize, f64)) {
        const WIDTH: usize = 1 << BLOCK;
        let mut tables = [[0.0; WIDTH]; GROUPS_MAX.div_ceil(BLOCK)];
        let blocks = self.groups.div_ceil(BLOCK);
        for (table, block) in tables.iter_mut().zip(parts.chunks(BLOCK)) {
            // Each entry is an earlier one, with one sign turned.
            table[0] = block.iter().sum();
            for bits in 1..WIDTH {
                let turned = bits.trailing_zeros() as usize;
                table[bits] =
                    table[bits & (bits - 1)] - 2.0 * block.get(turned).copied().unwrap_or(0.0);
            }
        }
        for (number, &vector) in self.vectors.iter().enumerate() {
            let mut sum = 0.0;
            let mut rest = vector;
            for table in &tables[..blocks] {
                sum += table[(rest % WIDTH as u64) as usize];
                rest >>= BLOCK;
            }
            with(number, sum);
        }
    }

    /// The share of vectors whose value is at least the observed one. Values are in rising order, with the observed one
    /// among them.
    pub(super) fn p_value(values: &[f64], observed: f64) -> f64 {
        // Vectors that should be equal may differ in the last bits.
        let bound = observed - observed.abs() * 1e-9;
        let below = values.partition_point(|&value| value < bound);
        (values.len() - below).max(1) as f64 / values.len() as f64
    }
}

/// Well mixed bits of a counter (`SplitMix64`: Steele, Lea and Flood 2014): the same vectors on every machine.
pub(super) fn mixed(counter: u64) -> u64 {
    let mut bits = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
