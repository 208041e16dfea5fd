//! Replays a recorded list of moves to obtain its positions.

use crate::core::position::{Before, Ending, Line, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::games::game::Game;
use crate::play::notation::parse_legal_move;
use crate::with_game;

/// One position of a recorded game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedPosition {
    /// Plies from the opening.
    pub ply: u32,
    /// The game's notation.
    pub position: String,
    /// A multi-line board for people.
    pub board: String,
    /// Whose move it is (meaningless once the game is over).
    pub to_move: Side,
    /// Legal moves; 0 if the game is over.
    pub legal_moves: u32,
    /// Equal for positions that are equal up to the game's symmetries.
    pub position_key: u64,
    /// How the game ended, in the last position of a finished game.
    pub ending: Option<Ending>,
}

/// Plays recorded moves from an opening: the positions, the opening first, one more than moves.
///
/// # Errors
/// If the opening is not a position of this game, or a text is not a legal move at its turn.
pub fn replay_moves<'m>(
    rules: &Rules,
    opening: &str,
    moves: impl IntoIterator<Item = &'m str>,
) -> Result<Vec<ReplayedPosition>, Problem> {
    with_game!(rules, G => replay_in::<G>(rules, opening, moves))
}

fn replay_in<'m, G: Game>(
    rules: &Rules,
    opening: &str,
    moves: impl IntoIterator<Item = &'m str>,
) -> Result<Vec<ReplayedPosition>, Problem> {
    let mut position = G::parse(rules, opening)?;
    let mut before = Vec::new();
    let mut replayed = vec![replayed_position(Line::from_start(&position))];
    for (ply, text) in (1..).zip(moves) {
        let mv = parse_legal_move(&position, text)
            .map_err(|error| Problem { what: format!("move {ply}: {}", error.what), ..error })?;
        before.push(Before { mv, key: position.canonical_key() });
        position.play_unchecked(mv);
        replayed.push(replayed_position(Line { position: &position, before: &before }));
    }
    Ok(replayed)
}

fn replayed_position<G: Game>(line: Line<'_, G>) -> ReplayedPosition {
    let position = line.position;
    ReplayedPosition {
        // A game has fewer moves than a `u32` holds.
        ply: line.before.len() as u32,
        position: position.to_string(),
        board: position.board(),
        to_move: position.to_move(),
        legal_moves: position.legal_move_count(),
        position_key: position.canonical_key(),
        ending: line.ending(),
    }
}
