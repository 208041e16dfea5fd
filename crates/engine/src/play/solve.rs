//! Exact values: the result of perfect play by both sides, to the end of the game.

use crate::core::budget::Budget;
use crate::core::host::Host;
use crate::core::limits::{EndedBy, Limits, MemoryRefused, NoMove, Stop};
use crate::core::position::{Position, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::core::solver::{Optimal, Solver};
use crate::core::stack;
use crate::games::game::Game;
use crate::play::clock::Reading;
use crate::play::notation::opening_position;
use crate::with_game;

/// The solution of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    /// The position in the game's notation.
    pub position: String,
    /// Whose move it is.
    pub to_move: Side,
    /// 1 if the side to move wins, 0 for a draw, -1 if it loses.
    pub value: i32,
    /// Plies to mate under best play by both sides, if an endgame table has the position and it is not a
    /// draw. The moves are then those that mate soonest, or delay mate longest.
    pub plies_to_mate: Option<u32>,
    /// The number of legal moves.
    pub legal_moves: u32,
    /// At least one move that reaches the value, in canonical order and the game's notation.
    pub optimal_moves: Vec<String>,
    /// Whether these are all that reach it. Otherwise a limit ended the search for more, or it was
    /// skipped since too many moves are left.
    pub are_all: bool,
    /// Nodes made, as the solver counts them.
    pub nodes: u64,
    /// Wall time, in microseconds.
    pub wall_us: u64,
    /// Processor time, in microseconds.
    pub cpu_us: u64,
}

/// The reason for which a position is not solved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolveError {
    /// The text is not a position of this game, or the game is over there.
    #[error("failed to read the position: {0}")]
    Position(#[from] Problem),
    /// A limit ended the solving before the value was known.
    #[error("the {} limit ended the solving after {nodes} nodes", limit.limit_name())]
    Limit {
        /// The limit that was reached.
        limit: EndedBy,
        /// Nodes made.
        nodes: u64,
    },
    /// The host asked to stop.
    #[error("the solving was aborted")]
    Aborted,
    /// The system refused memory that the solver needs.
    #[error("{0}")]
    Memory(MemoryRefused),
}

/// Solves a position, limited by nodes and time. The thread needs
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
/// If the text is not a position of this game, the game is over there, a limit or the host stops the
/// solver, or the system refuses memory.
pub fn solve(
    rules: &Rules,
    position: &str,
    limits: &Limits,
    host: &dyn Host,
) -> Result<Solved, SolveError> {
    with_game!(rules, G => solve_in::<G>(rules, position, limits, host))
}

/// The memory that one position may take to be solved.
const MEMORY_BYTES: u64 = 1 << 30;

fn solve_in<G: Game>(
    rules: &Rules,
    position: &str,
    limits: &Limits,
    host: &dyn Host,
) -> Result<Solved, SolveError> {
    stack::assert_fits::<G>();
    let position: G = opening_position(rules, position)?;
    let started = Reading::take(host);
    if let Some((value, moves)) = position.table_solution() {
        let (wall_us, cpu_us) = Reading::take(host).since(started);
        return Ok(Solved {
            position: position.to_string(),
            to_move: position.to_move(),
            value: value.value(),
            plies_to_mate: value.plies(),
            are_all: true,
            legal_moves: position.legal_move_count(),
            optimal_moves: moves.iter().map(ToString::to_string).collect(),
            nodes: 0,
            wall_us,
            cpu_us,
        });
    }
    let mut solver = G::Solver::default();
    solver.grant_memory(MEMORY_BYTES);
    let mut budget = Budget::new(limits, host);
    let mut moves = Vec::new();
    let found = match solve_within(&mut solver, &position, &mut budget, &mut moves) {
        Ok(found) => found,
        Err(Stop::NoMove(NoMove::Aborted)) => return Err(SolveError::Aborted),
        Err(Stop::NoMove(NoMove::Memory(refused))) => return Err(SolveError::Memory(refused)),
        Err(Stop::Limit(limit)) => {
            return Err(SolveError::Limit { limit, nodes: budget.nodes() });
        }
    };
    let (wall_us, cpu_us) = Reading::take(host).since(started);
    Ok(Solved {
        position: position.to_string(),
        to_move: position.to_move(),
        value: found.value,
        plies_to_mate: None,
        are_all: found.are_all,
        legal_moves: position.legal_move_count(),
        optimal_moves: moves.iter().map(ToString::to_string).collect(),
        nodes: budget.nodes(),
        wall_us,
        cpu_us,
    })
}

/// The value, then all moves that reach it, as far as the limits allow.
fn solve_within<P: Position>(
    solver: &mut impl Solver<P>,
    position: &P,
    budget: &mut Budget<'_>,
    moves: &mut Vec<P::Move>,
) -> Result<Optimal, Stop> {
    let optimal = solver.some_optimal_moves(position, budget, moves)?;
    if optimal.are_all || !solver.lists_all_moves_soon(position) {
        return Ok(optimal);
    }
    let mut all = Vec::new();
    match solver.optimal_moves(position, budget, &mut all) {
        Ok(_) => {
            *moves = all;
            Ok(Optimal { are_all: true, ..optimal })
        }
        Err(Stop::Limit(_)) => Ok(optimal),
        Err(stop @ Stop::NoMove(_)) => Err(stop),
    }
}
