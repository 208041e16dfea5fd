//! A built-in player as a program that speaks the protocol of lines (docs/lines.md), in every game.
//!
//! Takes lines and returns answers; transport is the caller's concern. Each request has everything, but the player
//! keeps what its search has learnt while the requests of one game follow each other.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use spelrum_engine::{
    Before, Game, Line, ParameterKind, Parameters, Player, Problem, Rules, Seat, TimeLeft, Turn,
    Value, parameters_of, parse_legal_move, seat_of, time_for_move_us, with_game,
};
use spelrum_external::lines::VERSION;

use crate::local::clock::Clock;
use crate::players::built_in::key_of_seed;

/// Time per move beside the search, in seconds: pipes, and the runner itself.
const OVERHEAD: f64 = 0.02;

/// A player that may be asked to play any game.
pub(crate) struct LinesPlayer {
    algorithm: String,
    given: Parameters,
    /// The only game that it plays, if it was started for one.
    only: Option<String>,
    table: Option<Box<dyn Table>>,
}

/// A game that was started.
trait Table {
    fn choose(&mut self, asked: &Asked) -> Result<Answer, String>;
    /// Forgets a game.
    fn end(&mut self, match_number: u64);
}

/// A game of a type.
struct TableOf<G: Game> {
    rules: Rules,
    given: Parameters,
    seat: Option<Seated<G>>,
}

/// The seat of the last request, kept while game and limits stay the same.
struct Seated<G: Game> {
    match_number: u64,
    parameters: Parameters,
    seat: Box<dyn Seat<G>>,
}

#[derive(Deserialize)]
struct Start {
    spelrum: u32,
    game: Option<String>,
    #[serde(default)]
    rules: Parameters,
}

#[derive(Deserialize)]
struct Asked {
    id: u64,
    #[serde(rename = "match", default)]
    match_number: u64,
    opening: String,
    #[serde(default)]
    moves: Vec<String>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    limits: Limits,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Limits {
    depth: Option<i64>,
    nodes: Option<i64>,
    seconds: Option<f64>,
    clock: Option<ClockLimit>,
}

#[derive(Clone, Copy, Deserialize)]
struct ClockLimit {
    seconds: f64,
    #[serde(default)]
    increment: f64,
    moves: Option<u32>,
}

#[derive(Serialize)]
struct Introduction<'a> {
    name: String,
    version: &'a str,
    author: &'a str,
}

#[derive(Serialize)]
struct Answer {
    id: u64,
    #[serde(rename = "move")]
    mv: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<i32>,
    depth: u32,
    nodes: u64,
}

#[derive(Serialize)]
struct Failed {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    error: String,
}

impl LinesPlayer {
    /// A player with a sweep's parameters, of one game or of every game. A limit may come with each request.
    pub(crate) fn new(algorithm: &str, given: Parameters, only: Option<String>) -> Self {
        Self { algorithm: algorithm.to_owned(), given, only, table: None }
    }

    /// Takes a line; returns the line to print, if there is one.
    pub(crate) fn take(&mut self, line: &str) -> Option<String> {
        if line.trim().is_empty() {
            return None;
        }
        let Ok(Json::Object(message)) = serde_json::from_str(line) else {
            return failed(None, "the line is not a JSON object".to_owned());
        };
        let id = message.get("id").and_then(Json::as_u64);
        let (is_start, is_end) = (message.contains_key("spelrum"), message.contains_key("result"));
        let match_number = message.get("match").and_then(Json::as_u64);
        let message = Json::Object(message);
        if is_start {
            return match self.start(message) {
                Ok(introduction) => to_line(&introduction),
                Err(problem) => failed(None, problem),
            };
        }
        if id.is_none() && is_end {
            if let (Some(table), Some(match_number)) = (&mut self.table, match_number) {
                table.end(match_number);
            }
            return None;
        }
        let answered = match serde_json::from_value::<Asked>(message) {
            Ok(asked) => match &mut self.table {
                Some(table) => table.choose(&asked),
                None => Err("no game was started".to_owned()),
            },
            Err(error) => Err(format!("the request cannot be read: {error}")),
        };
        match answered {
            Ok(answer) => to_line(&answer),
            Err(problem) => failed(id, problem),
        }
    }

    fn start(&mut self, message: Json) -> Result<Introduction<'static>, String> {
        let Start { spelrum, game, rules } = serde_json::from_value(message)
            .map_err(|error| format!("the start line cannot be read: {error}"))?;
        if spelrum != VERSION {
            return Err(format!("version {spelrum} of the protocol is unknown; this is {VERSION}"));
        }
        if let Some(game) = game {
            if let Some(only) = self.only.as_ref().filter(|only| **only != game) {
                return Err(format!("it was started to play {only}, not {game}"));
            }
            let rules = Rules::from_parameters(&game, &rules).map_err(in_words)?;
            self.table = Some(with_game!(&rules, G => TableOf::<G>::boxed(&rules, &self.given))?);
        }
        Ok(Introduction {
            name: format!("Spelrum {}", self.algorithm),
            version: env!("CARGO_PKG_VERSION"),
            author: "the Spelrum maintainers",
        })
    }
}

fn to_line(message: &impl Serialize) -> Option<String> {
    serde_json::to_string(message).ok()
}

fn failed(id: Option<u64>, error: String) -> Option<String> {
    to_line(&Failed { id, error })
}

fn in_words<P>(problem: Problem<P>) -> String {
    format!("{}; {}", problem.what, problem.remedy)
}

impl<G: Game> TableOf<G> {
    fn boxed(rules: &Rules, given: &Parameters) -> Result<Box<dyn Table>, String> {
        // A limit may still come; other errors are reported at once.
        match Player::from_parameters(rules, given) {
            Err(error) if error.place.is_some() => return Err(in_words(error)),
            Ok(_) | Err(_) => {}
        }
        Ok(Box::new(Self { rules: rules.clone(), given: given.clone(), seat: None }))
    }

    fn seat(&mut self, asked: &Asked) -> Result<&mut dyn Seat<G>, String> {
        let parameters = limited(&self.given, asked.limits);
        let is_same = self.seat.as_ref().is_some_and(|seated| {
            seated.match_number == asked.match_number && seated.parameters == parameters
        });
        if !is_same {
            let player = Player::from_parameters(&self.rules, &parameters).map_err(in_words)?;
            let seat =
                seat_of(&player, key_of_seed(asked.seed)).ok_or("the player is of another game")?;
            let match_number = asked.match_number;
            self.seat = Some(Seated { match_number, parameters, seat });
        }
        match &mut self.seat {
            Some(seated) => Ok(seated.seat.as_mut()),
            None => unreachable!("it has just been seated"),
        }
    }
}

impl<G: Game> Table for TableOf<G> {
    fn choose(&mut self, asked: &Asked) -> Result<Answer, String> {
        let rules = self.rules.clone();
        let mut position = G::parse(&rules, &asked.opening).map_err(in_words)?;
        let mut before = Vec::with_capacity(asked.moves.len());
        for text in &asked.moves {
            let mv = parse_legal_move(&position, text).map_err(in_words)?;
            before.push(Before { mv, key: position.canonical_key() });
            position.play_unchecked(mv);
        }
        let line = Line { position: &position, before: &before };
        if line.ending().is_some() {
            return Err("the game is over".to_owned());
        }
        let turn = Turn { rules: &rules, opening: &asked.opening, line, moves: &[], mover: 0 };
        let chosen = self.seat(asked)?.choose(&turn, &Clock::default());
        let chosen = chosen.map_err(|fault| fault.to_string())?;
        let (mv, search) = (chosen.mv.to_string(), chosen.search);
        let (score, depth, nodes) = (search.score, search.depth, search.nodes);
        Ok(Answer { id: asked.id, mv, score, depth, nodes })
    }

    fn end(&mut self, match_number: u64) {
        self.seat = self.seat.take().filter(|seated| seated.match_number != match_number);
    }
}

/// A player's parameters with the limits of a request that its algorithm has.
fn limited(given: &Parameters, limits: Limits) -> Parameters {
    let mut limited = given.clone();
    let algorithm = match given.get("algorithm") {
        Some(Value::Text(name)) => name.as_str(),
        Some(_) | None => "",
    };
    let kind = |name: &str| {
        let info = parameters_of(algorithm).iter().find(|info| info.name == name);
        info.map(|info| info.kind)
    };
    for (name, limit) in [("depth", limits.depth), ("nodes", limits.nodes)] {
        if let (Some(limit), Some(ParameterKind::Limit { max })) = (limit, kind(name)) {
            limited.insert(name.to_owned(), Value::Integer(limit.clamp(1, max)));
        }
    }
    if let Some(seconds) = seconds_for(limits)
        && kind("move_time").is_some()
    {
        let us = i64::try_from(Duration::from_secs_f64(seconds).as_micros()).unwrap_or(i64::MAX);
        limited.remove("move_time");
        limited.insert("move_time_us".to_owned(), Value::Integer(us));
    }
    limited
}

/// The time for a move in seconds: as given, or planned from the remaining time.
fn seconds_for(Limits { seconds, clock, .. }: Limits) -> Option<f64> {
    let given = seconds.map(|seconds| (seconds - OVERHEAD).max(seconds / 2.0));
    let share = clock.map(|ClockLimit { seconds, increment, moves }| {
        let [time_us, increment_us] =
            [seconds - OVERHEAD, increment].map(|time| (time * 1e6) as u64);
        time_for_move_us(TimeLeft { time_us, moves_to_go: moves }, increment_us) as f64 / 1e6
    });
    let time = match (given, share) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (time, None) | (None, time) => time,
    };
    time.map(|seconds| seconds.clamp(1e-6, 86_400.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::players::built_in;

    fn player(algorithm: &str, settings: &[&str], only: Option<&str>) -> LinesPlayer {
        let settings: Vec<_> = settings.iter().map(ToString::to_string).collect();
        let mut given = built_in::settings(&settings).unwrap();
        given.insert("algorithm".to_owned(), Value::Text(algorithm.to_owned()));
        LinesPlayer::new(algorithm, given, only.map(str::to_owned))
    }

    fn answer(player: &mut LinesPlayer, line: &str) -> Json {
        serde_json::from_str(&player.take(line).unwrap()).unwrap()
    }

    const START: &str = r#"{"spelrum":1,"game":"tic-tac-toe","rules":{},"options":{}}"#;

    #[test]
    fn it_introduces_itself_and_moves() {
        let mut player = player("alpha-beta", &[], None);
        let introduced = answer(&mut player, r#"{"spelrum":1,"options":{}}"#);
        assert_eq!(introduced["name"], "Spelrum alpha-beta");
        assert_eq!(answer(&mut player, START), introduced);
        let request = r#"{"id":3,"match":1,"opening":".........","moves":["a1","b2","a2","c3"],
                          "seed":5,"limits":{"depth":2}}"#
            .replace('\n', " ");
        let chosen = answer(&mut player, &request);
        assert_eq!((&chosen["id"], &chosen["move"]), (&3.into(), &"a3".into()));
        assert_eq!(chosen["depth"], 2);
        assert_eq!(player.take(r#"{"match":1,"result":"win","moves":[]}"#), None);
        assert_eq!(player.take("  "), None);
        let unlimited = answer(&mut player, r#"{"id":4,"opening":".........","limits":{}}"#);
        assert_eq!(unlimited["id"], 4);
        assert!(unlimited["error"].as_str().unwrap().contains("bound"), "{unlimited}");
    }

    #[test]
    fn what_it_cannot_do_it_says() {
        let error = |player: &mut LinesPlayer, line: &str| {
            let answer = answer(player, line);
            answer["error"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
        };
        let mut pentago = player("random", &[], Some("pentago"));
        assert_eq!(error(&mut pentago, START), "it was started to play pentago, not tic-tac-toe");
        let mut any = player("random", &[], None);
        assert!(error(&mut any, r#"{"spelrum":2}"#).contains("version 2"));
        assert!(error(&mut any, r#"{"spelrum":1,"game":"go"}"#).contains("go"));
        assert_eq!(error(&mut any, r#"{"id":1,"opening":"x"}"#), "no game was started");
        assert_eq!(error(&mut any, "quit"), "the line is not a JSON object");
        answer(&mut any, START);
        assert!(error(&mut any, r#"{"id":1,"opening":"x"}"#).contains("length is 1"));
        let over = r#"{"id":1,"opening":".........","moves":["a1","a2","b1","b2","c1"]}"#;
        assert_eq!(error(&mut any, over), "the game is over");
        let mut wrong = player("alpha-beta", &["depht=3"], None);
        assert!(error(&mut wrong, START).contains("depht"));
    }
}
