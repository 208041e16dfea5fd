//! Ranks of bits, for games that draw a move from a set of squares.

/// The index of the bit with this rank, the lowest having rank 0. There must be more than `rank` bits.
///
/// Three halvings and a table: no branch, since the half is unpredictable.
#[inline(always)]
pub(crate) const fn nth(mut bits: u64, mut rank: u32) -> u32 {
    let mut base = 0;
    let mut half = 32;
    while half >= 8 {
        let below = (bits & ((1 << half) - 1)).count_ones();
        let is_above = (rank >= below) as u32;
        bits >>= half * is_above;
        rank -= below * is_above;
        base += half * is_above;
        half /= 2;
    }
    base + RANKED[bits as usize & 255][rank as usize & 7] as u32
}

/// The same for a larger board.
#[inline(always)]
pub(crate) const fn nth_of_128(bits: u128, rank: u32) -> u32 {
    let low = bits as u64;
    let below = low.count_ones();
    if rank < below { nth(low, rank) } else { 64 + nth((bits >> 64) as u64, rank - below) }
}

/// For each byte, its set bits, from the lowest on.
static RANKED: [[u8; 8]; 256] = {
    let mut ranked = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut rank) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                ranked[byte][rank] = bit;
                rank += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    ranked
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rng::PlayoutRandom;

    #[test]
    fn ranks_are_those_of_a_walk_over_the_bits() {
        let mut random = PlayoutRandom::from_seed(1);
        for round in 0..2_000 {
            let mut word = || (0..round % 4).fold(u64::MAX, |word, _| word & random.word());
            let (low, high) = (word(), word());
            let bits = u128::from(high) << 64 | u128::from(low);
            for (rank, bit) in (0..).zip((0..64).filter(|bit| low >> bit & 1 == 1)) {
                assert_eq!(nth(low, rank), bit);
            }
            for (rank, bit) in (0..).zip((0..128).filter(|bit| bits >> bit & 1 == 1)) {
                assert_eq!(nth_of_128(bits, rank), bit);
            }
        }
    }
}
