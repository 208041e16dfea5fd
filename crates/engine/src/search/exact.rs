//! The exact player: it solves the position and plays a move that reaches the value.

use super::algorithm::{Algorithm, Maker};
use super::reference::{self, Reference};
use super::{Budget, Evaluate, Found, NoMove, Search, Stop, WIN_MIN, make_child, root};
use crate::core::limits::EndedBy;
use crate::core::parameters::{AlgorithmInfo, Parameters, Settings, shared};
use crate::core::position::Line;
use crate::core::problem::KeyProblem;
use crate::core::rng::Random;
use crate::core::score;
use crate::core::solver::{Optimal, SOLVER_BYTES_MAX, Solvable, Solver};
use crate::evaluation::Evaluation;

const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "exact",
    meaning: "Solves the position to the end of the game, as far as its limits let it.",
    parameters: &[
        shared::EVALUATION,
        shared::NODES,
        shared::EVALUATIONS,
        shared::MOVE_TIME,
        shared::CLOCK,
        shared::CLOCK_MARGIN,
        root::SHUFFLE,
    ],
    presets: &[],
    bounded_by: &["nodes", "move_time", "clock"],
};

/// The exact player as an algorithm.
pub(crate) struct ExactPlay;

impl Algorithm for ExactPlay {
    const INFO: AlgorithmInfo = INFO;

    const VALUES_DECIDE_WINNER: bool = true;

    fn draws_random_numbers(settings: &Settings) -> bool {
        settings.switch("shuffle")
    }

    fn memory_bytes(_parameters: &Parameters) -> u64 {
        SOLVER_BYTES_MAX
    }

    fn check_reference(parameters: &Parameters) -> Result<(), KeyProblem> {
        reference::check_limits(parameters)
    }

    fn maker<P: Solvable, E: Evaluation<P>>(settings: &Settings, evaluation: E) -> Maker<P> {
        let options = Options::from_settings(settings);
        Maker::new(move || Box::new(Exact::<P, E>::new(options, evaluation.clone())))
            .with_reference(|| Box::new(ExactValues::<P> { solver: P::Solver::default() }))
    }
}

/// The exact player's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether root moves are tried in random order.
    pub shuffle: bool,
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self { shuffle: settings.switch("shuffle") }
    }
}

/// Solves the position with the game's [`Solver`] and plays, among the moves found to reach its
/// value, one whose position has the best static evaluation; a move that wins at once needs no
/// solver.
///
/// The moves are evaluated first: if a limit ends the solving, the best of them by evaluation is
/// played, and its evaluation is the score. A proven win of unknown length scores [`WIN_MIN`], a
/// loss its negative, a draw 0. The depth is that of the evaluated moves, 1: the solver's depth is
/// unknown.
#[derive(Debug)]
pub struct Exact<G: Solvable, E> {
    options: Options,
    evaluation: E,
    solver: G::Solver,
    optimal: Vec<G::Move>,
}

impl<G: Solvable, E: Evaluate<G>> Exact<G, E> {
    /// A player with these options.
    #[must_use]
    pub fn new(options: Options, evaluation: E) -> Self {
        Self { options, evaluation, solver: G::Solver::default(), optimal: Vec::new() }
    }

    /// Moves in the order of [`root::list_moves`] with the evaluations of the resulting positions,
    /// as far as the budget allows.
    fn evaluate_moves(
        &self,
        root: &G,
        moves: &[G::Move],
        budget: &mut Budget<'_>,
        values: &mut Vec<i32>,
    ) -> Result<(), Stop> {
        for &mv in moves {
            let child = make_child(root, mv, budget)?;
            let mover = root.to_move();
            values.push(match child.ending() {
                Some(ending) => score::of_ending(ending, mover, 1),
                None => {
                    budget.evaluate()?;
                    let value = self.evaluation.evaluate(&child);
                    score::for_mover(mover, child.to_move(), value)
                }
            });
            if values.last() == Some(&score::BEST) {
                break;
            }
        }
        Ok(())
    }
}

impl<G: Solvable, E: Evaluate<G>> Search<G> for Exact<G, E> {
    fn search(
        &mut self,
        line: Line<'_, G>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<G::Move>, NoMove> {
        let root = line.position;
        let mut moves = Vec::new();
        root::list_moves(root, self.options.shuffle, random, &mut moves);
        let mut values = Vec::with_capacity(moves.len());
        let evaluated = self.evaluate_moves(root, &moves, budget, &mut values);
        let mut best = root::Best::unsearched(moves[0]);
        for (&mv, &value) in moves.iter().zip(&values) {
            best.offer(mv, value);
        }
        match evaluated {
            Ok(()) if best.value() == score::BEST => return Ok(best.found(1, EndedBy::Proven)),
            Ok(()) => {}
            Err(Stop::NoMove(reason)) => return Err(reason),
            Err(Stop::Limit(limit)) => return Ok(best.found(0, limit)),
        }
        match self.solver.some_optimal_moves(root, budget, &mut self.optimal) {
            Ok(Optimal { value, .. }) => {
                let mut best = root::Best::unsearched(moves[0]);
                for (&mv, &value) in moves.iter().zip(&values) {
                    // Optimal moves are in canonical order.
                    if self.optimal.binary_search(&mv).is_ok() {
                        best.offer(mv, value);
                    }
                }
                let score = Some(value.signum() * WIN_MIN);
                Ok(Found { score, ..best.found(1, EndedBy::Proven) })
            }
            Err(Stop::NoMove(reason)) => Err(reason),
            Err(Stop::Limit(limit)) => Ok(best.found(1, limit)),
        }
    }
}

/// Exact values of moves: 1 a win, 0 a draw, -1 a loss.
#[derive(Debug)]
struct ExactValues<G: Solvable> {
    solver: G::Solver,
}

impl<G: Solvable> Reference<G> for ExactValues<G> {
    fn move_values(
        &mut self,
        position: &G,
        budget: &mut Budget<'_>,
        values: &mut Vec<(G::Move, i32)>,
    ) -> Result<(), Stop> {
        self.solver.move_values(position, budget, values)
    }
}
