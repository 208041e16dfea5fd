//! Exact values: what both sides get who never err, to the end of the game.

use std::collections::BTreeMap;

use crate::host::Host;
use crate::play::{EndedBy, Reading, opening_position};
use crate::position::{Colour, Game, NotationError, Position};
use crate::rules::Rules;
use crate::search::{Budget, Limits, Stop};
use crate::with_game;

/// A solver of one game. It may keep its memory from call to call, never what it learnt: each call
/// takes the same nodes whatever came before.
pub trait Solver<P: Position>: Send {
    /// The value of a position that is not over, for the side to move: 1 a win, 0 a draw, -1 a
    /// loss.
    ///
    /// # Errors
    /// If a limit or the host stops it; then nothing is known.
    fn value(&mut self, position: &P, budget: &mut Budget<'_>) -> Result<i32, Stop>;

    /// The value of a position that is not over, as [`Solver::value`] gives it; `moves` becomes
    /// all moves that reach it, in canonical order.
    ///
    /// # Errors
    /// If a limit or the host stops it; then nothing is known.
    fn optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<i32, Stop>;
}

/// A position solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    /// The position in the game's notation.
    pub position: String,
    /// Whose move it is.
    pub to_move: Colour,
    /// 1 if the side to move wins, 0 for a draw, -1 if it loses.
    pub value: i32,
    /// How many moves there are to choose from.
    pub legal_moves: u32,
    /// All moves that reach the value, in canonical order and the game's notation.
    pub optimal_moves: Vec<String>,
    /// Nodes made: what counts as one is the solver's to say.
    pub nodes: u64,
    /// Wall time, in microseconds.
    pub wall_us: u64,
    /// Processor time, in microseconds.
    pub cpu_us: u64,
}

/// Why a position is not solved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolveError {
    /// The text is no position of this game, or the game is over there.
    #[error("failed to read the position: {0}")]
    Position(#[from] NotationError),
    /// A limit ended the solving before the value was known.
    #[error("the {} limit ended the solving after {nodes} nodes", limit_name(*.limit))]
    Limit {
        /// Which limit.
        limit: EndedBy,
        /// Nodes made.
        nodes: u64,
    },
    /// The host asked to stop.
    #[error("the solving was aborted")]
    Aborted,
}

/// Solves a position. Of the limits, nodes and time bound a solver.
///
/// ```
/// use spelrum_engine::search::Limits;
/// use spelrum_engine::{Rules, Timeless, solve};
///
/// let rules = Rules::from_name("tic-tac-toe")?;
/// let solved = solve(&rules, "x...o...x", &Limits::default(), &Timeless)?;
/// assert_eq!(solved.value, 0);
/// assert_eq!(solved.optimal_moves, ["b1", "a2", "c2", "b3"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is no position of this game, the game is over there, or a limit or the host stops
/// the solver.
pub fn solve(
    rules: &Rules,
    position: &str,
    limits: &Limits,
    host: &dyn Host,
) -> Result<Solved, SolveError> {
    with_game!(rules, G => solve_in::<G>(rules, position, limits, host))
}

fn solve_in<G: Game>(
    rules: &Rules,
    position: &str,
    limits: &Limits,
    host: &dyn Host,
) -> Result<Solved, SolveError> {
    let position: G = opening_position(rules, position)?;
    let mut solver = G::Solver::default();
    let mut budget = Budget::new(limits, host);
    let started = Reading::take(host);
    let mut moves = Vec::new();
    let value = match solver.optimal_moves(&position, &mut budget, &mut moves) {
        Ok(value) => value,
        Err(Stop::Aborted) => return Err(SolveError::Aborted),
        Err(Stop::Limit(limit)) => {
            return Err(SolveError::Limit { limit, nodes: budget.nodes() });
        }
    };
    let (wall_us, cpu_us) = Reading::take(host).since(started);
    Ok(Solved {
        position: position.to_string(),
        to_move: position.to_move(),
        value,
        legal_moves: position.legal_move_count(),
        optimal_moves: moves.iter().map(ToString::to_string).collect(),
        nodes: budget.nodes(),
        wall_us,
        cpu_us,
    })
}

const fn limit_name(limit: EndedBy) -> &'static str {
    match limit {
        EndedBy::Time => "time",
        EndedBy::Evaluations => "evaluation",
        EndedBy::Generations => "generation",
        EndedBy::Simulations => "simulation",
        EndedBy::Depth => "depth",
        EndedBy::Nodes | EndedBy::Proven | EndedBy::OnlyMove => "node",
    }
}

/// A solver for any small game: it goes through the tree, remembering values by canonical key.
/// A node is a position made by a move.
#[derive(Debug, Default)]
pub struct PlainSolver {
    /// The values of positions for their side to move.
    known: BTreeMap<u64, i32>,
}

/// Values remembered at most: beyond, positions are solved again.
const KNOWN_MAX: usize = 1 << 20;

impl PlainSolver {
    fn child_value<P: Position>(
        &mut self,
        position: &P,
        mv: P::Move,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        budget.enter()?;
        let mover = position.to_move();
        let mut child = position.clone();
        child.play_unchecked(mv);
        let value = self.value_of(&child, budget)?;
        Ok(if child.to_move() == mover { value } else { -value })
    }

    fn value_of<P: Position>(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        if let Some(ending) = position.ending() {
            return Ok(match ending.winner {
                None => 0,
                Some(winner) if winner == position.to_move() => 1,
                Some(_) => -1,
            });
        }
        let key = position.canonical_key();
        if let Some(&value) = self.known.get(&key) {
            return Ok(value);
        }
        let mut best = -1;
        for index in 0..position.legal_move_count() {
            best = best.max(self.child_value(position, position.nth_legal_move(index), budget)?);
            if best == 1 {
                break;
            }
        }
        if self.known.len() < KNOWN_MAX {
            self.known.insert(key, best);
        }
        Ok(best)
    }
}

impl<P: Position> Solver<P> for PlainSolver {
    fn value(&mut self, position: &P, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        // What was learnt under other rules may have the same keys.
        self.known.clear();
        self.value_of(position, budget)
    }

    fn optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<i32, Stop> {
        self.known.clear();
        moves.clear();
        position.legal_moves(moves);
        let values = moves
            .iter()
            .map(|&mv| self.child_value(position, mv, budget))
            .collect::<Result<Vec<i32>, Stop>>()?;
        let best = values.iter().copied().max().unwrap_or(-1);
        let mut values = values.into_iter();
        moves.retain(|_| values.next() == Some(best));
        Ok(best)
    }
}
