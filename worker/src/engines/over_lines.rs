//! Any game over the protocol of lines, in its own notation.

use spelrum_engine::{Fault, Rules, Side, TextGame, TextTurn};
use spelrum_external::lines::{GameSetup, PositionAfter};
use spelrum_external::{AnyPosition, RuleBook, Start};
use spelrum_model::seeds::move_seed;

use super::notation::Notation;

#[derive(Debug, Default)]
pub(super) struct OverLines {
    /// The key of the player's random numbers.
    pub(super) key: [u8; 32],
    moves: Vec<String>,
    at_board: Option<AtBoard>,
}

/// A position to move in, with all that a player may ask about it.
#[derive(Clone, Debug)]
pub struct AtBoard {
    game: TextGame,
    position: String,
    legal: Vec<String>,
    drawing: String,
}

/// The game and its rules, as the start line states them.
#[must_use]
pub fn game_setup(rules: &Rules) -> GameSetup {
    let values = rules.values().map(|(info, value)| {
        // Rules are written as in a sweep, where each has a JSON form.
        let value = serde_json::to_value(value).unwrap_or_default();
        (info.name.to_owned(), value)
    });
    GameSetup { name: rules.name().to_owned(), rules: values.collect() }
}

impl AtBoard {
    /// The position that a game has reached.
    #[must_use]
    pub fn new(game: TextGame) -> Self {
        let (position, legal, drawing) = (game.position(), game.legal_moves(), game.board());
        Self { game, position, legal, drawing }
    }

    /// The position for a request, in a game with this opening.
    #[must_use]
    pub fn for_request<'a>(&'a self, opening: &'a str, seed: u64) -> AnyPosition<'a> {
        let Self { position, legal, drawing, .. } = self;
        AnyPosition { opening, position, legal, board: drawing, seed, rules: self }
    }
}

impl OverLines {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self { key, ..Self::default() }
    }

    /// The game up to a turn, from where it was at the last one.
    fn play(&mut self, turn: &TextTurn<'_>) -> Result<TextGame, String> {
        let mut game = match self.at_board.take() {
            Some(at_board) => at_board.game,
            None => TextGame::new(turn.rules, turn.opening).map_err(|error| error.to_string())?,
        };
        for record in turn.moves.iter().skip(self.moves.len()) {
            game.play(&record.mv).map_err(|error| error.to_string())?;
            self.moves.push(record.mv.clone());
        }
        Ok(game)
    }
}

impl Notation for OverLines {
    fn follow(&mut self, turn: &TextTurn<'_>) -> Result<(), String> {
        self.at_board = Some(AtBoard::new(self.play(turn)?));
        Ok(())
    }

    fn position<'a>(&'a self, turn: &TextTurn<'a>) -> (Start<'a>, &'a [String]) {
        let Some(at_board) = &self.at_board else { return (Start::Usual, &self.moves) };
        let seed = move_seed(&self.key, self.moves.len() as u64);
        (Start::Any(at_board.for_request(turn.opening, seed)), &self.moves)
    }

    fn parse_move(&self, _turn: &TextTurn<'_>, mv: String) -> Result<String, Fault> {
        Ok(mv)
    }
}

impl RuleBook for AtBoard {
    fn after(&self, moves: &[String]) -> Result<PositionAfter, String> {
        let mut game = self.game.clone();
        for mv in moves {
            game.play(mv).map_err(|error| error.to_string())?;
        }
        let result = game.ending().map(|ending| match ending.winner {
            Some(Side::First) => "first",
            Some(Side::Second) => "second",
            None => "draw",
        });
        Ok(PositionAfter {
            position: game.position(),
            is_first_to_move: game.to_move() == Side::First,
            legal: game.legal_moves(),
            result,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(game: &str, opening: &str) -> OverLines {
        let rules = Rules::from_name(game).unwrap();
        let turn = TextTurn { rules: &rules, opening, moves: &[], to_move: Side::First };
        let mut notation = OverLines::new([7; 32]);
        notation.follow(&turn).unwrap();
        notation
    }

    #[test]
    fn a_player_may_look_ahead() {
        let notation = opened("tic-tac-toe", ".........");
        let at_board = notation.at_board.unwrap();
        let after = |moves: &[&str]| {
            let moves: Vec<_> = moves.iter().map(ToString::to_string).collect();
            at_board.after(&moves)
        };
        assert_eq!(after(&[]).unwrap().legal.len(), 9);
        let one = after(&["b2"]).unwrap();
        assert!(!one.is_first_to_move && one.result.is_none() && one.legal.len() == 8);
        let won = after(&["a1", "a2", "b1", "b2", "c1"]).unwrap();
        assert_eq!((won.result, won.legal.len()), (Some("first"), 0));
        assert!(
            after(&["a1", "a2", "b1", "b2", "c1", "c2"]).unwrap_err().contains("after the end")
        );
        assert!(after(&["d9"]).is_err());
    }

    #[test]
    fn rules_are_those_of_a_sweep() {
        let setup = game_setup(&Rules::from_name("pentago").unwrap());
        let rules = serde_json::json!({"win_before_rotation": true});
        assert_eq!((setup.name.as_str(), setup.rules), ("pentago", rules));
    }
}
