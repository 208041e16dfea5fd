//! What an algorithm tells of itself, so that it can be registered.

use super::Search;
use crate::evaluation::GameEvaluation;
use crate::parameters::{AlgorithmInfo, Parameters, Settings};
use crate::solver::Solvable;

/// An algorithm: what a sweep may say of it, and how a search is made of that.
pub(crate) trait Algorithm {
    /// Its name, meaning, parameters and presets.
    const INFO: AlgorithmInfo;

    /// Whether moves depend on random numbers, so that a repeated opening may give another game.
    fn draws_random_numbers(settings: &Settings) -> bool;

    /// An upper bound on the bytes that its tables and trees take with these parameters, which are all
    /// spelt out.
    fn memory_bytes(_parameters: &Parameters) -> u64 {
        0
    }

    /// What makes searches, one for each side and game.
    fn maker<P: Solvable, E: GameEvaluation<P>>(settings: &Settings, evaluation: E) -> Maker<P>;
}

/// Makes searches that are all alike.
pub(crate) struct Maker<P>(Box<dyn Fn() -> Box<dyn Search<P>> + Send + Sync>);

impl<P: Solvable> Maker<P> {
    pub(crate) fn new(make: impl Fn() -> Box<dyn Search<P>> + Send + Sync + 'static) -> Self {
        Self(Box::new(make))
    }

    pub(crate) fn make(&self) -> Box<dyn Search<P>> {
        (self.0)()
    }
}
