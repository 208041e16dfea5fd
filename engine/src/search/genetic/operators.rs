//! How children come about: crossover, mutation and refutation, all by drawing integers.

use super::population::{Draft, Step};
use super::tree::{NodeId, ReservationTree};
use crate::rng::Random;

/// Whether an event of this chance, 0 to 1, happens. A uniform multiple of 2^-32 is compared with
/// the chance: exact on every machine (invariant 2).
pub(super) fn happens(chance: f64, random: &mut Random) -> bool {
    random.unit() < chance
}

/// The ply before which two parents of these lengths are cut, uniformly among those that leave a
/// gene on each side in both; `None` if there is none.
pub(super) fn draw_cut(first: usize, second: usize, random: &mut Random) -> Option<usize> {
    let shorter = first.min(second) as u32;
    (shorter >= 2).then(|| 1 + random.below(shorter - 1) as usize)
}

/// Draws one gene of an individual anew.
pub(super) fn mutate<M: Copy>(draft: &mut Draft<M>, random: &mut Random) {
    let ply = random.below(draft.len() as u32) as usize;
    draft.redraw(ply);
}

/// The line on which each side plays its best known move.
#[derive(Clone, Debug)]
pub(super) struct PrincipalLine<M> {
    steps: Vec<Step<M>>,
}

impl<M: Copy + Ord> PrincipalLine<M> {
    pub(super) const fn new() -> Self {
        Self { steps: Vec::new() }
    }

    /// To be called when the tree is emptied.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
    }

    /// Makes a draft of the line in which one reply of the opponent's is drawn anew, uniformly one
    /// of those after which the tree does not know everything yet. Returns whether there is one.
    pub(super) fn refute(
        &mut self,
        tree: &ReservationTree<M>,
        draft: &mut Draft<M>,
        random: &mut Random,
    ) -> bool {
        self.update(tree);
        let before = std::iter::once(NodeId::ROOT).chain(self.steps.iter().map(|step| step.node));
        let open = before
            .enumerate()
            .take(self.steps.len())
            .filter(|&(_, node)| !tree.maximises(node) && !tree.is_complete(node))
            .map(|(ply, _)| ply);
        let count = open.clone().count() as u32;
        if count == 0 {
            return false;
        }
        let Some(ply) = open.clone().nth(random.below(count) as usize) else { return false };
        draft.copy(&self.steps);
        draft.redraw(ply);
        true
    }

    /// Keeps the line while its leaf's value climbs to the root, and finds another if it does not.
    fn update(&mut self, tree: &ReservationTree<M>) {
        let climbs = |leaf: &Step<M>| tree.fitness(leaf.node) as usize == self.steps.len() + 1;
        if self.steps.last().is_some_and(climbs) {
            return;
        }
        self.steps.clear();
        let mut node = NodeId::ROOT;
        while let Some((mv, child)) = tree.best_child(node, 0) {
            self.steps.push(Step { mv, node: child });
            node = child;
        }
    }
}
