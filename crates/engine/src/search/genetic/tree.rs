//! The reservation tree: every line of any individual of one search, with minimax values over the
//! moves that it contains.

use std::cmp::Reverse;

use super::children::{ChildList, ChildLists};
use super::node::{NodeId, PARAMETER};
use super::population::Step;
use crate::core::limits::MemoryRefused;
use crate::core::memory;

/// Bytes at most of a node, and of the four entries for it in lists of children.
const NODE_BYTES: usize = 32;
const ENTRIES_BYTES: usize = 4 * 8;

/// Bytes of a tree with room for this many nodes.
pub(super) const fn bytes(max_nodes: u64) -> u64 {
    max_nodes * (NODE_BYTES + ENTRIES_BYTES) as u64
}

/// All individuals of all generations of one search (Hong, Huang and Lin 2001), merged along common
/// beginnings.
///
/// A leaf holds its static value, or the score of the game that ends there; every other node the
/// best of its children for the side to move there. Values are for the side to move at the root.
///
/// Nodes lie in one arena and do not move; a new line touches the nodes of its own path and, where
/// a value got worse, their children. Nothing is ever rebuilt or copied as a whole, which would
/// overrun a search's time limit.
#[derive(Clone, Debug)]
pub struct ReservationTree<M> {
    nodes: Vec<Node<M>>,
    children: ChildLists<M>,
    max_nodes: usize,
    leaves: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<M> {
    /// For the root, itself.
    parent: u32,
    /// Empty exactly at leaves.
    children: ChildList,
    /// For the side to move at the root.
    value: i32,
    /// Leaves at or below this node.
    visits: u32,
    /// Legal moves that are not in the tree, or whose subtrees are incomplete.
    open: u32,
    /// The move that leads here; meaningless at the root.
    mv: M,
    /// Whether the side to move at the root moves here; meaningless at a leaf.
    maximises: bool,
}

/// The place of a missing child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vacancy {
    parent: u32,
    place: u32,
}

/// The best of the existing children of the parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct BestSibling {
    pub(super) value: i32,
    /// Whether the side to move at the root moves at their parent, and so chooses the greatest.
    pub(super) maximises: bool,
}

/// A position on a new line, as the tree needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewNode<M> {
    /// The move that leads here.
    pub(super) mv: M,
    /// Whether the side to move at the root moves here; meaningless for a leaf.
    pub(super) maximises: bool,
    /// Legal moves here; 0 for a leaf.
    pub(super) legal_moves: u32,
}

impl<M: Copy + Ord> ReservationTree<M> {
    /// An empty tree without memory: [`Self::reset`] it before use.
    pub(super) const fn new() -> Self {
        Self { nodes: Vec::new(), children: ChildLists::new(), max_nodes: 0, leaves: 0 }
    }

    /// Empties the tree except for a root with this many legal moves, one of them `any_move`, and
    /// reserves room for all nodes.
    ///
    /// All at once, since moving a large tree would overrun a time limit; the operating system
    /// provides the memory only where it is written.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(super) fn reset(
        &mut self,
        any_move: M,
        legal_moves: u32,
        max_nodes: u32,
    ) -> Result<(), MemoryRefused> {
        const {
            assert!(size_of::<Node<M>>() <= NODE_BYTES, "nodes are larger than is said");
            assert!(4 * size_of::<(M, u32)>() <= ENTRIES_BYTES, "lists of children are");
        }
        self.max_nodes = max_nodes as usize;
        memory::reserve(&mut self.nodes, self.max_nodes, PARAMETER)?;
        self.children.reset(self.max_nodes - 1)?;
        self.leaves = 0;
        self.nodes.push(Node {
            parent: NodeId::ROOT.0,
            children: ChildList::default(),
            value: 0,
            visits: 0,
            open: legal_moves,
            mv: any_move,
            maximises: true,
        });
        Ok(())
    }

    /// Nodes, the root included.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Leaves: the different individuals of all generations.
    #[must_use]
    pub fn leaf_count(&self) -> u32 {
        self.leaves
    }

    /// The backed-up value of a node, for the side to move at the root. An empty tree's root has 0.
    #[must_use]
    pub fn value(&self, node: NodeId) -> i32 {
        self.at(node).value
    }

    /// The number of different individuals that pass through a node: its leaves.
    #[must_use]
    pub fn visits(&self, node: NodeId) -> u32 {
        self.at(node).visits
    }

    /// Whether a node has no children: the horizon or the end of a game, unless it is the root.
    #[must_use]
    pub fn is_leaf(&self, node: NodeId) -> bool {
        self.at(node).children.is_empty()
    }

    /// Whether the whole game tree below a node, up to the horizon, is in the tree: its value is
    /// then minimax's.
    #[must_use]
    pub fn is_complete(&self, node: NodeId) -> bool {
        self.at(node).open == 0
    }

    /// The legal moves at a node to subtrees that are not completely known.
    #[must_use]
    pub fn open_moves(&self, node: NodeId) -> u32 {
        self.at(node).open
    }

    /// Whether the side to move at the root moves at a node; meaningless for a leaf.
    #[must_use]
    pub fn maximises(&self, node: NodeId) -> bool {
        self.at(node).maximises
    }

    /// The move that leads to a node; none for the root.
    #[must_use]
    pub fn move_to(&self, node: NodeId) -> Option<M> {
        (node != NodeId::ROOT).then(|| self.at(node).mv)
    }

    /// The parent of a node; none for the root.
    #[must_use]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node != NodeId::ROOT).then(|| NodeId(self.at(node).parent))
    }

    /// The moves in the tree from a node, in canonical order, and their nodes.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = (M, NodeId)> {
        self.children.entries(self.at(node).children).iter().map(|&(mv, child)| (mv, NodeId(child)))
    }

    /// One plus the plies that a leaf's value is backed up along its own path, ties included: the
    /// fitness of the individual that ends in this leaf.
    #[must_use]
    pub fn fitness(&self, leaf: NodeId) -> u32 {
        let value = self.value(leaf);
        let mut fitness = 1;
        let mut node = leaf;
        while let Some(parent) = self.parent(node)
            && self.value(parent) == value
        {
            fitness += 1;
            node = parent;
        }
        fitness
    }

    /// The best child for the side to move at `node`: by value, ties by visits, then by canonical
    /// order; `None` without children.
    ///
    /// Considers only children with `min_visits` visits, and those with complete subtrees. If no
    /// incomplete child has as many, the greatest number among them suffices: a move that is known
    /// to lose should not be played for lack of visits elsewhere.
    #[must_use]
    pub fn best_child(&self, node: NodeId, min_visits: u32) -> Option<(M, NodeId)> {
        let enough = if min_visits == 0 {
            0
        } else {
            let incomplete = self.children(node).filter(|&(_, child)| !self.is_complete(child));
            let most_visits = incomplete.map(|(_, child)| self.visits(child)).max();
            min_visits.min(most_visits.unwrap_or(0))
        };
        let sign = if self.maximises(node) { 1 } else { -1 };
        self.children(node)
            .filter(|&(_, child)| self.visits(child) >= enough || self.is_complete(child))
            .max_by_key(|&(mv, child)| (sign * self.value(child), self.visits(child), Reverse(mv)))
    }

    /// Appends the best known play from the end of a line in the tree.
    pub(super) fn extend_best_line(&self, line: &mut Vec<Step<M>>) {
        let mut node = line.last().map_or(NodeId::ROOT, |step| step.node);
        while let Some((mv, child)) = self.best_child(node, 0) {
            line.push(Step { mv, branch: 0, node: child });
            node = child;
        }
    }

    /// The child after a move, or its place if missing.
    pub(super) fn find(&self, parent: NodeId, mv: M) -> Result<NodeId, Vacancy> {
        match self.children.find(self.at(parent).children, mv) {
            Ok(child) => Ok(NodeId(child)),
            Err(place) => Err(Vacancy { parent: parent.0, place }),
        }
    }

    /// The best child beside a vacancy, if there is any child.
    pub(super) fn best_sibling(&self, vacancy: Vacancy) -> Option<BestSibling> {
        let Node { children, value, maximises, .. } = self.nodes[vacancy.parent as usize];
        (!children.is_empty()).then_some(BestSibling { value, maximises })
    }

    /// The number of a node's moves that are in the tree.
    pub(super) fn child_count(&self, node: NodeId) -> u32 {
        self.at(node).children.len()
    }

    /// Whether this many more nodes fit.
    pub(super) fn has_room(&self, nodes: usize) -> bool {
        self.max_nodes - self.nodes.len() >= nodes
    }

    /// Adds a line of new nodes that ends in a leaf of this value, and reports each.
    /// There must be room for them.
    pub(super) fn graft(
        &mut self,
        vacancy: Vacancy,
        line: &[NewNode<M>],
        value: i32,
        mut on_new_node: impl FnMut(NodeId),
    ) {
        let Vacancy { mut parent, mut place } = vacancy;
        for new in line {
            let index = self.nodes.len() as u32;
            self.nodes.push(Node {
                parent,
                children: ChildList::default(),
                value,
                visits: 0,
                open: new.legal_moves,
                mv: new.mv,
                maximises: new.maximises,
            });
            let list = &mut self.nodes[parent as usize].children;
            *list = self.children.insert(*list, place, new.mv, index);
            on_new_node(NodeId(index));
            (parent, place) = (index, 0);
        }
        let leaf = parent;
        self.leaves += 1;
        self.count_visit(leaf);
        self.count_completion(leaf);
        // Each new node has one child, and its value.
        self.raise(vacancy.parent, value);
    }

    /// Counts one more leaf at every node of a path.
    fn count_visit(&mut self, leaf: u32) {
        let mut index = leaf;
        loop {
            let node = &mut self.nodes[index as usize];
            node.visits += 1;
            if index == NodeId::ROOT.0 {
                return;
            }
            index = node.parent;
        }
    }

    /// Marks the subtree below one of their moves as complete for the nodes of a path.
    fn count_completion(&mut self, leaf: u32) {
        let mut index = leaf;
        while index != NodeId::ROOT.0 && self.nodes[index as usize].open == 0 {
            index = self.nodes[index as usize].parent;
            self.nodes[index as usize].open -= 1;
        }
    }

    /// Updates the values from `index` upwards after a new child with the value `new`.
    ///
    /// A child that is new, or better for its parent's mover than before, can only raise the
    /// parent. A child that got worse lowers its parent if no other was as good as the parent. The
    /// first node whose value stays the same ends the walk: nothing above it changes.
    fn raise(&mut self, mut index: u32, mut new: i32) {
        let is_first_line = self.leaves == 1;
        // The child's value before the change; a new child has none.
        let mut child_was = None;
        loop {
            let Node { parent, children, value: old, maximises, .. } = self.nodes[index as usize];
            let is_better = if maximises { new > old } else { new < old };
            let value = if is_better || is_first_line {
                new
            } else if child_was == Some(old) {
                self.best_value(children, maximises, old)
            } else {
                return;
            };
            if value == old && !is_first_line {
                return;
            }
            self.nodes[index as usize].value = value;
            if index == NodeId::ROOT.0 {
                return;
            }
            (child_was, new, index) = (Some(old), value, parent);
        }
    }

    /// The best value among children, none of which is better than `bound`. As values often tie, it
    /// is often found early.
    fn best_value(&self, children: ChildList, maximises: bool, bound: i32) -> i32 {
        let mut best = None;
        for &(_, child) in self.children.entries(children) {
            let value = self.nodes[child as usize].value;
            if value == bound {
                return bound;
            }
            if best.is_none_or(|best| if maximises { value > best } else { value < best }) {
                best = Some(value);
            }
        }
        best.unwrap_or(bound)
    }

    fn at(&self, node: NodeId) -> &Node<M> {
        &self.nodes[node.0 as usize]
    }
}
