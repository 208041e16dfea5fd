//! Trained networks: their differences and results, as tables, plots and JSON.

mod figures;
mod json;
mod text;

use std::collections::BTreeSet;

use spelrum_engine::network::{Recipe, TrainError, Trained};

pub use figures::figures;
pub use json::NetworkJson;
pub use text::{By, write_by, write_summary};

/// Parameter that varies within a kind: networks that differ only in it are of one kind.
const SEED: &str = "seed";

/// Networks that differ only in their seeds.
pub struct Kind {
    /// Differences from the other kinds; the ending if there is only one kind.
    pub name: String,
    /// Indices of its recipes, in order.
    pub recipes: Vec<usize>,
}

/// Sorts recipes by kind, the kinds in order of appearance.
pub fn group_recipes(recipes: &[Recipe]) -> Vec<Kind> {
    let values = |key: &str| {
        let value = |recipe: &Recipe| recipe.parameters().get(key).map(ToString::to_string);
        recipes.iter().map(value).collect::<BTreeSet<_>>()
    };
    let keys: BTreeSet<&String> =
        recipes.iter().flat_map(|recipe| recipe.parameters().keys()).collect();
    let differing: Vec<&String> =
        keys.into_iter().filter(|key| *key != SEED && values(key).len() > 1).collect();
    let mut kinds: Vec<Kind> = Vec::new();
    for (number, recipe) in recipes.iter().enumerate() {
        let word = |key: &&String| {
            let value = recipe.parameters().get(*key)?;
            // As a word, without the quotes of a sweep.
            let text = value.to_string();
            Some(format!("{key}={}", text.trim_matches('"')))
        };
        let words: Vec<String> = differing.iter().filter_map(word).collect();
        let name = if words.is_empty() { recipe.endgame().to_string() } else { words.join(", ") };
        match kinds.iter_mut().find(|kind| kind.name == name) {
            Some(kind) => kind.recipes.push(number),
            None => kinds.push(Kind { name, recipes: vec![number] }),
        }
    }
    kinds
}

/// Outcome of one recipe.
pub type Outcome = Result<Trained, TrainError>;

/// Returns the hash of a network, in hexadecimal: the same on every machine.
pub fn sha256(trained: &Trained) -> String {
    trained.network.sha256().iter().map(|byte| format!("{byte:02x}")).collect()
}
