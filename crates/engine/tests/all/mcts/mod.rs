//! Monte Carlo tree search against a slow reference, exact values and its own guarantees.

mod limits;
mod twin;
mod values;

use crate::common::{all_rules, key};
use proptest::prelude::*;
use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation};
use spelrum_engine::games::chess::evaluation::ChessMaterial;
use spelrum_engine::games::pentago::evaluation::PentagoRuns;
use spelrum_engine::games::{Chess, Pentago};
use spelrum_engine::search::mcts::{Bound, Choice, Mcts, MctsParameters, PlayoutPolicy};
use spelrum_engine::search::{Budget, Evaluate, Limits, Search};
use spelrum_engine::{
    Game, Line, Parameters, Position, Random, Rules, Timeless, with_evaluation, with_game,
};

use twin::Twin;

/// Any search, small enough for the twin.
fn parameters() -> impl Strategy<Value = MctsParameters> {
    let numbers = (
        prop::sample::select(vec![0.0, 0.3, 1.0, std::f64::consts::SQRT_2]),
        prop::sample::select(vec![0.0, 0.5, 0.9, 1.1, 1_000.0]),
        1_u32..4,
        1_u32..3,
        prop::sample::select(vec![0, 1, 4, 1_000]),
    );
    let words = (any::<[bool; 5]>(), prop::option::of(1_u64..400));
    (numbers, words).prop_map(|(numbers, words)| {
        let (exploration, first_play_urgency, expand_visits, playouts, playout_plies) = numbers;
        let ([tuned, decisive, solver, max, reuse], simulations) = words;
        MctsParameters {
            simulations,
            bound: if tuned { Bound::Ucb1Tuned } else { Bound::Ucb1 },
            exploration,
            first_play_urgency,
            expand_visits,
            playout: if decisive { PlayoutPolicy::Decisive } else { PlayoutPolicy::Uniform },
            playouts,
            playout_plies,
            evaluation_scale: 10.0,
            solver,
            choice: if max { Choice::Max } else { Choice::Robust },
            reuse,
            max_tree_nodes: 1 << 14,
        }
    })
}

/// A search and its twin, with an evaluation that the catalogue provides.
struct Comparison<'a> {
    rules: &'a Rules,
    parameters: MctsParameters,
    limits: &'a Limits,
    seed: u64,
}

impl<G: Game> EvaluationVisitor<G> for Comparison<'_> {
    type Output = ();

    fn visit<E: GameEvaluation<G>>(self, evaluation: E) {
        compare(self.rules, evaluation, self.parameters, self.limits, self.seed);
    }
}

/// Both play a game against a player of random moves: the same moves, counts and scores.
fn compare<G: Game, E: Evaluate<G> + Clone>(
    rules: &Rules,
    evaluation: E,
    parameters: MctsParameters,
    limits: &Limits,
    seed: u64,
) {
    let mut random = Random::from_key(key(seed));
    let mut position = G::start(rules).unwrap();
    for _ in 0..random.below(6) {
        position.play_unchecked(position.random_move(&mut random));
        if position.is_over() {
            return;
        }
    }
    let mut search = Mcts::new(parameters, evaluation.clone());
    let mut twin = Twin::new(parameters, evaluation);
    let mut randoms = [Random::from_key(key(seed)), Random::from_key(key(seed))];
    for _ in 0..4 {
        if position.legal_move_count() < 2 {
            return;
        }
        let mut budgets = [Budget::new(limits, &Timeless), Budget::new(limits, &Timeless)];
        let found =
            search.search(Line::from_start(&position), &mut budgets[0], &mut randoms[0]).unwrap();
        let expected =
            twin.search(Line::from_start(&position), &mut budgets[1], &mut randoms[1]).unwrap();
        assert_eq!(found, expected, "{position} {parameters:?}");
        let counts = budgets.map(|budget| (budget.nodes(), budget.evaluations()));
        assert_eq!(counts[0], counts[1], "{position} {parameters:?}");
        position.play_unchecked(found.mv);
        if position.is_over() {
            return;
        }
        position.play_unchecked(position.random_move(&mut random));
    }
}

/// A search without curiosity goes down one line, until its positions repeat: a draw by what came
/// before, which no position shows by itself.
#[test]
fn a_line_that_repeats_ends_for_both() {
    let parameters = MctsParameters {
        simulations: Some(263),
        bound: Bound::Ucb1,
        exploration: 0.0,
        first_play_urgency: 0.0,
        expand_visits: 1,
        playout: PlayoutPolicy::Uniform,
        playouts: 2,
        playout_plies: 1_000,
        evaluation_scale: 10.0,
        solver: false,
        choice: Choice::Robust,
        reuse: false,
        max_tree_nodes: 1 << 14,
    };
    let (rules, limits) = (Rules::usual::<Chess>(), Limits::default());
    let seed = 10_134_896_813_951_028_872;
    compare::<Chess, _>(&rules, ChessMaterial::default(), parameters, &limits, seed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn it_searches_as_its_twin(
        parameters in parameters(),
        nodes in prop::option::of(1_u64..6_000),
        evaluations in prop::option::of(1_u64..200),
        seed: u64,
    ) {
        let nodes = if parameters.simulations.is_none() { nodes.or(Some(3_000)) } else { nodes };
        let limits = Limits { nodes, evaluations, ..Limits::default() };
        for rules in all_rules() {
            let comparison = Comparison { rules: &rules, parameters, limits: &limits, seed };
            let compared = with_game!(&rules, G => {
                with_evaluation::<G, _>(&Parameters::new(), comparison)
            });
            prop_assert_eq!(compared, Ok(()));
        }
    }

    /// A tree that is full, in its first search and in later ones, stays within its bound, and the
    /// search goes on to its limit.
    #[test]
    fn a_tree_keeps_its_bound(
        max_tree_nodes in MctsParameters::MIN_TREE_NODES..600,
        parameters in parameters(),
        seed in 0_u64..1_000,
    ) {
        let parameters = MctsParameters { max_tree_nodes, simulations: Some(1_500), ..parameters };
        let mut search = Mcts::new(parameters, PentagoRuns::default());
        let mut random = Random::from_key(key(seed));
        let mut position = Pentago::empty(true);
        while position.legal_move_count() > 1 {
            let mut budget = Budget::new(&Limits::default(), &Timeless);
            let found = search.search(Line::from_start(&position), &mut budget, &mut random).unwrap();
            prop_assert!(search.tree_size() <= max_tree_nodes as usize);
            prop_assert!(position.is_legal(found.mv));
            position.play_unchecked(found.mv);
        }
    }
}
