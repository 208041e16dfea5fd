//! One search of one position, for people and tools.

use crate::core::host::Host;
use crate::core::position::{Before, Line, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::games::game::Game;
use crate::play::arbiter::{PlayError, no_seat, prepare};
use crate::play::clock::Reading;
use crate::play::notation::{opening_position, parse_legal_move};
use crate::play::player::Player;
use crate::play::records::SearchReport;
use crate::play::seat::{Fault, SearchSeat};
use crate::with_game;

/// A player's analysis of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The position in the game's notation.
    pub position: String,
    /// Whose move it is.
    pub to_move: Side,
    /// The number of legal moves.
    pub legal_moves: u32,
    /// The move it would play, in the game's notation.
    pub best_move: String,
    /// The report of the search. A single legal move is not searched, as in a game.
    pub search: SearchReport,
    /// Wall time of the search, in microseconds.
    pub wall_us: u64,
    /// Processor time of the search, in microseconds.
    pub cpu_us: u64,
}

/// Lets a player search a position as if it were the first of a game. The thread needs
/// [`STACK_BYTES`](crate::search::STACK_BYTES) of stack.
///
/// # Errors
/// If the text is not a position of this game, the game is over there, the player was made for
/// another game, or the host aborts.
pub fn analyze(
    rules: &Rules,
    position: &str,
    player: &Player,
    key: [u8; 32],
    host: &dyn Host,
) -> Result<Analysis, PlayError> {
    analyze_after(rules, position, &[], player, key, host)
}

/// As [`analyze`], in the position after these moves. The player has no memory of them, but rules on earlier positions,
/// such as repetition, count them.
///
/// # Errors
/// As [`analyze`], or if a move is not legal.
pub fn analyze_after(
    rules: &Rules,
    opening: &str,
    moves: &[String],
    player: &Player,
    key: [u8; 32],
    host: &dyn Host,
) -> Result<Analysis, PlayError> {
    with_game!(rules, G => analyze_in::<G>(rules, opening, moves, player, key, host))
}

fn analyze_in<G: Game>(
    rules: &Rules,
    opening: &str,
    moves: &[String],
    player: &Player,
    key: [u8; 32],
    host: &dyn Host,
) -> Result<Analysis, PlayError> {
    let mut position: G = opening_position(rules, opening)?;
    let mut before = Vec::with_capacity(moves.len());
    for text in moves {
        let mv = parse_legal_move(&position, text)?;
        before.push(Before { mv, key: position.canonical_key() });
        position.play_unchecked(mv);
    }
    let line = Line { position: &position, before: &before };
    if let Some(ending) = line.ending() {
        let problem = format!("the game is over ({})", G::describe(ending));
        return Err(Problem::new(problem, "leave out the last move").into());
    }
    prepare(player, host)?;
    let mut seat = SearchSeat::<G>::new(player, key, None).ok_or_else(|| no_seat(player))?;
    let started = Reading::take(host);
    let mut chosen = match seat.search(line, [], host) {
        Ok(chosen) => chosen,
        Err(Fault::Aborted) => return Err(PlayError::Aborted),
        Err(Fault::Memory(refused)) => return Err(PlayError::Memory(refused)),
        Err(fault) => unreachable!("our searches have no other fault than {fault}"),
    };
    let (wall_us, cpu_us) = Reading::take(host).since(started);
    if chosen.search.depth > 0 {
        let leaves = position.full_tree_leaves(chosen.search.depth);
        chosen.search.full_tree_leaves = leaves.unwrap_or(0);
    }
    Ok(Analysis {
        position: position.to_string(),
        to_move: position.to_move(),
        legal_moves: position.legal_move_count(),
        best_move: chosen.mv.to_string(),
        search: chosen.search,
        wall_us,
        cpu_us,
    })
}
