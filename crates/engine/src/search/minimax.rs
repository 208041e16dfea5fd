//! Plain minimax: every position to a fixed depth. The reference for the other searches.

use super::algorithm::{Algorithm, Maker, has_depth};
use super::alpha_beta::{self, AlphaBeta};
use super::path::Path;
use super::reference::{self, Reference};
use super::{Budget, Evaluate, Found, Limits, NoMove, Search, Stop, make_child, root};
use crate::core::knowledge::Knowledge;
use crate::core::parameters::{AlgorithmInfo, Parameters, Settings, shared};
use crate::core::position::{Line, Position};
use crate::core::problem::KeyProblem;
use crate::core::rng::Random;
use crate::core::score;
use crate::core::solver::{Solvable, values_by_child};
use crate::evaluation::Evaluation;

const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "minimax",
    meaning: "Searches every move to its depth.",
    parameters: &[
        shared::EVALUATION,
        shared::DEPTH,
        shared::NODES,
        shared::EVALUATIONS,
        shared::MOVE_TIME,
        shared::CLOCK,
        shared::CLOCK_MARGIN,
        root::SHUFFLE,
    ],
    presets: &[],
    bounded_by: &["depth", "nodes", "evaluations", "move_time", "clock"],
};

/// Minimax as an algorithm.
pub(crate) struct MinimaxPlay;

impl Algorithm for MinimaxPlay {
    const INFO: AlgorithmInfo = INFO;

    fn draws_random_numbers(settings: &Settings) -> bool {
        settings.switch("shuffle")
    }

    fn has_full_tree(parameters: &Parameters) -> bool {
        has_depth(parameters)
    }

    fn check_reference(parameters: &Parameters) -> Result<(), KeyProblem> {
        if !has_depth(parameters) {
            return Err(reference::without_depth());
        }
        reference::check_limits(parameters)
    }

    fn maker<P: Solvable, E: Evaluation<P>>(settings: &Settings, evaluation: E) -> Maker<P> {
        let options = Options::from_settings(settings);
        let for_reference = evaluation.clone();
        Maker::new(move || Box::new(Minimax::new(options, evaluation.clone())))
            .with_reference(move || Box::new(Values::new(options, for_reference.clone())))
    }
}

/// Minimax's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Plies to search, at least 1; `None`: to the end of the game.
    pub depth: Option<u32>,
    /// Whether root moves are tried in random order.
    pub shuffle: bool,
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self { depth: Limits::from_settings(settings).depth, shuffle: settings.switch("shuffle") }
    }
}

/// Minimax with an evaluation.
///
/// A search that is cut off by a limit plays the best of the root moves it has finished (the first
/// in order if there is none) and reports depth 0, since it has completed none.
#[derive(Debug)]
pub struct Minimax<P: Position, E> {
    options: Options,
    evaluation: E,
    root_moves: Vec<P::Move>,
    /// A stack of the moves still to be searched, for all positions from the root to here.
    moves: Vec<P::Move>,
    path: Path<P>,
    sight: root::Sight,
}

impl<P: Position, E: Evaluate<P>> Minimax<P, E> {
    /// A search with these options.
    #[must_use]
    pub fn new(options: Options, evaluation: E) -> Self {
        Self {
            options,
            evaluation,
            root_moves: Vec::new(),
            moves: Vec::new(),
            path: Path::new(),
            sight: root::Sight::default(),
        }
    }

    /// The value of a position that is not over, `ply` plies from the root, for its side to move.
    fn value(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        self.sight.reach(ply + 1);
        let first = self.moves.len();
        position.legal_moves(&mut self.moves);
        let mut best = score::WORST;
        let key = Path::key_of(position);
        for index in first..self.moves.len() {
            let mv = self.moves[index];
            self.path.push(mv, key);
            best = best.max(self.move_value(position, mv, depth, ply, budget)?);
            self.path.pop();
        }
        self.moves.truncate(first);
        Ok(best)
    }

    /// The value of the move that was pushed last, for the mover, searched to `depth` plies, this one
    /// included.
    fn move_value(
        &mut self,
        position: &P,
        mv: P::Move,
        depth: u32,
        ply: u32,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let mover = position.to_move();
        let child = make_child(position, mv, budget)?;
        let ply = ply + 1;
        if let Some(ending) = self.path.ending(&child) {
            return Ok(score::of_ending(ending, mover, ply));
        }
        let value = if depth == 1 {
            self.sight.end_at_horizon();
            budget.evaluate()?;
            self.evaluation.evaluate(&child)
        } else {
            self.value(&child, depth - 1, ply, budget)?
        };
        Ok(score::for_mover(mover, child.to_move(), value))
    }
}

impl<P: Position, E: Evaluate<P>> Search<P> for Minimax<P, E> {
    fn search(
        &mut self,
        line: Line<'_, P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove> {
        let root = line.position;
        let mut root_moves = std::mem::take(&mut self.root_moves);
        root::list_moves(root, self.options.shuffle, random, &mut root_moves);
        self.moves.clear();
        self.sight = root::Sight::default();
        self.sight.reach(1);
        self.path.begin(line);

        let depth = root::depth_or_max(self.options.depth);
        let mut best = root::Best::unsearched(root_moves[0]);
        let mut stop = None;
        let key = Path::key_of(root);
        for &mv in &root_moves {
            self.path.push(mv, key);
            match self.move_value(root, mv, depth, 0, budget) {
                Ok(value) => best.offer(mv, value),
                Err(reason) => {
                    stop = Some(reason);
                    break;
                }
            };
            self.path.pop();
        }
        self.root_moves = root_moves;
        match stop {
            None => Ok(self.sight.completed(best, self.options.depth)),
            Some(Stop::Limit(limit)) => Ok(best.found(0, limit)),
            Some(Stop::NoMove(reason)) => Err(reason),
        }
    }
}

/// Minimax's values of all root moves, as [`Minimax`] compares them, found by alpha-beta, which finds the
/// same value after each move with fewer nodes.
#[derive(Debug)]
struct Values<P: Knowledge, E> {
    depth: u32,
    evaluation: E,
    /// A search of the positions after the moves.
    search: AlphaBeta<P, E>,
}

impl<P: Knowledge, E: Evaluate<P> + Clone> Values<P, E> {
    fn new(options: Options, evaluation: E) -> Self {
        let depth = root::depth_or_max(options.depth);
        // All of them are value-preserving.
        let options = alpha_beta::Options {
            depth: Some(depth.saturating_sub(1)),
            pvs: true,
            history: true,
            combined: true,
            distinct: true,
            threats: true,
            distance: true,
            last_ply: true,
            ..alpha_beta::Options::default()
        };
        Self { depth, search: AlphaBeta::new(options, evaluation.clone()), evaluation }
    }
}

impl<P: Knowledge, E: Evaluate<P>> Reference<P> for Values<P, E> {
    fn move_values(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        values: &mut Vec<(P::Move, i32)>,
    ) -> Result<(), Stop> {
        let of_ending = |ending, mover| score::of_ending(ending, mover, 1);
        values_by_child(position, budget, values, of_ending, |child, budget| {
            if self.depth == 1 {
                budget.evaluate()?;
                return Ok(self.evaluation.evaluate(child));
            }
            Ok(score::from_position(self.search.value_of(child, budget)?, 1))
        })
    }
}
