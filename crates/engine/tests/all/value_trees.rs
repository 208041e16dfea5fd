//! Counts and ranks of whole trees against slow twins: nested trees, all strategies, all pairs of lines.

use std::collections::BTreeSet;

use crate::common::brute_force::{after, moves_of};
use crate::common::{key, random_position};
use crate::genetic::thicket::{Foliage, Thicket};
use crate::known_counts::Uniform;
use spelrum_engine::games::chess::evaluation::ChessMaterial;
use spelrum_engine::games::connect_four::evaluation::ConnectFourLines;
use spelrum_engine::games::pentago::evaluation::PentagoLines;
use spelrum_engine::games::tic_tac_toe::evaluation::TicTacToeOpenLines;
use spelrum_engine::games::{Chess, ConnectFour, Pentago, TicTacToe};
use spelrum_engine::search::alpha_beta::{self, AlphaBeta};
use spelrum_engine::search::minimax::{self, Minimax};
use spelrum_engine::search::{Budget, Evaluate, Limits, Search, WIN};
use spelrum_engine::tree::{
    Examined, LineRank, MoveOrder, TreeAlgorithm, TreeError, TreeOptions, ValueTree, WinScore, grow,
};
use spelrum_engine::{Game, Line, Position, Random, Rules, Side, Timeless};

const ORDERS: [MoveOrder; 4] =
    [MoveOrder::Listed, MoveOrder::Static, MoveOrder::BestFirst, MoveOrder::WorstFirst];

/// A node with all that follows; values are for the side to move at the root.
struct Plain<M> {
    mv: Option<M>,
    is_max: bool,
    static_value: i32,
    children: Vec<Self>,
}

impl<M: Copy> Plain<M> {
    fn grow<P: Position<Move = M>>(root: &P, evaluation: &impl Evaluate<P>, depth: u32) -> Self {
        Self::below(root, evaluation, (0, depth), root.to_move(), None)
    }

    fn below<P: Position<Move = M>>(
        position: &P,
        evaluation: &impl Evaluate<P>,
        (ply, depth): (u32, u32),
        max: Side,
        mv: Option<M>,
    ) -> Self {
        let is_max = position.to_move() == max;
        let static_value = match position.ending().map(|ending| ending.winner) {
            Some(None) => 0,
            Some(Some(winner)) if winner == max => WIN - ply as i32,
            Some(Some(_)) => ply as i32 - WIN,
            None if is_max => evaluation.evaluate(position),
            None => -evaluation.evaluate(position),
        };
        let moves = if ply == depth { Vec::new() } else { moves_of(position) };
        let below =
            |mv| Self::below(&after(position, mv), evaluation, (ply + 1, depth), max, Some(mv));
        let children = moves.into_iter().map(below).collect();
        Self { mv, is_max, static_value, children }
    }

    fn value(&self) -> i32 {
        let values = self.children.iter().map(Self::value);
        let best = if self.is_max { values.max() } else { values.min() };
        best.unwrap_or(self.static_value)
    }

    /// The value by alpha-beta, and the leaves on the way.
    fn alpha_beta(&self, alpha: i32, beta: i32, order: MoveOrder) -> (i32, u64) {
        if self.children.is_empty() {
            return (self.static_value, 1);
        }
        let mut children: Vec<&Self> = self.children.iter().collect();
        let sign = if self.is_max { 1 } else { -1 };
        match order {
            MoveOrder::Listed => {}
            MoveOrder::Static => children.sort_by_key(|child| -sign * child.static_value),
            MoveOrder::BestFirst => children.sort_by_key(|child| -sign * child.value()),
            MoveOrder::WorstFirst => children.sort_by_key(|child| sign * child.value()),
        }
        let (mut values, mut leaves) = (Vec::new(), 0);
        for child in children {
            let so_far = values.iter().copied();
            let (alpha, beta) = match self.is_max {
                true => (so_far.fold(alpha, i32::max), beta),
                false => (alpha, so_far.fold(beta, i32::min)),
            };
            if alpha >= beta {
                break;
            }
            let (value, below) = child.alpha_beta(alpha, beta, order);
            values.push(value);
            leaves += below;
        }
        let best = if self.is_max { values.iter().max() } else { values.iter().min() };
        (*best.unwrap(), leaves)
    }

    /// The leaves, by number from `first`, of every strategy of a side.
    fn strategies(&self, of_max: bool, first: &mut usize) -> Vec<BTreeSet<usize>> {
        if self.children.is_empty() {
            *first += 1;
            return vec![BTreeSet::from([*first - 1])];
        }
        let below: Vec<_> =
            self.children.iter().map(|child| child.strategies(of_max, first)).collect();
        if self.is_max == of_max {
            return below.concat();
        }
        below.into_iter().fold(vec![BTreeSet::new()], |all, next| {
            all.iter().flat_map(|one| next.iter().map(move |other| one | other)).collect()
        })
    }

    fn leaf_values(&self) -> Vec<i32> {
        match self.children.is_empty() {
            true => vec![self.static_value],
            false => self.children.iter().flat_map(Self::leaf_values).collect(),
        }
    }

    /// Every line, as places of children, and as moves.
    fn lines(&self) -> Vec<(Vec<usize>, Vec<M>)> {
        if self.children.is_empty() {
            return vec![(Vec::new(), Vec::new())];
        }
        let of_child = |(place, child): (usize, &Self)| {
            child
                .lines()
                .into_iter()
                .map(move |(mut places, mut moves)| {
                    places.insert(0, place);
                    moves.splice(0..0, child.mv);
                    (places, moves)
                })
                .collect::<Vec<_>>()
        };
        self.children.iter().enumerate().flat_map(of_child).collect()
    }

    /// Whether the first of two lines is better where they part.
    fn prefers(&self, line: &[usize], other: &[usize]) -> bool {
        match (line, other) {
            ([], _) | (_, []) => false,
            ([place, line @ ..], [same, other @ ..]) if place == same => {
                self.children[*place].prefers(line, other)
            }
            ([place, ..], [another, ..]) => {
                let [value, worse] = [place, another].map(|&place| self.children[place].value());
                if self.is_max { value > worse } else { value < worse }
            }
        }
    }
}

fn thickets(
    last_ply: u32,
    widest: u32,
) -> impl Iterator<Item = (Thicket, Plain<<Thicket as Position>::Move>)> {
    (0..300).map(move |seed| {
        let root = Thicket::new(seed, last_ply, widest);
        let plain = Plain::grow(&root, &Foliage, last_ply);
        (root, plain)
    })
}

#[test]
fn alpha_beta_looks_at_what_its_twin_looks_at() {
    let mut is_cut = [false; 2];
    for (root, plain) in thickets(6, 4) {
        let tree = ValueTree::grow(&root, &Foliage, 6, usize::MAX).unwrap();
        assert_eq!(tree.leaves(), plain.leaf_values().len() as u64, "{root}");
        for order in ORDERS {
            let (value, leaves) = plain.alpha_beta(i32::MIN, i32::MAX, order);
            let examined = tree.examine(order);
            assert_eq!((value, leaves), (plain.value(), examined.leaves), "{root} {order:?}");
            assert_eq!(examined.ties + examined.beyond == 0, leaves == tree.leaves());
            assert!(tree.fewest_leaves() <= leaves, "{root} {order:?}");
            is_cut = [is_cut[0] || examined.ties > 0, is_cut[1] || examined.beyond > 0];
        }
    }
    assert_eq!(is_cut, [true; 2]);
}

/// By every pair of a strategy of MAX that guarantees the value and one of MIN that allows no more.
#[test]
fn no_proof_has_fewer_leaves() {
    for (root, plain) in thickets(3, 3).chain(thickets(4, 2)) {
        let tree = ValueTree::grow(&root, &Foliage, 4, usize::MAX).unwrap();
        let (value, leaves) = (plain.value(), plain.leaf_values());
        let [of_max, of_min] = [true, false].map(|of_max| {
            let mut strategies = plain.strategies(of_max, &mut 0);
            strategies.retain(|strategy| {
                let mut values = strategy.iter().map(|&leaf| leaves[leaf]);
                values.all(|leaf| if of_max { leaf >= value } else { leaf <= value })
            });
            strategies
        });
        let pairs = of_max.iter().flat_map(|one| of_min.iter().map(move |other| one | other));
        let fewest = pairs.map(|both| both.len() as u64).min().unwrap();
        assert_eq!(tree.fewest_leaves(), fewest, "{root}");
    }
}

#[test]
fn a_line_has_the_rank_that_comparing_it_with_all_others_gives() {
    for (root, plain) in thickets(4, 4) {
        let tree = ValueTree::grow(&root, &Foliage, 4, usize::MAX).unwrap();
        let lines = plain.lines();
        for (places, moves) in &lines {
            let better = lines.iter().filter(|(other, _)| plain.prefers(other, places)).count();
            let value = |place: usize| plain.children[place].value();
            let first_moves = 0..plain.children.len();
            let better_moves =
                first_moves.clone().filter(|&place| value(place) > value(places[0])).count();
            let expected = LineRank {
                better: better as u64,
                lines: lines.len() as u64,
                better_moves: better_moves as u64,
                moves: first_moves.len() as u64,
            };
            assert_eq!(tree.rank(moves), Some(expected), "{root} {moves:?}");
            // A part of a line stands for the best that begins with it.
            let of_part = |plies: usize| tree.rank(&moves[..plies]).unwrap().better;
            assert!((1..moves.len()).all(|plies| of_part(plies) <= of_part(plies + 1)));
        }
        assert_eq!(tree.rank(&[]).unwrap().better, 0);
        let longest = lines.iter().map(|(_, moves)| moves).max_by_key(|moves| moves.len()).unwrap();
        let too_long = [longest.as_slice(), &longest[..1]].concat();
        assert_eq!(tree.rank(&too_long), None);
    }
}

/// With the worst moves first and no two leaves alike, three plies are searched as a whole. Of four plies some is left
/// out all the same: by the bound of the root, three plies above.
#[test]
fn the_worst_order_leaves_nothing_out_up_to_three_plies() {
    let root = Uniform { path: Vec::new(), costs: [0; 2], width: 4, is_level: true };
    for seed in 0..50 {
        for depth in 1..=4 {
            let tree = ValueTree::grow(&root, &Scattered(seed), depth, usize::MAX).unwrap();
            let Examined { leaves, ties, beyond } = tree.examine(MoveOrder::WorstFirst);
            assert_eq!(ties, 0, "no two leaves are alike");
            assert_eq!(beyond == 0, depth <= 3, "seed {seed}");
            assert_eq!(leaves == tree.leaves(), depth <= 3, "seed {seed}");
        }
    }
}

/// Values without an order, all different.
struct Scattered(u64);

impl Evaluate<Uniform> for Scattered {
    fn is_symmetric(&self) -> bool {
        false
    }

    fn evaluate(&self, position: &Uniform) -> i32 {
        // Odd factors and shifts leave different numbers different: of the first million here, a permutation.
        let mut mixed = position.canonical_key() ^ self.0 << 12;
        for factor in [0x9_E375, 0xB_F585, 0x9_4D05] {
            mixed = mixed.wrapping_mul(factor) & 0xF_FFFF;
            mixed ^= mixed >> 9;
        }
        mixed as i32 - 0x8_0000
    }
}

/// The recorded trees and the players' searches count the same.
fn same_as_searches<G: Game>(
    root: &G,
    evaluation: &(impl Evaluate<G> + Clone + 'static),
    depth: u32,
) {
    let tree = ValueTree::grow(root, evaluation, depth, usize::MAX).unwrap();
    let mut ends = 0;
    for (algorithm, leaves) in [
        (TreeAlgorithm::Minimax, tree.leaves()),
        (TreeAlgorithm::AlphaBeta, tree.examine(MoveOrder::Listed).leaves),
        (TreeAlgorithm::AlphaBetaBest, tree.examine(MoveOrder::BestFirst).leaves),
        (TreeAlgorithm::AlphaBetaWorst, tree.examine(MoveOrder::WorstFirst).leaves),
    ] {
        let wins = WinScore::SoonerIsBetter;
        let options = TreeOptions { algorithm, wins, depth: Some(depth), ..Default::default() };
        let sums = grow(root, evaluation, &options).unwrap().sums();
        let grown: u64 = sums.iter().map(|sums| sums.evaluated + sums.over).sum();
        assert_eq!(grown, leaves, "{root} {algorithm:?}");
        ends = ends.max(sums.iter().map(|sums| sums.over).sum());
    }
    let plain = minimax::Options { depth: Some(depth), shuffle: false };
    let (_, by_minimax) = searched(root, &mut Minimax::new(plain, evaluation.clone()));
    let plain = alpha_beta::Options { depth: Some(depth), ..Default::default() };
    let (mv, by_alpha_beta) = searched(root, &mut AlphaBeta::new(plain, evaluation.clone()));
    assert_eq!(tree.rank(&[mv]).unwrap().better, 0, "{root}: {mv}");
    // Players see besides that no win is sooner than the next move.
    if ends == 0 {
        let leaves = [tree.leaves(), tree.examine(MoveOrder::Listed).leaves];
        assert_eq!([by_minimax, by_alpha_beta], leaves, "{root}");
    }
}

/// The move that a search chooses, and its evaluations.
fn searched<G: Game>(root: &G, search: &mut dyn Search<G>) -> (G::Move, u64) {
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    let mut random = Random::from_key(key(1));
    let found = search.search(Line::from_start(root), &mut budget, &mut random).unwrap();
    (found.mv, budget.evaluations())
}

#[test]
fn trees_of_games_are_those_of_searches() {
    for seed in 0..4 {
        let mut random = Random::from_key(key(seed));
        let plies = seed as u32 * 2;
        let root: Chess = random_position(&Chess::rules(), plies, &mut random);
        same_as_searches(&root, &ChessMaterial::default(), 3);
        let root: ConnectFour = random_position(&ConnectFour::rules(), plies, &mut random);
        same_as_searches(&root, &ConnectFourLines::default(), 5);
        let root: TicTacToe = random_position(&TicTacToe::rules(), plies.min(4), &mut random);
        same_as_searches(&root, &TicTacToeOpenLines, 4);
        let root: Pentago = random_position(&Pentago::rules(true), 24 + plies, &mut random);
        same_as_searches(&root, &PentagoLines::default(), 2);
    }
}

/// b^⌈d/2⌉ + b^⌊d/2⌋ − 1 of b^d leaves (Knuth & Moore 1975).
#[test]
fn a_uniform_tree_needs_as_many_leaves_as_knuth_and_moore_say() {
    for (depth, fewest) in [(1, 7), (2, 13), (3, 55), (4, 97), (5, 391)] {
        let tree =
            ValueTree::grow(&ConnectFour::empty(), &ConnectFourLines::default(), depth, 20_000);
        assert_eq!(tree.unwrap().fewest_leaves(), fewest);
    }
}

#[test]
fn a_tree_that_is_too_large_is_refused() {
    let grown = |nodes_max| {
        ValueTree::grow(&ConnectFour::empty(), &ConnectFourLines::default(), 2, nodes_max)
    };
    assert_eq!(grown(57).unwrap().leaves(), 49);
    assert_eq!(grown(56).err(), Some(TreeError::TooLarge(56)));
    let rules = Rules::from_name("tic-tac-toe").unwrap();
    let over = TicTacToe::parse(&rules, "xxxoo....").unwrap();
    let tree = ValueTree::grow(&over, &TicTacToeOpenLines, 3, 1).unwrap();
    assert_eq!((tree.leaves(), tree.fewest_leaves()), (1, 1));
}
