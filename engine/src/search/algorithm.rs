//! What an algorithm tells of itself, so that it can be registered.

use super::Search;
use super::reference::{self, Reference};
use crate::core::parameters::{AlgorithmInfo, ParameterError, Parameters, Settings, Value};
use crate::core::solver::Solvable;
use crate::evaluation::GameEvaluation;

/// An algorithm: what a sweep may say of it, and how a search is made of that.
pub(crate) trait Algorithm {
    /// Its name, meaning, parameters and presets.
    const INFO: AlgorithmInfo;

    /// Whether its games may begin with any position, so that [`Algorithm::check_start`] need not be asked.
    const BEGINS_ANYWHERE: bool = true;

    /// Whether the values that it gives to moves as a reference say who wins: more than 0 is a win for who moves,
    /// whatever the other side does, and nothing else is.
    const VALUES_SAY_WHO_WINS: bool = false;

    /// Whether moves depend on random numbers, so that a repeated opening may give another game.
    fn draws_random_numbers(settings: &Settings) -> bool;

    /// An upper bound on the bytes that its tables and trees take with these parameters, which are all
    /// spelt out.
    fn memory_bytes(_parameters: &Parameters) -> u64 {
        0
    }

    /// Whether a search that completed a depth is to be held against the full tree of that depth: not one
    /// that searches all depths up to it, nor one whose depth is a length that it reached somewhere.
    fn has_full_tree(_parameters: &Parameters) -> bool {
        false
    }

    /// Whether it plays this game, and what is wrong if not.
    fn check_game<P: Solvable>() -> Result<(), ParameterError> {
        Ok(())
    }

    /// Whether its games may begin with this position, and what is wrong if not.
    fn check_start<P: Solvable>(_start: &P) -> Result<(), ParameterError> {
        Ok(())
    }

    /// Whether a player with these parameters, which are all spelt out, gives every move a value that
    /// depends on the position alone: whether its maker makes a [`Reference`], and what is wrong with the
    /// parameters if not.
    fn check_reference(_parameters: &Parameters) -> Result<(), ParameterError> {
        Err(reference::not_of_this_algorithm(Self::INFO.name))
    }

    /// What makes searches, one for each side and game.
    fn maker<P: Solvable, E: GameEvaluation<P>>(settings: &Settings, evaluation: E) -> Maker<P>;
}

/// Whether a number of plies bounds the searches of a player with these parameters.
pub(super) fn has_depth(parameters: &Parameters) -> bool {
    matches!(parameters.get("depth"), Some(Value::Integer(_)))
}

/// Makes searches that are all alike.
pub(crate) struct Maker<P> {
    search: Make<dyn Search<P>>,
    reference: Option<Make<dyn Reference<P>>>,
}

type Make<T> = Box<dyn Fn() -> Box<T> + Send + Sync>;

impl<P: Solvable> Maker<P> {
    pub(crate) fn new(make: impl Fn() -> Box<dyn Search<P>> + Send + Sync + 'static) -> Self {
        Self { search: Box::new(make), reference: None }
    }

    /// The same, whose word on every move of a position can be taken as well.
    pub(super) fn with_reference(
        self,
        make: impl Fn() -> Box<dyn Reference<P>> + Send + Sync + 'static,
    ) -> Self {
        Self { reference: Some(Box::new(make)), ..self }
    }

    pub(crate) fn make(&self) -> Box<dyn Search<P>> {
        (self.search)()
    }

    pub(crate) fn make_reference(&self) -> Option<Box<dyn Reference<P>>> {
        self.reference.as_ref().map(|make| make())
    }
}
