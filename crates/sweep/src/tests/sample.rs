//! `sample`: balance, distinctness, and that the same sweep always has the same points.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{SweepText, plan_sweep, planned, tic_tac_toe};

const LIMITS: [&str; 4] = ["depth", "nodes", "evaluations", "generations"];

/// A sweep over axes of these sizes, whose every point is a cell.
fn sweep(sizes: &[usize], seed: u64, sample: &str) -> String {
    let mut text = String::from("[axes]\n");
    for (limit, size) in LIMITS.iter().zip(sizes) {
        text += &format!("{limit} = {{ from = 1, to = {size}, step = 1 }}\n");
    }
    text += "[players.a]\nalgorithm = \"genetic-minimax\"\n";
    for (limit, _) in LIMITS.iter().zip(sizes) {
        text += &format!("{limit} = \"${limit}\"\n");
    }
    text += "[players.b]\nalgorithm = \"random\"\n";
    tic_tac_toe(&format!("seed = {seed}\n{sample}"), &text)
}

/// The points of that sweep, in its order.
fn points(sizes: &[usize], seed: u64, sample: &str) -> Vec<Vec<usize>> {
    let plan = planned(&sweep(sizes, seed, sample));
    let point = |cell: &super::SpeltCell| {
        cell.axes.iter().map(|(_, value)| value.text.parse().unwrap()).collect()
    };
    plan.cells.iter().map(point).collect()
}

fn sampled(method: &str, points: usize) -> String {
    format!("sample = {{ method = \"{method}\", points = {points} }}")
}

const METHODS: [&str; 2] = ["latin-hypercube", "random"];

fn product(sizes: &[usize]) -> usize {
    sizes.iter().product()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn points_are_distinct_in_the_grids_order_and_always_the_same(
        sizes in prop::collection::vec(1..6_usize, 1..5),
        share in 0.0..1.0_f64,
        seed in 0..1000_u64,
        method in 0..2_usize,
    ) {
        let grid = points(&sizes, seed, "");
        let count = 1 + (share * product(&sizes) as f64) as usize;
        let count = count.min(product(&sizes));
        let sample = sampled(METHODS[method], count);
        let thinned = points(&sizes, seed, &sample);
        prop_assert_eq!(thinned.len(), count);
        prop_assert!(thinned.is_sorted() && thinned.windows(2).all(|two| two[0] != two[1]));
        let grid: BTreeSet<_> = grid.into_iter().collect();
        prop_assert!(thinned.iter().all(|point| grid.contains(point)));
        prop_assert_eq!(points(&sizes, seed, &sample), thinned);
    }

    #[test]
    fn a_latin_hypercube_is_balanced(
        sizes in prop::collection::vec(1..7_usize, 1..5),
        share in 0.0..1.0_f64,
        seed in 0..1000_u64,
    ) {
        let count = (1 + (share * product(&sizes) as f64) as usize).min(product(&sizes));
        let points = points(&sizes, seed, &sampled("latin-hypercube", count));
        for (axis, size) in sizes.iter().enumerate() {
            let mut frequencies = vec![0; *size];
            for point in &points {
                frequencies[point[axis] - 1] += 1;
            }
            let (floor, ceil) = (count / size, count.div_ceil(*size));
            prop_assert!(frequencies.iter().all(|n| (floor..=ceil).contains(n)), "{:?}", frequencies);
        }
    }

    #[test]
    fn more_random_points_keep_the_earlier_ones(
        sizes in prop::collection::vec(1..6_usize, 1..5),
        fewer in 1..40_usize,
        more in 0..40_usize,
        seed in 0..1000_u64,
    ) {
        let fewer = fewer.min(product(&sizes));
        let more = (fewer + more).min(product(&sizes));
        let smaller = points(&sizes, seed, &sampled("random", fewer));
        let larger: BTreeSet<_> = points(&sizes, seed, &sampled("random", more)).into_iter().collect();
        prop_assert!(smaller.iter().all(|point| larger.contains(point)));
    }

    /// Each point of the thinned axes meets all combinations of the others.
    #[test]
    fn the_other_axes_stay_whole(
        sizes in prop::collection::vec(1..5_usize, 4..5),
        thinned in prop::collection::btree_set(0..4_usize, 1..4),
        share in 0.0..1.0_f64,
        method in 0..2_usize,
    ) {
        let grid: usize = thinned.iter().map(|&axis| sizes[axis]).product();
        let rest: usize = product(&sizes) / grid;
        let count = (1 + (share * grid as f64) as usize).min(grid);
        let names: Vec<&str> = thinned.iter().map(|&axis| LIMITS[axis]).collect();
        let method = METHODS[method];
        let sample = format!("sample = {{ method = \"{method}\", points = {count}, axes = {names:?} }}");
        let mut met = BTreeMap::<Vec<usize>, BTreeSet<Vec<usize>>>::new();
        let points = points(&sizes, 5, &sample);
        prop_assert!(points.is_sorted());
        for point in points {
            let (mut kept, mut other_values) = (Vec::new(), Vec::new());
            for (axis, value) in point.into_iter().enumerate() {
                if thinned.contains(&axis) { kept.push(value) } else { other_values.push(value) }
            }
            met.entry(kept).or_default().insert(other_values);
        }
        prop_assert_eq!(met.len(), count);
        prop_assert!(met.values().all(|other_values| other_values.len() == rest));
    }
}

#[test]
fn a_sample_of_everything_is_the_grid() {
    for sizes in [&[2, 2][..], &[4, 3, 2], &[6, 4], &[5], &[2, 2, 2, 2], &[1, 4, 6]] {
        for method in METHODS {
            let grid = points(sizes, 1, "");
            assert_eq!(points(sizes, 1, &sampled(method, grid.len())), grid);
        }
    }
}

/// No two axes are correlated: any two values of any two axes meet about equally often.
#[test]
fn the_axes_of_a_latin_hypercube_are_independent() {
    let sizes = [5, 5, 5, 5];
    let points = points(&sizes, 2014, &sampled("latin-hypercube", 125));
    for first in 0..4 {
        for second in 0..first {
            let mut met = BTreeMap::<_, usize>::new();
            for point in &points {
                *met.entry((point[first], point[second])).or_default() += 1;
            }
            // On average 5.
            assert!(met.len() == 25 && met.values().all(|&count| count <= 13), "{met:?}");
        }
    }
}

/// All points of a grid are drawn about equally often.
#[test]
fn random_points_are_uniform() {
    let mut drawn = BTreeMap::<_, usize>::new();
    for seed in 0..900 {
        for point in points(&[3, 3], seed, &sampled("random", 2)) {
            *drawn.entry(point).or_default() += 1;
        }
    }
    // On average 200, with a standard deviation of 12.
    assert!(
        drawn.len() == 9 && drawn.values().all(|count| (150..250).contains(count)),
        "{drawn:?}"
    );
}

/// A grid with more points than could be counted one by one, most of which are never made.
#[test]
fn a_huge_grid_is_sampled() {
    let sizes = [1000, 30_000, 20_000, 49_000];
    for method in METHODS {
        let points = points(&sizes, 1, &sampled(method, 500));
        assert_eq!(points.len(), 500);
        let values: BTreeSet<_> = points.iter().map(|point| point[3]).collect();
        assert!(values.len() > 490);
    }
    let text = sweep(&sizes, 1, &sampled("random", 100_001));
    assert!(plan_sweep(&SweepText::new("t", text)).is_err());
}

/// Expensive to change: a changed point is another experiment.
#[test]
fn golden_samples() {
    let shown = |method| {
        let points = points(&[5, 4, 3, 7], 2014, &sampled(method, 12));
        points.iter().map(|point| format!("{point:?}\n")).collect::<String>()
    };
    insta::assert_snapshot!("golden_random", shown("random"));
    insta::assert_snapshot!("golden_latin_hypercube", shown("latin-hypercube"));
}
