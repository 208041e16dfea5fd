//! A built-in player as a UCI chess engine, or as an engine of any game in the same frame (UGI).
//!
//! The player's parameters limit a search, which ends by itself. The controller's time limits and `stop` reach the
//! search through the only thing it reads meanwhile: the clock of its [`Host`], which jumps far ahead once the time is
//! up.

use std::cell::Cell;
use std::time::{Duration, Instant};

use spelrum_engine::search::{WIN, WIN_MIN};
use spelrum_engine::{
    Answer, Before, EvaluationInfo, Game, Host, KeyProblem, Line, ParameterDefault, ParameterInfo,
    ParameterKind, Parameters, Player, Position, Problem, Rules, Seat, Side, TimeLeft, Turn, Value,
    parse_legal_move, seat_of, time_for_move_us,
};
use spelrum_external::uci::{
    Bound, Chosen, Declared, Go, Info, Kind, Score, ScoreValue, Setting, Signals, Start,
};

use crate::local::clock::Clock;
use crate::players::built_in::settable;

/// The UCI option for the rules of Chess960, and the rule that it sets.
const CHESS960: &str = "UCI_Chess960";
const CHESS960_RULE: &str = "chess960";
/// A sweep's word for a limit that is off.
const UNLIMITED: &str = "unlimited";
/// The limit that the game clock replaces.
const MOVE_TIME: &str = "move_time";
/// The parameter that switches on iterative deepening.
const ITERATIVE: &str = "iterative";
/// Longer than any move.
const FAR: Duration = Duration::from_hours(24);
/// Time per move beside the search: pipes, and the controller itself.
const OVERHEAD: Duration = Duration::from_millis(20);

/// A player and its game.
pub(crate) struct UciPlayer<G: Game> {
    rules: Rules,
    /// The parameters set by options.
    parameters: Parameters,
    key: [u8; 32],
    /// The seat at the board, with the parameters of its last move. Kept with everything it has learnt while these
    /// stay the same.
    seat: Option<(Parameters, Box<dyn Seat<G>>)>,
}

fn infos(rules: &Rules, parameters: &Parameters) -> impl Iterator<Item = &'static ParameterInfo> {
    let text = |name: &str| match parameters.get(name) {
        Some(Value::Text(text)) => text.as_str(),
        Some(_) | None => "",
    };
    let evaluation = text("evaluation");
    let is_it = |info: &&EvaluationInfo| info.name == evaluation;
    let evaluation =
        rules.evaluations().iter().find(is_it).map_or(&[][..], |evaluation| evaluation.parameters);
    settable(text("algorithm")).chain(evaluation)
}

/// How an option is declared; `None` if UCI has no type for it.
fn kind(info: &ParameterInfo, parameters: &Parameters) -> Option<Kind> {
    let value = parameters.get(info.name);
    let integer = || match (value, info.default) {
        (Some(Value::Integer(value)), _) => *value,
        // A parameter that depends on another is absent without it.
        (None, ParameterDefault::Integer(value)) => value,
        (Some(_) | None, _) => 0,
    };
    Some(match info.kind {
        ParameterKind::Switch => Kind::Check { default: value == Some(&Value::Bool(true)) },
        ParameterKind::Integer { min, max } => Kind::Spin { default: integer(), min, max },
        ParameterKind::Limit { max } => Kind::Spin { default: integer(), min: 0, max },
        ParameterKind::Word(words) => Kind::Combo {
            default: match value {
                Some(Value::Text(word)) => word.clone(),
                Some(_) | None => String::new(),
            },
            choices: words.iter().map(|word| (*word).to_owned()).collect(),
        },
        ParameterKind::Number { .. } => Kind::Text { default: value?.to_string() },
        ParameterKind::Duration => Kind::Text {
            default: match parameters.get(&in_us(info.name)) {
                Some(Value::Integer(us)) => format!("{us}us"),
                Some(_) | None => UNLIMITED.to_owned(),
            },
        },
        ParameterKind::Clock
        | ParameterKind::Evaluation
        | ParameterKind::Integers { .. }
        | ParameterKind::Text { .. }
        | ParameterKind::Formula(_)
        | ParameterKind::Nested
        | ParameterKind::Recipe(_)
        | ParameterKind::Content => return None,
    })
}

/// A duration's name among a player's parameters.
fn in_us(name: &str) -> String {
    format!("{name}_us")
}

impl<G: Game> UciPlayer<G> {
    /// A player without a game, with a sweep's parameters; a search limit is not required yet. Its random numbers
    /// restart with each game.
    pub(crate) fn new(rules: Rules, given: &Parameters, key: [u8; 32]) -> Result<Self, KeyProblem> {
        let mut given = given.clone();
        // A search that runs out of time has a move only with iterative deepening.
        if infos(&rules, &given).any(|info| info.name == ITERATIVE) {
            given.entry(ITERATIVE.to_owned()).or_insert(Value::Bool(true));
        }
        let parameters = canonical(&rules, &given)?;
        Ok(Self { rules, parameters, key, seat: None })
    }

    /// The options: parameters of the algorithm and the evaluation that UCI can express.
    pub(crate) fn options(&self) -> Vec<Declared> {
        let declared = infos(&self.rules, &self.parameters).filter_map(|info| {
            Some(Declared { name: info.name.to_owned(), kind: kind(info, &self.parameters)? })
        });
        let chess960 = self.rules.values().find(|(info, _)| info.name == CHESS960_RULE);
        let chess960 = chess960.map(|(_, value)| Declared {
            name: CHESS960.to_owned(),
            kind: Kind::Check { default: *value == Value::Bool(true) },
        });
        declared.chain(chess960).collect()
    }

    fn set_parameter(&self, setting: &Setting) -> Result<Parameters, String> {
        let Setting { name, value } = setting;
        let info = infos(&self.rules, &self.parameters)
            .find(|info| info.name == *name)
            .ok_or_else(|| format!("there is no option `{name}`"))?;
        let text = value.as_deref().unwrap_or_default();
        let number =
            || text.parse().map(Value::Integer).map_err(|_| format!("`{text}` is no number"));
        let value = match info.kind {
            ParameterKind::Switch => Value::Bool(text == "true"),
            ParameterKind::Limit { .. } if text == "0" => Value::Text(UNLIMITED.to_owned()),
            ParameterKind::Integer { .. } | ParameterKind::Limit { .. } => number()?,
            ParameterKind::Number { .. } => {
                text.parse().map(Value::Number).map_err(|_| format!("`{text}` is no number"))?
            }
            ParameterKind::Word(words) => {
                // UCI compares choices without regard to case.
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(text));
                Value::Text(word.map_or(text, |word| word).to_owned())
            }
            ParameterKind::Duration
            | ParameterKind::Clock
            | ParameterKind::Evaluation
            | ParameterKind::Integers { .. }
            | ParameterKind::Text { .. }
            | ParameterKind::Formula(_)
            | ParameterKind::Nested
            | ParameterKind::Recipe(_)
            | ParameterKind::Content => Value::Text(text.to_owned()),
        };
        let mut parameters = self.parameters.clone();
        parameters.remove(&in_us(name));
        parameters.insert(name.clone(), value);
        canonical(&self.rules, &parameters).map_err(in_words)
    }

    fn player(&self, parameters: &Parameters) -> Result<Player, String> {
        Player::from_parameters(&self.rules, parameters).map_err(in_words)
    }

    /// The seat for the next move: the last one, if its parameters are the same.
    fn seat(&mut self, go: &Go) -> Result<&mut dyn Seat<G>, String> {
        let parameters = bounded(&self.rules, &self.parameters, go);
        let is_same = self.seat.as_ref().is_some_and(|(last, _)| *last == parameters);
        if !is_same {
            let player = self.player(&parameters)?;
            let seat = seat_of(&player, self.key).ok_or("the player is of another game")?;
            self.seat = Some((parameters, seat));
        }
        match &mut self.seat {
            Some((_, seat)) => Ok(seat.as_mut()),
            None => unreachable!("it has just been seated"),
        }
    }
}

fn in_words(error: KeyProblem) -> String {
    format!("{}; {}", error.what, error.remedy)
}

/// All parameters of a player, whose limits may come with each move alone.
fn canonical(rules: &Rules, given: &Parameters) -> Result<Parameters, KeyProblem> {
    let player = Player::from_parameters(rules, &bounded(rules, given, &Go::default()))?;
    let mut canonical = player.parameters().clone();
    if !is_timed(given) {
        canonical.remove(&in_us(MOVE_TIME));
    }
    Ok(canonical)
}

/// Whether the parameters limit the time of a move, in either form.
fn is_timed(parameters: &Parameters) -> bool {
    let is_limit = |name: &str| match parameters.get(name) {
        None => false,
        Some(value) => *value != Value::Text(UNLIMITED.to_owned()),
    };
    is_limit(MOVE_TIME) || is_limit(&in_us(MOVE_TIME))
}

/// A player's parameters with the limits of `go`, and with a time limit for the game clock to replace.
fn bounded(rules: &Rules, parameters: &Parameters, go: &Go) -> Parameters {
    let mut bounded = parameters.clone();
    let has = |name: &str| infos(rules, parameters).find(|info| info.name == name);
    let limits = [("depth", go.depth.map(u64::from)), ("nodes", go.nodes)];
    for (name, limit) in limits {
        if let (Some(limit), Some(ParameterKind::Limit { max })) =
            (limit, has(name).map(|info| info.kind))
        {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX).clamp(1, max);
            bounded.insert(name.to_owned(), Value::Integer(limit));
        }
    }
    if has(MOVE_TIME).is_some() && !is_timed(&bounded) {
        bounded.remove(MOVE_TIME);
        let us = i64::try_from(FAR.as_micros()).unwrap_or(i64::MAX);
        bounded.insert(in_us(MOVE_TIME), Value::Integer(us));
    }
    bounded
}

impl<G: Game> spelrum_external::uci::Player for UciPlayer<G> {
    fn set(&mut self, setting: &Setting) -> Result<(), String> {
        if setting.name == CHESS960 {
            let is_on = Value::Bool(setting.value.as_deref() == Some("true"));
            let rules = self.rules.values();
            let mut rules: Parameters =
                rules.map(|(info, value)| (info.name.to_owned(), value.clone())).collect();
            rules.insert(CHESS960_RULE.to_owned(), is_on);
            self.rules = Rules::new::<G>(&rules).map_err(|error| error.what)?;
        } else {
            self.parameters = self.set_parameter(setting)?;
        }
        self.seat = None;
        Ok(())
    }

    fn new_game(&mut self) -> Result<(), String> {
        self.seat = None;
        Ok(())
    }

    fn search(
        &mut self,
        start: &Start,
        moves: &[String],
        go: &Go,
        signals: &Signals,
        say: &mut dyn FnMut(&Info<'_>),
    ) -> Result<Chosen, String> {
        let began = Instant::now();
        let (opening, position, before) = self.position(start, moves)?;
        if position.ending().is_some() {
            return Ok(Chosen::default());
        }
        let host = MoveHost {
            clock: Clock::default(),
            signals,
            time: time_for(go, position.to_move()),
            is_read: Cell::new(false),
            counts_from: Cell::new((!go.ponder).then_some(began)),
        };
        let rules = self.rules.clone();
        let line = Line { position: &position, before: &before };
        let turn = Turn { rules: &rules, opening: &opening, line, moves: &[], mover: 0 };
        let answer = self.seat(go)?.choose(&turn, &host).map_err(|fault| fault.to_string())?;
        let Answer { mv, search } = answer;
        let mv = mv.to_string();
        say(&Info {
            depth: Some(search.depth),
            score: search.score.map(score),
            nodes: Some(search.nodes),
            time_ms: u64::try_from(began.elapsed().as_millis()).ok(),
            pv: Some(&mv),
            ..Info::default()
        });
        Ok(Chosen { mv: Some(mv), ponder: None })
    }
}

type Reached<G> = (String, G, Vec<Before<<G as Position>::Move>>);

impl<G: Game> UciPlayer<G> {
    /// The position to move in, with the start of the game and the moves since.
    fn position(&self, start: &Start, moves: &[String]) -> Result<Reached<G>, String> {
        let wrong = |error: Problem| format!("{}; {}", error.what, error.remedy);
        let mut position = match start {
            Start::Usual => G::start(&self.rules).map_err(|error| error.what)?,
            Start::Fen(position) => G::parse(&self.rules, position).map_err(wrong)?,
        };
        let opening = position.to_string();
        let mut before = Vec::with_capacity(moves.len());
        for text in moves {
            let mv = parse_legal_move(&position, text).map_err(wrong)?;
            before.push(Before { mv, key: position.canonical_key() });
            position.play_unchecked(mv);
        }
        Ok((opening, position, before))
    }
}

/// The time for a move: as given, or planned from the remaining time.
fn time_for(go: &Go, to_move: Side) -> Option<Duration> {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let given = go.move_time_ms.map(|ms| Duration::from_millis(ms).saturating_sub(OVERHEAD));
    let (left, increment) = match to_move {
        Side::First => (go.white_time_ms, go.white_increment_ms),
        Side::Second => (go.black_time_ms, go.black_increment_ms),
    };
    let share = left.map(|left| {
        let time_us = micros(Duration::from_millis(left).saturating_sub(OVERHEAD));
        let increment_us = micros(Duration::from_millis(increment.unwrap_or(0)));
        let left = TimeLeft { time_us, moves_to_go: go.moves_to_go };
        Duration::from_micros(time_for_move_us(left, increment_us))
    });
    match (given, share) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (time, None) | (None, time) => time,
    }
}

/// A move's clock and the controller's means to end it.
struct MoveHost<'s> {
    clock: Clock,
    signals: &'s Signals,
    time: Option<Duration>,
    /// Whether the clock was read: the first reading starts the search, even if it ends there.
    is_read: Cell<bool>,
    /// The start of the move's time; unset while pondering.
    counts_from: Cell<Option<Instant>>,
}

impl MoveHost<'_> {
    fn is_over(&self) -> bool {
        if self.counts_from.get().is_none() && self.signals.is_ponder_hit() {
            self.counts_from.set(Some(Instant::now()));
        }
        let is_late = |from: Instant| self.time.is_some_and(|time| from.elapsed() >= time);
        self.signals.is_stopped() || self.counts_from.get().is_some_and(is_late)
    }
}

impl Host for MoveHost<'_> {
    fn wall(&self) -> Duration {
        let wall = self.clock.wall();
        if self.is_read.replace(true) && self.is_over() { wall + 2 * FAR } else { wall }
    }

    fn cpu(&self) -> Duration {
        self.clock.cpu()
    }
}

/// A score in UCI's units: our chess evaluations are in hundredths of a pawn, and wins in plies.
fn score(score: i32) -> Score {
    let moves = |plies: i32| i64::from((plies + 1) / 2);
    let value = if score >= WIN_MIN {
        ScoreValue::Mate(moves(WIN - score))
    } else if score <= -WIN_MIN {
        ScoreValue::Mate(-moves(WIN + score))
    } else {
        ScoreValue::Centipawns(score.into())
    };
    Score { value, bound: Bound::Exact }
}
