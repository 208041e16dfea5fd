//! A game in its own notation, for callers that speak of games in texts alone.

use std::fmt::Debug;

use crate::core::position::{Before, Ending, Line, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::core::sketch::Diagram;
use crate::games::game::Game;
use crate::play::notation::parse_legal_move;
use crate::with_game;

/// A position of any game with the moves that led to it, as texts.
///
/// ```
/// use spelrum_engine::{Rules, TextGame};
///
/// let mut game = TextGame::new(&Rules::from_name("tic-tac-toe")?, ".........")?;
/// game.play("b2")?;
/// assert_eq!(game.legal_moves().len(), 8);
/// assert!(game.play("b2").is_err() && game.ending().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TextGame(Box<dyn Texts>);

/// What a game of any type does with texts.
trait Texts: Debug + Send + Sync {
    fn play(&mut self, text: &str) -> Result<(), Problem>;
    fn position(&self) -> String;
    fn board(&self) -> String;
    fn diagram(&self) -> Diagram;
    fn legal_moves(&self) -> Vec<String>;
    fn to_move(&self) -> Side;
    fn ending(&self) -> Option<Ending>;
    fn copy(&self) -> Box<dyn Texts>;
}

#[derive(Clone, Debug)]
struct Reached<G: Game> {
    position: G,
    /// Empty in games without rules on earlier positions.
    before: Vec<Before<G::Move>>,
    /// The last move and the position in which it was made.
    last: Option<(G, G::Move)>,
}

impl<G: Game> Texts for Reached<G> {
    fn play(&mut self, text: &str) -> Result<(), Problem> {
        if let Some(ending) = self.ending() {
            let problem = format!("`{text}` comes after the end ({})", G::describe(ending));
            return Err(Problem::new(problem, "leave it out"));
        }
        let mv = parse_legal_move(&self.position, text)?;
        if G::HISTORY_MATTERS {
            self.before.push(Before { mv, key: self.position.canonical_key() });
        }
        self.last = Some((self.position.clone(), mv));
        self.position.play_unchecked(mv);
        Ok(())
    }

    fn position(&self) -> String {
        self.position.to_string()
    }

    fn board(&self) -> String {
        self.position.board()
    }

    fn diagram(&self) -> Diagram {
        let last = self.last.as_ref().map(|(before, mv)| (before, *mv));
        // A rule on earlier positions may have ended the game.
        let to_move = self.ending().is_none().then(|| self.position.to_move());
        Diagram { to_move, ..self.position.diagram(last) }
    }

    fn legal_moves(&self) -> Vec<String> {
        if self.ending().is_some() {
            return Vec::new();
        }
        let mut moves = Vec::new();
        self.position.legal_moves(&mut moves);
        moves.iter().map(ToString::to_string).collect()
    }

    fn to_move(&self) -> Side {
        self.position.to_move()
    }

    fn ending(&self) -> Option<Ending> {
        Line { position: &self.position, before: &self.before }.ending()
    }

    fn copy(&self) -> Box<dyn Texts> {
        Box::new(self.clone())
    }
}

impl Clone for TextGame {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

impl TextGame {
    /// A game that begins in this position.
    ///
    /// # Errors
    /// If the text is not a position of the game.
    pub fn new(rules: &Rules, opening: &str) -> Result<Self, Problem> {
        fn typed<G: Game>(rules: &Rules, opening: &str) -> Result<TextGame, Problem> {
            let position = G::parse(rules, opening)?;
            Ok(TextGame(Box::new(Reached { position, before: Vec::new(), last: None })))
        }
        with_game!(rules, G => typed::<G>(rules, opening))
    }

    /// Makes a move.
    ///
    /// # Errors
    /// If the text is not a legal move here; the game is then unchanged.
    pub fn play(&mut self, text: &str) -> Result<(), Problem> {
        self.0.play(text)
    }

    /// The position.
    #[must_use]
    pub fn position(&self) -> String {
        self.0.position()
    }

    /// The board for people, in several lines.
    #[must_use]
    pub fn board(&self) -> String {
        self.0.board()
    }

    /// The diagram of the position, with marks of the last move.
    #[must_use]
    pub fn diagram(&self) -> Diagram {
        self.0.diagram()
    }

    /// The legal moves in canonical order; none after the end.
    #[must_use]
    pub fn legal_moves(&self) -> Vec<String> {
        self.0.legal_moves()
    }

    /// Whose move it is; without meaning after the end.
    #[must_use]
    pub fn to_move(&self) -> Side {
        self.0.to_move()
    }

    /// How the game ended, by the position or by a rule on the moves before.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.0.ending()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::replay::replay_moves;

    #[test]
    fn it_goes_through_the_positions_of_a_replay() {
        for rules in with_game!(each G => Rules::usual::<G>()) {
            fn start<G: Game>(rules: &Rules) -> String {
                G::start(rules).unwrap().to_string()
            }
            let opening = with_game!(&rules, G => start::<G>(&rules));
            let mut game = TextGame::new(&rules, &opening).unwrap();
            let mut moves: Vec<String> = Vec::new();
            loop {
                let replayed = replay_moves(&rules, &opening, moves.iter().map(String::as_str));
                let last = replayed.unwrap().pop().unwrap();
                assert_eq!(last.position, game.position());
                assert_eq!(last.board, game.board());
                assert_eq!(last.ending, game.ending());
                let legal = game.legal_moves();
                let Some(mv) = legal.get(moves.len() * 7 % legal.len().max(1)) else { break };
                assert_eq!(legal.len(), last.legal_moves as usize);
                assert_eq!(last.to_move, game.to_move());
                let copy = game.clone();
                assert!(game.play("nonsense").is_err());
                game.play(mv).unwrap();
                moves.push(mv.clone());
                assert_eq!(copy.position(), last.position);
                if moves.len() == 60 {
                    break;
                }
            }
        }
    }

    #[test]
    fn repetition_ends_a_game_of_chess() {
        let rules = Rules::from_name("chess").unwrap();
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let mut game = TextGame::new(&rules, start).unwrap();
        let dance = ["g1f3", "g8f6", "f3g1", "f6g8"];
        for mv in dance.iter().chain(&dance) {
            assert!(game.ending().is_none());
            game.play(mv).unwrap();
        }
        assert!(game.ending().is_some() && game.legal_moves().is_empty());
        assert!(game.play("e2e4").unwrap_err().what.contains("after the end"));
    }
}
