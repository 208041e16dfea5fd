//! Crossover and mutation, by drawing integers. Refutation, the third operator, is in
//! `principal.rs`.

use super::population::Draft;
use crate::core::rng::Random;

/// Whether an event of this probability happens. A uniform multiple of 2^-32 is compared with it:
/// exact on every machine (invariant 2).
pub(super) fn happens(chance: f64, random: &mut Random) -> bool {
    random.unit() < chance
}

/// Draws the plies before which two parents, the shorter of this length, are cut, in ascending
/// order: `points` different ones, or as many as leave a gene between any two cuts and at both ends.
/// Every such set is equally likely (Floyd's sampling: Bentley & Floyd 1987, "A sample of
/// brilliance").
pub(super) fn draw_cuts(cuts: &mut Vec<usize>, points: u32, shorter: usize, random: &mut Random) {
    cuts.clear();
    let places = shorter as u32 - 1;
    for last in places.saturating_sub(points) + 1..=places {
        let cut = 1 + random.below(last) as usize;
        match cuts.binary_search(&cut) {
            Ok(_) => cuts.push(last as usize),
            Err(place) => cuts.insert(place, cut),
        }
    }
}

/// Redraws one gene of an individual.
pub(super) fn mutate<M: Copy>(draft: &mut Draft<M>, random: &mut Random) {
    let ply = random.below(draft.len() as u32) as usize;
    draft.redraw(ply);
}

/// Redraws each gene of an individual with this chance, and returns whether there was any.
pub(super) fn mutate_each<M: Copy>(draft: &mut Draft<M>, chance: f64, random: &mut Random) -> bool {
    let mut is_mutated = false;
    for ply in 0..draft.len() {
        if happens(chance, random) {
            draft.redraw(ply);
            is_mutated = true;
        }
    }
    is_mutated
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::node::NodeId;
    use super::super::population::Step;
    use super::*;

    /// The number of times that each set of cuts is drawn in 40,000 draws.
    fn cuts(points: u32, shorter: usize) -> BTreeMap<Vec<usize>, u32> {
        let mut random = Random::from_key([7; 32]);
        let mut cuts = Vec::new();
        let mut counts = BTreeMap::new();
        for _ in 0..40_000 {
            draw_cuts(&mut cuts, points, shorter, &mut random);
            *counts.entry(cuts.clone()).or_default() += 1;
        }
        counts
    }

    /// All sets of this many cuts of a line of six genes are drawn, each within five standard
    /// deviations (at most 500) of its share.
    #[test]
    fn every_set_of_cuts_is_as_likely() {
        for (points, sets) in [(1, 5), (2, 10), (3, 10), (4, 5), (5, 1)] {
            let counts = cuts(points, 6);
            assert_eq!(counts.len(), sets, "{counts:?}");
            for (cuts, count) in counts {
                assert!(cuts.is_sorted_by(|a, b| a < b) && cuts.len() == points as usize);
                assert!(cuts.iter().all(|cut| (1..6).contains(cut)));
                assert!(count.abs_diff(40_000 / sets as u32) < 500, "{cuts:?}: {count}");
            }
        }
    }

    #[test]
    fn short_lines_are_cut_where_they_can_be() {
        for (shorter, expected) in [(1, vec![]), (2, vec![1]), (3, vec![1, 2])] {
            assert!(cuts(3, shorter).into_keys().eq([expected]));
        }
    }

    fn line(genes: &[u8]) -> Vec<Step<u8>> {
        genes.iter().map(|&mv| Step { mv, branch: 0, node: NodeId::ROOT }).collect()
    }

    #[test]
    fn segments_between_cuts_are_exchanged_by_turns() {
        for (cuts, child) in [
            (&[1][..], &[0, 11, 12, 13, 14, 15][..]),
            (&[1, 3], &[0, 11, 12, 3, 4]),
            (&[1, 2, 4], &[0, 11, 2, 3, 14, 15]),
            (&[1, 2, 3, 4], &[0, 11, 2, 13, 4]),
        ] {
            let mut draft = Draft::new();
            draft.copy(&line(&[0, 1, 2, 3, 4]));
            draft.cross(&line(&[10, 11, 12, 13, 14, 15]), cuts);
            assert!(draft.steps().iter().map(|step| step.mv).eq(child.iter().copied()), "{cuts:?}");
            assert_eq!(draft.known().len(), 1);
        }
    }

    /// Each gene's count, and that of lines without a mutation, lies within five standard deviations
    /// (500 or fewer) of its share of 40,000.
    #[test]
    fn each_gene_mutates_with_its_own_chance() {
        let genes = line(&[0, 1, 2, 3]);
        let mut random = Random::from_key([7; 32]);
        let (mut counts, mut unchanged) = ([0_u32; 4], 0_u32);
        for _ in 0..40_000 {
            let mut draft = Draft::new();
            draft.copy(&genes);
            let is_mutated = mutate_each(&mut draft, 0.3, &mut random);
            assert_eq!(is_mutated, !draft.is_copy());
            unchanged += u32::from(!is_mutated);
            for (ply, count) in counts.iter_mut().enumerate() {
                *count += u32::from(draft.gene(ply).is_none());
            }
        }
        assert!(counts.iter().all(|count| count.abs_diff(12_000) < 500), "{counts:?}");
        assert!(unchanged.abs_diff(9_604) < 500, "{unchanged}");
    }

    #[test]
    fn chances_of_none_and_all_are_exact() {
        let mut random = Random::from_key([7; 32]);
        for (chance, first_redrawn) in [(0.0, None), (1.0, Some(0))] {
            for genes in [&[0][..], &[0, 1, 2]] {
                let mut draft = Draft::new();
                draft.copy(&line(genes));
                mutate_each(&mut draft, chance, &mut random);
                let redrawn = (0..genes.len()).filter(|&ply| draft.gene(ply).is_none()).count();
                assert_eq!(redrawn, first_redrawn.map_or(0, |_| genes.len()));
            }
        }
    }
}
