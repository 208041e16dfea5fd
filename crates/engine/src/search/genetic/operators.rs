//! Crossover and mutation, by drawing integers. Refutation, the third operator, is in
//! `principal.rs`.

use super::population::Draft;
use crate::core::rng::Random;

/// Whether an event of this probability happens. A uniform multiple of 2^-32 is compared with it:
/// exact on every machine (invariant 2).
pub(super) fn happens(chance: f64, random: &mut Random) -> bool {
    random.unit() < chance
}

/// The ply before which two parents of these lengths are cut, uniform among those that leave a gene
/// on each side in both; `None` if there is none.
pub(super) fn draw_cut(first: usize, second: usize, random: &mut Random) -> Option<usize> {
    let shorter = first.min(second) as u32;
    (shorter >= 2).then(|| 1 + random.below(shorter - 1) as usize)
}

/// Redraws one gene of an individual.
pub(super) fn mutate<M: Copy>(draft: &mut Draft<M>, random: &mut Random) {
    let ply = random.below(draft.len() as u32) as usize;
    draft.redraw(ply);
}
