//! Individuals: lines of moves from the searched position, kept as paths of the reservation tree.

use super::node::NodeId;

/// A gene in its place: a move, and the node that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<M> {
    pub(super) mv: M,
    /// The move's place among the legal moves in canonical order; meaningless where genes are moves.
    pub(super) branch: u32,
    pub(super) node: NodeId,
}

/// The individuals of one generation, their genes in one piece of memory.
#[derive(Clone, Debug)]
pub(super) struct Population<M> {
    steps: Vec<Step<M>>,
    /// The end of each individual's genes; they begin at the end of the previous ones.
    ends: Vec<usize>,
}

impl<M: Copy> Population<M> {
    pub(super) const fn new() -> Self {
        Self { steps: Vec::new(), ends: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.ends.clear();
    }

    pub(super) fn push(&mut self, individual: &[Step<M>]) {
        self.steps.extend_from_slice(individual);
        self.ends.push(self.steps.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The genes of one individual, at least one.
    pub(super) fn individual(&self, index: usize) -> &[Step<M>] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.steps[start..self.ends[index]]
    }

    /// The leaf of one individual.
    pub(super) fn leaf(&self, index: usize) -> NodeId {
        self.steps[self.ends[index] - 1].node
    }

    /// The leaves of all individuals, in order.
    pub(super) fn leaves(&self) -> impl Iterator<Item = NodeId> {
        self.ends.iter().map(|end| self.steps[end - 1].node)
    }
}

/// An individual in the making, before it is grafted.
#[derive(Clone, Debug)]
pub(super) struct Draft<M> {
    steps: Vec<Step<M>>,
    /// The number of leading genes that form an inner path of the tree or, if they are all, a whole
    /// one: they are legal and their nodes are right. The nodes of the others are meaningless.
    known: usize,
    /// The plies, in ascending order, whose genes are to be redrawn; `steps` has their old ones.
    redrawn: Vec<usize>,
    /// Whether the genes have their branches' numbers. A line from the tree has only its moves.
    is_numbered: bool,
}

impl<M: Copy> Draft<M> {
    pub(super) const fn new() -> Self {
        Self { steps: Vec::new(), known: 0, redrawn: Vec::new(), is_numbered: true }
    }

    /// Removes all genes: every move will be drawn.
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.known = 0;
        self.redrawn.clear();
        self.is_numbered = true;
    }

    /// A first move; all others will be drawn. The node is irrelevant, since no gene is known.
    pub(super) fn begin_with(&mut self, mv: M) {
        self.follow(&[Step { mv, branch: 0, node: NodeId::ROOT }], 0);
    }

    /// The moves of a line, of whose nodes only the first `known` are right.
    pub(super) fn follow(&mut self, line: &[Step<M>], known: usize) {
        self.clear();
        self.steps.extend_from_slice(line);
        self.known = known;
        self.is_numbered = false;
    }

    /// A copy of an individual.
    pub(super) fn copy(&mut self, individual: &[Step<M>]) {
        self.clear();
        self.steps.extend_from_slice(individual);
        self.known = individual.len();
    }

    /// Takes every second of the segments between these cuts, in ascending order, from another
    /// individual, the first from itself.
    pub(super) fn cross(&mut self, other: &[Step<M>], cuts: &[usize]) {
        for pair in cuts.chunks(2) {
            match *pair {
                [from, to] => self.steps[from..to].copy_from_slice(&other[from..to]),
                _ => {
                    self.steps.truncate(pair[0]);
                    self.steps.extend_from_slice(&other[pair[0]..]);
                }
            }
        }
        self.known = self.known.min(cuts[0]);
    }

    /// Marks the gene of one ply, beyond those marked before, to be redrawn.
    pub(super) fn redraw(&mut self, ply: usize) {
        self.known = self.known.min(ply);
        self.redrawn.push(ply);
    }

    /// Replaces the gene of one ply by another move.
    pub(super) fn replace(&mut self, ply: usize, mv: M) {
        self.known = self.known.min(ply);
        self.steps[ply].mv = mv;
    }

    /// Genes so far.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it is an individual that is already in the tree, gene for gene.
    pub(super) fn is_copy(&self) -> bool {
        self.known == self.steps.len() && !self.steps.is_empty()
    }

    /// The leading genes that need no check.
    pub(super) fn known(&self) -> &[Step<M>] {
        &self.steps[..self.known]
    }

    /// The gene of a ply; `None` if it is missing or to be redrawn.
    pub(super) fn gene(&self, ply: usize) -> Option<Step<M>> {
        let is_redrawn = match self.redrawn[..] {
            [] => false,
            [only] => only == ply,
            _ => self.redrawn.binary_search(&ply).is_ok(),
        };
        if is_redrawn { None } else { self.steps.get(ply).copied() }
    }

    /// Whether the genes have their branches' numbers.
    pub(super) fn is_numbered(&self) -> bool {
        self.is_numbered
    }

    /// Sets the number of a known gene's branch.
    pub(super) fn number(&mut self, ply: usize, branch: u32) {
        self.steps[ply].branch = branch;
    }

    /// Replaces the gene of a ply, or adds the next one. Its node is not known yet.
    pub(super) fn express(&mut self, ply: usize, mv: M, branch: u32) {
        let step = Step { mv, branch, node: NodeId::ROOT };
        match self.steps.get_mut(ply) {
            Some(old) => *old = step,
            None => self.steps.push(step),
        }
    }

    /// Makes the next gene, which was expressed, a known one with this node.
    pub(super) fn settle(&mut self, node: NodeId) {
        self.steps[self.known].node = node;
        self.known += 1;
    }

    /// The game ends, or the horizon is reached, after the known genes: the result is a copy of an
    /// individual in the tree.
    pub(super) fn finish(&mut self) {
        self.steps.truncate(self.known);
        self.redrawn.clear();
        self.is_numbered = true;
    }

    pub(super) fn steps(&self) -> &[Step<M>] {
        &self.steps
    }
}
