//! Searches against independently known numbers: positions of a tree, the minimum for alpha-beta,
//! expected results of random games. A twin that mirrors its search would share a mistake; these
//! would not.

use std::fmt;

use crate::common::brute_force::{after, moves_of};
use crate::common::{all_rules, key, player, random_position};
use spelrum_engine::evaluation::NoEvaluation;
use spelrum_engine::games::tic_tac_toe::evaluation::TicTacToeLines;
use spelrum_engine::games::{Nim, TicTacToe};
use spelrum_engine::search::alpha_beta::{self, AlphaBeta};
use spelrum_engine::search::genetic::{GeneticMinimax, GeneticParameters, NodeId, Selection};
use spelrum_engine::search::mcts::{Bound, Choice, Mcts, MctsParameters, PlayoutPolicy};
use spelrum_engine::search::minimax::{self, Minimax};
use spelrum_engine::search::{Budget, Evaluate, Limits, Search};
use spelrum_engine::{
    EndedBy, Ending, Game, Knowledge, Line, PlayoutRandom, Position, Problem, Random, Rules, Side,
    SideName, Termination, Timeless, analyze, perft, with_game,
};

/// The positions that games of up to `depth` plies go through, the first not counted, and those of
/// them that are `depth` plies away and not over.
fn nodes_and_evaluations<G: Game>(position: &G, depth: u32) -> (u64, u64) {
    let (mut nodes, mut over) = (0, 0);
    let mut going = 0;
    for plies in 1..=depth {
        let counted = perft(position, plies);
        // Games that were over earlier are leaves again.
        nodes += counted.leaves - over;
        over = counted.ended.iter().map(|(_, leaves)| leaves).sum();
        going = counted.leaves - over;
    }
    (nodes, going)
}

/// Minimax makes every position of the tree once and evaluates those at its end.
#[test]
fn minimax_makes_every_position_of_the_tree() {
    fn check<G: Game>(rules: &Rules, seed: u64) {
        let position: G = random_position(rules, seed as u32 % 9, &mut Random::from_key(key(seed)));
        let depth = match position.legal_move_count() {
            0..2 => return,
            2..=12 => 4,
            13..=60 => 2,
            _ => 1 + u32::from(seed == 8),
        };
        let minimax = player(rules, &format!(r#"{{"algorithm": "minimax", "depth": {depth}}}"#));
        let analysis = analyze(rules, &position.to_string(), &minimax, key(1), &Timeless).unwrap();
        let counts = (analysis.search.nodes, analysis.search.evaluations);
        let expected = nodes_and_evaluations(&position, depth);
        assert_eq!(counts, expected, "{position:?} to depth {depth}");
    }
    for rules in all_rules() {
        for seed in 0..9 {
            with_game!(&rules, G => check::<G>(&rules, seed));
        }
    }
}

/// A tree of so many moves everywhere, in which each side does best to take the first: a move costs
/// who makes it as much as its number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Uniform {
    pub(crate) path: Vec<u8>,
    pub(crate) costs: [i32; 2],
    pub(crate) width: u8,
    /// Whether nothing costs anything, so that every move is as good.
    pub(crate) is_level: bool,
}

impl Position for Uniform {
    type Move = u8;

    const SIDES: [SideName; 2] =
        [SideName { word: "first", letter: 'f' }, SideName { word: "second", letter: 's' }];

    const HISTORY_MATTERS: bool = false;

    fn to_move(&self) -> Side {
        if self.path.len().is_multiple_of(2) { Side::First } else { Side::Second }
    }

    fn ending(&self) -> Option<Ending> {
        let ending = Ending { winner: None, termination: Termination::FULL_BOARD };
        (self.path.len() == 100).then_some(ending)
    }

    fn legal_moves(&self, moves: &mut Vec<u8>) {
        moves.extend(0..self.legal_move_count() as u8);
    }

    fn legal_move_count(&self) -> u32 {
        if self.is_over() { 0 } else { self.width.into() }
    }

    fn nth_legal_move(&self, index: u32) -> u8 {
        index as u8
    }

    fn is_legal(&self, mv: u8) -> bool {
        u32::from(mv) < self.legal_move_count()
    }

    fn play_unchecked(&mut self, mv: u8) {
        let side = self.to_move().index();
        self.costs[side] += if self.is_level { 0 } else { mv.into() };
        self.path.push(mv);
    }

    fn canonical_key(&self) -> u64 {
        self.path.iter().fold(1, |key, &mv| key << 3 | u64::from(mv))
    }

    fn board(&self) -> String {
        self.to_string()
    }

    fn parse_move(&self, text: &str) -> Result<u8, Problem> {
        let error = |_| Problem::new(text.to_owned(), "a number");
        text.parse().map_err(error)
    }
}

impl fmt::Display for Uniform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.path)
    }
}

impl Knowledge for Uniform {
    const MOVE_CODES: usize = 8;

    type Orientation = ();

    fn move_code(mv: u8) -> u16 {
        mv.into()
    }

    fn table_key(&self) -> u64 {
        self.canonical_key()
    }

    fn plies_left(&self) -> u32 {
        100 - self.path.len() as u32
    }
}

/// What the other has lost, less what the side to move has.
#[derive(Clone, Copy, Debug)]
struct Costs;

impl Evaluate<Uniform> for Costs {
    fn evaluate(&self, position: &Uniform) -> i32 {
        let side = position.to_move().index();
        position.costs[1 - side] - position.costs[side]
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// The positions at this depth of the smallest tree that proves a value, where each has `width`
/// moves: Knuth & Moore 1975, "An analysis of alpha-beta pruning", corollary of theorem 1.
fn minimal_leaves(width: u64, depth: u32) -> u64 {
    width.pow(depth.div_ceil(2)) + width.pow(depth / 2) - 1
}

/// Where the best move is always tried first, alpha-beta looks at no more than it must, and where
/// all are as good, at no more either; minimax at all.
#[test]
fn alpha_beta_looks_at_the_minimal_tree() {
    for is_level in [false, true] {
        for width in 2..=5 {
            for depth in 1..=7 {
                let root = Uniform { path: Vec::new(), costs: [0; 2], width, is_level };
                let width = u64::from(width);
                let counts = |search: &mut dyn Search<Uniform>| {
                    let mut budget = Budget::new(&Limits::default(), &Timeless);
                    let found = search
                        .search(Line::from_start(&root), &mut budget, &mut Random::from_key(key(1)))
                        .unwrap();
                    assert_eq!((found.mv, found.score), (0, Some(0)));
                    (budget.nodes(), budget.evaluations())
                };
                let minimal = |depth| {
                    let nodes: u64 = (1..=depth).map(|ply| minimal_leaves(width, ply)).sum();
                    (nodes, minimal_leaves(width, depth))
                };
                let plain = alpha_beta::Options {
                    depth: Some(depth),
                    shuffle: false,
                    order: false,
                    iterative: false,
                    ..alpha_beta::Options::default()
                };
                let searched = |options| counts(&mut AlphaBeta::<Uniform, _>::new(options, Costs));
                let about = format!("{width} moves to depth {depth}, level: {is_level}");
                assert_eq!(searched(plain), minimal(depth), "{about}");
                // A window too narrow to hold a value proves that there is none better, as cheaply.
                let pvs = alpha_beta::Options { pvs: true, ..plain };
                assert_eq!(searched(pvs), minimal(depth), "{about}");
                let iterative = alpha_beta::Options { iterative: true, ..plain };
                let each = (1..=depth).map(minimal);
                let all = each.fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
                assert_eq!(searched(iterative), all, "{about}");

                let every: u64 = (1..=depth).map(|ply| width.pow(ply)).sum();
                if every < 20_000 {
                    let options = minimax::Options { depth: Some(depth), shuffle: false };
                    let counted = counts(&mut Minimax::new(options, Costs));
                    assert_eq!(counted, (every, width.pow(depth)), "{about}");
                }
            }
        }
    }
}

/// A genetic search that makes no line twice and goes on until it knows everything has every leaf
/// of the game tree, and evaluates each that is not over once.
#[test]
fn a_complete_reservation_tree_is_the_whole_tree() {
    fn check<G: Game, E: Evaluate<G> + Copy>(rules: &Rules, evaluation: E, plies: u32, seed: u64) {
        let mut random = Random::from_key(key(seed));
        let root: G = random_position(rules, plies, &mut random);
        if root.legal_move_count() < 2 {
            return;
        }
        for depth in 1..=3 {
            let parameters = GeneticParameters {
                generations: None,
                population: 12,
                selection: Selection::Roulette,
                crossover_rate: 0.5,
                mutation_rate: 1.0,
                refute: 0.0,
                reject_duplicates: true,
                ..GeneticParameters::study(depth)
            };
            let mut search = GeneticMinimax::new(parameters, evaluation);
            let mut budget = Budget::new(&Limits::default(), &Timeless);
            let found = search.search(Line::from_start(&root), &mut budget, &mut random).unwrap();
            assert!(matches!(found.ended_by, EndedBy::Depth | EndedBy::Proven), "{found:?}");
            let tree = search.tree();
            assert!(tree.is_complete(NodeId::ROOT), "{root:?}");
            let about = format!("{root:?} to depth {depth}");
            let (nodes, evaluations) = nodes_and_evaluations(&root, depth);
            assert_eq!(tree.leaf_count() as u64, perft(&root, depth).leaves, "{about}");
            assert_eq!(tree.node_count() as u64, 1 + nodes, "{about}");
            assert_eq!(budget.evaluations(), evaluations, "{about}");
        }
    }
    for seed in 0..6 {
        check::<TicTacToe, _>(&TicTacToe::rules(), TicTacToeLines::default(), 3, seed);
        let nim = Nim::rules(&[2, 3, 2], seed % 2 == 0).unwrap();
        check::<Nim, _>(&nim, NoEvaluation, 1, seed);
    }
}

/// What a position is worth to white, a win 1 and a draw 1/2, if both sides move at random.
fn expected_result<P: Position>(position: &P) -> f64 {
    if let Some(ending) = position.ending() {
        return match ending.winner {
            Some(Side::First) => 1.0,
            Some(Side::Second) => 0.0,
            None => 0.5,
        };
    }
    let moves = moves_of(position);
    let sum: f64 = moves.iter().map(|&mv| expected_result(&after(position, mv))).sum();
    sum / moves.len() as f64
}

/// Six standard deviations of the mean of so many results between 0 and 1.
fn tolerance(results: u32) -> f64 {
    6.0 * 0.5 / f64::from(results).sqrt()
}

/// At random x wins 737 of 1,260 games of tic-tac-toe, o 363, and 160 are drawn: by recursion, and in
/// playouts.
#[test]
fn playouts_come_to_what_random_play_does() {
    const GAMES: u32 = 40_000;
    let mut random = PlayoutRandom::from_seed(Random::from_key(key(1)).seed());
    let start = TicTacToe::empty();
    let results = (0..GAMES).map(|_| {
        let mut position = start;
        position.play_randomly(&mut random, u32::MAX);
        expected_result(&position)
    });
    let mean = results.sum::<f64>() / f64::from(GAMES);
    let exact = expected_result(&start);
    assert!((exact - (737.0 + 160.0 / 2.0) / 1_260.0).abs() < 1e-9, "{exact}");
    assert!((mean - exact).abs() < tolerance(GAMES), "{mean} instead of {exact}");
}

/// A tree that never grows below the root's moves plays them out at random: the mean of the move
/// played is its expected result, and it is a move that is about as good as any in this sense.
#[test]
fn a_flat_tree_finds_the_expected_results_of_random_play() {
    const SIMULATIONS: u32 = 20_000;
    let rules = TicTacToe::rules();
    for seed in 0..6 {
        let mut random = Random::from_key(key(seed));
        let root: TicTacToe = random_position(&rules, 2 + seed as u32 % 3, &mut random);
        let parameters = MctsParameters {
            simulations: Some(SIMULATIONS.into()),
            bound: Bound::Ucb1,
            exploration: std::f64::consts::SQRT_2,
            first_play_urgency: MctsParameters::URGENCY_MAX,
            expand_visits: u32::MAX,
            playout: PlayoutPolicy::Uniform,
            solver: false,
            choice: Choice::Robust,
            reuse: false,
            ..MctsParameters::DEFAULT
        };
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let found = Mcts::new(parameters, NoEvaluation)
            .search(Line::from_start(&root), &mut budget, &mut random)
            .unwrap();
        let for_mover = |mv| {
            let white = expected_result(&after(&root, mv));
            if root.to_move() == Side::First { white } else { 1.0 - white }
        };
        let best = moves_of(&root).into_iter().map(for_mover).fold(0.0, f64::max);
        let exact = for_mover(found.mv);
        let mean = (f64::from(found.score.unwrap()) / 1_000.0 + 1.0) / 2.0;
        // The most visited of at most nine moves has a ninth of the visits at least.
        assert!((mean - exact).abs() < tolerance(SIMULATIONS / 9), "{root}: {mean} for {exact}");
        assert!(best - exact < 0.05, "{root}: {} has {exact}, the best {best}", found.mv);
    }
}
