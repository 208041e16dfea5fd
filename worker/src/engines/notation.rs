//! How a protocol writes the positions and moves of a game.

use spelrum_engine::{Fault, Side, TextTurn};
use spelrum_external::{Colour, Start};

/// The positions and moves of one game in the notation of a protocol.
pub(super) trait Notation: Send {
    /// Its name for a side. Most games have none, so Black moves second.
    fn colour(&self, side: Side) -> Colour {
        if side == Side::Second { Colour::Black } else { Colour::White }
    }

    /// Takes the moves played since the last turn.
    ///
    /// # Errors
    /// The reason, if the protocol cannot express the position.
    fn follow(&mut self, turn: &TextTurn<'_>) -> Result<(), String>;

    /// The first position and all moves since, after [`Notation::follow`].
    fn position<'a>(&'a self, turn: &TextTurn<'a>) -> (Start<'a>, &'a [String]);

    /// A move of the engine in the game's notation.
    ///
    /// # Errors
    /// If it is not a move of the game.
    fn parse_move(&self, turn: &TextTurn<'_>, mv: String) -> Result<String, Fault>;
}

/// A move in the game's notation, from an engine that writes it otherwise.
///
/// # Errors
/// If it is not a move of the game.
pub(super) fn parse(
    turn: &TextTurn<'_>,
    mv: &str,
    protocol: spelrum_engine::Protocol,
) -> Result<String, Fault> {
    let moves = turn.moves.iter().map(|record| record.mv.as_str());
    spelrum_engine::parse_engine_move(turn.rules, turn.opening, moves, mv, protocol)
        .map_err(|error| Fault::IllegalMove(error.to_string()))
}
