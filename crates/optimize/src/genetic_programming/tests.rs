use std::collections::BTreeMap;

use proptest::prelude::*;
use spelrum_engine::Random;
use spelrum_engine::expression::{Expression, FeatureInfo, Function, Node};

use super::breeding::{Breeding, Operator};
use super::selection::{Candidate, Parsimony, Ranking, Selection};
use super::trees::{Initial, Root, full, grow};
use super::variation::{Mutation, Points, crossover};
use super::{Limits, Primitives};

const FEATURES: [FeatureInfo; 3] = [
    FeatureInfo::symmetric("x", "one"),
    FeatureInfo::symmetric("y", "another"),
    FeatureInfo::symmetric("z", "a third"),
];

fn tree(text: &str) -> Expression {
    Expression::parse(text, &FEATURES).unwrap()
}

fn text(tree: &Expression) -> String {
    tree.text(&FEATURES)
}

fn primitives(functions: &[Function], features: u16) -> Primitives {
    Primitives { functions: functions.to_vec(), leaves: (0..features).map(Node::Feature).collect() }
}

fn all() -> Primitives {
    let mut all = primitives(&Function::ALL, 3);
    all.leaves.push(Node::Constant(10.0));
    all
}

fn random(seed: u8) -> Random {
    Random::from_key([seed; 32])
}

/// How often each value is drawn, in this many draws.
fn counted<T: Ord>(draws: u32, mut draw: impl FnMut() -> T) -> BTreeMap<T, f64> {
    let mut counts = BTreeMap::new();
    for _ in 0..draws {
        *counts.entry(draw()).or_insert(0.0) += 1.0 / f64::from(draws);
    }
    counts
}

/// Whether these shares equal the expected ones, within five standard errors.
fn assert_shares<T: Ord + std::fmt::Debug>(
    counted: &BTreeMap<T, f64>,
    expected: &BTreeMap<T, f64>,
    draws: u32,
) {
    assert!((expected.values().sum::<f64>() - 1.0).abs() < 1e-9, "{expected:?}");
    assert!(
        counted.keys().all(|outcome| expected.contains_key(outcome)),
        "{counted:?} {expected:?}"
    );
    for (outcome, &share) in expected {
        let error = 5.0 * (share * (1.0 - share) / f64::from(draws)).sqrt();
        let counted_share = counted.get(outcome).copied().unwrap_or(0.0);
        assert!(
            (counted_share - share).abs() <= error,
            "{outcome:?}: {counted_share}, not {share}"
        );
    }
}

/// The probability of each grown tree, by enumerating all draws.
fn grown(primitives: &Primitives, depth: usize, root: Root) -> BTreeMap<Vec<Node>, f64> {
    let Primitives { functions, leaves } = primitives;
    let mut shares = BTreeMap::new();
    let labels = match (depth, root) {
        (0, _) => 0,
        (_, Root::Function) => functions.len(),
        (_, Root::Any) => functions.len() + leaves.len(),
    };
    if depth == 0 || root == Root::Any {
        let labels = if labels == 0 { leaves.len() } else { labels };
        for leaf in leaves {
            *shares.entry(vec![*leaf]).or_insert(0.0) += 1.0 / labels as f64;
        }
    }
    if depth > 0 {
        let below = grown(primitives, depth - 1, Root::Any);
        for function in functions {
            for (left, of_left) in &below {
                for (right, of_right) in &below {
                    let tree = [&[Node::Function(*function)][..], left, right].concat();
                    *shares.entry(tree).or_insert(0.0) += of_left * of_right / labels as f64;
                }
            }
        }
    }
    shares
}

#[test]
fn grown_trees_come_as_often_as_all_draws_say() {
    let primitives = primitives(&[Function::Add, Function::Divide], 2);
    for (seed, depth, root) in
        [(1, 0, Root::Function), (2, 1, Root::Function), (3, 1, Root::Any), (4, 2, Root::Any)]
    {
        let mut random = random(seed);
        let draws = 40_000;
        let counted =
            counted(draws, || grow(&primitives, depth, root, &mut random).nodes().to_vec());
        assert_shares(&counted, &grown(&primitives, depth, root), draws);
    }
}

#[test]
fn full_trees_are_full_and_all_of_them_come() {
    let primitives = primitives(&[Function::Add, Function::Multiply], 2);
    let mut random = random(5);
    let draws = 20_000;
    let counted = counted(draws, || text(&full(&primitives, 2, &mut random)));
    // Three functions of two, four leaves of two.
    assert_eq!(counted.len(), 128);
    let expected = counted.keys().map(|tree| (tree.clone(), 1.0 / 128.0)).collect();
    assert_shares(&counted, &expected, draws);
    for depth in 0..6 {
        let made = full(&primitives, depth, &mut random);
        assert_eq!((made.depth(), made.size()), (depth, (1 << (depth + 1)) - 1));
    }
}

#[test]
fn ramped_half_and_half_has_the_same_number_of_each_depth_and_kind() {
    let primitives = all();
    let limits = Limits { depth: 9, nodes: 1_000 };
    let mut random = random(6);
    let trees: Vec<Expression> = (0..50)
        .map(|number| Initial::Ramped.tree(&primitives, limits, 6, number, &mut random))
        .collect();
    for depth in 2..=6 {
        let full = trees
            .iter()
            .step_by(2)
            .filter(|tree| tree.depth() == depth && tree.size() == (1 << (depth + 1)) - 1);
        assert_eq!(full.count(), 5, "of depth {depth}");
    }
    assert!(trees.iter().skip(1).step_by(2).all(|tree| (1..=6).contains(&tree.depth())));
    // With little room, the tree is as large as the limits allow.
    let small = Limits { depth: 1, nodes: 3 };
    assert!((0..9).all(|number| small.allow(&Initial::Ramped.tree(
        &primitives,
        small,
        6,
        number,
        &mut random
    ))));
}

/// The possible results of crossover with their probabilities: every pair of nodes, and if a child is too large
/// every way down from there.
fn crossed(
    pair: [&Expression; 2],
    at: [usize; 2],
    limits: Limits,
    share: f64,
    found: &mut BTreeMap<[String; 2], f64>,
) {
    let swap = |own: usize, other: usize| {
        let (tree, from) = (pair[own], pair[other]);
        let part = from.subtree(at[other]);
        let (before, after) = (tree.subtree(at[own]).start, tree.subtree(at[own]).end);
        let nodes = [&tree.nodes()[..before], &from.nodes()[part], &tree.nodes()[after..]];
        Expression::from_nodes(nodes.concat()).unwrap()
    };
    let children = [swap(0, 1), swap(1, 0)];
    let too_large = children.iter().position(|child| !limits.allow(child));
    let Some(too_large) = too_large else {
        *found.entry(children.each_ref().map(text)).or_insert(0.0) += share;
        return;
    };
    let deeper = 1 - too_large;
    for operand in pair[deeper].operands(at[deeper]).unwrap() {
        let mut at = at;
        at[deeper] = operand;
        crossed(pair, at, limits, share / 2.0, found);
    }
}

#[test]
fn crossover_swaps_as_often_as_all_pairs_of_nodes_say() {
    let first = tree("(+ x (- y 10))");
    let second = tree("(* (/ x x) (+ (- y z) z))");
    let draws = 40_000;
    for (seed, limits) in [
        (7, Limits { depth: 9, nodes: 99 }),
        (8, Limits { depth: 3, nodes: 99 }),
        (9, Limits { depth: 3, nodes: 9 }),
    ] {
        let mut random = random(seed);
        let counted = counted(draws, || {
            crossover([&first, &second], Points::Uniform, limits, &mut random).each_ref().map(text)
        });
        let mut expected = BTreeMap::new();
        let share = 1.0 / (first.size() * second.size()) as f64;
        for a in 0..first.size() {
            for b in 0..second.size() {
                crossed([&first, &second], [a, b], limits, share, &mut expected);
            }
        }
        assert_shares(&counted, &expected, draws);
    }
}

#[test]
fn crossover_at_functions_takes_them_nine_times_of_ten() {
    let first = tree("(+ x y)");
    let second = tree("z");
    let limits = Limits { depth: 9, nodes: 99 };
    let mut random = random(10);
    let draws = 20_000;
    let counted = counted(draws, || {
        text(&crossover([&first, &second], Points::Functions, limits, &mut random)[0])
    });
    let expected = [("z", 0.9), ("(+ z y)", 0.05), ("(+ x z)", 0.05)];
    assert_shares(&counted, &expected.map(|(name, share)| (name.to_owned(), share)).into(), draws);
}

#[test]
fn a_mutated_label_is_another_of_its_kind() {
    let primitives = primitives(&[Function::Add, Function::Subtract, Function::Divide], 3);
    let limits = Limits { depth: 5, nodes: 99 };
    let mut random = random(11);
    let draws = 20_000;
    let counted = counted(draws, || {
        text(&Mutation::Label.child(&tree("(+ x y)"), &primitives, limits, &mut random))
    });
    let sixth = 1.0 / 6.0;
    let expected = ["(- x y)", "(/ x y)", "(+ y y)", "(+ z y)", "(+ x x)", "(+ x z)"];
    assert_shares(&counted, &expected.map(|name| (name.to_owned(), sixth)).into(), draws);
    // Without another label, it stays.
    let only = self::primitives(&[Function::Add], 1);
    let same = Mutation::Label.child(&tree("(+ x x)"), &only, limits, &mut random);
    assert_eq!(text(&same), "(+ x x)");
}

#[test]
fn selection_has_the_chances_that_it_says() {
    let fitness = [Some(3.0), None, Some(9.0), Some(-1.0), Some(f64::NAN), Some(3.0)];
    let candidates = fitness.map(|fitness| Candidate { fitness, size: 1 });
    let ranking = Ranking::new(&candidates, Parsimony::Free);
    assert_eq!(ranking.order, [2, 0, 5, 3, 1, 4]);
    let draws = 40_000;
    let by_rank = |share: &dyn Fn(usize) -> f64| -> BTreeMap<usize, f64> {
        ranking.order.iter().enumerate().map(|(rank, place)| (*place, share(rank))).collect()
    };
    // All ends, and all indices before each.
    let mut study = [0.0; 6];
    for end in 1..=6 {
        for rank in &mut study[..end] {
            *rank += 1.0 / 6.0 / end as f64;
        }
    }
    // All pairs and triples.
    let mut pairs = [0.0; 6];
    let mut triples = [0.0; 6];
    for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
        pairs[usize::min(a, b)] += 1.0 / 36.0;
        for c in 0..6 {
            triples[a.min(b).min(c)] += 1.0 / 216.0;
        }
    }
    // Above the least, -1: 10, 4, 4, 0; the others have none.
    let shares = [10.0, 4.0, 4.0, 0.0, 0.0, 0.0].map(|share| share / 18.0);
    for (seed, selection, expected) in [
        (12, Selection::Study, study),
        (13, Selection::Tournament(2), pairs),
        (14, Selection::Tournament(3), triples),
        (15, Selection::Tournament(1), [1.0 / 6.0; 6]),
        (16, Selection::Proportional, shares),
    ] {
        let mut random = random(seed);
        let counted = counted(draws, || ranking.select(selection, &mut random));
        assert_shares(&counted, &by_rank(&|rank| expected[rank]), draws);
    }
    // All equal: uniform among those that have a fitness.
    let even = Ranking::new(
        &[Some(1.0), Some(1.0), None].map(|fitness| Candidate { fitness, size: 1 }),
        Parsimony::Free,
    );
    let mut random = random(17);
    let counted = counted(draws, || even.select(Selection::Proportional, &mut random));
    assert_shares(&counted, &[(0, 0.5), (1, 0.5), (2, 0.0)].into(), draws);
}

#[test]
fn size_costs_what_it_says() {
    let candidates = [(5.0, 9), (5.0, 3), (4.0, 1)]
        .map(|(fitness, size)| Candidate { fitness: Some(fitness), size });
    let order = |parsimony| Ranking::new(&candidates, parsimony).order;
    assert_eq!(order(Parsimony::Free), [0, 1, 2]);
    assert_eq!(order(Parsimony::Lexicographic), [1, 0, 2]);
    assert_eq!(order(Parsimony::PerNode(0.25)), [1, 2, 0]);
    assert_eq!(order(Parsimony::PerNode(1.0)), [2, 1, 0]);
}

fn breeding(limits: Limits, population: usize, elite: usize, duplicates: bool) -> Breeding {
    Breeding {
        primitives: all(),
        limits,
        population,
        initial: Initial::Ramped,
        initial_depth: limits.depth,
        elite,
        mutation_rate: 0.3,
        mutation: Mutation::Subtree,
        points: Points::Uniform,
        selection: Selection::Study,
        duplicates,
    }
}

proptest! {
    /// For any settings: the population has its size, no tree exceeds the limits, the elite comes first and is
    /// that of the previous generation, parents exist, and if duplicates are forbidden there are none as long as
    /// there are enough trees.
    #[test]
    fn generations_are_what_they_should_be(
        seed in any::<u8>(),
        depth in 0_usize..6,
        nodes in 1_usize..40,
        population in 1_usize..20,
        elite in 0_usize..20,
        duplicates in any::<bool>(),
        is_label in any::<bool>(),
        fits in proptest::collection::vec(proptest::option::of(-5.0..5.0), 20),
    ) {
        let limits = Limits { depth, nodes };
        let elite = elite.min(population);
        let mutation = if is_label { Mutation::Label } else { Mutation::Subtree };
        let breeding = Breeding { mutation, ..breeding(limits, population, elite, duplicates) };
        let mut random = random(seed);
        let mut bred = breeding.first(&mut random);
        prop_assert!(bred.iter().all(|individual| individual.operator == Operator::Random));
        for _ in 0..4 {
            prop_assert_eq!(bred.len(), population);
            prop_assert!(bred.iter().all(|individual| limits.allow(&individual.tree)));
            if !duplicates && depth >= 3 && nodes >= 15 {
                let mut forms: Vec<_> = bred.iter().map(|individual| individual.tree.simplified()).collect();
                forms.sort();
                forms.dedup();
                prop_assert_eq!(forms.len(), population);
            }
            let trees: Vec<Expression> = bred.into_iter().map(|individual| individual.tree).collect();
            let candidates: Vec<Candidate> = trees
                .iter()
                .zip(&fits)
                .map(|(tree, fitness)| Candidate { fitness: *fitness, size: tree.size() })
                .collect();
            let ranking = Ranking::new(&candidates, Parsimony::Lexicographic);
            bred = breeding.next(&trees, &ranking, &mut random);
            for (individual, &place) in bred.iter().zip(&ranking.order).take(elite) {
                prop_assert_eq!(&individual.tree, &trees[place]);
                prop_assert_eq!((individual.operator, &individual.parents), (Operator::Elite, &vec![place]));
            }
            for individual in &bred[elite..] {
                let parents = match individual.operator {
                    Operator::Crossover => 2,
                    Operator::Mutation => 1,
                    Operator::Random | Operator::Elite => panic!("{individual:?}"),
                };
                prop_assert_eq!(individual.parents.len(), parents);
                prop_assert!(individual.parents.iter().all(|place| *place < population));
            }
        }
    }
}

/// The same key gives the same course: all releases draw alike.
#[test]
fn golden_generation() {
    let breeding = breeding(Limits { depth: 3, nodes: 15 }, 6, 1, false);
    let mut random = random(18);
    let first = breeding.first(&mut random);
    let trees: Vec<Expression> = first.into_iter().map(|individual| individual.tree).collect();
    let candidates: Vec<Candidate> =
        (0..6).map(|number| Candidate { fitness: Some(f64::from(number)), size: 1 }).collect();
    let ranking = Ranking::new(&candidates, Parsimony::Free);
    let next = breeding.next(&trees, &ranking, &mut random);
    let shown: Vec<String> = trees.iter().map(text).collect();
    insta::assert_snapshot!(shown.join("\n"));
    let shown: Vec<String> = next
        .iter()
        .map(|individual| {
            format!(
                "{} {:?} {}",
                individual.operator.name(),
                individual.parents,
                text(&individual.tree)
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}
