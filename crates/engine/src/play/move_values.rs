//! The value of every legal move of a position: the reference for rating a choice among them.

use crate::core::budget::Budget;
use crate::core::host::Host;
use crate::core::limits::{EndedBy, MemoryRefused, NoMove, Stop};
use crate::core::position::Side;
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::Rules;
use crate::core::stack;
use crate::games::game::Game;
use crate::play::clock::Reading;
use crate::play::notation::opening_position;
use crate::play::player::Player;
use crate::search::registry;
use crate::with_game;

/// The values of all legal moves of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveValues {
    /// The position in the game's notation.
    pub position: String,
    /// Whose move it is.
    pub to_move: Side,
    /// The legal moves in canonical order, each with its value.
    pub moves: Vec<MoveValue>,
    /// Nodes made, as the reference counts them.
    pub nodes: u64,
    /// Wall time, in microseconds.
    pub wall_us: u64,
    /// Processor time, in microseconds.
    pub cpu_us: u64,
}

/// The value of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveValue {
    /// The move in the game's notation.
    pub mv: String,
    /// Its value for the mover; greater is better. Exact values: 1 a win, 0 a draw and -1 a loss; minimax:
    /// its score; tables of endings: plies.
    pub value: i64,
}

/// Why the moves of a position have no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveValuesError {
    /// The text is not a position of this game, or the game is over there.
    #[error("failed to read the position: {0}")]
    Position(#[from] Problem),
    /// The player is not a valid reference.
    #[error("failed to value moves: {0}")]
    Reference(#[from] KeyProblem),
    /// The reference was made for the rules of another game.
    #[error(
        "failed to value moves: the reference was made for another game; make both from the same rules"
    )]
    OtherGame,
    /// A limit of the reference ended the search before all values were known.
    #[error(
        "the {} limit ended the search for values of moves after {nodes} nodes; give the reference \
         more of them, or take positions that are nearer to the end of the game",
        limit.limit_name()
    )]
    Limit {
        /// The limit that was reached.
        limit: EndedBy,
        /// Nodes made.
        nodes: u64,
    },
    /// The host asked to stop.
    #[error("the search for values of moves was aborted")]
    Aborted,
    /// The system refused memory that the reference needs.
    #[error("failed to value moves: {0}; {remedy}", remedy = .0.remedy())]
    Memory(MemoryRefused),
}

/// Checks whether a player can be the reference of [`move_values`]: `exact`, or `minimax` with a depth,
/// either with no limit except on nodes, or `table`.
///
/// # Errors
/// If not: the parameter at fault, and the remedy.
pub fn check_reference(reference: &Player) -> Result<(), KeyProblem> {
    registry::check_reference(reference.parameters())
}

/// The value of every legal move of a position by a reference.
///
/// `table` values are in plies to mate ([`TableValue::on_scale`](crate::tables::TableValue::on_scale)).
/// `exact` gives 1 for a win, 0 for a draw and -1 for a loss under perfect play. `minimax` with depth d gives
/// the score of the position after the move at depth d - 1, for the mover: the value that plain minimax of
/// that depth compares. All depend on the position and the reference's parameters alone, `shuffle` excepted.
/// A limit on nodes covers all moves together, and ends the search with an error. The thread needs
/// [`STACK_BYTES`](crate::search::STACK_BYTES) of stack.
///
/// ```
/// use spelrum_engine::{Player, Rules, Timeless, Value, move_values};
///
/// let rules = Rules::from_name("tic-tac-toe")?;
/// let exact = [("algorithm", Value::Text("exact".into())), ("nodes", Value::Integer(1_000_000))];
/// let exact = exact.map(|(key, value)| (key.to_owned(), value)).into();
/// let exact = Player::from_parameters(&rules, &exact)?;
/// let found = move_values(&rules, "x...o...x", &exact, &Timeless)?;
/// let values: Vec<_> = found.moves.iter().map(|it| (it.mv.as_str(), it.value)).collect();
/// assert_eq!(values, [("b1", 0), ("c1", -1), ("a2", 0), ("c2", 0), ("a3", -1), ("b3", 0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is not a position of this game, the game is over there, [`check_reference`] rejects
/// the player, it was made for another game, or a limit or the host stops it.
pub fn move_values(
    rules: &Rules,
    position: &str,
    reference: &Player,
    host: &dyn Host,
) -> Result<MoveValues, MoveValuesError> {
    check_reference(reference)?;
    with_game!(rules, G => move_values_in::<G>(rules, position, reference, host))
}

fn move_values_in<G: Game>(
    rules: &Rules,
    position: &str,
    reference: &Player,
    host: &dyn Host,
) -> Result<MoveValues, MoveValuesError> {
    stack::assert_fits::<G>();
    let position: G = opening_position(rules, position)?;
    let mut search = reference.reference::<G>().ok_or(MoveValuesError::OtherGame)?;
    let mut budget = Budget::new(reference.limits(), host);
    let started = Reading::take(host);
    let mut values = Vec::new();
    match search.move_values(&position, &mut budget, &mut values) {
        Ok(()) => {}
        Err(Stop::NoMove(NoMove::Aborted)) => return Err(MoveValuesError::Aborted),
        Err(Stop::NoMove(NoMove::Memory(refused))) => return Err(MoveValuesError::Memory(refused)),
        Err(Stop::Limit(limit)) => {
            return Err(MoveValuesError::Limit { limit, nodes: budget.nodes() });
        }
    }
    let (wall_us, cpu_us) = Reading::take(host).since(started);
    let of_move =
        |&(mv, value): &(G::Move, i32)| MoveValue { mv: mv.to_string(), value: value.into() };
    Ok(MoveValues {
        position: position.to_string(),
        to_move: position.to_move(),
        moves: values.iter().map(of_move).collect(),
        nodes: budget.nodes(),
        wall_us,
        cpu_us,
    })
}
