//! Any game over UGI: sent as over UCI, in the game's own notation.

use spelrum_engine::{Fault, Game, Rules, TextTurn, with_game};
use spelrum_external::Start;

use super::notation::Notation;
use super::over_uci::OverUci;

#[derive(Debug)]
pub(super) struct OverUgi(OverUci);

impl OverUgi {
    pub(super) fn new(rules: &Rules) -> Self {
        fn start_of<G: Game>(rules: &Rules) -> Option<String> {
            // No rules are sent to engines: under others, `startpos` could be another position.
            let start = (*rules == Rules::usual::<G>()).then(|| G::start(rules).ok()).flatten();
            start.map(|position| position.to_string())
        }
        Self(OverUci::with_usual(with_game!(rules, G => start_of::<G>(rules))))
    }
}

impl Notation for OverUgi {
    fn follow(&mut self, turn: &TextTurn<'_>) -> Result<(), String> {
        self.0.follow(turn)
    }

    fn position<'a>(&'a self, turn: &TextTurn<'a>) -> (Start<'a>, &'a [String]) {
        self.0.position(turn)
    }

    fn parse_move(&self, _turn: &TextTurn<'_>, mv: String) -> Result<String, Fault> {
        Ok(mv)
    }
}

#[cfg(test)]
mod tests {
    use spelrum_engine::{Parameters, Side, Value};

    use super::*;

    #[test]
    fn the_usual_start_has_a_word_under_the_usual_rules() {
        let start = |rules: &Rules, opening: &str| {
            let turn = TextTurn { rules, opening, moves: &[], to_move: Side::First };
            match OverUgi::new(rules).position(&turn).0 {
                Start::Usual => "startpos".to_owned(),
                Start::Fen(position) => position.to_owned(),
                start @ (Start::Board { .. } | Start::Any(_)) => panic!("{start:?}"),
            }
        };
        for (game, usual) in [
            ("tic-tac-toe", "........."),
            ("nim", "3,4,5/w"),
            ("chess", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
        ] {
            assert_eq!(start(&Rules::from_name(game).unwrap(), usual), "startpos", "{game}");
        }
        let nim = Rules::from_name("nim").unwrap();
        assert_eq!(start(&nim, "1,2/w"), "1,2/w");
        let heaps = Value::List(vec![Value::Integer(1), Value::Integer(2)]);
        let given = Parameters::from([("heaps".to_owned(), heaps)]);
        assert_eq!(start(&Rules::from_parameters("nim", &given).unwrap(), "1,2/w"), "1,2/w");
    }
}
