//! One search of one position, for people and tools.

use crate::core::host::Host;
use crate::core::position::{Line, Side};
use crate::core::rules::Rules;
use crate::games::game::Game;
use crate::play::arbiter::{PlayError, no_seat, prepare};
use crate::play::clock::Reading;
use crate::play::notation::opening_position;
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
    with_game!(rules, G => analyze_in::<G>(rules, position, player, key, host))
}

fn analyze_in<G: Game>(
    rules: &Rules,
    position: &str,
    player: &Player,
    key: [u8; 32],
    host: &dyn Host,
) -> Result<Analysis, PlayError> {
    let position: G = opening_position(rules, position)?;
    prepare(player, host)?;
    let mut seat = SearchSeat::<G>::new(player, key, None).ok_or_else(|| no_seat(player))?;
    let started = Reading::take(host);
    let mut chosen = match seat.search(Line::from_start(&position), [], host) {
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
