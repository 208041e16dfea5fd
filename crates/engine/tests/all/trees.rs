//! Recorded trees against independently known counts, the players' searches, and a slow reference.
//!
//! The known counts are those of the reference data's small games: tic-tac-toe's by enumeration, the
//! rest as lecture slides on minimax and alpha-beta have them, where they are right.

use std::collections::BTreeSet;

use crate::common::brute_force::{after, moves_of};
use crate::common::{all_rules, chosen, evaluations_of_parameters, key, random_position};
use spelrum_engine::evaluation::{GameEvaluation, NoEvaluation};
use spelrum_engine::games::connect_four::evaluation::ConnectFourLines;
use spelrum_engine::games::tic_tac_toe::evaluation::{TicTacToeLines, TicTacToeOpenLines};
use spelrum_engine::games::{ConnectFour, Nim, TicTacToe};
use spelrum_engine::search::alpha_beta::{self, AlphaBeta};
use spelrum_engine::search::minimax::{self, Minimax};
use spelrum_engine::search::{Budget, Evaluate, Found, Limits, Search, WIN};
use spelrum_engine::tree::{
    Cutoff, GameTree, Join, NodeKind, TreeAlgorithm, TreeError, TreeOptions, ValueBound, WinScore,
    count_plies, grow,
};
use spelrum_engine::{
    Game, Knowledge, Line, Position, Random, Rules, Side, Timeless, with_evaluation, with_game,
};

const ALGORITHMS: [TreeAlgorithm; 6] = [
    TreeAlgorithm::Minimax,
    TreeAlgorithm::AlphaBeta,
    TreeAlgorithm::AlphaBetaBest,
    TreeAlgorithm::AlphaBetaWorst,
    TreeAlgorithm::OneBound,
    TreeAlgorithm::OneBoundMisprint,
];
const JOINS: [Join; 3] = [Join::None, Join::Equal, Join::Symmetric];

fn nim(heaps: &[u32], misere: bool) -> Nim {
    Nim::start(&Nim::rules(heaps, misere).unwrap()).unwrap()
}

fn visits<P: Knowledge>(root: &P, algorithm: TreeAlgorithm) -> u64 {
    let tree = grow(root, &NoEvaluation, &TreeOptions { algorithm, ..Default::default() }).unwrap();
    tree.sums().iter().map(|sums| sums.visits).sum()
}

#[test]
fn tic_tac_toe_has_so_many_nodes_and_positions_by_ply() {
    let counts = count_plies(&TicTacToe::empty(), None, 10_000);
    let nodes: Vec<u64> = counts.iter().map(|ply| ply.nodes).collect();
    assert_eq!(nodes, [1, 9, 72, 504, 3_024, 15_120, 54_720, 148_176, 200_448, 127_872]);
    assert_eq!(nodes.iter().sum::<u64>(), 549_946);
    let positions: Vec<u64> = counts.iter().map(|ply| ply.positions).collect();
    assert_eq!(positions, [1, 9, 72, 252, 756, 1_260, 1_520, 1_140, 390, 78]);
    assert_eq!(positions.iter().sum::<u64>(), 5_478);
    let up_to_symmetry: Vec<u64> = counts.iter().map(|ply| ply.up_to_symmetry).collect();
    assert_eq!(up_to_symmetry, [1, 3, 12, 38, 108, 174, 204, 153, 57, 15]);
    assert_eq!(up_to_symmetry.iter().sum::<u64>(), 765);
    let games: Vec<u64> = counts.iter().map(|ply| ply.leaves).collect();
    assert_eq!(games, [0, 0, 0, 0, 0, 1_440, 5_328, 47_952, 72_576, 127_872]);
    assert_eq!(games.iter().sum::<u64>(), 255_168);
}

/// Slides that go on after a win count every order of the squares, and every board with five x and four o.
#[test]
fn slides_that_ignore_wins_count_more() {
    let mut level: Vec<([u8; 9], u64)> = vec![([0; 9], 1)];
    let (mut sequences, mut boards) = (Vec::new(), Vec::new());
    for ply in 0..=9_u8 {
        sequences.push(level.iter().map(|(_, ways)| ways).sum::<u64>());
        boards.push(level.len());
        let mut next: std::collections::BTreeMap<[u8; 9], u64> = std::collections::BTreeMap::new();
        for (board, ways) in &level {
            for square in (0..9).filter(|&square| board[square] == 0) {
                let mut after = *board;
                after[square] = 1 + ply % 2;
                *next.entry(after).or_default() += ways;
            }
        }
        level = next.into_iter().collect();
    }
    assert_eq!(sequences, [1, 9, 72, 504, 3_024, 15_120, 60_480, 181_440, 362_880, 362_880]);
    assert_eq!(boards[9], 126);
    let ours = count_plies(&TicTacToe::empty(), None, 10_000);
    assert!(ours.iter().zip(&sequences).all(|(ours, theirs)| ours.nodes <= *theirs));
}

/// In a uniform tree of b moves and d plies the best case has b^⌈d/2⌉ + b^⌊d/2⌋ − 1 leaves (Knuth & Moore 1975).
#[test]
fn the_best_case_has_the_fewest_leaves() {
    let root = ConnectFour::empty();
    for (depth, leaves) in [(1, 7), (2, 13), (3, 55), (4, 97), (5, 391)] {
        let leaves_of = |algorithm| {
            let options = TreeOptions { algorithm, depth: Some(depth), ..Default::default() };
            let tree = grow(&root, &ConnectFourLines::default(), &options).unwrap();
            tree.sums().iter().map(|sums| sums.evaluated + sums.over).sum::<u64>()
        };
        assert_eq!(leaves_of(TreeAlgorithm::AlphaBetaBest), leaves);
    }
    // As counted by another program, in another language.
    assert_eq!(visits(&TicTacToe::empty(), TreeAlgorithm::AlphaBetaBest), 2_312);
}

/// The whole tree has the nodes that are counted without it.
#[test]
fn a_tree_has_the_nodes_of_its_plies() {
    for (join, count) in [(Join::None, 549_946), (Join::Equal, 5_478), (Join::Symmetric, 765)] {
        let options = TreeOptions { join, ..Default::default() };
        let tree = grow(&TicTacToe::empty(), &NoEvaluation, &options).unwrap();
        let counts = count_plies(&TicTacToe::empty(), None, usize::MAX);
        let sums = tree.sums();
        assert_eq!(tree.nodes().len(), count);
        assert_eq!(sums.len(), counts.len());
        for (sums, counts) in sums.iter().zip(counts) {
            let expected = match join {
                Join::None => counts.nodes,
                Join::Equal => counts.positions,
                Join::Symmetric => counts.up_to_symmetry,
            };
            assert_eq!((sums.nodes, sums.visits, sums.cut), (expected, expected, 0), "{join:?}");
        }
        assert_eq!(tree.root().value.score, 0, "with no mistake it is a draw");
    }
}

#[test]
fn alpha_beta_visits_so_many_nodes_of_tic_tac_toe() {
    let counts = ALGORITHMS.map(|algorithm| visits(&TicTacToe::empty(), algorithm));
    // The second to fourth as counted by another program, in another language.
    assert_eq!(counts, [549_946, 18_297, 2_312, 198_837, 29_257, 3_513]);
}

/// The slides' heuristic two plies ahead, by x's first move: its value and those of the replies.
#[test]
fn the_slides_choose_the_centre() {
    let options = TreeOptions { depth: Some(2), join: Join::Symmetric, ..Default::default() };
    let tree = grow(&TicTacToe::empty(), &TicTacToeOpenLines, &options).unwrap();
    let found: Vec<(String, i32, Vec<i32>)> = tree
        .branches(0)
        .iter()
        .map(|branch| {
            let child = branch.child.unwrap();
            let leaves = tree.branches(child).iter().map(|branch| {
                let leaf = &tree.nodes()[branch.child.unwrap()];
                assert_eq!(leaf.kind, NodeKind::Horizon);
                leaf.value.score
            });
            (branch.mv.to_string(), tree.nodes()[child].value.score, leaves.collect())
        })
        .collect();
    // The slides draw the corner's replies in another order: 1, 0, 1, -1, 0.
    assert_eq!(
        found,
        [
            ("a1".to_owned(), -1, vec![1, 0, -1, 1, 0]),
            ("b1".to_owned(), -2, vec![-1, 0, -2, -1, 0]),
            ("b2".to_owned(), 1, vec![1, 2]),
        ]
    );
    let moves: Vec<u32> = tree.branches(0).iter().map(|branch| branch.moves).collect();
    assert_eq!(moves, [4, 4, 1]);
    assert_eq!(tree.root().value.score, 1);
    assert_eq!(tree.best(0), Some(2));
}

/// Alpha-beta needs one reply to see that an edge is no better than a corner.
#[test]
fn cut_offs_are_recorded_with_their_bounds() {
    let options = TreeOptions {
        depth: Some(2),
        join: Join::Symmetric,
        algorithm: TreeAlgorithm::AlphaBeta,
        ..Default::default()
    };
    let tree = grow(&TicTacToe::empty(), &TicTacToeOpenLines, &options).unwrap();
    let edge = tree.branches(0)[1].child.unwrap();
    assert_eq!(tree.nodes()[edge].cutoff, Some(Cutoff::Alpha(-1)));
    assert_eq!(tree.nodes()[edge].value.bound, ValueBound::AtMost);
    assert_eq!(tree.sums()[2].cut, 4);
    assert_eq!(tree.nodes().len(), 1 + 3 + 5 + 1 + 2);
}

/// Nim in which who takes the last match loses.
#[test]
fn small_trees_of_nim_are_known() {
    for (heaps, nodes) in [
        ([1, 1], 5),
        ([2, 1], 12),
        ([2, 2], 33),
        ([3, 1], 28),
        ([3, 2], 86),
        ([3, 3], 245),
        ([4, 4], 1_921),
        ([5, 5], 15_525),
    ] {
        let counts = count_plies(&nim(&heaps, true), None, 10_000);
        assert_eq!(counts.iter().map(|ply| ply.nodes).sum::<u64>(), nodes, "{heaps:?}");
        assert_eq!(visits(&nim(&heaps, true), TreeAlgorithm::Minimax), nodes, "{heaps:?}");
    }
    let tree = grow(&nim(&[3, 2], true), &NoEvaluation, &TreeOptions::default()).unwrap();
    assert_eq!(tree.sums().iter().map(|sums| sums.over).sum::<u64>(), 37);
    let states: BTreeSet<Vec<u32>> =
        tree.nodes().iter().map(|node| node.position.heaps().collect()).collect();
    assert_eq!(states.len(), 12);
    assert_eq!(tree.root().value.score, WIN);
    let winning: Vec<String> = tree
        .branches(0)
        .iter()
        .filter(|branch| tree.nodes()[branch.child.unwrap()].value.score == WIN)
        .map(|branch| branch.mv.to_string())
        .collect();
    assert_eq!(winning, ["a1"], "only one from the heap of three wins, leaving (2, 2)");
}

#[test]
fn two_heaps_are_lost_where_they_are_equal() {
    for first in 0..=5 {
        for second in 0..=5 {
            if first + second == 0 {
                continue;
            }
            let options = TreeOptions { join: Join::Symmetric, ..Default::default() };
            let root = nim(&[first, second], true);
            let tree = grow(&root, &NoEvaluation, &options).unwrap();
            let is_lost = first == second && first > 1 || first + second == 1;
            let expected = if is_lost { -WIN } else { WIN };
            assert_eq!(tree.root().value.score, expected, "({first}, {second})");
        }
    }
}

#[test]
fn a_tree_that_is_too_large_is_refused() {
    let options = TreeOptions { visits_max: 18_296, ..Default::default() };
    for algorithm in [TreeAlgorithm::Minimax, TreeAlgorithm::AlphaBeta] {
        let options = TreeOptions { algorithm, ..options };
        let refused = grow(&TicTacToe::empty(), &NoEvaluation, &options).unwrap_err();
        assert_eq!(refused, TreeError::TooLarge(18_296));
    }
    let options =
        TreeOptions { algorithm: TreeAlgorithm::AlphaBeta, visits_max: 18_297, ..options };
    assert!(grow(&TicTacToe::empty(), &NoEvaluation, &options).is_ok());
    assert_eq!(count_plies(&TicTacToe::empty(), None, 252).len(), 4);
    assert_eq!(count_plies(&nim(&[30; 8], true), None, 10_000).len(), 2);
}

/// Values a corner otherwise than its images.
#[derive(Clone, Copy, Debug)]
struct Corner;

impl Evaluate<TicTacToe> for Corner {
    fn evaluate(&self, position: &TicTacToe) -> i32 {
        i32::from(position.to_string().starts_with('.'))
    }

    fn is_symmetric(&self) -> bool {
        false
    }
}

#[test]
fn positions_that_an_evaluation_distinguishes_are_not_joined() {
    let options = TreeOptions { depth: Some(2), join: Join::Symmetric, ..Default::default() };
    let refused = grow(&TicTacToe::empty(), &Corner, &options).unwrap_err();
    assert_eq!(refused, TreeError::EvaluationIsAsymmetric);
    let options = TreeOptions { join: Join::Equal, ..options };
    assert!(grow(&TicTacToe::empty(), &Corner, &options).is_ok());
}

/// What a position is worth for `max`, by its definition.
fn slow_value<P: Position>(
    position: &P,
    evaluation: &impl Evaluate<P>,
    plies: Option<u32>,
    max: Side,
) -> i32 {
    if let Some(ending) = position.ending() {
        return match ending.winner {
            None => 0,
            Some(winner) if winner == max => WIN,
            Some(_) => -WIN,
        };
    }
    if plies == Some(0) {
        let value = evaluation.evaluate(position);
        return if position.to_move() == max { value } else { -value };
    }
    let left = plies.map(|plies| plies - 1);
    let values = moves_of(position)
        .into_iter()
        .map(|mv| slow_value(&after(position, mv), evaluation, left, max));
    if position.to_move() == max { values.max().unwrap() } else { values.min().unwrap() }
}

/// A depth at which a tree from here is small.
fn small_depth(position: &impl Position) -> u32 {
    match position.legal_move_count() {
        0..=5 => 4,
        6..=12 => 3,
        13..=40 => 2,
        _ => 1,
    }
}

/// Does something with every evaluation of a game, from random positions.
trait Check {
    fn check<G: Game, E: GameEvaluation<G>>(&self, root: &G, evaluation: &E);
}

fn with_every_evaluation(check: &impl Check) {
    struct Visitor<'a, G, C>(&'a G, &'a C);
    impl<G: Game, C: Check> spelrum_engine::evaluation::EvaluationVisitor<G> for Visitor<'_, G, C> {
        type Output = ();

        fn visit<E: GameEvaluation<G>>(self, evaluation: E) {
            self.1.check(self.0, &evaluation);
        }
    }
    fn of_game<G: Game>(rules: &Rules, check: &impl Check) {
        for seed in 0..10 {
            let mut random = Random::from_key(key(seed));
            // From the beginning to near the end.
            let root: G = random_position(rules, seed as u32 * 4, &mut random);
            for info in evaluations_of_parameters::<G>() {
                with_evaluation(&chosen(info), Visitor(&root, check)).unwrap();
            }
        }
    }
    for rules in all_rules() {
        with_game!(&rules, G => of_game::<G>(&rules, check));
    }
}

/// Every value that is told holds: it is, or bounds, what the definition says.
#[test]
fn values_are_those_of_the_definition() {
    struct Values;
    impl Check for Values {
        fn check<G: Game, E: GameEvaluation<G>>(&self, root: &G, evaluation: &E) {
            let depth = small_depth(root);
            for algorithm in ALGORITHMS {
                for join in JOINS {
                    if join == Join::Symmetric && !evaluation.is_symmetric() {
                        continue;
                    }
                    let options =
                        TreeOptions { algorithm, join, depth: Some(depth), ..Default::default() };
                    let tree = grow(root, evaluation, &options);
                    if G::HISTORY_MATTERS && join != Join::None {
                        assert_eq!(tree.err(), Some(TreeError::HistoryMatters));
                        continue;
                    }
                    let tree = tree.unwrap();
                    check_values(&tree, evaluation, depth, &format!("{root:?} {options:?}"));
                    if algorithm != TreeAlgorithm::OneBoundMisprint {
                        assert_eq!(tree.root().value.bound, ValueBound::Exact);
                    }
                }
            }
        }
    }
    with_every_evaluation(&Values);
}

fn check_values<G: Game>(
    tree: &GameTree<G>,
    evaluation: &impl Evaluate<G>,
    depth: u32,
    about: &str,
) {
    let max = tree.root().position.to_move();
    for (id, node) in tree.nodes().iter().enumerate() {
        let value = slow_value(&node.position, evaluation, Some(depth - node.ply), max);
        let holds = match node.value.bound {
            ValueBound::Exact => value == node.value.score,
            ValueBound::AtLeast => value >= node.value.score,
            ValueBound::AtMost => value <= node.value.score,
        };
        assert!(holds, "{:?} is {value}, not {:?}: {about}", node.position, node.value);
        assert!(node.visits > 0, "{about}");
        let branches = tree.branches(id);
        let stands_for: u32 = branches.iter().map(|branch| branch.moves).sum();
        if node.kind == NodeKind::Inner {
            assert_eq!(stands_for, node.position.legal_move_count(), "{about}");
            assert_eq!(tree.is_max(id), node.position.to_move() == max);
            let best = branches[tree.best(id).unwrap()].child.unwrap();
            assert_eq!(tree.nodes()[best].ply, node.ply + 1, "{about}");
        } else {
            assert_eq!((branches.len(), tree.best(id)), (0, None), "{about}");
        }
        // What was cut off is what was not tried.
        if node.visits == 1 {
            let cut = branches.iter().any(|branch| branch.child.is_none());
            assert_eq!(cut, node.cutoff.is_some(), "{about}");
        }
    }
    // The line that both sides choose can be played, and leads to the root's value.
    let mut position = tree.root().position.clone();
    for (id, mv) in tree.best_line() {
        assert!(position.is_legal(mv), "{mv} in {position:?}: {about}");
        position.play_unchecked(mv);
        assert_eq!(position.canonical_key(), tree.nodes()[id].position.canonical_key(), "{about}");
    }
    let length = (0..).scan(0, |node, _| {
        let branch = tree.branches(*node).get(tree.best(*node)?)?;
        *node = branch.child?;
        Some(())
    });
    assert_eq!(tree.best_line().count(), length.count(), "{about}");
    if let Some((end, _)) = tree.best_line().last() {
        assert_eq!(tree.nodes()[end].value.score, tree.root().value.score, "{about}");
    }
}

/// The players' searches come to the same: value, move and nodes.
#[test]
fn players_search_the_same_tree() {
    struct Players;
    impl Check for Players {
        fn check<G: Game, E: GameEvaluation<G>>(&self, root: &G, evaluation: &E) {
            if root.legal_move_count() < 2 {
                return;
            }
            let depth = small_depth(root);
            let grown = |algorithm| {
                let options = TreeOptions {
                    algorithm,
                    depth: Some(depth),
                    wins: WinScore::SoonerIsBetter,
                    ..Default::default()
                };
                grow(root, evaluation, &options).unwrap()
            };
            let plain = minimax::Options { depth: Some(depth), shuffle: false };
            let (found, nodes) = searched(root, &mut Minimax::new(plain, evaluation.clone()));
            let tree = grown(TreeAlgorithm::Minimax);
            assert_eq!(nodes + 1, tree.nodes().len() as u64, "{root:?}");
            assert_same(&tree, &found);

            let options = alpha_beta::Options { depth: Some(depth), ..Default::default() };
            let (found, nodes) = searched(root, &mut AlphaBeta::new(options, evaluation.clone()));
            let tree = grown(TreeAlgorithm::AlphaBeta);
            assert_same(&tree, &found);
            // It sees besides that no win is sooner than the next move, which only wins make it need.
            let is_even = tree
                .nodes()
                .iter()
                .all(|node| matches!(node.kind, NodeKind::Horizon | NodeKind::Inner));
            let own = tree.nodes().len() as u64;
            assert!(if is_even { nodes + 1 == own } else { nodes < own }, "{root:?}");

            let one_bound = grown(TreeAlgorithm::OneBound).nodes().len() as u64;
            let all = grown(TreeAlgorithm::Minimax).nodes().len() as u64;
            assert!(own <= one_bound && one_bound <= all, "{own}, {one_bound}, {all}: {root:?}");
        }
    }
    with_every_evaluation(&Players);
}

fn searched<G: Game>(root: &G, search: &mut dyn Search<G>) -> (Found<G::Move>, u64) {
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    let found =
        search.search(Line::from_start(root), &mut budget, &mut Random::from_key(key(1))).unwrap();
    (found, budget.nodes())
}

fn assert_same<G: Game>(tree: &GameTree<G>, found: &Found<G::Move>) {
    assert_eq!(Some(tree.root().value.score), found.score, "{:?}", tree.root().position);
    let (_, mv) = tree.best_line().next().unwrap();
    assert_eq!(mv, found.mv, "{:?}", tree.root().position);
}

/// `lines` and `open-lines` are two things.
#[test]
fn open_lines_count_empty_lines_for_both() {
    let rules = TicTacToe::rules();
    for (text, value) in [
        (".........", 0),
        // To move is o: five lines are open to it, all eight to x.
        ("x........", -3),
        ("....x....", -4),
        ("....x...o", 4 + 1 - 4),
        ("xo.......", 1),
    ] {
        let position = TicTacToe::parse(&rules, text).unwrap();
        assert_eq!(TicTacToeOpenLines.evaluate(&position), value, "{text}");
    }
    assert_ne!(TicTacToeLines::INFO.name, TicTacToeOpenLines::INFO.name);
}
