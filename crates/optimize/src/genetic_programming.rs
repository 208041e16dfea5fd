//! Breeding formulas: genetic programming (Koza 1992, "Genetic programming"; Poli, Langdon & McPhee 2008, "A field
//! guide to genetic programming"), with trees only. The caller ranks individuals by playing; this module makes the
//! first generation, and from a ranked one the next.
//!
//! - [`trees`]: random trees, by *full*, *grow* and *ramped half-and-half* (Koza §6.2; the guide's §2.2).
//! - [`variation`]: crossover of subtrees, mutation of a label and of a subtree (Koza §6.4.1 and §6.5.1; the
//!   guide's §2.4 and §5.2).
//! - [`selection`]: the choice of parents (Koza §6.4; the guide's §2.3), and the ranking of individuals.
//! - [`breeding`]: a generation from the previous one.
//!
//! Every draw comes from [`Random`], whose key the caller derives; there is no other input. A tree's depth is the
//! number of edges from its root to its farthest leaf, as [`Expression::depth`] counts it.

pub mod breeding;
pub mod selection;
#[cfg(test)]
mod tests;
pub mod trees;
pub mod variation;

use spelrum_engine::Random;
use spelrum_engine::expression::{Expression, Function, Node};

/// Building blocks of trees: any number of functions, and at least one leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Primitives {
    /// The functions, each once.
    pub functions: Vec<Function>,
    /// The leaves: constants and features, each once.
    pub leaves: Vec<Node>,
}

/// Limits on the size of trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest depth.
    pub depth: usize,
    /// The greatest number of nodes: at least 1.
    pub nodes: usize,
}

impl Limits {
    /// Whether a tree is within the limits.
    #[must_use]
    pub fn allow(&self, tree: &Expression) -> bool {
        tree.size() <= self.nodes && tree.depth() <= self.depth
    }

    /// The greatest depth, up to `depth`, at which even a full tree is within the limits.
    #[must_use]
    pub fn depth_of_full(&self, depth: usize) -> usize {
        // A full tree of depth d has 2^(d+1) - 1 nodes.
        let mut fits = 0;
        while fits < depth.min(self.depth) && (1_u64 << (fits + 2).min(62)) - 1 <= self.nodes as u64
        {
            fits += 1;
        }
        fits
    }
}

/// One of these, drawn uniformly.
///
/// # Panics
/// If there are none.
fn draw_one<T: Copy>(items: &[T], random: &mut Random) -> T {
    items[below(items.len(), random)]
}

/// A number below this bound, drawn uniformly.
///
/// # Panics
/// If the bound is 0.
fn below(bound: usize, random: &mut Random) -> usize {
    // Populations and trees are far smaller than 2^32.
    random.below(u32::try_from(bound).unwrap_or(u32::MAX)) as usize
}
