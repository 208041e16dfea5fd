//! The trait by which an algorithm is registered.

use super::Search;
use super::reference::{self, Reference};
use crate::core::parameters::{AlgorithmInfo, Parameters, Settings, Value};
use crate::core::problem::KeyProblem;
use crate::core::solver::Solvable;
use crate::evaluation::Evaluation;

/// An algorithm: its parameters in a sweep, and the construction of its searches.
pub(crate) trait Algorithm {
    /// Its name, meaning, parameters and presets.
    const INFO: AlgorithmInfo;

    /// Whether its games may begin with any position, so that [`Algorithm::check_start`] can be skipped.
    const BEGINS_ANYWHERE: bool = true;

    /// Whether its values of moves as a reference decide the winner: more than 0 is a win for the mover
    /// against any defence, and nothing else is.
    const VALUES_DECIDE_WINNER: bool = false;

    /// Whether moves depend on random numbers, so that a repeated opening may give a different
    /// game.
    fn draws_random_numbers(settings: &Settings) -> bool;

    /// An upper bound on the bytes of its tables and trees with these complete parameters.
    fn memory_bytes(_parameters: &Parameters) -> u64 {
        0
    }

    /// Whether a search that completed a depth is comparable with the full tree of that depth: not for a
    /// search of all depths up to it, nor if the depth is the length of a line.
    fn has_full_tree(_parameters: &Parameters) -> bool {
        false
    }

    /// Checks that it can play this game.
    fn check_game<P: Solvable>() -> Result<(), KeyProblem> {
        Ok(())
    }

    /// Checks that its games may begin with this position.
    fn check_start<P: Solvable>(_start: &P) -> Result<(), KeyProblem> {
        Ok(())
    }

    /// Checks that a player with these complete parameters gives every move a value that depends on the
    /// position alone, and so has a [`Reference`].
    fn check_reference(_parameters: &Parameters) -> Result<(), KeyProblem> {
        Err(reference::not_of_this_algorithm(Self::INFO.name))
    }

    /// The factory of searches, one for each side and game.
    fn maker<P: Solvable, E: Evaluation<P>>(settings: &Settings, evaluation: E) -> Maker<P>;
}

/// Whether a number of plies limits the searches of a player with these parameters.
pub(super) fn has_depth(parameters: &Parameters) -> bool {
    matches!(parameters.get("depth"), Some(Value::Integer(_)))
}

/// Makes identical searches.
pub(crate) struct Maker<P> {
    search: Make<dyn Search<P>>,
    reference: Option<Make<dyn Reference<P>>>,
}

type Make<T> = Box<dyn Fn() -> Box<T> + Send + Sync>;

impl<P: Solvable> Maker<P> {
    pub(crate) fn new(make: impl Fn() -> Box<dyn Search<P>> + Send + Sync + 'static) -> Self {
        Self { search: Box::new(make), reference: None }
    }

    /// The same, for searches that also serve as a reference.
    pub(crate) fn with_reference(
        self,
        make: impl Fn() -> Box<dyn Reference<P>> + Send + Sync + 'static,
    ) -> Self {
        Self { reference: Some(Box::new(make)), ..self }
    }

    pub(crate) fn make(&self) -> Box<dyn Search<P>> {
        (self.search)()
    }

    /// Whether the searches also serve as a reference.
    pub(crate) fn has_reference(&self) -> bool {
        self.reference.is_some()
    }

    pub(crate) fn make_reference(&self) -> Option<Box<dyn Reference<P>>> {
        self.reference.as_ref().map(|make| make())
    }
}
