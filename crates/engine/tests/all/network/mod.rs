//! Networks: recipes, training with fixed results, serialization, and evaluation. The internals of training
//! are tested beside them (`src/network/`).

mod bytes;
mod errors;
mod evaluation;
mod recipe;
mod training;

use std::sync::LazyLock;

use spelrum_engine::network::{Recipe, Trained, train};
use spelrum_engine::tables::EndgameTable;
use spelrum_engine::{KeyProblem, Timeless};

fn read(json: &str) -> Result<Recipe, KeyProblem> {
    Recipe::from_parameters(&serde_json::from_str(json).unwrap())
}

fn recipe(json: &str) -> Recipe {
    read(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn table(name: &str) -> EndgameTable {
    EndgameTable::make(&name.parse().unwrap(), |_| {})
}

static KRK: LazyLock<EndgameTable> = LazyLock::new(|| table("KRK"));

/// Trained by this recipe for KRK.
fn trained(json: &str) -> Trained {
    train(&recipe(json), &KRK, &Timeless, |_| {}).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// As the study had it: few inputs that are all numbers, online, one network for both sides.
const PLAIN: &str = r#"{"ending": "KRK", "inputs": "coordinates-distances", "rotations": false,
    "hidden": [10], "activation": "sigmoid", "networks": "one", "loss": "squared", "balance": 0,
    "examples": 4000, "validation": 300, "epochs": 4, "rate": 0.5, "schedule": "constant"}"#;

/// All that is otherwise: squares, two layers, batches, a network for each side, draws.
const LARGE: &str = r#"{"ending": "KRK", "inputs": "king-pairs", "hidden": [20, 9], "draws": true,
    "validation": 200, "epochs": 3, "batch": 2, "schedule": "cosine", "seed": 7}"#;

/// A network for each side to move and each distance of black's king from the edge, and positions in all rotations.
const REGIONS: &str = r#"{"ending": "KRK", "inputs": "coordinates", "rotations": false, "augmented": true,
    "hidden": [6], "regions": 4, "examples": 1000, "validation": 100, "epochs": 6}"#;
