//! A training: the one task of a cell that makes a network. It follows from the network's recipe alone, so that
//! the same network has the same name in every experiment and every database.

use serde::{Deserialize, Serialize};
use spelrum_engine::Parameters;
use spelrum_engine::network::{Recipe, recipe_of};

use crate::definition::DefinitionHash;
use crate::game::DefinitionError;
use crate::seeds;

/// What decides a training: the recipe of its network.
///
/// Its canonical JSON has the form of a cell's definition that has two players, of which the recipe is the first
/// and the second is nobody: it is stored and fetched like one.
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

    /// The training of this recipe.
    #[must_use]
    pub const fn new(recipe: Recipe) -> Self {
        Self { recipe }
    }

    /// The trainings of the network of a player with these parameters, which are all spelt out; none of a
    /// player without one.
    #[must_use]
    pub fn of_player(parameters: &Parameters) -> Option<Self> {
        recipe_of(parameters).map(Self::new)
    }

    /// Whether a definition is one of a training, by how it begins.
    #[must_use]
    pub fn is_one(json: &str) -> bool {
        json.starts_with(Self::JSON_PREFIX)
    }

    /// Reads a definition.
    ///
    /// # Errors
    /// If the text is not one, or its recipe is not of this engine.
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

    /// The canonical JSON: of equal recipes the same.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        let training = (self.recipe.parameters().clone(), Nobody {});
        seeds::canonical_json(&Form { format: Self::FORMAT, training })
    }

    /// The hash that names the training and its network.
    #[must_use]
    pub fn hash(&self) -> DefinitionHash {
        DefinitionHash::of_json(&self.canonical_json())
    }

    /// The recipe.
    #[must_use]
    pub const fn recipe(&self) -> &Recipe {
        &self.recipe
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training(json: &str) -> TrainingDefinition {
        let parameters = serde_json::from_str(json).unwrap();
        TrainingDefinition::new(Recipe::from_parameters(&parameters).unwrap())
    }

    /// Dear to change: networks in every database are named by this.
    #[test]
    fn golden_definition() {
        let json = training(r#"{"ending": "KRK", "hidden": [4]}"#).canonical_json();
        insta::assert_snapshot!(json);
        assert!(TrainingDefinition::is_one(&json));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let one = training(r#"{"ending": "KBNK", "seed": 7}"#);
        let json = one.canonical_json();
        let read = TrainingDefinition::from_json(&json).unwrap();
        assert_eq!((read.canonical_json(), read.hash()), (json.clone(), one.hash()));
        let other = training(r#"{"ending": "KBNK", "seed": 8}"#);
        assert_ne!(other.hash(), one.hash());
        let error = |json: &str| TrainingDefinition::from_json(json).unwrap_err().to_string();
        assert!(error(&json.replace(":1,", ":2,")).contains("format 2"));
        assert!(error(&json.replace("KBNK", "KBNQ")).contains("recipe"));
        assert!(error("{}").contains("format"));
    }
}
