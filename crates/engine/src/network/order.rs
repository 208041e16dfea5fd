//! The selection and order of an epoch's examples.

use super::examples::Example;
use crate::core::rng::Random;

/// Examples in groups of the same distance to mate and side to move, with draws as a distance.
pub(super) struct Order {
    groups: Vec<Group>,
    random: Random,
    epoch: Vec<Example>,
}

struct Group {
    examples: Vec<Example>,
    /// The number of examples in an epoch, some of them several times if there are fewer.
    share: usize,
    /// The next of them.
    next: usize,
}

impl Order {
    /// An epoch has about as many examples as there are, each group a share that grows with its size to the
    /// power of 1 - `balance`: with 0 every example comes once, with 1 all groups have the same.
    pub(super) fn new(mut examples: Vec<Example>, balance: f64, random: Random) -> Self {
        let count = examples.len();
        examples.sort_by_key(|example| example.code());
        let groups = examples.chunk_by(|a, b| a.code() == b.code());
        let weight = |group: &[Example]| libm::pow(group.len() as f64, 1.0 - balance);
        let total = groups.clone().map(weight).fold(0.0, |sum, weight| sum + weight);
        let group = |group: &[Example]| {
            let share = libm::round(count as f64 * weight(group) / total) as usize;
            Group { examples: group.to_vec(), share: share.max(1), next: group.len() }
        };
        let groups = groups.map(group).collect();
        Self { groups, random, epoch: Vec::new() }
    }

    /// The examples of the next epoch in their order.
    pub(super) fn next_epoch(&mut self) -> &[Example] {
        let Self { groups, random, epoch } = self;
        epoch.clear();
        for Group { examples, share, next } in groups {
            for _ in 0..*share {
                if *next == examples.len() {
                    random.shuffle(examples);
                    *next = 0;
                }
                epoch.push(examples[*next]);
                *next += 1;
            }
        }
        random.shuffle(epoch);
        epoch
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::examples::{Examples, Purpose, stream};
    use super::super::recipe::Recipe;
    use super::*;
    use crate::core::host::Timeless;
    use crate::tables::EndgameTable;

    fn examples() -> Vec<Example> {
        let json = r#"{"ending": "KRK", "networks": "one", "draws": true}"#;
        let recipe = Recipe::from_parameters(&serde_json::from_str(json).unwrap()).unwrap();
        let table = EndgameTable::make(recipe.endgame(), |_| {});
        Examples::draw(&recipe, &table, 0, &Timeless).unwrap().training
    }

    fn sorted(examples: &[Example]) -> Vec<Example> {
        let mut sorted = examples.to_vec();
        sorted.sort_unstable();
        sorted
    }

    #[test]
    fn without_balance_every_example_comes_once() {
        let examples = examples();
        let mut order = Order::new(examples.clone(), 0.0, stream(1, 0, Purpose::Order));
        let first = order.next_epoch().to_vec();
        let second = order.next_epoch().to_vec();
        assert_ne!(first, second);
        assert_eq!(sorted(&first), sorted(&examples));
        assert_eq!(sorted(&second), sorted(&examples));
    }

    /// Each distance has its share, and within it no example repeats before all have been shown.
    #[test]
    fn with_balance_rare_distances_come_as_often() {
        let examples = examples();
        let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
        examples.iter().for_each(|example| *sizes.entry(example.code()).or_default() += 1);
        for balance in [0.5, 1.0] {
            let mut order = Order::new(examples.clone(), balance, stream(1, 0, Purpose::Order));
            let mut shown: BTreeMap<Example, usize> = BTreeMap::new();
            let mut by_distance: BTreeMap<u32, usize> = BTreeMap::new();
            for _ in 0..3 {
                for example in order.next_epoch() {
                    *shown.entry(*example).or_default() += 1;
                    *by_distance.entry(example.code()).or_default() += 1;
                }
            }
            let total: usize = by_distance.values().sum();
            assert!(total.abs_diff(3 * examples.len()) <= 3 * sizes.len());
            let root = |size: usize| if balance == 1.0 { 1.0 } else { (size as f64).sqrt() };
            let roots: f64 = sizes.values().map(|size| root(*size)).sum();
            for (code, size) in &sizes {
                let expected = examples.len() as f64 * root(*size) / roots;
                let found = by_distance[code] as f64 / 3.0;
                assert!((found - expected).abs() <= 0.5, "{code}: {found} of {expected}");
                let times: Vec<usize> = examples
                    .iter()
                    .filter(|example| example.code() == *code)
                    .map(|example| shown.get(example).copied().unwrap_or(0))
                    .collect();
                let [least, most] = [times.iter().min(), times.iter().max()];
                assert!(most.unwrap() - least.unwrap() <= 1, "{code}");
            }
        }
    }
}
