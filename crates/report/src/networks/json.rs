//! Trained networks as JSON, with all data about each.

use serde::Serialize;
use spelrum_engine::network::{Recipe, Trained};
use spelrum_engine::{Parameters, Side};

use super::{Outcome, sha256};

/// A trained network. Keys are only ever added.
#[derive(Serialize)]
pub struct NetworkJson<'n> {
    recipe: &'n Parameters,
    /// Why there is no network.
    failure: Option<String>,
    #[serde(flatten)]
    trained: Option<TrainedJson>,
}

#[derive(Serialize)]
struct TrainedJson {
    sha256: String,
    weights: usize,
    runs: Vec<RunJson>,
    epochs: Vec<EpochJson>,
    sides: Vec<SideJson>,
    distances: Vec<DistanceJson>,
    squares: Vec<SquareJson>,
}

#[derive(Serialize)]
struct RunJson {
    network: u32,
    positions: u64,
    examples: u64,
    validation: u64,
    best_epoch: u32,
    validation_error: f64,
    constant_error: f64,
}

#[derive(Serialize)]
struct EpochJson {
    network: u32,
    epoch: u32,
    training_error: f64,
    validation_error: f64,
}

#[derive(Serialize)]
struct SideJson {
    network: u32,
    to_move: char,
    positions: u64,
    mean_plies: f64,
    spread: f64,
    error: f64,
}

#[derive(Serialize)]
struct DistanceJson {
    network: u32,
    plies: u32,
    positions: u64,
    error: f64,
    nearer: f64,
}

#[derive(Serialize)]
struct SquareJson {
    network: u32,
    square: String,
    positions: u64,
    error: f64,
}

impl<'n> NetworkJson<'n> {
    /// Creates the record from a recipe and its outcome.
    pub fn new(recipe: &'n Recipe, outcome: &Outcome) -> Self {
        let (failure, trained) = match outcome {
            Ok(trained) => (None, Some(TrainedJson::new(recipe, trained))),
            Err(error) => (Some(error.to_string()), None),
        };
        Self { recipe: recipe.parameters(), failure, trained }
    }
}

impl TrainedJson {
    fn new(recipe: &Recipe, trained: &Trained) -> Self {
        let runs = trained.runs.iter().map(|run| RunJson {
            network: run.network,
            positions: run.positions,
            examples: run.examples,
            validation: run.validation,
            best_epoch: run.best_epoch,
            validation_error: run.validation_error,
            constant_error: run.constant_error,
        });
        let epochs = trained.epochs.iter().map(|epoch| EpochJson {
            network: epoch.network,
            epoch: epoch.epoch,
            training_error: epoch.training_error,
            validation_error: epoch.validation_error,
        });
        let sides = trained.sides.iter().map(|side| SideJson {
            network: side.network,
            to_move: if side.to_move == Side::First { 'w' } else { 'b' },
            positions: side.positions,
            mean_plies: side.mean_plies,
            spread: side.spread,
            error: side.error,
        });
        let distances = trained.distances.iter().map(|distance| DistanceJson {
            network: distance.network,
            plies: distance.plies,
            positions: distance.positions,
            error: distance.error,
            nearer: distance.nearer,
        });
        let squares = trained.squares.iter().map(|square| SquareJson {
            network: square.network,
            square: square_name(square.square),
            positions: square.positions,
            error: square.error,
        });
        Self {
            sha256: sha256(trained),
            weights: recipe.weights(),
            runs: runs.collect(),
            epochs: epochs.collect(),
            sides: sides.collect(),
            distances: distances.collect(),
            squares: squares.collect(),
        }
    }
}

/// Returns `a1` for 0, `h8` for 63.
fn square_name(square: u8) -> String {
    let file = char::from(b'a' + square % 8);
    format!("{file}{}", square / 8 + 1)
}
