//! Exact values: what both sides get who never err, to the end of the game.

use crate::budget::Budget;
use crate::clock::Reading;
use crate::game::Game;
use crate::host::Host;
use crate::limits::{EndedBy, Limits, Stop};
use crate::notation::opening_position;
use crate::position::{Colour, NotationError};
use crate::rules::Rules;
use crate::solver::Solver;
use crate::stack;
use crate::with_game;

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
    /// The text is not a position of this game, or the game is over there.
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

/// Solves a position. Of the limits, nodes and time bound a solver. The thread needs
/// [`STACK_BYTES`](crate::search::STACK_BYTES) of stack.
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
/// If the text is not a position of this game, the game is over there, or a limit or the host stops
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
    stack::assert_fits::<G>();
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
