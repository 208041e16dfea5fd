//! A training: the single task of a cell that makes a network. It depends only on the network's recipe, so the same
//! network has the same name in every experiment and every database.

use serde::{Deserialize, Serialize};
use spelrum_engine::network::{
    DistanceErrors, Epoch, Network, Recipe, Run, SideErrors, SquareErrors, Trained, recipe_of,
};
use spelrum_engine::{ENGINE_REVISION, Irregularity, Parameters};

use crate::definition::DefinitionHash;
use crate::game::DefinitionError;
use crate::ids::GameId;
use crate::seeds;

/// The definition of a training: the recipe of its network.
///
/// Its canonical JSON has the form of a cell's definition with two players, the first being the recipe and the second
/// empty, so that it is stored and fetched like one.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingDefinition {
    recipe: Recipe,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    format: u32,
    training: (Parameters, Nobody),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nobody {}

impl TrainingDefinition {
    /// The only version of the form so far.
    pub const FORMAT: u32 = 1;

    /// The beginning of the canonical JSON, up to the recipe.
    pub const JSON_PREFIX: &'static str = r#"{"format":1,"training":["#;

    /// Creates the training of this recipe.
    #[must_use]
    pub const fn new(recipe: Recipe) -> Self {
        Self { recipe }
    }

    /// The trainings of the network of a player with these fully spelt-out parameters; empty without a network.
    #[must_use]
    pub fn from_parameters(parameters: &Parameters) -> Option<Self> {
        recipe_of(parameters).map(Self::new)
    }

    /// Whether a definition is one of a training, judged by its beginning.
    #[must_use]
    pub fn is_training(json: &str) -> bool {
        json.starts_with(Self::JSON_PREFIX)
    }

    /// Parses a definition.
    ///
    /// # Errors
    /// If the text is not a definition, or its recipe belongs to another engine.
    pub fn from_json(json: &str) -> Result<Self, DefinitionError> {
        let wrong = |problem: String| DefinitionError(problem);
        let Form { format, training: (recipe, Nobody {}) } =
            serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
        if format != Self::FORMAT {
            return Err(wrong(format!(
                "it has format {format}, this program reads format {}",
                Self::FORMAT
            )));
        }
        let recipe =
            Recipe::from_parameters(&recipe).map_err(|error| wrong(format!("recipe: {error}")))?;
        Ok(Self { recipe })
    }

    /// The canonical JSON, equal for equal recipes.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        let training = (self.recipe.parameters().clone(), Nobody {});
        seeds::canonical_json(&Form { format: Self::FORMAT, training })
    }

    /// The hash that names the training and its network.
    #[must_use]
    pub fn hash(&self) -> DefinitionHash {
        DefinitionHash::from_json(&self.canonical_json())
    }

    /// The recipe.
    #[must_use]
    pub const fn recipe(&self) -> &Recipe {
        &self.recipe
    }
}

/// A network and its training statistics, as reported and stored.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedNetwork {
    /// The network, as [`Network::to_bytes`] gives it.
    pub bytes: Vec<u8>,
    /// The course of the training of each of its networks.
    pub runs: Vec<Run>,
    /// The learning curve, thinned out if long: see [`TrainedNetwork::from_trained`].
    pub epochs: Vec<Epoch>,
    /// The errors on each side's positions.
    pub sides: Vec<SideErrors>,
    /// The errors by distance to mate.
    pub distances: Vec<DistanceErrors>,
    /// The errors by the square of black's king.
    pub squares: Vec<SquareErrors>,
}

/// Most epochs kept of each network's learning curve.
const EPOCHS_MAX: usize = 500;

impl TrainedNetwork {
    /// Creates the result of a training. A long learning curve keeps every second epoch, or every fourth and so on,
    /// with the first, the last and the best.
    #[must_use]
    pub fn from_trained(trained: Trained) -> Self {
        let Trained { network, epochs, runs, sides, distances, squares } = trained;
        let mut kept = Vec::new();
        for run in &runs {
            let its: Vec<Epoch> =
                epochs.iter().filter(|epoch| epoch.network == run.network).copied().collect();
            let apart = its.len().div_ceil(EPOCHS_MAX - 3).max(1).next_power_of_two();
            let last = its.len().saturating_sub(1);
            kept.extend(its.iter().enumerate().filter_map(|(place, epoch)| {
                let is_kept = place % apart == 0 || place == last || epoch.epoch == run.best_epoch;
                is_kept.then_some(*epoch)
            }));
        }
        Self { bytes: network.to_bytes(), runs, epochs: kept, sides, distances, squares }
    }
}

/// The result of a training, as its worker reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedTraining {
    /// The task: number 0 of the training's cell.
    pub task: GameId,
    /// The engine that trained.
    pub engine_revision: u32,
    /// The SHA-256 at the end of the network's bytes.
    pub sha256: [u8; 32],
    /// The start by the worker's clock, in microseconds since 1970: for people only.
    pub started_unix_us: i64,
    /// The duration, in microseconds.
    pub wall_us: u64,
    /// The network; `None` if it was found where it is to be reported to.
    pub trained: Option<TrainedNetwork>,
}

impl FinishedTraining {
    /// A training done by this worker.
    #[must_use]
    pub fn new(task: GameId, trained: Trained, started_unix_us: i64, wall_us: u64) -> Self {
        let sha256 = trained.network.sha256();
        let trained = Some(TrainedNetwork::from_trained(trained));
        Self { task, engine_revision: ENGINE_REVISION, sha256, started_unix_us, wall_us, trained }
    }

    /// A network that was already trained, with this hash.
    #[must_use]
    pub const fn already_trained(task: GameId, sha256: [u8; 32], started_unix_us: i64) -> Self {
        Self {
            task,
            engine_revision: ENGINE_REVISION,
            sha256,
            started_unix_us,
            wall_us: 0,
            trained: None,
        }
    }
}

impl TrainingDefinition {
    /// Checks that this result fits the training: the bytes are a network of the recipe's form with the reported hash,
    /// and the figures are plausible. Only training again shows whether the recipe leads to this network. For a network
    /// found already trained, `stored` is the hash it must have.
    ///
    /// # Errors
    /// The problem.
    pub fn referee(
        &self,
        finished: &FinishedTraining,
        stored: Option<[u8; 32]>,
    ) -> Result<(), Irregularity> {
        let wrong = |problem: &str| Err(Irregularity::new(problem));
        if finished.task.number != 0 {
            return wrong("a training is the task with number 0");
        }
        if stored.is_some_and(|stored| stored != finished.sha256) {
            return wrong("the network differs from the one that was trained before");
        }
        let Some(trained) = &finished.trained else {
            return match stored {
                Some(_) => Ok(()),
                None => wrong("it names a network that is not there"),
            };
        };
        let network = Network::from_bytes(&trained.bytes)
            .map_err(|error| Irregularity::new(error.to_string()))?;
        if !self.recipe.makes(&network) {
            return wrong("it is a network of another form than its recipe makes");
        }
        if network.sha256() != finished.sha256 {
            return wrong("its bytes do not have the reported hash");
        }
        self.check_figures(trained)
    }

    fn check_figures(&self, trained: &TrainedNetwork) -> Result<(), Irregularity> {
        let TrainedNetwork { bytes: _, runs, epochs, sides, distances, squares } = trained;
        let networks = runs.len();
        let (networks_made, epochs_max) = (self.recipe.networks(), self.recipe.epochs());
        if networks != networks_made || !runs.iter().map(|run| run.network).eq(0..networks as u32) {
            return Err(Irregularity::new(format!(
                "it tells of {networks} networks, and its recipe makes {networks_made}"
            )));
        }
        let is_network = |network: u32| (network as usize) < networks;
        let is_epoch = |epoch: u32| (1..=epochs_max).contains(&epoch);
        let is_error = |error: f64| error.is_finite() && error >= 0.0;
        let runs_hold = runs.iter().all(|run| {
            run.positions <= POSITIONS_MAX
                && run.positions.checked_sub(run.validation).is_some_and(|positions| {
                    // Of positions mirror images count once, and each may be an example.
                    run.examples <= IMAGES_MAX * positions
                })
                && is_epoch(run.best_epoch)
                && is_error(run.validation_error)
                && is_error(run.constant_error)
        });
        // Errors are reported over the positions that validated a network.
        let are_validated = |network: u32, positions: u64| {
            runs.get(network as usize).is_some_and(|run| positions <= run.validation)
        };
        let is_mean = |plies: f64| (0.0..=f64::from(PLIES_MAX)).contains(&plies);
        let mut places: Vec<(u32, u32)> = Vec::with_capacity(epochs.len());
        let epochs_hold = epochs.iter().all(|epoch| {
            places.push((epoch.network, epoch.epoch));
            is_network(epoch.network)
                && is_epoch(epoch.epoch)
                && is_error(epoch.training_error)
                && is_error(epoch.validation_error)
        }) && places.is_sorted_by(|current, next| current < next)
            && epochs.len() <= networks * EPOCHS_MAX;
        let sides_hold = sides.iter().all(|side| {
            are_validated(side.network, side.positions)
                && is_mean(side.mean_plies)
                && is_mean(side.spread)
                && is_error(side.error)
        }) && sides.is_sorted_by(|current, next| {
            (current.network, current.to_move) < (next.network, next.to_move)
        });
        let distances_hold = distances.iter().all(|distance| {
            are_validated(distance.network, distance.positions)
                && distance.plies <= PLIES_MAX
                && is_error(distance.error)
                && distance.nearer.is_finite()
        }) && distances.is_sorted_by(|current, next| {
            (current.network, current.plies) < (next.network, next.plies)
        });
        let squares_hold = squares.iter().all(|square| {
            are_validated(square.network, square.positions)
                && square.square < 64
                && is_error(square.error)
        }) && squares.is_sorted_by(|current, next| {
            (current.network, current.square) < (next.network, next.square)
        });
        let parts = [
            (runs_hold, "its runs"),
            (epochs_hold, "its learning curve"),
            (sides_hold, "its errors by side"),
            (distances_hold, "its errors by distance"),
            (squares_hold, "its errors by square"),
        ];
        match parts.iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, figures)) => {
                Err(Irregularity::new(format!("{figures} cannot be those of its recipe")))
            }
        }
    }
}

/// An upper bound for any ending: a larger table would not fit into any memory.
const POSITIONS_MAX: u64 = 1 << 40;

/// The mirror images of a position, itself included.
const IMAGES_MAX: u64 = 8;

/// An upper bound for the distance to mate in any ending of a few pieces.
const PLIES_MAX: u32 = 1_024;

#[cfg(test)]
mod tests {
    use spelrum_engine::Timeless;
    use spelrum_engine::network::train;
    use spelrum_engine::tables::EndgameTable;

    use super::*;
    use crate::ids::CellId;

    fn training(json: &str) -> TrainingDefinition {
        let parameters = serde_json::from_str(json).unwrap();
        TrainingDefinition::new(Recipe::from_parameters(&parameters).unwrap())
    }

    /// Expensive to change: networks in every database are named by this hash.
    #[test]
    fn golden_definition() {
        let json = training(r#"{"ending": "KRK", "hidden": [4]}"#).canonical_json();
        insta::assert_snapshot!(json);
        assert!(TrainingDefinition::is_training(&json));
    }

    /// They are more than positions of which mirror images count once.
    #[test]
    fn all_mirror_images_may_be_examples() {
        let definition = training(
            r#"{"ending": "KRK", "inputs": "coordinates", "rotations": false, "hidden": [4],
                "networks": "black", "epochs": 1}"#,
        );
        let table = EndgameTable::make(definition.recipe().endgame(), |_| {});
        let trained = train(definition.recipe(), &table, &Timeless, |_| {}).unwrap();
        assert!(trained.runs[0].examples > trained.runs[0].positions);
        let task = GameId { cell: CellId(1), number: 0 };
        let mut finished = FinishedTraining::new(task, trained, 0, 0);
        definition.referee(&finished, None).unwrap();
        let run = &mut finished.trained.as_mut().unwrap().runs[0];
        run.examples = 8 * (run.positions - run.validation) + 1;
        definition.referee(&finished, None).unwrap_err();
    }

    #[test]
    fn what_is_written_is_read_again() {
        let definition = training(r#"{"ending": "KBNK", "seed": 7}"#);
        let json = definition.canonical_json();
        let read = TrainingDefinition::from_json(&json).unwrap();
        assert_eq!((read.canonical_json(), read.hash()), (json.clone(), definition.hash()));
        let other = training(r#"{"ending": "KBNK", "seed": 8}"#);
        assert_ne!(other.hash(), definition.hash());
        let error = |json: &str| TrainingDefinition::from_json(json).unwrap_err().to_string();
        assert!(error(&json.replace(":1,", ":2,")).contains("format 2"));
        assert!(error(&json.replace("KBNK", "KBNQ")).contains("recipe"));
        assert!(error("{}").contains("format"));
    }
}
