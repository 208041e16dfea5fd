//! A player: an algorithm with all its parameters and limits, fixed.

use crate::evaluation::{Evaluation, EvaluationVisitor};
use crate::parameters::{
    AlgorithmInfo, ParameterError, ParameterInfo, Parameters, Settings, Value, wrong_word,
};
use crate::position::Game;
use crate::rules::Rules;
use crate::search::alpha_beta::{self, AlphaBeta};
use crate::search::exact::{self, Exact};
use crate::search::genetic::{self, GeneticMinimax, GeneticParameters};
use crate::search::handover::Handover;
use crate::search::mcts::{self, Mcts, MctsParameters};
use crate::search::minimax::{self, Minimax};
use crate::search::random::{self, RandomMove};
use crate::search::{Evaluate, Limits, Search};

/// The algorithms by the names a sweep uses.
pub const ALGORITHMS: &[&str] = &[
    random::ALGORITHM.name,
    minimax::ALGORITHM.name,
    alpha_beta::ALGORITHM.name,
    genetic::ALGORITHM.name,
    mcts::ALGORITHM.name,
    exact::ALGORITHM.name,
];

/// Their tables, in the same order.
const TABLES: &[AlgorithmInfo] = &[
    random::ALGORITHM,
    minimax::ALGORITHM,
    alpha_beta::ALGORITHM,
    genetic::ALGORITHM,
    mcts::ALGORITHM,
    exact::ALGORITHM,
];

/// A player, complete in itself: every parameter has its value, so that defaults may change
/// later without changing what a stored player means.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    parameters: Parameters,
    limits: Limits,
    algorithm: Algorithm,
}

/// The parameters as the algorithms take them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Algorithm {
    Random,
    Minimax(minimax::Options, Evaluation),
    AlphaBeta(alpha_beta::Options, Evaluation),
    GeneticMinimax(GeneticParameters, Evaluation),
    Exact(exact::Options, Evaluation),
    Mcts(MctsParameters, Evaluation),
}

impl Player {
    /// Makes a player from what a sweep says: `algorithm`, its parameters and its limits.
    /// What is not named gets its default (or the preset's value).
    ///
    /// # Errors
    /// An unknown algorithm or key (with the nearest known one), a value of the wrong type or
    /// outside its range, an evaluation this game lacks, or a search that nothing bounds.
    pub fn from_parameters(rules: &Rules, given: &Parameters) -> Result<Self, ParameterError> {
        let info = chosen_algorithm(given)?;
        let settings = Settings::read(info, rules.name(), rules.evaluations(), given)?;
        let parameters = settings.canonical();
        let evaluation = || Evaluation::from_settings(rules, &settings);
        let algorithm = if info.name == minimax::ALGORITHM.name {
            Algorithm::Minimax(minimax::Options::from_settings(&settings), evaluation())
        } else if info.name == alpha_beta::ALGORITHM.name {
            Algorithm::AlphaBeta(alpha_beta::Options::from_settings(&settings), evaluation())
        } else if info.name == genetic::ALGORITHM.name {
            Algorithm::GeneticMinimax(GeneticParameters::from_settings(&settings), evaluation())
        } else if info.name == exact::ALGORITHM.name {
            Algorithm::Exact(exact::Options::from_settings(&settings), evaluation())
        } else if info.name == mcts::ALGORITHM.name {
            Algorithm::Mcts(MctsParameters::from_settings(&settings), evaluation())
        } else {
            Algorithm::Random
        };
        Ok(Self { limits: settings.limits(), algorithm, parameters })
    }

    /// All parameters, defaults spelt out. `from_parameters` of these gives an equal player.
    ///
    /// A limit that is off is absent, or `"unlimited"` if its default is on; durations are
    /// integers in microseconds (`move_time_us`); a preset is resolved into its values.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// What bounds its moves.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether its moves depend on random numbers, so that a repeated opening may give another game.
    #[must_use]
    pub fn draws_random_numbers(&self) -> bool {
        match self.algorithm {
            Algorithm::Random | Algorithm::GeneticMinimax(..) | Algorithm::Mcts(..) => true,
            Algorithm::Minimax(options, _) => options.shuffle,
            Algorithm::AlphaBeta(options, _) => options.shuffle,
            Algorithm::Exact(options, _) => options.shuffle,
        }
    }

    /// Whether a time limit bounds its moves.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.limits.move_time_us.is_some()
    }

    /// A search for one side of one game, compiled for the game and the evaluation; `None` if the
    /// player was made for another game, whose evaluation this one lacks.
    pub(crate) fn search<G: Game>(&self) -> Option<Box<dyn Search<G>>> {
        match &self.algorithm {
            Algorithm::Random => Some(Box::new(RandomMove)),
            Algorithm::Minimax(_, evaluation)
            | Algorithm::AlphaBeta(_, evaluation)
            | Algorithm::GeneticMinimax(_, evaluation)
            | Algorithm::Mcts(_, evaluation)
            | Algorithm::Exact(_, evaluation) => {
                G::visit_evaluation(evaluation, Compile(&self.algorithm))
            }
        }
    }
}

/// The parameters an algorithm takes, limits included; empty for an unknown one.
///
/// The weights of its evaluation come on top: [`Rules::evaluations`].
#[must_use]
pub fn parameters_of(algorithm: &str) -> &'static [ParameterInfo] {
    TABLES.iter().find(|info| info.name == algorithm).map_or(&[], |info| info.parameters)
}

/// What an algorithm's key `preset` may be, the default first; nothing if it has no such key.
pub fn presets_of(algorithm: &str) -> Vec<&'static str> {
    let info = TABLES.iter().find(|info| info.name == algorithm);
    info.into_iter().flat_map(|info| info.presets).map(|preset| preset.name).collect()
}

/// Gives the search its evaluation as a type, so that the call in its innermost loop is static.
struct Compile<'a>(&'a Algorithm);

impl<G: Game> EvaluationVisitor<G> for Compile<'_> {
    type Output = Box<dyn Search<G>>;

    fn visit<E: Evaluate<G> + Copy + 'static>(self, evaluation: E) -> Self::Output {
        match *self.0 {
            Algorithm::Random => Box::new(RandomMove),
            Algorithm::Minimax(options, _) => Box::new(Minimax::new(options, evaluation)),
            Algorithm::AlphaBeta(options, _) => {
                let search = AlphaBeta::new(options, evaluation);
                match options.exact_plies {
                    0 => Box::new(search),
                    plies => Box::new(Handover::new(search, evaluation, plies, options.shuffle)),
                }
            }
            Algorithm::GeneticMinimax(parameters, _) => {
                Box::new(GeneticMinimax::new(parameters, evaluation))
            }
            Algorithm::Exact(options, _) => Box::new(Exact::new(options, evaluation)),
            Algorithm::Mcts(parameters, _) => Box::new(Mcts::new(parameters, evaluation)),
        }
    }
}

fn chosen_algorithm(given: &Parameters) -> Result<&'static AlgorithmInfo, ParameterError> {
    const KEY: &str = "algorithm";
    let names = || ALGORITHMS.iter().copied();
    let Some(value) = given.get(KEY) else {
        let missing = wrong_word(KEY, &Value::Text(String::new()), names());
        return Err(ParameterError { problem: format!("`{KEY}` is missing"), ..missing });
    };
    let is_meant = |info: &&AlgorithmInfo| matches!(value, Value::Text(name) if name == info.name);
    TABLES.iter().find(is_meant).ok_or_else(|| {
        let error = wrong_word(KEY, value, names());
        ParameterError { problem: format!("there is no algorithm {value}"), ..error }
    })
}
