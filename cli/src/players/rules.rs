//! The rules of every game as a program that answers questions about positions, for libraries that have no rules.
//!
//! Takes lines and returns answers; transport is the caller's concern.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use spelrum_engine::{Game, Parameters, Piece, Problem, Rules, Side, Sketch, TextGame, with_game};

/// Answers questions, each of which has everything; consecutive questions about one game share what was played.
#[derive(Debug, Default)]
pub(crate) struct RulesServer {
    last: Option<Reached>,
}

/// The game of the last question, after each of its moves.
#[derive(Debug)]
struct Reached {
    game: String,
    given: Parameters,
    position: Option<String>,
    rules: Rules,
    start: TextGame,
    played: Vec<(String, TextGame)>,
}

#[derive(Deserialize)]
struct Question {
    game: String,
    #[serde(default)]
    rules: Parameters,
    position: Option<String>,
    #[serde(default)]
    after: Vec<String>,
    #[serde(default)]
    draw: bool,
    #[serde(default)]
    ask: Option<Json>,
}

#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<Json>,
    position: String,
    to_move: &'static str,
    legal: Vec<String>,
    over: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'static str>,
    #[serde(flatten)]
    drawing: Option<Drawing>,
}

#[derive(Serialize)]
struct Drawing {
    board: String,
    sketch: Json,
}

#[derive(Serialize)]
struct Failed {
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<Json>,
    error: String,
}

impl RulesServer {
    /// Takes a line; returns the line to print, if there is one.
    pub(crate) fn take(&mut self, line: &str) -> Option<String> {
        if line.trim().is_empty() {
            return None;
        }
        let question = match serde_json::from_str::<Question>(line) {
            Ok(question) => question,
            Err(error) => {
                let error = format!("the question cannot be read: {error}");
                return serde_json::to_string(&Failed { ask: None, error }).ok();
            }
        };
        let ask = question.ask.clone();
        match self.answer(question) {
            Ok(answer) => serde_json::to_string(&answer),
            Err(problem) => {
                let error = format!("{}; {}", problem.what, problem.remedy);
                serde_json::to_string(&Failed { ask, error })
            }
        }
        .ok()
    }

    fn answer(&mut self, question: Question) -> Result<Answer, Problem> {
        let Question { game, rules, position, after, draw, ask } = question;
        let is_same = self.last.as_ref().is_some_and(|last| {
            last.game == game && last.given == rules && last.position == position
        });
        if !is_same {
            self.last = None;
            self.last = Some(Reached::new(game, rules, position)?);
        }
        let Some(reached) = &mut self.last else { unreachable!("it was just reached") };
        let now = reached.play(&after)?;
        let ending = now.ending();
        let position = now.position();
        Ok(Answer {
            ask,
            to_move: side_name(now.to_move()),
            legal: now.legal_moves(),
            over: ending.is_some(),
            result: ending.map(|ending| ending.winner.map_or("draw", side_name)),
            drawing: match draw {
                true => {
                    Some(Drawing { board: now.board(), sketch: sketch(&reached.rules, &position)? })
                }
                false => None,
            },
            position,
        })
    }
}

impl Reached {
    fn new(game: String, given: Parameters, position: Option<String>) -> Result<Self, Problem> {
        fn start<G: Game>(rules: &Rules) -> Result<String, Problem> {
            Ok(G::start(rules).map_err(|problem| problem.moved_to(()))?.to_string())
        }
        let rules =
            Rules::from_parameters(&game, &given).map_err(|problem| problem.moved_to(()))?;
        let text = match &position {
            Some(position) => position.clone(),
            None => with_game!(&rules, G => start::<G>(&rules))?,
        };
        let start = TextGame::new(&rules, &text)?;
        Ok(Self { game, given, position, rules, start, played: Vec::new() })
    }

    /// The game after these moves. Moves that it shares with the last question are not played again.
    fn play(&mut self, moves: &[String]) -> Result<TextGame, Problem> {
        let shared = self.played.iter().zip(moves).take_while(|((played, _), mv)| played == *mv);
        self.played.truncate(shared.count());
        for mv in &moves[self.played.len()..] {
            let mut next = self.played.last().map_or(&self.start, |(_, game)| game).clone();
            next.play(mv)?;
            self.played.push((mv.clone(), next));
        }
        Ok(self.played.last().map_or(&self.start, |(_, game)| game).clone())
    }
}

const fn side_name(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

/// The picture of a position as data.
fn sketch(rules: &Rules, position: &str) -> Result<Json, Problem> {
    fn typed<G: Game>(rules: &Rules, position: &str) -> Result<Sketch, Problem> {
        Ok(G::parse(rules, position)?.sketch())
    }
    let look = |piece: Piece| match piece {
        Piece::Cross => "cross",
        Piece::Ring => "ring",
        Piece::Disc => "disc",
    };
    Ok(match with_game!(rules, G => typed::<G>(rules, position))? {
        Sketch::Board { columns, block, pieces, cells } => {
            let cells: Vec<_> = cells.into_iter().map(|cell| cell.map(side_name)).collect();
            let [first, second] = pieces.map(look);
            serde_json::json!({
                "columns": columns, "block": block, "cells": cells, "first": first, "second": second,
            })
        }
        Sketch::Pieces { columns, cells } => {
            serde_json::json!({ "columns": columns, "pieces": cells })
        }
        Sketch::Heaps(heaps) => serde_json::json!({ "heaps": heaps }),
        Sketch::Notation(text) => serde_json::json!({ "text": text }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(server: &mut RulesServer, line: &str) -> Json {
        serde_json::from_str(&server.take(line).unwrap()).unwrap()
    }

    /// Questions in any order are answered as each alone.
    #[test]
    fn answers_do_not_depend_on_earlier_questions() {
        let mut server = RulesServer::default();
        let mut questions = Vec::new();
        for game in Rules::games() {
            let mut moves: Vec<String> = Vec::new();
            for ply in 0..6 {
                let line = serde_json::json!({ "game": game.name, "after": moves, "draw": true, "ask": ply });
                let line = line.to_string();
                let reply = answer(&mut server, &line);
                assert_eq!(reply["ask"], ply);
                assert!(reply["error"].is_null(), "{reply}");
                questions.push((line, reply.clone()));
                let legal = reply["legal"].as_array().unwrap();
                let Some(mv) = legal.get(ply * 3 % legal.len().max(1)) else { break };
                moves.push(mv.as_str().unwrap().to_owned());
            }
        }
        for (line, reply) in questions.iter().rev().step_by(2).chain(&questions) {
            assert_eq!(answer(&mut server, line), *reply, "{line}");
            assert_eq!(answer(&mut RulesServer::default(), line), *reply, "{line}");
        }
    }

    /// A rule about earlier positions is kept: the question has all the moves.
    #[test]
    fn repetition_is_seen() {
        let dance = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let after: Vec<_> = dance.iter().chain(&dance).collect();
        let line = serde_json::json!({ "game": "chess", "after": after }).to_string();
        let reply = answer(&mut RulesServer::default(), &line);
        assert_eq!((&reply["over"], &reply["result"]), (&true.into(), &"draw".into()));
        assert_eq!(reply["legal"], serde_json::json!([]));
    }

    #[test]
    fn what_is_wrong_is_reported_and_the_next_question_is_answered() {
        let mut server = RulesServer::default();
        for (line, problem) in [
            ("quit", "cannot be read"),
            ("[]", "cannot be read"),
            (r#"{"position":"x"}"#, "missing field `game`"),
            (r#"{"game":"tic-tac-to"}"#, "tic-tac-toe"),
            (r#"{"game":"nim","rules":{"heap":[1]}}"#, "heap"),
            (r#"{"game":"tic-tac-toe","position":"x"}"#, "length is 1"),
            (r#"{"game":"tic-tac-toe","after":["z9"]}"#, "z9"),
            (r#"{"game":"tic-tac-toe","after":["a1","a1"]}"#, "a1"),
            (r#"{"game":"tic-tac-toe","after":["a1","a2","b1","b2","c1","c2"]}"#, "after the end"),
            (r#"{"game":"tic-tac-toe","after":"a1"}"#, "cannot be read"),
        ] {
            let reply = answer(&mut server, line);
            assert!(reply["error"].as_str().unwrap().contains(problem), "{line}: {reply}");
            let next = answer(&mut server, r#"{"game":"tic-tac-toe","after":["a1"]}"#);
            assert_eq!(next["position"], "x........", "{line}: {next}");
        }
        assert_eq!(server.take(" \n"), None);
    }
}
