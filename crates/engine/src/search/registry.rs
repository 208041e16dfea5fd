//! The registry of algorithms. One is registered by its line at the end of the list below.

use super::algorithm::{Algorithm, Maker};
use super::{ajedrecista, alpha_beta, exact, genetic, mcts, minimax, random, reference, table};
use crate::core::external;
use crate::core::parameters::{AlgorithmInfo, ParameterInfo, Parameters, Settings, Value};
use crate::core::problem::KeyProblem;
use crate::core::solver::Solvable;
use crate::evaluation::Evaluation;
use crate::network;

macro_rules! algorithms {
    ($($algorithm:ty),+ $(,)?) => {
        /// The algorithms by their names in sweeps.
        pub const ALGORITHMS: &[&str] = &[$(<$algorithm as Algorithm>::INFO.name),+];

        /// Their tables, in the same order.
        pub(crate) const TABLES: &[AlgorithmInfo] = &[$(<$algorithm as Algorithm>::INFO),+];

        /// [`Algorithm::draws_random_numbers`] of the algorithm described by `info`.
        pub(crate) fn draws_random_numbers(info: &AlgorithmInfo, settings: &Settings) -> bool {
            $(if info.name == <$algorithm as Algorithm>::INFO.name {
                return <$algorithm as Algorithm>::draws_random_numbers(settings);
            })+
            unreachable!("every table is of an algorithm: {}", info.name)
        }

        /// [`crate::Player::memory_bytes`] of the player with these complete parameters. Little for
        /// unknown algorithms.
        #[must_use]
        pub fn memory_bytes_of(parameters: &Parameters) -> u64 {
            /// Moves, killers, histories, and other small data.
            const BESIDE_BYTES: u64 = 1 << 20;
            let Some(Value::Text(name)) = parameters.get("algorithm") else { return BESIDE_BYTES };
            $(if name == <$algorithm as Algorithm>::INFO.name {
                return BESIDE_BYTES
                    + <$algorithm as Algorithm>::memory_bytes(parameters)
                    + network::memory_bytes(parameters);
            })+
            BESIDE_BYTES.saturating_add(external::memory_bytes(parameters))
        }

        /// Whether evaluations of the player with these complete parameters are a share of the leaves of a
        /// full tree ([`crate::Position::full_tree_leaves`]): it searches one depth, and not all up to it.
        #[must_use]
        pub fn has_full_tree(parameters: &Parameters) -> bool {
            let Some(Value::Text(name)) = parameters.get("algorithm") else { return false };
            $(if name == <$algorithm as Algorithm>::INFO.name {
                return <$algorithm as Algorithm>::has_full_tree(parameters);
            })+
            false
        }

        /// Whether values of moves by the reference with these parameters decide the winner: more than 0 is a
        /// win for the mover against any defence, and nothing else is. Scores of minimax do not.
        #[must_use]
        pub fn values_decide_winner(parameters: &Parameters) -> bool {
            let Some(Value::Text(name)) = parameters.get("algorithm") else { return false };
            $(if name == <$algorithm as Algorithm>::INFO.name {
                return <$algorithm as Algorithm>::VALUES_DECIDE_WINNER;
            })+
            false
        }

        /// [`Algorithm::check_reference`] of the algorithm that these parameters name.
        pub(crate) fn check_reference(parameters: &Parameters) -> Result<(), KeyProblem> {
            let name = match parameters.get("algorithm") {
                Some(Value::Text(name)) => name.as_str(),
                Some(_) | None => "",
            };
            $(if name == <$algorithm as Algorithm>::INFO.name {
                return <$algorithm as Algorithm>::check_reference(parameters);
            })+
            Err(reference::not_of_this_algorithm(name))
        }

        /// [`Algorithm::check_game`] of the algorithm described by `info`.
        pub(crate) fn check_game<P: Solvable>(info: &AlgorithmInfo) -> Result<(), KeyProblem> {
            $(if info.name == <$algorithm as Algorithm>::INFO.name {
                return <$algorithm as Algorithm>::check_game::<P>();
            })+
            unreachable!("every table is of an algorithm: {}", info.name)
        }

        /// [`Algorithm::BEGINS_ANYWHERE`] of the algorithm with this name; true for external engines.
        pub(crate) fn begins_anywhere(name: &str) -> bool {
            $(if name == <$algorithm as Algorithm>::INFO.name {
                return <$algorithm as Algorithm>::BEGINS_ANYWHERE;
            })+
            true
        }

        /// [`Algorithm::check_start`] of the algorithm with this name, if it is built in.
        pub(crate) fn check_start<P: Solvable>(
            name: &str,
            start: &P,
        ) -> Result<(), KeyProblem> {
            $(if name == <$algorithm as Algorithm>::INFO.name {
                return <$algorithm as Algorithm>::check_start(start);
            })+
            Ok(())
        }

        /// [`Algorithm::maker`] of the algorithm described by `info`.
        pub(crate) fn maker<P: Solvable, E: Evaluation<P>>(
            info: &AlgorithmInfo,
            settings: &Settings,
            evaluation: E,
        ) -> Maker<P> {
            $(if info.name == <$algorithm as Algorithm>::INFO.name {
                return <$algorithm as Algorithm>::maker(settings, evaluation);
            })+
            unreachable!("every table is of an algorithm: {}", info.name)
        }
    };
}

algorithms! {
    random::RandomPlay,
    minimax::MinimaxPlay,
    alpha_beta::AlphaBetaPlay,
    genetic::GeneticPlay,
    mcts::MctsPlay,
    exact::ExactPlay,
    table::TablePlay,
    ajedrecista::AjedrecistaPlay,
}

/// The parameters of an algorithm, limits included, also for external engines; empty for an unknown one.
///
/// Its evaluation's parameters are separate: [`crate::Rules::evaluations`].
#[must_use]
pub fn parameters_of(algorithm: &str) -> &'static [ParameterInfo] {
    info_of(algorithm).map_or(&[], |info| info.parameters)
}

/// An algorithm's description, in a sentence; `None` for an unknown one.
#[must_use]
pub fn meaning_of(algorithm: &str) -> Option<&'static str> {
    info_of(algorithm).map(|info| info.meaning)
}

/// The values of an algorithm's key `preset`, the default first; empty if it has no such key.
#[must_use]
pub fn presets_of(algorithm: &str) -> Vec<&'static str> {
    info_of(algorithm).into_iter().flat_map(|info| info.presets).map(|preset| preset.name).collect()
}

fn info_of(algorithm: &str) -> Option<&'static AlgorithmInfo> {
    TABLES.iter().chain(external::TABLES).find(|info| info.name == algorithm)
}
