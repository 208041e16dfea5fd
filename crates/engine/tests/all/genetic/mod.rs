//! Genetic minimax against its slow reference, against exhaustive minimax, and at its limits.

mod games;
mod minimax;
pub(crate) mod thicket;
mod twin;

use std::cell::Cell;
use std::time::Duration;

use proptest::prelude::*;
use spelrum_engine::search::genetic::{
    Encoding, GeneticMinimax, GeneticParameters, Mutation, NodeId, ReservationTree, Selection,
};
use spelrum_engine::search::{Budget, Found, Limits, NoMove, Search, WIN};
use spelrum_engine::{EndedBy, Host, Line, Position, Random, Timeless};

use minimax::minimax_of_moves;
use thicket::{Foliage, Thicket};
use twin::{Twin, TwinNode};

/// A small budget's worth of parameters, with every combination of the parts.
fn parameters() -> impl Strategy<Value = GeneticParameters> {
    let parts = (
        prop::sample::select(vec![
            Selection::Roulette,
            Selection::Tournament,
            Selection::Rank,
            Selection::StochasticTournament,
        ]),
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(vec![0.0, 0.4, 1.0]),
    );
    let sizes = (1..=6u32, 1..=30u64, 1..=20u32, 1..=4u32, 0..=5u32, 0..=4u32);
    let rates =
        (prop::sample::select(vec![0.0, 0.5, 1.0]), prop::sample::select(vec![0.0, 0.3, 1.0]));
    let operators = (
        1..=4u32,
        prop::sample::select(vec![Mutation::OneGene, Mutation::EachGene]),
        prop::sample::select(vec![Encoding::Moves, Encoding::Branches]),
        prop::sample::select(vec![0.5, 0.75, 1.0]),
    );
    let leaves = (0..=3u32, any::<bool>(), any::<bool>(), any::<bool>(), 0..=3u32);
    (parts, sizes, rates, operators, leaves).prop_map(|(parts, sizes, rates, operators, leaves)| {
        let (selection, seed_root, reject_duplicates, refute) = parts;
        let (depth, generations, population, tournament_size, elites, min_visits) = sizes;
        let (crossover_rate, mutation_rate) = rates;
        let (crossover_points, mutation, encoding, tournament_chance) = operators;
        let (line_plies, deepen, in_turn, order, killers) = leaves;
        GeneticParameters {
            depth,
            generations: Some(generations),
            population,
            selection,
            tournament_size,
            tournament_chance,
            elites,
            crossover_rate,
            crossover_points,
            mutation,
            mutation_rate,
            encoding,
            refute,
            seed_root,
            min_visits,
            reject_duplicates,
            max_tree_nodes: 1 << 16,
            line_plies,
            deepen,
            in_turn,
            order,
            killers,
        }
    })
}

/// Trees from a few leaves to many more than are searched.
fn thickets() -> impl Strategy<Value = Thicket> {
    (any::<u64>(), 1..=8u32, 2..=8u32)
        .prop_map(|(seed, last_ply, widest)| Thicket::new(seed, last_ply, widest))
}

fn limits() -> impl Strategy<Value = Limits> {
    let limit = || prop::option::weighted(0.3, 0..400u64);
    (limit(), limit()).prop_map(|(nodes, evaluations)| Limits {
        nodes,
        evaluations,
        ..Limits::default()
    })
}

/// Everything in the search's tree equals the twin's, node by node.
fn assert_equal_trees<M: Copy + Ord + std::fmt::Debug>(
    tree: &ReservationTree<M>,
    node: NodeId,
    twin: &TwinNode<M>,
) {
    assert_eq!(tree.value(node), twin.value);
    assert_eq!(tree.visits(node), twin.visits);
    assert_eq!(tree.is_complete(node), twin.is_complete);
    assert_eq!(tree.is_leaf(node), twin.children.is_empty());
    if !tree.is_leaf(node) {
        assert_eq!(tree.maximises(node), twin.maximises);
    }
    assert_eq!(tree.children(node).count(), twin.children.len());
    for ((mv, child), (twin_mv, twin)) in tree.children(node).zip(&twin.children) {
        assert_eq!(mv, *twin_mv);
        assert_eq!(tree.parent(child), Some(node));
        assert_eq!(tree.move_to(child), Some(mv));
        assert_equal_trees(tree, child, twin);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// The move, the score, the cost, every node of the tree and every individual of the last
    /// generation, whatever the parts, and wherever a limit stops it.
    #[test]
    fn equals_its_slow_twin(
        root in thickets(),
        parameters in parameters(),
        limits in limits(),
        key in any::<[u8; 32]>(),
    ) {
        // Generations do not bound what happens in turn, nor does the twin like large trees.
        let nodes = limits.nodes.or((parameters.in_turn || parameters.deepen).then_some(1_500));
        let limits = Limits { nodes, ..limits };
        let mut fast = GeneticMinimax::new(parameters, Foliage);
        let mut slow = Twin::new(parameters, Foliage);
        let mut random = Random::from_key(key);
        // Two searches in a row, since the memory is used again.
        for _ in 0..2 {
            let mut twin_random = random.clone();
            let mut budget = Budget::new(&limits, &Timeless);
            let mut twin_budget = Budget::new(&limits, &Timeless);
            let found = fast.search(Line::from_start(&root), &mut budget, &mut random);
            let twin_found = slow.search(Line::from_start(&root), &mut twin_budget, &mut twin_random);
            prop_assert_eq!(found, twin_found);
            prop_assert_eq!(budget.nodes(), twin_budget.nodes());
            prop_assert_eq!(budget.evaluations(), twin_budget.evaluations());
            prop_assert_eq!(random.below(u32::MAX), twin_random.below(u32::MAX));

            let twin_tree = slow.tree(&root);
            if !slow.lines.is_empty() {
                assert_equal_trees(fast.tree(), NodeId::ROOT, &twin_tree);
            }
            let individuals = fast.individuals();
            prop_assert_eq!(individuals.len(), slow.population.len());
            for (individual, line) in individuals.iter().zip(&slow.population) {
                prop_assert_eq!(&individual.moves, line);
                prop_assert_eq!(individual.fitness, slow.fitness(&twin_tree, line));
            }
        }
    }

    /// Invariant 3: a search that a clock stopped, replayed with its node count and no clock,
    /// finds the same and costs the same.
    #[test]
    fn a_timed_search_replays_from_its_node_count(
        root in thickets(),
        parameters in parameters(),
        tick_us in 1..30u64,
        key in any::<[u8; 32]>(),
    ) {
        let parameters = GeneticParameters { depth: 8, generations: Some(2_000), ..parameters };
        let limits = Limits { move_time_us: Some(300), ..Limits::default() };
        let search = |budget: &mut Budget<'_>| {
            let mut search = GeneticMinimax::new(parameters, Foliage);
            let found = search.search(Line::from_start(&root), budget, &mut Random::from_key(key)).unwrap();
            (found, budget.nodes(), budget.evaluations(), search.individuals())
        };
        let host = Ticking { now_us: Cell::new(0), tick_us };
        let timed = search(&mut Budget::new(&limits, &host));
        let stop = (timed.0.ended_by == EndedBy::Time).then_some(timed.1);
        let replayed = search(&mut Budget::replay(&limits, &NoClock, stop));
        prop_assert_eq!(timed, replayed);
    }

    /// With `seed_root`, one ply deep is minimax.
    #[test]
    fn one_ply_deep_and_seeded_it_is_minimax(
        root in thickets(),
        parameters in parameters(),
        key in any::<[u8; 32]>(),
    ) {
        let parameters = GeneticParameters { depth: 1, seed_root: true, line_plies: 0, ..parameters };
        let found = search(&root, parameters, &Limits::default(), key);
        let (mut values, best) = minimax_of_moves(&root, 1, &Foliage);
        values.retain(|&(mv, _)| mv == found.mv);
        prop_assert_eq!(found.score, Some(best));
        prop_assert_eq!(values[0].1, best);
        prop_assert!(matches!(found.ended_by, EndedBy::Depth | EndedBy::Proven));
    }

    /// A tree that was searched to the end has minimax's value, and the search knows that it is
    /// done, also where nothing but a number of evaluations that there are not bounds it.
    #[test]
    fn a_whole_tree_is_minimax(
        seed in any::<u64>(),
        depth in 1..=4u32,
        key in any::<[u8; 32]>(),
    ) {
        let root = Thicket::new(seed, 4, 3);
        let parameters = GeneticParameters { generations: None, ..GeneticParameters::tuned(depth) };
        let limits = Limits { evaluations: Some(1_000_000), ..Limits::default() };
        let found = search(&root, parameters, &limits, key);
        let (values, best) = minimax_of_moves(&root, depth, &Foliage);
        prop_assert_eq!(found.score, Some(best));
        prop_assert!(values.contains(&(found.mv, best)));
        prop_assert!(matches!(found.ended_by, EndedBy::Depth | EndedBy::Proven));
    }

    /// Lines of a move and a reply with a search behind them are settled with minimax's value of
    /// both depths together, and long before the tree is complete, whatever the parts.
    #[test]
    fn what_is_settled_is_minimax(
        root in thickets(),
        parts in parameters(),
        (depth, line_plies) in (1..=5u32, 1..=2u32),
        key in any::<[u8; 32]>(),
    ) {
        let parameters = GeneticParameters {
            depth,
            line_plies,
            generations: None,
            population: 20,
            elites: 2,
            mutation_rate: 1.0,
            refute: 1.0,
            seed_root: true,
            reject_duplicates: true,
            ..parts
        };
        let limits = Limits { evaluations: Some(1_000_000), ..Limits::default() };
        let found = search(&root, parameters, &limits, key);
        prop_assert!(matches!(found.ended_by, EndedBy::Depth | EndedBy::Proven));
        prop_assert!(found.depth == depth || found.ended_by == EndedBy::Proven);
        let (values, best) = minimax_of_moves(&root, depth, &Foliage);
        prop_assert_eq!(found.score, Some(best));
        prop_assert!(values.contains(&(found.mv, best)));
    }

    /// Whatever stops it, as soon as it may, there is a legal move.
    #[test]
    fn there_is_always_a_legal_move(
        root in thickets(),
        parameters in parameters(),
        nodes in 0..3u64,
        evaluations in 0..3u64,
        key in any::<[u8; 32]>(),
    ) {
        let limits =
            Limits { nodes: Some(nodes), evaluations: Some(evaluations), ..Limits::default() };
        prop_assert!(root.is_legal(search(&root, parameters, &limits, key).mv));
    }
}

/// Invariant 9: what does not fit ends the search, and what is in the tree still counts.
#[test]
fn a_full_tree_ends_the_search() {
    let root = Thicket::new(3, 12, 8);
    let parameters =
        GeneticParameters { generations: None, max_tree_nodes: 100, ..GeneticParameters::tuned(6) };
    let mut search = GeneticMinimax::new(parameters, Foliage);
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    let found = search
        .search(Line::from_start(&root), &mut budget, &mut Random::from_key([1; 32]))
        .unwrap();
    assert_eq!(found.ended_by, EndedBy::Nodes);
    assert!((94..=100).contains(&search.tree().node_count()));
    assert_eq!(search.tree().visits(NodeId::ROOT), search.tree().leaf_count());
}

/// A population that has converged where nothing mutates finds no new line ever again.
#[test]
fn a_search_that_stands_still_ends() {
    let root = Thicket::new(3, 12, 8);
    let parameters =
        GeneticParameters { generations: None, mutation_rate: 0.0, ..GeneticParameters::study(6) };
    let limits = Limits { evaluations: Some(1_000_000), ..Limits::default() };
    let found = search(&root, parameters, &limits, [1; 32]);
    assert_eq!(found.ended_by, EndedBy::Generations);
}

/// Games that are all over before the horizon: no line is longer than its game.
#[test]
fn a_horizon_beyond_every_game_is_no_obstacle() {
    let root = Thicket::new(5, 3, 4);
    let found = search(&root, GeneticParameters::tuned(1_000), &Limits::default(), [1; 32]);
    assert_eq!(found.ended_by, EndedBy::Proven);
    assert!(found.depth <= 3);
    let (_, best) = minimax_of_moves(&root, 1_000, &Foliage);
    assert_eq!(found.score, Some(best));
    assert!(best == 0 || best.abs() >= WIN - 3);
}

#[test]
fn an_aborted_search_finds_nothing() {
    let mut search = GeneticMinimax::new(GeneticParameters::tuned(4), Foliage);
    let mut budget = Budget::new(&Limits::default(), &Unwanted);
    let found = search.search(
        Line::from_start(&Thicket::new(5, 9, 8)),
        &mut budget,
        &mut Random::from_key([1; 32]),
    );
    assert_eq!(found, Err(NoMove::Aborted));
}

#[test]
fn elites_that_fill_the_population_leave_no_room_for_children() {
    let root = Thicket::new(3, 12, 8);
    let parameters = GeneticParameters { elites: 500, ..GeneticParameters::study(6) };
    let few = GeneticParameters { generations: Some(1), ..parameters };
    let all = search_with_cost(&root, parameters, &Limits::default(), [1; 32]);
    assert_eq!(all, search_with_cost(&root, few, &Limits::default(), [1; 32]));
}

#[test]
fn presets_are_known_by_name() {
    for name in GeneticParameters::PRESETS {
        assert_eq!(GeneticParameters::preset(name, 4).unwrap().depth, 4);
    }
    assert_eq!(GeneticParameters::preset("best", 4), None);
}

#[test]
#[should_panic(expected = "a share lies between 0 and 1")]
fn a_rate_that_is_no_number_is_refused() {
    let parameters = GeneticParameters { mutation_rate: f64::NAN, ..GeneticParameters::tuned(4) };
    let _ = GeneticMinimax::<Thicket, _>::new(parameters, Foliage);
}

fn search(
    root: &Thicket,
    parameters: GeneticParameters,
    limits: &Limits,
    key: [u8; 32],
) -> Found<<Thicket as Position>::Move> {
    search_with_cost(root, parameters, limits, key).0
}

fn search_with_cost(
    root: &Thicket,
    parameters: GeneticParameters,
    limits: &Limits,
    key: [u8; 32],
) -> (Found<<Thicket as Position>::Move>, u64, u64) {
    let mut budget = Budget::new(limits, &Timeless);
    let mut search = GeneticMinimax::new(parameters, Foliage);
    let found =
        search.search(Line::from_start(root), &mut budget, &mut Random::from_key(key)).unwrap();
    (found, budget.nodes(), budget.evaluations())
}

/// A clock that moves on by a fixed amount whenever it is read.
struct Ticking {
    now_us: Cell<u64>,
    tick_us: u64,
}

impl Host for Ticking {
    fn wall(&self) -> Duration {
        self.now_us.set(self.now_us.get() + self.tick_us);
        Duration::from_micros(self.now_us.get())
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }
}

/// A replay does not read the clock.
struct NoClock;

impl Host for NoClock {
    fn wall(&self) -> Duration {
        panic!("a replay reads no clock")
    }

    fn cpu(&self) -> Duration {
        panic!("a search reads no processor time")
    }
}

struct Unwanted;

impl Host for Unwanted {
    fn wall(&self) -> Duration {
        Duration::ZERO
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }

    fn aborted(&self) -> bool {
        true
    }
}
