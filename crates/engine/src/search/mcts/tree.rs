//! The search tree: the children that positions have, and their simulations' results.
//!
//! A node is a position with children; a child that has been visited once is only an entry in its
//! parent's list, so that a simulation adds some forty bytes, not a list for 288 moves. The lists
//! lie in one arena, in blocks of 4, 8, 16 and so on that grow by moving; freed blocks are reused.
//! The arena is reserved whole when a game begins (the operating system provides memory only where
//! it is written), so that its growth never overruns a time limit.

use crate::core::limits::MemoryRefused;
use crate::core::memory;
use crate::core::position::Side;
use crate::core::rng::PlayoutRandom;

/// The parameter that sets a tree's memory.
const PARAMETER: &str = "max_tree_nodes";

/// No node or block: marks a leaf of the tree, and the end of a list.
const NONE: u32 = u32::MAX;

/// The smallest block of children, in places.
const BLOCK_MIN: u32 = 4;

/// The mean of a place without a child, and of a child that needs no more visits: below all others.
const NEVER: f32 = -1.0;

/// Bytes at most of a node, and of a child with its mean and spread.
const NODE_BYTES: usize = 48;
const CHILD_BYTES: usize = 48;

/// Bytes of a tree with room for this many children.
pub(super) const fn bytes(children_max: u64) -> u64 {
    children_max * CHILD_BYTES as u64 + (children_max / BLOCK_MIN as u64 + 1) * NODE_BYTES as u64
}

/// Children whose urgencies are compared at once.
const COMPARED: usize = 16;

/// Primes above every number of moves, so each is coprime to it: steps through all of them.
const STRIDES: [u32; 16] = [
    1_000_003, 1_250_003, 1_500_007, 1_750_009, 2_000_003, 2_250_013, 2_500_009, 2_750_021,
    3_000_017, 3_250_021, 3_500_017, 3_750_001, 4_000_037, 4_250_021, 4_500_007, 4_750_001,
];

/// The proven value of a child, for the side that moves to it, with the length in plies of a line
/// that proves it, the move itself included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// No proven value.
    No,
    /// A win, in at most this many plies.
    Win(u16),
    /// A draw.
    Draw,
    /// A loss, in at least this many plies.
    Loss(u16),
}

/// A move from a node and its results, for the mover.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child<M> {
    /// The sum of the results: 1 a win, 1/2 a draw, 0 a loss.
    pub(super) total: f64,
    /// The sum of their squares.
    pub(super) squares: f64,
    pub(super) visits: u32,
    node: u32,
    pub(super) mv: M,
    pub(super) known: Known,
}

/// A position with children.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Visits since it got children.
    pub(super) visits: u32,
    /// Children, in the order of their first visits.
    pub(super) children: u32,
    /// Places of the block they lie in, and its first place.
    capacity: u32,
    first: u32,
    /// Legal moves.
    pub(super) legal_moves: u32,
    /// The first move's index in canonical order, and the stride to the next.
    start: u32,
    stride: u32,
    /// Legal moves without a proven value.
    pub(super) open: u32,
    /// Whether one of the moves with a proven value is a draw.
    pub(super) has_draw: bool,
    /// Visits in which a known draw was worth more than the visited child.
    pub(super) draws: u32,
    /// The side to move.
    pub(super) mover: Side,
}

/// The tree, in one arena.
#[derive(Debug)]
pub(super) struct Tree<M> {
    nodes: Vec<Node>,
    children: Vec<Child<M>>,
    /// Each child's mean, for the comparison of bounds.
    means: Vec<f32>,
    /// `1 / sqrt(visits)`, likewise.
    spreads: Vec<f32>,
    children_max: usize,
    nodes_max: usize,
    /// The first free block of each size, by its logarithm; `Child::node` of its first place names
    /// the next.
    free_blocks: [u32; 32],
    /// The first free node; `Node::first` names the next.
    free_nodes: u32,
    /// The first abandoned node, with all below it; `Node::start` names the next.
    abandoned: u32,
    any_move: Option<M>,
}

impl<M: Copy + Eq> Tree<M> {
    /// An empty tree without memory: [`Self::reset`] it before use.
    pub(super) const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            children: Vec::new(),
            means: Vec::new(),
            spreads: Vec::new(),
            children_max: 0,
            nodes_max: 0,
            free_blocks: [NONE; 32],
            free_nodes: NONE,
            abandoned: NONE,
            any_move: None,
        }
    }

    /// Empties the tree, and reserves room for this many children. `any_move` may be any legal move.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(super) fn reset(&mut self, children_max: u32, any_move: M) -> Result<(), MemoryRefused> {
        const {
            assert!(size_of::<Node>() <= NODE_BYTES, "nodes are larger than is said");
            assert!(size_of::<Child<M>>() + 2 * size_of::<f32>() <= CHILD_BYTES, "children are");
        }
        self.children_max = children_max as usize;
        self.nodes_max = self.children_max / BLOCK_MIN as usize + 1;
        self.free_blocks = [NONE; 32];
        (self.free_nodes, self.abandoned) = (NONE, NONE);
        self.any_move = Some(any_move);
        memory::reserve(&mut self.nodes, self.nodes_max, PARAMETER)?;
        memory::reserve(&mut self.children, self.children_max, PARAMETER)?;
        memory::reserve(&mut self.means, self.children_max, PARAMETER)?;
        memory::reserve(&mut self.spreads, self.children_max, PARAMETER)
    }

    /// A node without children; `None` if there is no room.
    ///
    /// Children will be tried from a random move on with a random stride: every move is equally
    /// likely to be tried first, second and so on, and the order takes no memory.
    pub(super) fn add_node(
        &mut self,
        mover: Side,
        legal_moves: u32,
        random: &mut PlayoutRandom,
    ) -> Option<u32> {
        let node = Node {
            visits: 0,
            children: 0,
            capacity: 0,
            first: 0,
            legal_moves,
            start: random.below(legal_moves),
            stride: STRIDES[random.below(STRIDES.len() as u32) as usize & 15] % legal_moves.max(1),
            open: legal_moves,
            has_draw: false,
            draws: 0,
            mover,
        };
        while self.free_nodes == NONE {
            if self.nodes.len() < self.nodes_max {
                self.nodes.push(node);
                return Some(self.nodes.len() as u32 - 1);
            }
            self.reclaim()?;
        }
        let index = self.free_nodes;
        self.free_nodes = self.nodes[index as usize].first;
        self.nodes[index as usize] = node;
        Some(index)
    }

    /// The places for children that have been used.
    pub(super) fn places(&self) -> usize {
        self.children.len()
    }

    pub(super) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub(super) fn children(&self, node: u32) -> &[Child<M>] {
        let Node { first, children, .. } = self.nodes[node as usize];
        &self.children[first as usize..(first + children) as usize]
    }

    pub(super) fn child(&self, node: u32, place: u32) -> &Child<M> {
        &self.children[(self.nodes[node as usize].first + place) as usize]
    }

    /// Makes a child a node.
    pub(super) fn set_node_of(&mut self, node: u32, place: u32, below: u32) {
        let first = self.nodes[node as usize].first;
        self.children[(first + place) as usize].node = below;
    }

    /// The index in canonical order of the move to be tried next.
    pub(super) fn next_move_index(&self, node: u32) -> u32 {
        let Node { start, stride, children, legal_moves, .. } = self.nodes[node as usize];
        let steps = u64::from(stride) * u64::from(children);
        ((u64::from(start) + steps) % u64::from(legal_moves)) as u32
    }

    /// Among unproven children, the one with the greatest sum of mean and `factor` times spread
    /// (the first of equals), and that sum: below 0 if there is none.
    pub(super) fn most_urgent(&self, node: u32, factor: f32) -> (u32, f32) {
        let Node { first, children, .. } = self.nodes[node as usize];
        let places = first as usize..(first + children.next_multiple_of(BLOCK_MIN)) as usize;
        let (means, spreads) = (&self.means[places.clone()], &self.spreads[places]);
        // As integers, floats from 0 up keep their order and those below 0 are less: a compiler may
        // compare several at once, as it must not with floats.
        let urgency =
            |(&mean, &spread): (&f32, &f32)| (mean + factor * spread).to_bits().cast_signed();
        let (mut most, mut most_at) = (i32::MIN, 0);
        for (index, (means, spreads)) in
            means.chunks(COMPARED).zip(spreads.chunks(COMPARED)).enumerate()
        {
            let most_here = means.iter().zip(spreads).map(urgency).fold(i32::MIN, i32::max);
            if most_here > most {
                (most, most_at) = (most_here, index * COMPARED);
            }
        }
        let place = means[most_at..].iter().zip(&spreads[most_at..]).map(urgency);
        let place = most_at + place.take_while(|&urgency| urgency != most).count();
        (place as u32, f32::from_bits(most.cast_unsigned()))
    }

    /// The same with UCB1-tuned's bound.
    pub(super) fn most_urgent_tuned(
        &self,
        node: u32,
        ln_visits: f64,
        exploration: f64,
    ) -> (u32, f32) {
        let mut best = (0, NEVER);
        for (place, child) in (0..).zip(self.children(node)) {
            if child.known != Known::No {
                continue;
            }
            let visits = f64::from(child.visits);
            let mean = child.total / visits;
            let variance = child.squares / visits - mean * mean;
            let bound = tuned_bound(ln_visits / visits, variance);
            let urgency = (mean + exploration * bound) as f32;
            if urgency > best.1 {
                best = (place, urgency);
            }
        }
        best
    }

    /// Makes room for one more child; returns whether there is any.
    pub(super) fn has_room_at(&mut self, node: u32) -> bool {
        let Node { children, capacity, first, .. } = self.nodes[node as usize];
        if children < capacity {
            return true;
        }
        let new_capacity = (2 * capacity).max(BLOCK_MIN);
        let Some(new_first) = self.take_block(new_capacity) else { return false };
        let (from, to) = (first as usize, new_first as usize);
        let old = from..from + children as usize;
        self.children.copy_within(old.clone(), to);
        self.means.copy_within(old.clone(), to);
        self.spreads.copy_within(old, to);
        let vacant = to + children as usize..to + new_capacity as usize;
        self.means[vacant.clone()].fill(NEVER);
        self.spreads[vacant].fill(0.0);
        self.free_block(first, capacity);
        let node = &mut self.nodes[node as usize];
        (node.first, node.capacity) = (new_first, new_capacity);
        true
    }

    /// Adds a child without visits, after [`Self::has_room_at`].
    pub(super) fn add_child(&mut self, node: u32, mv: M) {
        let Node { first, ref mut children, .. } = self.nodes[node as usize];
        self.children[(first + *children) as usize] = Child::new(mv);
        *children += 1;
    }

    /// Counts the result of a simulation for the side to move at the node.
    pub(super) fn count_result(&mut self, node: u32, place: u32, result: f64) {
        let Node { first, ref mut visits, .. } = self.nodes[node as usize];
        *visits += 1;
        let index = (first + place) as usize;
        let child = &mut self.children[index];
        child.visits += 1;
        child.total += result;
        child.squares += result * result;
        self.weigh(index);
    }

    /// Records the proven value of a child for the side that moves to it. Returns the node's
    /// resulting value for the same side, in the same plies.
    pub(super) fn set_known(&mut self, node: u32, place: u32, known: Known) -> Known {
        let Node { first, ref mut open, ref mut has_draw, .. } = self.nodes[node as usize];
        let index = (first + place) as usize;
        debug_assert_eq!(self.children[index].known, Known::No, "it was known already");
        self.children[index].known = known;
        *open -= 1;
        *has_draw |= known == Known::Draw;
        self.weigh(index);
        if matches!(known, Known::Win(_)) { known } else { self.known_without_win(node) }
    }

    /// The proven value of a node for its side to move: the best of its children, if no other can
    /// be better.
    pub(super) fn known_of(&self, node: u32) -> Known {
        let wins = self.children(node).iter().filter_map(|child| match child.known {
            Known::Win(plies) => Some(plies),
            Known::No | Known::Draw | Known::Loss(_) => None,
        });
        wins.min().map_or_else(|| self.known_without_win(node), Known::Win)
    }

    fn known_without_win(&self, node: u32) -> Known {
        let Node { open, has_draw, .. } = self.nodes[node as usize];
        if open > 0 {
            return Known::No;
        }
        if has_draw {
            return Known::Draw;
        }
        let longest = self.children(node).iter().map(|child| match child.known {
            Known::Loss(plies) => plies,
            Known::No | Known::Draw | Known::Win(_) => 0,
        });
        Known::Loss(longest.max().unwrap_or(0))
    }

    /// Counts a visit in which a known draw was worth more than the visited child.
    pub(super) fn count_draw(&mut self, node: u32) {
        let node = &mut self.nodes[node as usize];
        node.draws += 1;
        node.visits += 1;
    }

    /// The inputs of a child's bound. A proven child is not visited again.
    fn weigh(&mut self, index: usize) {
        let child = &self.children[index];
        let visits = f64::from(child.visits.max(1));
        (self.means[index], self.spreads[index]) = match child.known {
            Known::No => ((child.total / visits) as f32, (1.0 / visits.sqrt()) as f32),
            Known::Win(_) | Known::Draw | Known::Loss(_) => (NEVER, 0.0),
        };
    }

    /// Abandons a node and all below it, except what lies below one child, if given. Takes constant
    /// time: the memory is reclaimed piece by piece when needed.
    pub(super) fn give_up(&mut self, node: u32, kept: Option<u32>) {
        for place in 0..self.nodes[node as usize].children {
            if let Some(below) = self.child(node, place).node()
                && Some(below) != kept
            {
                self.nodes[below as usize].start = self.abandoned;
                self.abandoned = below;
            }
        }
        let Node { first, capacity, .. } = self.nodes[node as usize];
        self.free_block(first, capacity);
        self.nodes[node as usize].first = self.free_nodes;
        self.free_nodes = node;
    }

    /// Frees one abandoned node; `None` if there is none.
    fn reclaim(&mut self) -> Option<()> {
        let node = Some(self.abandoned).filter(|&node| node != NONE)?;
        self.abandoned = self.nodes[node as usize].start;
        self.give_up(node, None);
        Some(())
    }

    /// A block of this size; `None` if there is no room.
    fn take_block(&mut self, capacity: u32) -> Option<u32> {
        let class = (capacity.ilog2() & 31) as usize;
        while self.free_blocks[class] == NONE {
            let first = self.children.len();
            let end = first + capacity as usize;
            if end <= self.children_max {
                let vacancy = Child::new(self.any_move?);
                self.children.resize(end, vacancy);
                self.means.resize(end, NEVER);
                self.spreads.resize(end, 0.0);
                return Some(first as u32);
            }
            self.reclaim()?;
        }
        let first = self.free_blocks[class];
        self.free_blocks[class] = self.children[first as usize].node;
        Some(first)
    }

    fn free_block(&mut self, first: u32, capacity: u32) {
        if capacity > 0 {
            let class = (capacity.ilog2() & 31) as usize;
            self.children[first as usize].node = self.free_blocks[class];
            self.free_blocks[class] = first;
        }
    }
}

/// UCB1-tuned's bound, from the logarithm of the parent's visits divided by the child's.
pub(super) fn tuned_bound(share: f64, variance: f64) -> f64 {
    (share * (variance + (2.0 * share).sqrt()).clamp(0.0, 0.25)).sqrt()
}

impl<M> Child<M> {
    const fn new(mv: M) -> Self {
        Self { total: 0.0, squares: 0.0, visits: 0, node: NONE, mv, known: Known::No }
    }

    /// Its node.
    pub(super) fn node(&self) -> Option<u32> {
        Some(self.node).filter(|&node| node != NONE)
    }

    /// The mean result, or the proven one.
    pub(super) fn mean(&self) -> f64 {
        match self.known {
            Known::No if self.visits == 0 => 0.5,
            Known::No => self.total / f64::from(self.visits),
            Known::Win(_) => 1.0,
            Known::Draw => 0.5,
            Known::Loss(_) => 0.0,
        }
    }
}
